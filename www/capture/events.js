/** The events of the server, as a signal that something has changed. Without them, the page asks again and again. */
import { key } from "./connection.js";

const secondsBetween = 5;

/**
 * Follows the events while the page is visible.
 *
 * @param {{onEvent: () => void, onSupport: (isSupported: boolean) => void}} host `onSupport`: whether events arrive now
 * @returns {{connect: () => void}} `connect` tries again
 */
export function followEvents({ onEvent, onSupport }) {
    let abort = null;
    let last = "";
    // A server without events isn't asked again.
    let isMissing = false;

    async function read() {
        const headers = { Accept: "text/event-stream", ...(key() && { Authorization: `Bearer ${key()}` }), ...(last && { "Last-Event-ID": last }) };
        const answer = await fetch("/events", { headers, cache: "no-store", signal: abort.signal });
        isMissing = answer.status === 404 || answer.status === 405;
        if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("text/event-stream")) return;
        onSupport(true);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            // https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
            const lines = (rest + value).split(/\r\n|\n|\r/);
            rest = lines.pop();
            for (const line of lines) {
                last = /^id: ?([^\0]*)$/.exec(line)?.[1] ?? last;
                if (line.startsWith("data")) onEvent();
            }
        }
    }

    async function connect() {
        if (abort || isMissing || document.visibilityState !== "visible") return;
        abort = new AbortController();
        await read().catch(() => {});
        abort = null;
        onSupport(false);
        setTimeout(connect, secondsBetween * 1000);
    }

    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "visible") connect();
        else abort?.abort();
    });
    connect();
    return { connect };
}
