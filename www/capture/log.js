/** The log of a download, 20 lines a page. */
import { errorBlock } from "/app/components/messages.js";
import { make, plain } from "/app/core/dom.js";
import { message } from "/app/core/i18n.js";
import * as api from "./api.js";

const pageLines = 20;

/**
 * @param {string} id of a download
 * @returns {{element: HTMLElement, load: () => Promise<void>}} `load` reads the lines again, and the last page at first
 */
export function createLog(id) {
    const lines = make("ol", { class: "lines" });
    const position = make("span", { class: "quiet" });
    const earlier = make("button", { type: "button", text: message("capture.log.earlier"), on: { click: () => turn(-1) } });
    const later = make("button", { type: "button", text: message("capture.log.later"), on: { click: () => turn(1) } });
    const pager = make("div", { class: "pager" }, earlier, later, position);
    const problems = make("div");
    const element = make("div", {}, problems, lines, pager);
    let page = 0;
    let pages = 1;
    // Follows the end of the log until another page is chosen.
    let isAtEnd = true;
    let loading = null;
    let shown = null;

    async function turn(pagesForward) {
        await loading;
        page = Math.min(pages - 1, Math.max(0, page + pagesForward));
        isAtEnd = page === pages - 1;
        await load();
    }

    function load() {
        loading ??= read().finally(() => {
            loading = null;
        });
        return loading;
    }

    async function read() {
        try {
            let answer = await api.log(id, page * pageLines, pageLines);
            pages = Math.max(1, Math.ceil(answer.total / pageLines));
            if (isAtEnd && page !== pages - 1) {
                page = pages - 1;
                answer = await api.log(id, page * pageLines, pageLines);
            }
            problems.replaceChildren();
            show(answer);
        } catch (error) {
            if (error.status === 404) show({ total: 0, lines: [] });
            else if (!api.isUnreachable(error)) problems.replaceChildren(errorBlock(error, message("capture.log.cant-read")));
        }
    }

    function show(answer) {
        const state = JSON.stringify([page, answer.total, answer.lines]);
        if (state === shown) return;
        shown = state;
        const first = page * pageLines + 1;
        lines.setAttribute("start", first);
        lines.replaceChildren(...answer.lines.map((line) => make("li", { dir: "auto", text: plain(line, 4000) })));
        lines.hidden = answer.lines.length === 0;
        position.textContent = answer.total === 0 ? message("capture.log.empty")
            : message("capture.log.lines", { first, last: first + answer.lines.length - 1, total: answer.total });
        const focused = [earlier, later].indexOf(document.activeElement);
        earlier.disabled = page === 0;
        later.disabled = page >= pages - 1;
        earlier.hidden = later.hidden = pages === 1;
        if (focused >= 0 && document.activeElement.disabled) [later, earlier][focused].focus();
    }

    return { element, load };
}
