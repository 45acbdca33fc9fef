/**
 * The viewer's half of the talk with the agent: a hidden frame at the archive's own origin, which keeps the replay
 * engine set up there. Archived scripts run at that origin too, so whatever comes from it is checked and never trusted.
 */
import { clearOrigin, forgetOrigin } from "./clear-origin.js";
import { make } from "./dom.js";

const answerSecondsMax = 6;
const silenceSecondsMax = 75;

/**
 * What can go wrong while an archive's origin is set up, by the code that the agent sends.
 *
 * @type {Object<string, {what: string, hint: string}>}
 */
export const failures = {
    "engine-missing": {
        what: "The replay engine is missing on this computer",
        hint: "Run `make setup` in the replayhost folder: it fetches the engine. Then load this page again.",
    },
    "workers-missing": {
        what: "This browser offers no service workers here, and replay needs one",
        hint: "Private windows of some browsers, and some privacy settings, turn them off. Open this address in an "
            + "ordinary window, or in another browser. In Firefox `dom.serviceWorkers.enabled` at `about:config` has to "
            + "be true.",
    },
    "workers-refused": {
        what: "The browser refused to start the replay engine",
        hint: "This happens where site data is blocked. Allow it for `SITE` (in Firefox: for `ADDRESS`), and load this "
            + "page again. Some private windows, and a full disk, have the same effect.",
    },
    "worker-silent": {
        what: "The replay engine does not answer",
        hint: "Load this page again. If that does not help, remove the site data of this address in the browser's "
            + "settings: replayhost sets it up anew, and no archive is lost.",
    },
    "file-missing": {
        what: "The file of this archive is not there",
        hint: "It was removed from the library, or the drive it is on is not connected. `replayhost list` says which.",
    },
    "file-offline": {
        what: "The file of this archive is not where it was",
        hint: "Attach the volume that holds it, or put the file back, and try again. Nothing else of the archive is "
            + "lost.",
    },
    "file-changed": {
        what: "The file of this archive was changed since it was read",
        hint: "Put it back as it was, or read it anew with `replayhost import --reference`.",
    },
    "captures-refused": {
        what: "The server does not look up captures of this group",
        hint: "Look at what `replayhost serve` printed, and try again.",
    },
    "file-refused": {
        what: "The server did not give out the file of this archive",
        hint: "Look at what `replayhost serve` printed, and run `replayhost doctor`.",
    },
    "server-away": {
        what: "The replayhost server does not answer",
        hint: "It may have been stopped. Start it with `replayhost serve` and load this page again.",
    },
    "archive-refused": {
        what: "The replay engine could not open the archive",
        hint: "Run `replayhost info` with its id to see what is wrong with the file.",
    },
};

/**
 * A hint with the names that a person has to allow: Chromium takes a pattern for all names below one, Firefox an address
 * with its port, which counts for the names below it as well.
 */
function named(hint, origin) {
    const { protocol, hostname, port } = new URL(origin);
    const home = "replayhost.localhost";
    const isNamed = hostname.endsWith(`.${home}`);
    return hint.replace("SITE", isNamed ? `[*.]${home}` : hostname)
        .replace("ADDRESS", isNamed ? `${protocol}//${home}:${port}` : origin);
}

/** Why the archive's origin could not be set up. */
export class AgentFailure extends Error {
    /**
     * @param {string} code a key of {@link failures}
     * @param {string} origin the archive's
     */
    constructor(code, origin) {
        const known = Object.hasOwn(failures, code) ? code : "worker-silent";
        super(failures[known].what);
        this.code = known;
        this.hint = named(failures[known].hint, origin);
    }
}

const steps = {
    file: "Looking for the file…",
    engine: "Starting the replay engine…",
    collection: "Reading the index of the archive…",
};

/**
 * @param {import("./api.js").Archive|import("./api.js").Group} archive
 * @param {""|"lookups"|"ranges"} chosenWay to replay; empty for the host's own choice
 * @param {{onProgress: (text: string) => void, onRestored: () => void}} listener
 */
