/** The server's events: changes of the library, and the progress of jobs. */
import { followServer, responds, serverFailed, serverResponded } from "./connection.js";

// A server without events isn't asked again, by any view.
let isSupported = true;

/**
 * Listens while this page is visible. Browsers limit the connections to one host, and every tab uses one.
 *
 * A server without events isn't asked again. The library then updates only when the page becomes visible.
 *
 * @param {{onConnected: () => void, onArchives?: () => void, onJob: (job: import("./api.js").Job) => void}} listener
 *   `onConnected`: earlier events may have been missed
 * @returns {{close: () => void}}
 */
export function followEvents({ onConnected, onArchives, onJob }) {
    let source = null;
    let hasWorked = false;
    let ended = false;
    const server = followServer({ onBack: connect });

    function connect() {
        if (ended || !isSupported || source || document.visibilityState !== "visible") return;
        source = new EventSource("/api/events");
        source.addEventListener("open", () => {
            hasWorked = true;
            serverResponded();
            onConnected();
        });
        source.addEventListener("archives", () => onArchives?.());
        source.addEventListener("job", (event) => {
            const job = read(event.data);
            if (job) onJob(job);
        });
        source.addEventListener("error", () => {
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
    }

    /** A server that responds, but not with events, has none. */
    async function checkSupport() {
        isSupported = false;
        isSupported = !await responds();
    }

    function whenVisible() {
        if (document.visibilityState === "visible") {
            connect();
        } else {
            disconnect();
        }
    }
    document.addEventListener("visibilitychange", whenVisible);
    connect();

    return {
        close() {
            ended = true;
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
