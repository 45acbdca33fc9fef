/** The server's events: changes of the library, and the progress of jobs. */

const reconnectSeconds = 3;
const lostSeconds = 3;
// A server without events isn't asked again, by any view.
let isSupported = true;

/**
 * Listens while this page is visible. Browsers limit the connections to one host, and every tab uses one.
 *
 * A server without events isn't asked again. The library then updates only when the page becomes visible.
 *
 * @param {{onConnected: () => void, onLost: () => void, onArchives: () => void, onJob: (job: import("./api.js").Job) => void}} listener
 *   `onConnected`: earlier events may have been missed; `onLost`: the server hasn't responded for some seconds, and the
 *   connection is retried
 * @returns {{close: () => void}}
 */
export function followEvents({ onConnected, onLost, onArchives, onJob }) {
    let source = null;
    let timer;
    let lostTimer;
    let hasWorked = false;
    let ended = false;

    function connect() {
        clearTimeout(timer);
        if (ended || !isSupported || source || document.visibilityState !== "visible") return;
        source = new EventSource("/api/events");
        source.addEventListener("open", () => {
            hasWorked = true;
            clearTimeout(lostTimer);
            lostTimer = undefined;
            onConnected();
        });
        source.addEventListener("archives", () => onArchives());
        source.addEventListener("job", (event) => {
            const job = read(event.data);
            if (job) onJob(job);
        });
        source.addEventListener("error", () => {
            if (hasWorked) lostTimer ??= setTimeout(onLost, lostSeconds * 1000);
            // Browsers reconnect after a broken connection, but not after an error response.
            if (source?.readyState !== EventSource.CLOSED) return;
            disconnect();
            if (hasWorked) timer = setTimeout(connect, reconnectSeconds * 1000);
            else isSupported = false;
        });
    }

    function disconnect() {
        clearTimeout(timer);
        source?.close();
        source = null;
    }

    function whenVisible() {
        if (document.visibilityState === "visible") {
            connect();
        } else {
            clearTimeout(lostTimer);
            lostTimer = undefined;
            disconnect();
        }
    }
    document.addEventListener("visibilitychange", whenVisible);
    connect();

    return {
        close() {
            ended = true;
            clearTimeout(lostTimer);
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