export function createAgent(archive, chosenWay, { onProgress, onRestored }) {
    const origin = new URL(archive.replayOrigin).origin;
    const address = `${origin}/${chosenWay ? `?replay=${chosenWay}` : ""}`;
    const frame = make("iframe", { name: "___replayhost_agent", hidden: true, title: "Replay engine", tabindex: "-1",
        "aria-hidden": "true", sandbox: "allow-scripts allow-same-origin", referrerpolicy: "origin" });
    const requests = new Map();
    let requestCount = 0;
    let attempt = null;
    let worked = false;
    let way = "";

    function begin() {
        const current = {};
        current.promise = new Promise((resolve, reject) => Object.assign(current, { resolve, reject }));
        current.promise.catch(() => {});
        current.started = performance.now();
        attempt = current;
        return current;
    }

    function keepWaiting(current, seconds) {
        clearTimeout(current.timer);
        current.timer = setTimeout(() => {
            forgetOrigin(origin);
            settle("reject", new AgentFailure("worker-silent", origin));
        }, seconds * 1000);
    }

    function settle(how, value) {
        clearTimeout(attempt.timer);
        attempt[how](value);
        attempt.settled = true;
        attempt.failed = how === "reject";
    }

    /** Loads the agent's page anew: it then sets up by itself. */
    function restart(current) {
        current.rebuilt = worked;
        frame.src = address;
        keepWaiting(current, silenceSecondsMax);
    }

    const hearings = {
        "boot-progress": ({ step, percent }) => {
            if (attempt.settled) begin();
            attempt.rebuilt = worked;
            keepWaiting(attempt, silenceSecondsMax);
            const text = Object.hasOwn(steps, step) ? steps[step] : "";
            const share = percent > 0 && percent < 100 ? ` ${Math.round(percent)} %` : "";
            if (text) onProgress(text + share);
        },
        ready: ({ collection, way: used }) => {
            if (collection !== archive.collection) {
                settle("reject", new AgentFailure("file-missing", origin));
                return;
            }
            const rebuilt = attempt.rebuilt;
            worked = true;
            way = used === "ranges" ? "ranges" : "lookups";
            settle("resolve");
            if (rebuilt) onRestored();
        },
        failed: ({ code }) => settle("reject", new AgentFailure(String(code), origin)),
        icon: (data) => answer(data),
        look: (data) => answer(data),
    };

    function answer(data) {
        const request = requests.get(data.request);
        requests.delete(data.request);
        request?.(data);
    }

    function hear(event) {
        if (event.origin !== origin || event.source !== frame.contentWindow) return;
        const kind = event.data?.replayhost;
        if (Object.hasOwn(hearings, kind)) hearings[kind](event.data);
    }

    const send = (message) => frame.contentWindow?.postMessage(message, origin);

    window.addEventListener("message", hear);
    keepWaiting(begin(), silenceSecondsMax);
    clearOrigin(origin, archive.collection).then(() => {
        frame.src = address;
    });

    return {
        element: frame,

        /** @returns {""|"lookups"|"ranges"} how the engine gets at captures; empty as long as it is not set up */
        get way() {
            return way;
        },

        /** @returns {Promise<void>} when the engine is set up; rejects with an {@link AgentFailure} */
        ready: () => attempt.promise,

        /** Asks whether the engine is still set up, and has it set up again when it is not. */
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
         * @param {"icon"|"look"} command
         * @param {object} [details]
         * @returns {Promise<object>} the answer, or an empty object when none came; untrusted
         */
        ask(command, details = {}) {
            requestCount += 1;
            const request = requestCount;
            return new Promise((resolve) => {
                requests.set(request, resolve);
                setTimeout(() => answer({ request }), answerSecondsMax * 1000);
                send({ ...details, replayhost: command, request });
            });
        },

        /** @param {"reload"|"pause"} command */
        tell: (command) => send({ replayhost: command }),

        close() {
            clearTimeout(attempt.timer);
            window.removeEventListener("message", hear);
            frame.remove();
        },
    };
}
