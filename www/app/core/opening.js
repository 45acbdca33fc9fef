/**
 * What `opening.js` began before the app was loaded. That script and the app are bundled separately, so they share it through the
 * window.
 *
 * @typedef {object} Opening
 * @property {"archive"|"collection"} kind
 * @property {string} name as in the URL
 * @property {string} replayCollection
 * @property {Map<string, Promise<Response>>} answers of the server, by path
 * @property {boolean} isTaken whether a viewer has the frames
 * @property {HTMLElement} element the viewer's element, which never moves: a frame that moves loads again
 * @property {HTMLElement} stage
 * @property {HTMLElement} place around the page's frame
 * @property {HTMLIFrameElement|null} agent
 * @property {string} agentURL
 * @property {HTMLIFrameElement|null} page
 * @property {string} pageURL
 * @property {number} historyLength before the page could add entries
 * @property {(receive: (event: MessageEvent) => void, onLoad: () => void) => void} followAgent passes on what the agent sent so far, and
 *   whether a document has loaded
 * @property {(isWanted: boolean) => boolean} releasePage passes on the page's messages so far, if they're wanted; returns whether a document
 *   has loaded
 * @property {() => void} end removes the frames
 */

/** @returns {Opening|undefined} */
const begun = () => window.replayhostOpening;

/**
 * @param {string} path
 * @returns {Promise<Response>|undefined} the answer to a request that was sent already; only once
 */
export function takeAnswer(path) {
    const answer = begun()?.answers.get(path);
    begun()?.answers.delete(path);
    return answer;
}

/**
 * @param {import("./route-types.js").TargetRoute} route
 * @returns {HTMLElement[]} the element with the frames of this archive, which the view keeps; empty if there is none
 */
export function keptElements({ kind, name }) {
    const opening = begun();
    if (opening && (opening.kind !== kind || opening.name !== name)) endOpening();
    return begun()?.element.isConnected ? [begun().element] : [];
}

/**
 * @param {string} replayCollection
 * @param {string} agentURL of the viewer that adopts the frames
 * @returns {Opening|null} only once; `null` if there are none for this viewer
 */
export function takeOpening(replayCollection, agentURL) {
    const opening = begun();
    if (!opening || opening.isTaken) return null;
    opening.isTaken = opening.agent !== null && opening.agentURL === agentURL && opening.replayCollection === replayCollection
        && opening.element.isConnected;
    if (opening.isTaken) return opening;
    endOpening();
    return null;
}

/** Call this when something else is shown, and after the first view: the answers are outdated then. */
export function endOpening() {
    const opening = begun();
    delete window.replayhostOpening;
    if (opening && !opening.isTaken) opening.end();
}
