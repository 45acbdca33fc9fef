/**
 * The viewer's side of the agent, a hidden frame at the archive's origin that keeps the replay engine set up. Archived
 * scripts run at that origin too, so all messages from it are checked and never trusted.
 */
import { startCommand } from "../core/api.js";
import { message } from "../core/i18n.js";
import { replaysOnPorts } from "../core/origins.js";
import { clearOrigin, forgetOrigin, noteSetup, wasSetUp } from "./clear-origin.js";
import { agentFrame, agentURL } from "./frames.js";
import { failureText, stepText } from "./setup-texts.js";

const answerSecondsMax = 6;
const silenceSecondsMax = 75;
// From the moment when the document in the frame has loaded. The agent reports at once.
const firstReportSecondsMax = 10;
const reloadedKey = "replayhost-reloaded";

/** Loads the app again, but only once for a version of an archive. */
function reloadsOnce(collection) {
    try {
        if (sessionStorage.getItem(reloadedKey) === collection) return false;
        sessionStorage.setItem(reloadedKey, collection);
    } catch {
        return false;
    }
    location.reload();
    return true;
}

/** An error that prevents replay at the archive's origin. */
class AgentFailure extends Error {
    /**
     * @param {string} code for {@link failureText}
     * @param {string} origin the replay origin
     * @param {string} id of the archive or the collection
     */
    constructor(code, origin, id) {
        const { code: known, what, hint } = failureText(code, origin, id);
        super(what);
        this.code = known;
        // That text is for every origin. Only the viewer's knows the command.
        this.hint = known === "server-unavailable" ? `${hint.replace("replayhost serve", startCommand)} This page will reconnect.` : hint;
    }
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosenMode the replay mode; empty for the default
 * @param {{onProgress: (text: string) => void, onRestored: () => void, onTitle: (title: string) => void,
 *   onFile: (href: string) => void, onScroll: (position: {x: number, y: number}) => void, onReloadRefused: () => void,
 *   onSimilar: (documentURL: string) => void}} listener
 *   `onTitle`: the page's title changed; `onFile`: a frame requested a URL that may not be a document; `onScroll`:
 *   the scroll position of the page, in CSS pixels; `onReloadRefused`: the frame shows a document of the browser, such as
 *   an error, which can't be reloaded; `onSimilar`: a request got the captured answer to other data, that for a document or, with an empty URL, for a part of one. All values are untrusted.
 * @param {import("../core/opening.js").Opening|null} opening has the frame, if it was opened before
 */
export function createAgentFrame(archive, chosenMode, listener, opening) {
    const { onProgress, onRestored, onTitle, onFile, onScroll, onReloadRefused, onSimilar } = listener;
    const origin = new URL(archive.replayOrigin).origin;
    const frame = opening?.agent ?? agentFrame();
    frame.title = message("viewer.engine-frame");
    frame.addEventListener("load", expectReport);
    const failure = (code) => new AgentFailure(code, origin, archive.id);
    const requests = new Map();
    let requestCount = 0;
    let attempt = null;
    // Resolves when the agent has reported. It hears nothing before.
    let reported = Promise.withResolvers();
    let hasReported = false;
    let worked = false;
    let mode = "";

    function begin() {
        attempt = Promise.withResolvers();
        attempt.promise.catch(() => {});
        return attempt;
    }

    function load() {
        if (hasReported) reported = Promise.withResolvers();
        hasReported = false;
        frame.src = agentURL(archive, chosenMode);
    }

    /** Browsers don't say that they couldn't load a document: they load an error of their own. */
    function expectReport() {
        const current = attempt;
        if (!frame.src || current.settled) return;
        setTimeout(() => {
            if (current === attempt && !current.settled && !hasReported) settle("reject", failure("unreachable"));
        }, firstReportSecondsMax * 1000);
    }

    function keepWaiting(current, seconds) {
        clearTimeout(current.timer);
        current.timer = setTimeout(() => {
            forgetOrigin(origin);
            settle("reject", failure("worker-silent"));
        }, seconds * 1000);
    }

    function settle(how, value) {
        clearTimeout(attempt.timer);
        attempt[how](value);
        attempt.settled = true;
        attempt.failed = how === "reject";
    }

    /** Reloads the agent's page, which then sets up the engine. */
    function restart(current) {
        current.rebuilt = worked;
        load();
        keepWaiting(current, silenceSecondsMax);
    }

    const handlers = {
        "boot-progress": ({ step, percent }) => {
            if (attempt.settled) begin();
            attempt.rebuilt = worked;
            keepWaiting(attempt, silenceSecondsMax);
            const text = stepText(step, percent);
            if (text) onProgress(text);
        },
        ready: ({ collection, mode: used, isKept }) => {
            if (collection !== archive.replayCollection) {
                // The page was opened before the file was replaced, or before a linked file was hashed. If nothing is shown yet, it
                // can simply be opened again.
                if (worked || !reloadsOnce(archive.replayCollection)) settle("reject", failure("file-replaced"));
                return;
            }
            const rebuilt = attempt.rebuilt;
            worked = true;
            mode = used === "ranges" ? "ranges" : "lookups";
            noteSetup(archive, mode);
            settle("resolve", isKept === true);
            if (rebuilt) onRestored();
        },
        failed: ({ code }) => settle("reject", failure(String(code))),
        icon: answer,
        look: answer,
        copy: answer,
        title: ({ title }) => onTitle(String(title)),
        scroll: ({ x, y }) => onScroll({ x: Number(x) || 0, y: Number(y) || 0 }),
        file: ({ url }) => onFile(String(url)),
        similar: ({ isDocument, url }) => onSimilar(isDocument === true ? String(url) : ""),
        "reload-refused": () => onReloadRefused(),
    };

    function answer(data) {
        const request = requests.get(data.request);
        requests.delete(data.request);
        request?.(data);
    }

    function receive(event) {
        if (event.origin !== origin || event.source !== frame.contentWindow) return;
        hasReported = true;
        reported.resolve();
        const kind = event.data?.replayhost;
        if (Object.hasOwn(handlers, kind)) handlers[kind](event.data);
    }

    const send = (message) => reported.promise.then(() => frame.contentWindow?.postMessage(message, origin));

    window.addEventListener("message", receive);
    keepWaiting(begin(), silenceSecondsMax);
    // The viewer isn't complete before.
    if (opening) queueMicrotask(() => opening.followAgent(receive, expectReport));
    else clearOrigin(origin, archive.replayCollection).then(load);

    return {
        element: frame,

        /** @param {Object<string, (data: object) => void>} others handlers of other messages, whose data are untrusted */
        handle: (others) => Object.assign(handlers, others),

        /** @returns {""|"lookups"|"ranges"} the replay mode; empty until the engine is set up */
        get mode() {
            return mode;
        },

        /**
         * @returns {boolean} whether a page can be loaded before the agent reports, since the engine was set up by an earlier viewer. With ports,
         *   another program may have been there since.
         */
        get isExpected() {
            return !attempt.settled && !worked && !replaysOnPorts() && wasSetUp(archive, chosenMode);
        },

        /**
         * @returns {Promise<boolean>} resolves when the engine is set up, with whether the earlier setup was complete and unchanged; rejects with
         *   an {@link AgentFailure}
         */
        ready: () => attempt.promise,

        /** Checks whether the engine is still set up, and sets it up again if not. */
        check() {
            if (!attempt.settled) return attempt.promise;
            const failedBefore = attempt.failed;
            const current = begin();
            if (failedBefore) {
                restart(current);
            } else {
                send({ replayhost: "check" });
                current.timer = setTimeout(() => restart(current), answerSecondsMax * 1000);
            }
            return current.promise;
        },

        /**
         * @param {"icon"|"look"|"copy"} command
         * @param {object} [details]
         * @param {number} [secondsMax]
         * @returns {Promise<object>} the answer, or an empty object after a timeout; untrusted
         */
        ask(command, details = {}, secondsMax = answerSecondsMax) {
            requestCount += 1;
            const request = requestCount;
            return new Promise((resolve) => {
                requests.set(request, resolve);
                setTimeout(() => answer({ request }), secondsMax * 1000);
                send({ ...details, replayhost: command, request });
            });
        },

        /**
         * @param {"reload"|"pause"|"scroll"|"together"|"read"|"reveal"|"stop"} command
         * @param {object} [details]
         */
        tell: (command, details = {}) => send({ ...details, replayhost: command }),

        /** Removes the agent's page, and what archived scripts run there. {@link check} loads it again. */
        stop() {
            frame.src = "about:blank";
            if (attempt.settled) begin();
            settle("reject", failure("worker-silent"));
        },

        close() {
            clearTimeout(attempt.timer);
            window.removeEventListener("message", receive);
            frame.remove();
        },
    };
}
