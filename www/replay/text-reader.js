/**
 * Reads the text of the page for the viewer, which marks words in it. `app/viewer/marked-words.js` is the viewer's side.
 *
 * Everything here runs at the page's origin, where the page can read and change it. So this never learns the words: it sends
 * the whole text and the places of all visible words, and the viewer finds and draws the marks.
 */

const sliceMilliseconds = 10;
const partCharacters = 1 << 16;
const lengthMax = 1 << 25;
const placedMax = 6000;
// After so many texts that aren't visible, the others are hardly visible either.
const unseenMin = 400;
const restMilliseconds = 100;
const againMilliseconds = 1000;
// Reading and measuring again takes at most this part of the time.
const idleFactor = 12;
const holdSecondsMax = 8;
const settleSecondsMax = 10;
const userEvents = ["wheel", "keydown", "pointerdown", "touchstart"];

/** Yields all indexes of a list, those around `center` first. */
function* outwards(center, length) {
    for (let [before, after] = [center - 1, center]; before >= 0 || after < length; before -= 1, after += 1) {
        if (after < length) yield after;
        if (before >= 0 && before < length) yield before;
    }
}

/**
 * @param {(message: object) => void} tell
 * @param {() => Window} replayFrame
 */
function createTextReader(tell, replayFrame) {
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
        // The texts, and where each begins in all of the text; `null` until they're read.
        let segments = null;
        let isChanged = false;
        let needsMeasure = true;
        let isBusy = false;
        let nextRead = 0;
        let readAt = -1;
        const settledAt = performance.now() + settleSecondsMax * 1000;
        let timer = 0;
        let held = null;
        let isMoving = false;
        // The text that was visible last.
        let center = 0;

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

        /** Reads the text of the page, and sends it if it's another one than before. */
        async function readAll() {
            isChanged = false;
            for (const root of rootsIn(page)) watch(root);
            // The first time, the text is sent while it's read.
            const first = segments === null ? startSending(true) : null;
            const before = segments ?? [];
            const found = [];
            let [length, isLine, isSame, deadline] = [0, true, true, performance.now() + sliceMilliseconds];
            for (const node of textsIn(page)) {
                if (length > lengthMax) break;
                const text = node ? node.data : isLine ? "" : "\n";
                isLine = !node;
                if (node && text) {
                    const known = before[found.length];
                    isSame &&= known?.text === text && known.start === length;
                    found.push({ node, text, start: length });
                }
                length += text.length;
                await first?.add(text);
                if (performance.now() > deadline) {
                    await pause();
                    deadline = performance.now() + sliceMilliseconds;
                }
                if (signal.aborted) return;
            }
            isSame &&= found.length === before.length;
            segments = found;
            if (first) first.end();
            else if (!isSame) await sendAgain();
        }

        async function sendAgain() {
            const sending = startSending(false);
            let length = 0;
            for (const { text, start } of segments) {
                await sending.add((start > length ? "\n" : "") + text);
                length = start + text.length;
                if (signal.aborted) return;
            }
            sending.end();
        }

        /** Sends a text in parts, so that neither this window nor the viewer's is busy for long. */
        function startSending(isNew) {
            version += 1;
            const own = version;
            let [from, rest] = [0, ""];
            const send = (text, isLast) => {
                tell({ replayhost: "text", version: own, from, text, isLast, isNew });
                from += text.length;
            };
            return {
                async add(text) {
                    rest += text;
                    while (rest.length > partCharacters) {
                        send(rest.slice(0, partCharacters), false);
                        rest = rest.slice(partCharacters);
                        await pause();
                    }
                },
                end: () => send(rest, true),
            };
        }

        /** Measures all texts, first those around the ones that were visible, and tells where the visible ones are. */
        async function measureAll() {
            needsMeasure = false;
            const known = version;
            let deadline = performance.now() + sliceMilliseconds;
            let measure = createMeasure(view);
            const places = [];
            let [told, unseen] = [0, 0];
            const isInterrupted = async () => {
                await pause();
                deadline = performance.now() + sliceMilliseconds;
                return check() || needsMeasure;
            };
            for (const index of outwards(center, segments.length)) {
                const { node, start } = segments[index];
                unseen += 1;
                for (const place of measure.places(node)) {
                    center = index;
                    unseen = 0;
                    if (place && places.length < placedMax) places.push([start + place[0], start + place[1], ...place.slice(2)]);
                    if (performance.now() > deadline && await isInterrupted()) return;
                }
                if (performance.now() < deadline) continue;
                if (places.length > told && unseen > unseenMin) {
                    told = places.length;
                    tellPlaces(known, places);
                }
                if (await isInterrupted()) return;
                measure = createMeasure(view);
            }
            tellPlaces(known, places);
            if (held) hold();
        }

        function tellPlaces(known, places) {
            const { clientWidth, clientHeight } = page.scrollingElement ?? page.documentElement;
            const list = places.toSorted((a, b) => a[0] - b[0]).flat();
            tell({ replayhost: "places", version: known, places: list, width: clientWidth || view.innerWidth,
                height: clientHeight || view.innerHeight, x: view.scrollX, y: view.scrollY });
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
            for (const [index, { node, text, start }] of (segments ?? []).entries()) {
                const from = Math.max(0, part.start - start);
                const to = Math.min(text.length, part.end - start, node.data.length);
                if (to - from > best.to - best.from && node.data.slice(from, to).trim()) best = { node, from, to, index };
            }
            if (!best.node) return;
            center = best.index;
            scrollToText(view, best.node, best.from, best.to);
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
