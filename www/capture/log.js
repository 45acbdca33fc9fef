/** The log of a download: its last lines, or the whole as a table with 20 lines a page. */
import { errorBlock } from "../app/components/messages.js";
import { make, plain } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import * as api from "./api.js";

const pageLines = 20;
const shortLines = 5;
const lineForm = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (?:([\w.-]{1,40}): )?(.*)$/s;

/**
 * @param {string} id of a download
 * @returns {{element: HTMLElement, load: () => Promise<void>}} `load` reads the lines again; of the table the last page at first
 */
export function createLog(id) {
    const lines = make("ol", { class: "lines" });
    const body = make("tbody");
    const head = ["line", "time", "tool", "text"].map((name) => make("th", { scope: "col", text: message(`capture.log.${name}`) }));
    const table = make("div", { class: "log-table", tabindex: "0", role: "group", "aria-label": message("capture.log.title"), hidden: true },
        make("table", {}, make("thead", {}, make("tr", {}, ...head)), body));
    const position = make("span", { class: "quiet" });
    const earlier = make("button", { type: "button", text: message("capture.log.earlier"), on: { click: () => turn(-1) } });
    const later = make("button", { type: "button", text: message("capture.log.later"), on: { click: () => turn(1) } });
    const whole = make("button", { type: "button", class: "link", text: message("capture.log.whole"), on: { click: showWhole } });
    const pager = make("div", { class: "pager" }, earlier, later, position, whole);
    const problems = make("div");
    const element = make("div", {}, problems, lines, table, pager);
    let isWhole = false;
    let page = 0;
    let pages = 1;
    // Follows the end of the log until another page is chosen.
    let isAtEnd = true;
    let loading = null;
    let shown = null;

    async function showWhole() {
        await loading;
        isWhole = true;
        shown = null;
        await load();
        table.focus();
    }

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
            let answer = await api.log(id, isWhole ? page * pageLines : 0, isWhole ? pageLines : shortLines);
            if (!isWhole) {
                if (answer.total > shortLines) answer = await api.log(id, answer.total - shortLines, shortLines);
                problems.replaceChildren();
                showShort(answer);
                return;
            }
            pages = Math.max(1, Math.ceil(answer.total / pageLines));
            if (isAtEnd && page !== pages - 1) {
                page = pages - 1;
                answer = await api.log(id, page * pageLines, pageLines);
            }
            problems.replaceChildren();
            show(answer);
        } catch (error) {
            if (error.status === 404) showShort({ total: 0, lines: [] });
            else if (!api.isUnreachable(error)) problems.replaceChildren(errorBlock(error, message("capture.log.cant-read")));
        }
    }

    function showShort(answer) {
        const state = JSON.stringify(answer);
        if (state === shown) return;
        shown = state;
        lines.setAttribute("start", answer.total - answer.lines.length + 1);
        lines.replaceChildren(...answer.lines.map((line) => make("li", { dir: "auto", text: plain(line, 4000) })));
        lines.hidden = answer.lines.length === 0;
        position.textContent = answer.total === 0 ? message("capture.log.empty") : "";
        earlier.hidden = later.hidden = true;
        whole.hidden = answer.total === 0;
    }

    function show(answer) {
        const state = JSON.stringify([page, answer.total, answer.lines]);
        if (state === shown) return;
        shown = state;
        const first = page * pageLines + 1;
        lines.hidden = whole.hidden = true;
        table.hidden = false;
        body.replaceChildren(...answer.lines.map((line, index) => row(first + index, line)));
        position.textContent = message("capture.log.lines", { first, last: first + answer.lines.length - 1, total: answer.total });
        const focused = [earlier, later].indexOf(document.activeElement);
        earlier.disabled = page === 0;
        later.disabled = page >= pages - 1;
        earlier.hidden = later.hidden = pages === 1;
        if (focused >= 0 && document.activeElement.disabled) [later, earlier][focused].focus();
    }

    return { element, load };
}

/** A row of the table. Lines without a time are whole in the last column. */
function row(number, line) {
    const [, time = "", tool = "", text = line] = lineForm.exec(line) ?? [];
    return make("tr", {}, make("td", { text: number }), make("td", { text: time.slice(11, 19) }), make("td", { text: plain(tool, 40) }),
        make("td", { dir: "auto", text: plain(text, 4000) }));
}
