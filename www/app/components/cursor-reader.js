/** Reads a list part by part with a cursor: first by itself while the page scrolls, later by a button. */
import { followServer } from "../core/connection.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

const slowMilliseconds = 150;
const partSize = 100;
const partMax = 1000;
// A table of more rows makes the page slow, so a person asks for them.
const rowsByScrolling = 2000;

/**
 * @template Row
 * @typedef {object} Source
 * @property {(cursor: string|undefined, limit: number, signal: AbortSignal) => Promise<{rows: Row[], next?: string}>} read a part
 *   can be empty although others follow
 * @property {(rows: Row[], isFirst: boolean) => void} onRows `isFirst`: they replace those before
 * @property {(state: State) => void} onState
 *
 * @typedef {{count: number, isBusy: boolean, isFirst: boolean, wasStopped: boolean, hasMore: boolean, error: Error|null}} State `isBusy`
 *   after a while only; `isFirst`: no part of this list was read yet
 */

/**
 * @template Row
 * @param {Source<Row>} source
 * @returns {{element: HTMLElement, stop: HTMLElement, start: (count?: number) => Promise<boolean>, abort: () => void, close: () => void,
 *   readonly count: number}} `element` has the button for more; `stop` is a button; `start` reads at least `count` rows again
 */
export function cursorReader({ read, onRows, onState }) {
    let abort = new AbortController();
    let cursor;
    let count = 0;
    let isReading = false;
    // Repeats what failed because the server had stopped.
    let retry = null;
    let hasFailed = false;
    const server = followServer({ onBack: () => retry?.() });
    const button = make("button", { type: "button", hidden: true, on: { click: () => readPart(hasFailed, partSize) } });
    const stop = make("button", { type: "button", text: message("list.stop"), hidden: true, on: { click: () => abort.abort() } });
    const element = make("p", { class: "more-rows" }, button);
    const scrolled = new IntersectionObserver(([{ isIntersecting }]) => {
        if (isIntersecting && !button.hidden && count > 0 && count < rowsByScrolling && !retry) readPart(false, partSize);
    }, { rootMargin: "600px" });

    async function readPart(isFirst, limit) {
        if (isReading && !isFirst) return false;
        abort.abort();
        abort = new AbortController();
        const { signal } = abort;
        retry = null;
        isReading = true;
        button.hidden = true;
        let error = null;
        const slow = setTimeout(() => {
            stop.hidden = false;
            onState(state(true, isFirst, signal));
        }, slowMilliseconds);
        try {
            const rows = [];
            let from = isFirst ? undefined : cursor;
            do {
                const part = await read(from, Math.min(partMax, limit), signal);
                if (signal.aborted) break;
                rows.push(...part.rows);
                cursor = from = part.next;
            } while (cursor && (rows.length === 0 || isFirst && rows.length < limit));
            if (signal !== abort.signal) return false;
            if (isFirst) count = 0;
            count += rows.length;
            onRows(rows, isFirst);
        } catch (failure) {
            // Another list has begun, or this one was stopped.
            if (signal !== abort.signal) return false;
            if (!signal.aborted) error = failure;
            if (error?.status === 0) retry = () => readPart(isFirst, limit);
            if (isFirst) onRows([], true);
            if (isFirst) count = 0;
        } finally {
            clearTimeout(slow);
            if (signal === abort.signal) finish(isFirst, error, signal);
        }
        return error === null && !signal.aborted;
    }

    function finish(isFirst, error, signal) {
        isReading = false;
        stop.hidden = true;
        hasFailed = isFirst && error !== null;
        // What is refused is refused again.
        const canRepeat = !error || error.status === 0 || error.status >= 500;
        button.hidden = !canRepeat || !(cursor || error || signal.aborted);
        button.textContent = message(error ? "view.try-again" : count === 0 ? "list.continue" : "list.more");
        onState(state(false, isFirst, signal, error));
        // The observer tells only changes.
        scrolled.unobserve(element);
        if (!error && !signal.aborted) scrolled.observe(element);
    }

    const state = (isBusy, isFirst, signal, error = null) =>
        ({ count, isBusy, isFirst, wasStopped: signal.aborted, hasMore: Boolean(cursor), error });

    return {
        element,
        stop,

        get count() {
            return count;
        },

        start(wanted = 0) {
            cursor = undefined;
            return readPart(true, Math.max(wanted, partSize));
        },

        /** Ends what is being read, without a new list. */
        abort() {
            abort.abort();
            abort = new AbortController();
            isReading = false;
            [button.hidden, stop.hidden] = [true, true];
            count = 0;
            retry = null;
        },

        close() {
            abort.abort();
            server.close();
            scrolled.disconnect();
            retry = null;
        },
    };
}
