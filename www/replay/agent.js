/** The agent: the viewer's helper on this origin, in a hidden frame. `app/replay/agent-frame.js` is the viewer's side. */

const scrollEndMilliseconds = 150;
const scrollSecondsMax = 8;
const iconBytesMax = 256 * 1024;

/** @param {string} controlOrigin the viewer's origin */
function runAgent(controlOrigin) {
    const tell = (message) => window.parent.postMessage(message, controlOrigin);
    const replayFrame = () => window.parent.___wb_replay_top_frame;
    const report = (step, percent) => {
        tell({ replayhost: "boot-progress", step, percent: Number(percent) || 0 });
    };
    const tellReady = ({ mode, isKept }) => tell({ replayhost: "ready", collection: boot.collection, mode, isKept });
    let settingUp = null;

    function prepare() {
        settingUp ??= setUp(report)
            .then(tellReady)
            .catch((error) => tell({ replayhost: "failed", code: error.code ?? "worker-silent" }))
            .finally(() => {
                settingUp = null;
            });
        return settingUp;
    }

    async function check() {
        const mode = await currentMode().catch(() => undefined);
        if (mode) tellReady({ mode, isKept: true });
        else await prepare();
    }

    async function icon({ url, timestamp, request }) {
        const answer = { replayhost: "icon", request };
        try {
            const path = `/${boot.collection}/${String(timestamp).replace(/\D/g, "")}im_/${url}`;
            const response = await fetch(path);
            const type = (response.headers.get("Content-Type") ?? "").split(";")[0].trim().toLowerCase();
            if (response.ok && type.startsWith("image/")) {
                const bytes = await response.arrayBuffer();
                const fits = bytes.byteLength > 0 && bytes.byteLength <= iconBytesMax;
                if (fits) Object.assign(answer, { type, bytes });
            }
        } catch {
            // The icon wasn't captured.
        }
        tell(answer);
    }

    // The last link that was clicked. Browsers don't report which document they refused to show in a frame.
    let clicked = "";
    const watched = new WeakSet();

    function watch(page) {
        // A document that is still empty is watched when it has loaded.
        if (!page.documentElement || watched.has(page)) return;
        watched.add(page);
        watchTitle(page);
        watchScroll(page);
        page.addEventListener("click", (event) => {
            const link = event.composedPath().find((node) => node.localName === "a" && node.href);
            clicked = link ? String(link.href) : "";
        }, true);
    }

    /** Reports every change of the title. The engine's script reports only `document.title`, and isn't in every document. */
    function watchTitle(page) {
        const report = () => {
            if (page === replayFrame().document) tell({ replayhost: "title", title: titleOf(page) });
        };
        new MutationObserver(report)
            .observe(page.head ?? page.documentElement, { childList: true, characterData: true, subtree: true });
        // It may have changed before it was observed.
        if (page.title) report();
    }

    /** Reports the scroll position whenever scrolling stops. */
    function watchScroll(page) {
        let timer = 0;
        const report = () => {
            const view = page.defaultView;
            if (view && view === replayFrame()) tell({ replayhost: "scroll", x: view.scrollX, y: view.scrollY });
        };
        page.addEventListener("scroll", () => {
            clearTimeout(timer);
            timer = setTimeout(report, scrollEndMilliseconds);
        });
        // It may have been scrolled before it was watched.
        if (page.defaultView?.scrollY) report();
    }

    /** Restores a scroll position. A page may still grow, so this repeats for some seconds, or until the user scrolls. */
    function scroll({ x, y }) {
        let view;
        try {
            view = replayFrame();
            watch(view.document);
        } catch {
            return;
        }
        const isOver = new AbortController();
        const end = () => isOver.abort();
        for (const kind of ["wheel", "keydown", "pointerdown", "touchstart", "pagehide"]) {
            view.addEventListener(kind, end, { signal: isOver.signal, capture: true, passive: true });
        }
        setTimeout(end, scrollSecondsMax * 1000);
        const repeat = () => {
            if (isOver.signal.aborted) return;
            view.scrollTo({ left: x, top: y, behavior: "instant" });
            if (Math.abs(view.scrollY - y) > 1 || view.document.readyState !== "complete") setTimeout(repeat, scrollEndMilliseconds);
            else end();
        };
        repeat();
    }

    // Ends what `together` began.
    let apart = new AbortController();

    /** Makes two frames of the viewer scroll together, or none if there are no names. */
    function together({ names }) {
        apart.abort();
        apart = new AbortController();
        // Where a frame was scrolled to. Its own event says so once more.
        const reached = new Map();
        try {
            const views = names.map((name) => window.parent[name]);
            // WebKit's worker has no frames without scripts.
            if (!views.every(({ navigator }) => navigator.serviceWorker?.controller)) tell({ replayhost: "not-replayed" });
            views.forEach((view, index) => view.addEventListener("scroll", () => {
                if (reached.get(view) === view.scrollY) return;
                const other = views[1 - index];
                other.scrollTo({ left: view.scrollX, top: view.scrollY, behavior: "instant" });
                reached.set(other, other.scrollY);
                reached.delete(view);
            }, { signal: apart.signal }));
        } catch {
            // One has no document of this origin yet. The viewer repeats this when it has loaded.
        }
    }

    const titleOf = (page) => String(page.title ?? "").slice(0, 1000);

    const navigationOf = (frame) => performance.getEntriesByType.call(frame.performance, "navigation")[0];

    /** Returns the URL from which the document was loaded. Its current URL may differ. */
    function loadedURL(frame) {
        try {
            return navigationOf(frame).name;
        } catch {
            return "";
        }
    }

    /** Whether the document is this one, from the server, and not a captured one with the same element, which the worker answered. */
    function isSetup(frame) {
        const { getElementById } = Document.prototype;
        return getElementById.call(frame.document, "boot-data") !== null && !(navigationOf(frame)?.workerStart > 0);
    }

    /**
     * Reports the document in the replay frame. Images, text files and PDF don't have the engine's script. Without a worker, the server gets
     * the frame's request, and sends the page that sets up the engine.
     */
    function look({ request }) {
        const answer = { replayhost: "look", request };
        try {
            const frame = replayFrame();
            answer.href = frame.location.href;
            answer.isSetup = isSetup(frame);
            if (answer.isSetup) return tell(answer);
            answer.opened = loadedURL(frame);
            answer.title = titleOf(frame.document);
            watch(frame.document);
            clicked = "";
        } catch {
            answer.href = "";
            answer.clicked = clicked;
        }
        tell(answer);
    }

    function reload() {
        try {
            replayFrame().location.reload();
        } catch {
            tell({ replayhost: "reload-refused" });
        }
    }

    async function copy({ request }) {
        const answer = { replayhost: "copy", request };
        try {
            answer.html = await copyPage(replayFrame());
        } catch {
            // No page is shown that can be read.
        }
        tell(answer);
    }

    function pause() {
        try {
            for (const media of replayFrame().document.querySelectorAll("audio, video")) media.pause();
        } catch {
            // Nothing to pause.
        }
    }

    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
        if (["file", "similar"].includes(data?.replayhost)) tell(data);
    });

    const { read, reveal, stop } = createTextReader(tell, replayFrame);
    const commands = { check, icon, look, copy, reload, pause, scroll, together, read, reveal, stop };
    window.addEventListener("message", (event) => {
        if (event.origin !== controlOrigin || event.source !== window.parent) return;
        const command = event.data?.replayhost;
        if (Object.hasOwn(commands, command)) commands[command](event.data);
    });
    prepare();
}
