/** What the host tells by itself: changes of the library by anybody, and how far long work has come. */

const reconnectSeconds = 3;
const lostSeconds = 3;

/**
 * Listens as long as this page is in front: a browser has few connections to one host, and every tab takes one.
 *
 * A host without events is one whose library is read when somebody looks at it, and that is all.
 *
 * @param {{onConnected: () => void, onLost: () => void, onArchives: () => void, onJob: (job: import("./api.js").Job) => void}} listener
 *   `onConnected`: from now on everything is told; what was before may have been missed; `onLost`: the host that told
 *   everything hasn't answered for some seconds, and is asked again and again
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
        if (ended || source || document.visibilityState !== "visible") return;
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
            // After a broken connection the browser connects again by itself, after a refusal it does not.
            if (source?.readyState !== EventSource.CLOSED) return;
            disconnect();
            if (hasWorked) timer = setTimeout(connect, reconnectSeconds * 1000);
            else ended = true;
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
