/** The server's events: changes of the library, and the progress of jobs. */
import { followServer, responds, serverFailed, serverResponded } from "./connection.js";

/**
 * @typedef {{onConnected: () => void, onArchives?: () => void, onJob?: (job: import("./api.js").Job) => void}} Listener
 *   `onConnected`: earlier events may have been missed
 */

/** All listeners share one connection: browsers limit the connections to one host, and every tab uses one. */
const listeners = new Set();
let source = null;
let isOpen = false;
let hasWorked = false;
let server = null;
// A server without events isn't asked again, by any view.
let isSupported = true;

const tell = (name, value) => [...listeners].forEach((listener) => listener[name]?.(value));

function connect() {
    if (listeners.size === 0 || !isSupported || source || document.visibilityState !== "visible") return;
    source = new EventSource("/api/events");
    source.addEventListener("open", () => {
        hasWorked = isOpen = true;
        serverResponded();
        tell("onConnected");
    });
    source.addEventListener("archives", () => tell("onArchives"));
    source.addEventListener("job", (event) => {
        const job = read(event.data);
        if (job) tell("onJob", job);
    });
    source.addEventListener("error", () => {
        isOpen = false;
        serverFailed();
        // Browsers reconnect after a broken connection, but not after an error response.
        if (source?.readyState !== EventSource.CLOSED) return;
        disconnect();
        if (!hasWorked) checkSupport();
    });
}

function disconnect() {
    source?.close();
    source = null;
    isOpen = false;
}

/** A server that responds, but not with events, has none. */
async function checkSupport() {
    isSupported = false;
    isSupported = !await responds();
}

function whenVisible() {
    if (document.visibilityState === "visible") connect();
    else disconnect();
}

/**
 * Listens while this page is visible.
 *
 * A server without events isn't asked again. The library then updates only when the page becomes visible.
 *
 * @param {Listener} listener
 * @returns {{close: () => void}}
 */
export function followEvents(listener) {
    if (listeners.size === 0) {
        server = followServer({ onBack: connect });
        document.addEventListener("visibilitychange", whenVisible);
    }
    listeners.add(listener);
    if (isOpen) queueMicrotask(() => listeners.has(listener) && listener.onConnected());
    else connect();

    return {
        close() {
            listeners.delete(listener);
            if (listeners.size > 0) return;
            server.close();
            disconnect();
            document.removeEventListener("visibilitychange", whenVisible);
        },
    };
}

function read(data) {
    try {
        const job = JSON.parse(data);
        return typeof job === "object" && job !== null ? job : null;
    } catch {
        return null;
    }
}
