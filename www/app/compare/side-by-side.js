/**
 * Two archived pages side by side, which scroll together. No script runs in them: both have the same origin, so that a script of one
 * could change what the other one shows.
 */
import "../messages/en/compare.js";
import "../messages/en/viewer.js";
import { errorBlock } from "../components/messages.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { replaysOnPorts } from "../core/origins.js";
import { chosenMode } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { exactMoment } from "../core/times.js";
import { createAgentFrame } from "../replay/agent-frame.js";
import { possibleMode, replayURL, stillFrame } from "../replay/frames.js";
import { openReplayPort } from "../replay/replay-port.js";

const names = ["replayhost_compare_a", "replayhost_compare_b"];
const unused = () => {};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {import("../core/api.js").Capture[]} captures of sides A and B
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function createSideBySide(item, captures) {
    const together = make("input", { type: "checkbox", checked: true, on: { change: scrollTogether } });
    const status = make("div", { class: "quiet", role: "status", text: message("compare.opening") });
    const pages = make("div", { class: "compare-pages" });
    const element = make("div", {}, make("p", { class: "quiet", text: message("compare.about-pages") }),
        make("label", { class: "scroll-together" }, together, message("compare.scroll-together")), status, pages);
    let isOpen = true;
    let port = null;
    let agent = null;

    async function open() {
        try {
            port = replaysOnPorts() ? openReplayPort(item, (origin) => show(origin).catch(fail)) : null;
            await show(port ? await port.origin : item.replayOrigin);
        } catch (error) {
            fail(error);
        }
    }

    function fail(error) {
        pages.replaceChildren();
        status.replaceChildren(errorBlock(error, message("compare.failed")));
    }

    /** Shows the pages at an origin, once the engine is set up there. */
    async function show(replayOrigin) {
        if (!isOpen) return;
        const target = { ...item, replayOrigin };
        const { mode } = possibleMode(item, chosenMode(location) || settings().replay);
        agent?.close();
        agent = createAgentFrame(target, mode, { onProgress: unused, onRestored: unused, onTitle: unused, onFile: unused, onScroll: unused,
            onReloadRefused: unused, onSimilar: unused }, null);
        agent.handle({ "not-replayed": () => fail(new Error(message("compare.not-replayed"))) });
        element.append(agent.element);
        await agent.ready();
        status.replaceChildren();
        pages.replaceChildren(...captures.map((capture, index) => pageOf(target, capture, index)));
    }

    function pageOf(target, capture, index) {
        const src = replayURL(target, capture.request ?? capture.url, capture.timestamp);
        const moved = make("p", { class: "notice", hidden: true }, message("compare.moved"), " ",
            make("button", { type: "button", text: message("compare.show-again"), on: { click: () => {
                // Its next document is the capture again.
                loads = 0;
                frame.src = src;
            } } }));
        let loads = 0;
        const frame = stillFrame(names[index], src);
        frame.title = message("compare.frame", { side: "AB"[index], time: exactMoment(capture.capturedAt) });
        frame.addEventListener("load", () => {
            loads += 1;
            moved.hidden = loads < 2;
            scrollTogether();
        });
        return make("section", { "aria-label": frame.title }, make("h2", { text: frame.title }), moved, frame);
    }

    function scrollTogether() {
        agent?.tell("together", { names: together.checked ? names : [] });
    }

    open();
    return { element, close() {
        isOpen = false;
        port?.close();
        agent?.close();
        element.remove();
    } };
}
