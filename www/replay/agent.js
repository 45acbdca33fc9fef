/** The agent: the viewer's helper on this origin, in a hidden frame. `app/replay/agent.js` is the viewer's half. */
import { boot, isSetUp, setUp, storedWay } from "./setup.js";

const restMilliseconds = 150;
const growingSecondsMax = 8;
const iconBytesMax = 256 * 1024;

/** @param {string} controlOrigin the viewer's */
export function runAgent(controlOrigin) {
    const tell = (message) => window.parent.postMessage(message, controlOrigin);
    const replayFrame = () => window.parent.___wb_replay_top_frame;
    const report = (step, percent) => {
        tell({ replayhost: "boot-progress", step, percent: Number(percent) || 0 });
    };
    const tellReady = async () => tell({ replayhost: "ready", collection: boot.collection, way: await storedWay() });
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
        if (await isSetUp().catch(() => false)) await tellReady();
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
            // An icon that was not captured is no error.
        }
        tell(answer);
    }

    // The link that was followed last: the browser tells nobody which document it refused to show in a frame.
    let clicked = "";
    const watched = new WeakSet();

    function watch(page) {
        // A document that has only begun is looked at once more when it is loaded.
        if (!page.documentElement || watched.has(page)) return;
        watched.add(page);
        watchTitle(page);
        watchScroll(page);
        page.addEventListener("click", (event) => {
            const link = event.composedPath().find((node) => node.localName === "a" && node.href);
            clicked = link ? String(link.href) : "";
        }, true);
    }

    /** The engine's script says only what is assigned to `document.title`, and it isn't in every document. */
    function watchTitle(page) {
        const say = () => {
            if (page === replayFrame().document) tell({ replayhost: "title", title: titleOf(page) });
        };
        new MutationObserver(say)
            .observe(page.head ?? page.documentElement, { childList: true, characterData: true, subtree: true });
        // It may have changed before it was observed.
        if (page.title) say();
    }

    /** How far the page is scrolled, whenever it comes to rest. */
    function watchScroll(page) {
        let timer = 0;
        const say = () => {
            const view = page.defaultView;
            if (view && view === replayFrame()) tell({ replayhost: "scroll", x: view.scrollX, y: view.scrollY });
        };
        page.addEventListener("scroll", () => {
            clearTimeout(timer);
            timer = setTimeout(say, restMilliseconds);
        });
        // It may have been scrolled before it was watched.
        if (page.defaultView?.scrollY) say();
    }

    /** Scrolls a page as it was, which may still grow; until somebody moves it, or for a few seconds. */
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
        setTimeout(end, growingSecondsMax * 1000);
        const repeat = () => {
            if (isOver.signal.aborted) return;
            view.scrollTo({ left: x, top: y, behavior: "instant" });
            if (Math.abs(view.scrollY - y) > 1 || view.document.readyState !== "complete") setTimeout(repeat, restMilliseconds);
            else end();
        };
        repeat();
    }

    const titleOf = (page) => String(page.title ?? "").slice(0, 1000);

    /** The address that a document was asked for at; its own may be another since. */
    function openedAddress(frame) {
        try {
            return performance.getEntriesByType.call(frame.performance, "navigation")[0].name;
        } catch {
            return "";
        }
    }

    /** What the replay frame holds now; for documents without the engine's script in them: images, texts, PDF. */
    function look({ request }) {
        const answer = { replayhost: "look", request };
        try {
            const frame = replayFrame();
            answer.href = frame.location.href;
            answer.opened = openedAddress(frame);
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

    function pause() {
        try {
            for (const media of replayFrame().document.querySelectorAll("audio, video")) media.pause();
        } catch {
            // Nothing to pause.
        }
    }

    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
        if (data?.replayhost === "file") tell(data);
    });

    const commands = { check, icon, look, reload, pause, scroll };
    window.addEventListener("message", (event) => {
        if (event.origin !== controlOrigin || event.source !== window.parent) return;
        const command = event.data?.replayhost;
        if (Object.hasOwn(commands, command)) commands[command](event.data);
    });
    prepare();
}
