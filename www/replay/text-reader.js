/**
 * Reads the text of the page for the viewer, which marks words in it. `app/viewer/marked-words.js` is the viewer's side.
 *
 * Everything here runs at the page's origin, where the page can read and change it. So this never learns the words: it sends
 * the whole text and the places of all visible words, and the viewer finds and draws the marks.
 */
import { createMeasure, rootsIn, scrollToText, textsIn } from "./page-text.js";

const sliceMilliseconds = 10;
const batchCharacters = 1 << 16;
const lengthMax = 1 << 26;
const placedMax = 6000;
const restMilliseconds = 100;
const againMilliseconds = 1000;
// Reading and measuring again takes at most this part of the time.
const idleFactor = 12;
const holdSecondsMax = 8;
const settleSecondsMax = 10;
const userEvents = ["wheel", "keydown", "pointerdown", "touchstart"];

/**
 * @param {(message: object) => void} tell
 * @param {() => Window} replayFrame
 */
export function createTextReader(tell, replayFrame) {
    let reading = null;
    // Also higher than those of an earlier agent.
    let version = Date.now();

    function read() {
        let page = null;
        try {
            page = replayFrame().document;
        } catch {
            // A document that can't be read.
        }
        if (reading?.page === page) return;
        stop();
        if (page?.documentElement) {
            reading = startReading(page);
        }
    }

    function stop() {
        reading?.stop();
        reading = null;
    }

    function startReading(page) {
        const view = page.defaultView;
        const ended = new AbortController();
        const { signal } = ended;
        const watched = new WeakSet();
        const observer = new MutationObserver(() => {
            isChanged = true;
        });
        // The texts, and where each begins in all of the text.
        let segments = [];
        let sent = null;
        let isChanged = false;
        let needsMeasure = true;
        let isBusy = false;
        let nextRead = 0;
        let readAt = -1;
        const settledAt = performance.now() + settleSecondsMax * 1000;
        let timer = 0;
        let held = null;
        let isMoving = false;

        const isOver = () => signal.aborted || replayFrame() !== view || view.document !== page;
        const pause = () => new Promise((done) => setTimeout(done));

        function schedule(milliseconds) {
            clearTimeout(timer);
            timer = setTimeout(work, milliseconds);
        }

        async function work() {
            if (isBusy || check()) return;
            if (page.visibilityState === "hidden") {
                schedule(againMilliseconds);
                return;
            }
            isBusy = true;
            const started = performance.now();
            try {
                // Shadow roots can be added without a mutation.
                if ((isChanged || started < settledAt) && started >= nextRead) {
                    readAt = started;
                    await readAll();
                }
                // What moves without an event, such as an animation, is measured again, too.
                await measureAll();
            } catch {
                // The page may have changed what this uses.
            }
            isBusy = false;
            const idle = Math.max(againMilliseconds, (performance.now() - started) * idleFactor);
            if (readAt === started) nextRead = performance.now() + idle;
            schedule(needsMeasure ? restMilliseconds : idle);
        }

        /** Whether the page has gone. */
        function check() {
            let over = true;
            try {
                over = isOver();
            } catch {
                // The frame shows a document that can't be read.
            }
            if (over) end();
            return over;
        }

        function end() {
            clearTimeout(timer);
            observer.disconnect();
            ended.abort();
        }

        async function readAll() {
            isChanged = false;
            for (const root of rootsIn(page)) watch(root);
            const found = [];
            const parts = [];
            let [length, from, line, deadline] = [0, 0, true, performance.now() + sliceMilliseconds];
            // The first time, the text is sent while it's read.
            const isFirst = sent === null;
            let isSame = !isFirst;
            if (isFirst) version += 1;
            const own = version;
            let batch = "";
            const send = (isLast) => {
                tell({ replayhost: "text", version: own, from, text: batch, isLast, isNew: true });
                from += batch.length;
                batch = "";
            };
            for (const node of textsIn(page)) {
                if (length > lengthMax) break;
                const text = node ? node.data : line ? "" : "\n";
                line = !node;
                if (text) {
                    if (node) {
                        isSame &&= sent[found.length] === text && segments[found.length].start === length;
                        found.push({ node, start: length, length: text.length });
                        parts.push(text);
                    }
                    length += text.length;
                    if (isFirst) {
                        batch += text;
                        if (batch.length > batchCharacters) send(false);
                    }
                }
                if (performance.now() > deadline) {
                    await pause();
                    if (check()) return;
                    deadline = performance.now() + sliceMilliseconds;
                }
            }
            isSame &&= sent.length === parts.length;
            segments = found;
            sent = parts;
            if (isFirst) send(true);
            else if (!isSame) await sendAgain();
        }

        async function sendAgain() {
            version += 1;
            const own = version;
            let [batch, from] = ["", 0];
            for (const [index, { start }] of segments.entries()) {
                batch += (start > from + batch.length ? "\n" : "") + sent[index];
                if (batch.length <= batchCharacters) continue;
                tell({ replayhost: "text", version: own, from, text: batch, isLast: false });
                from += batch.length;
                batch = "";
                await pause();
                if (check()) return;
            }
            tell({ replayhost: "text", version: own, from, text: batch, isLast: true });
        }

        async function measureAll() {
            needsMeasure = false;
            let deadline = performance.now() + sliceMilliseconds;
            let measure = createMeasure(view);
            const places = [];
            for (const { node, start } of segments) {
                measure.measure(node, (from, to, ...box) => {
                    if (places.length < placedMax * 6) places.push(start + from, start + to, ...box);
                });
                if (performance.now() > deadline) {
                    await pause();
                    // The page is moving.
                    if (check() || needsMeasure) return;
                    measure = createMeasure(view);
                    deadline = performance.now() + sliceMilliseconds;
                }
            }
            const { clientWidth, clientHeight } = page.scrollingElement ?? page.documentElement;
            tell({ replayhost: "places", version, places, width: clientWidth || view.innerWidth, height: clientHeight || view.innerHeight,
                x: view.scrollX, y: view.scrollY });
            if (held) hold();
        }

        function watch(root) {
            if (watched.has(root)) return;
            watched.add(root);
            observer.observe(root, { childList: true, characterData: true, subtree: true, attributes: true,
                attributeFilter: ["class", "style", "hidden", "open"] });
            const options = { capture: true, passive: true, signal };
            root.addEventListener("scroll", (event) => noteScroll(event.target), options);
            for (const kind of ["load", "transitionend", "animationend", "toggle"]) root.addEventListener(kind, () => measureSoon(), options);
            for (const kind of userEvents) root.addEventListener(kind, release, options);
        }

        function noteScroll(target) {
            measureSoon();
            if (isMoving) return;
            isMoving = true;
            view.requestAnimationFrame(() => {
                isMoving = false;
                tell({ replayhost: "moved", x: view.scrollX, y: view.scrollY, isPart: target !== page });
            });
        }

        function measureSoon() {
            needsMeasure = true;
            if (!isBusy) schedule(restMilliseconds);
        }

        /**
         * Scrolls to a part of the text. The viewer names only parts of a fixed length, so that the page doesn't learn which word
         * is marked. While the page is loading, this repeats until the user does something.
         */
        function scrollTo(part) {
            held = { part, until: performance.now() + holdSecondsMax * 1000 };
            hold();
            measureSoon();
        }

        function hold() {
            const { part, until } = held;
            // The text that has most of it.
            let best = { from: 0, to: 0 };
            for (const { node, start, length } of segments) {
                const from = Math.max(0, part.start - start);
                const to = Math.min(length, part.end - start, node.data.length);
                if (to - from > best.to - best.from && node.data.slice(from, to).trim()) best = { node, from, to };
            }
            if (best.node) scrollToText(view, best.node, best.from, best.to);
            if (page.readyState === "complete" || performance.now() > until) held = null;
        }

        function release(event) {
            if (event.isTrusted) held = null;
        }

        view.addEventListener("resize", measureSoon, { signal });
        view.addEventListener("pagehide", () => tell({ replayhost: "moved", x: 0, y: 0, isPart: true }), { signal });
        schedule(0);
        return { page, stop: end, scrollTo };
    }

    return {
        read,
        stop,

        /** @param {{version: number, start: number, end: number}} part of the text */
        reveal({ version: known, start, end }) {
            if (reading && known === version) reading.scrollTo({ start, end });
        },
    };
}
