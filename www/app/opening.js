/**
 * Opens the archived page of the app's URL while the app loads: asks the server for what the viewer needs first, and loads the
 * agent and the page in hidden frames. The viewer adopts them (`core/opening.js`), or removes them.
 *
 * The page is loaded only if the engine is known to be set up at its origin, by these files, and if nothing has to be decided: the index
 * lists it as HTML. All else is left to the viewer. So this has no interface, and imports little.
 */
import { makeEmpty } from "./core/element.js";
import { fragmentOf, withoutFragment } from "./core/fragments.js";
import { capturesPath, isTooLong } from "./core/library-api.js";
import { isAtCanonicalHost, replaysOnPorts } from "./core/origins.js";
import { path } from "./core/request.js";
import { chosenMode, readRoute } from "./core/routes.js";
import { settings } from "./core/settings.js";
import { clearOrigin, wasSetUp } from "./replay/clear-origin.js";
import { agentFrame, agentURL, opensAtOnce, pageFrame, possibleMode, replayURL } from "./replay/frames.js";

// A page can send any number of messages.
const messagesMax = 100;

/** @returns {Promise<HTMLElement>} the app's element, once the document has it */
function appElement() {
    return new Promise((done) => {
        const look = () => {
            const found = document.getElementById("app");
            if (!found) return;
            observer.disconnect();
            done(found);
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { childList: true, subtree: true });
        look();
    });
}

/**
 * @param {import("./core/route-types.js").TargetRoute} route
 * @param {{id: string, replayOrigin: string, replayCollection: string}} target
 * @returns {import("./core/opening.js").Opening}
 */
function createOpening({ kind, name }, { replayOrigin, replayCollection }) {
    const { origin } = new URL(replayOrigin);
    const place = makeEmpty("div", { class: "replay-frame covered" });
    const stage = makeEmpty("main", { class: "stage" }, place);
    const answers = new Map();
    let fromAgent = [];
    let fromPage = [];

    /** Keeps the messages until someone listens. The app doesn't hear those of the page before it expects one. */
    function hold(event) {
        if (event.origin !== origin) return;
        if (event.source === opening.agent?.contentWindow) {
            fromAgent?.push(event);
        } else if (opening.page) {
            event.stopImmediatePropagation();
            if (fromPage.length < messagesMax) fromPage.push(event);
        }
    }
    window.addEventListener("message", hold);

    const opening = {
        kind,
        name,
        replayCollection,
        answers,
        isTaken: false,
        isOver: false,
        hasAgentLoaded: false,
        hasPageLoaded: false,
        historyLength: history.length,
        element: makeEmpty("div", { class: "viewer" }, stage),
        stage,
        place,
        agent: null,
        agentURL: "",
        page: null,
        pageURL: "",

        /** Sends a request whose answer the app gets as well. */
        async ask(address) {
            const answer = fetch(address);
            const copy = answer.then((one) => one.clone());
            copy.catch(() => {});
            answers.set(address, copy);
            const found = await answer;
            if (!found.ok) throw new Error(`status ${found.status}`);
            return found.json();
        },

        followAgent(receive, onLoad) {
            const events = fromAgent;
            fromAgent = null;
            events.forEach(receive);
            if (opening.hasAgentLoaded) onLoad();
        },

        releasePage(isWanted) {
            opening.isOver = true;
            window.removeEventListener("message", hold);
            const events = fromPage;
            fromPage = [];
            if (!isWanted) return false;
            for (const { data, origin: sender, source } of events) {
                const again = new MessageEvent("message", { data, origin: sender });
                // Firefox makes no event whose source is a window of another origin.
                Object.defineProperty(again, "source", { value: source });
                window.dispatchEvent(again);
            }
            return opening.hasPageLoaded;
        },

        end() {
            opening.releasePage(false);
            opening.element.remove();
        },
    };
    return opening;
}

async function open(opening, route, target) {
    const { kind } = route;
    const asked = opening.ask(path({ kind, id: route.name }));
    asked.catch(() => {});
    const page = route.view === "page" ? route : target.mainPage;
    // A collection's main page isn't known yet.
    if (!page && kind === "archive") return;
    const { url = "", timestamp = "" } = page ?? {};
    const listed = url && !isTooLong(url) ? opening.ask(capturesPath({ kind, id: target.id }, url, { closest: timestamp })) : null;
    listed?.catch(() => {});
    const chosen = chosenMode(location) || settings().replay;
    // Only these settings depend on the archive.
    const { mode } = possibleMode(chosen === "ranges" ? { ...await asked, kind } : { kind }, chosen);
    const app = await appElement();
    if (opening.isOver || app.hasChildNodes()) return;
    document.body.dataset.view = "viewer";
    app.append(opening.element);
    openAgent(opening, target, mode);
    if (!listed || !wasSetUp(target, mode)) return;
    const { closest: capture } = await listed;
    // Of a day, month or year, the viewer may choose another capture.
    const isChosen = timestamp.length >= 14 || capture?.timestamp.startsWith(timestamp);
    if (!opening.isOver && isChosen && opensAtOnce(capture)) {
        openPage(opening, replayURL(target, withoutFragment(capture.url) + fragmentOf(url), capture.timestamp));
    }
}

function openAgent(opening, target, mode) {
    opening.agent = agentFrame();
    opening.agentURL = agentURL(target, mode);
    // Before it has an address, a frame loads an empty document.
    opening.agent.addEventListener("load", () => { opening.hasAgentLoaded = opening.agent.src !== ""; });
    opening.element.append(opening.agent);
    clearOrigin(new URL(target.replayOrigin).origin, target.replayCollection).then(() => { opening.agent.src = opening.agentURL; });
}

function openPage(opening, url) {
    opening.pageURL = url;
    opening.page = pageFrame(url);
    opening.page.addEventListener("load", () => { opening.hasPageLoaded = true; });
    opening.place.append(opening.page);
}

const route = readRoute(location);
const target = JSON.parse(document.getElementById("target").textContent);
if (target && isAtCanonicalHost() && !replaysOnPorts() && ["main", "page"].includes(route.view)) {
    window.replayhostOpening = createOpening(route, target);
    // The app finds out what is wrong.
    open(window.replayhostOpening, route, target).catch(() => {});
}
