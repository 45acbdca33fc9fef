/** The list of the pages of an archive or collection. */
import "../messages/en/archive.js";
import { uniqueTitle, createTitles } from "../components/archive-name.js";
import { isUnavailable } from "../components/availability.js";
import { listDownload } from "../components/list-download.js";
import { errorBlock } from "../components/messages.js";
import { windowedList } from "../components/windowed-list.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { plainURL, spaced } from "../core/text.js";
import { readSpan } from "../core/periods.js";
import { spanText } from "./span-text.js";

const typingMilliseconds = 200;
// As in the style sheet.
const isNarrow = matchMedia("(max-width: 40rem)");
const wholeMax = 10_000;
const rowsOfOneScreen = 40;
const sorts = ["title", "newest", "oldest", "url"];

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts }) {
    let filter = {};
    let loaded = null;
    let timer;
    let problem = null;
    const titles = createTitles(item.members ?? []);
    // Of the archives of a collection, which its pages come from.
    const names = new Map((item.members ?? []).map((member) => [member.id, uniqueTitle(member, titles)]));
    const search = make("input", { type: "search", placeholder: message("pages.filter"), "aria-label": message("pages.filter"), dir: "auto",
        on: { input: whenTyped } });
    const sort = make("select", { "aria-label": message("list.sort"), on: { change: () => change({ sort: sort.value }) } },
        make("option", { value: "", text: message("pages.sort-archive") }),
        ...sorts.map((name) => make("option", { value: name, text: message(`pages.sort-${name}`) })));
    const once = make("input", { type: "checkbox", on: { change: () => change({ collapse: once.checked ? "url" : "" }) } });
    const range = make("p", { class: "quiet range" });
    const download = listDownload((format) => api.listFile(item, "pages", wantedPages(), format));
    const chips = make("ul", { class: "tags", "aria-label": message("list.filters"), hidden: true });
    const problems = make("div");
    const note = make("div", { class: "list-note" });
    const all = make("button", { type: "button", class: "plain", hidden: true, text: message("list.show-all"), on: { click: showAll } });
    const list = windowedList({ label: message("tab.pages"), load: read, render: (page) => pageRow(item, page, names.get(page.archive)),
        shape: () => ({ rem: isNarrow.matches ? 4.25 : 2.75, columns: 1 }), onLoad });
    const element = make("section", { class: "page-list", "aria-labelledby": "pages-title" },
        make("h2", { id: "pages-title", class: "visually-hidden", text: message("tab.pages") }),
        make("div", { class: "list-bar" }, search, sort, make("label", { class: "choice" }, once, message("pages.once")), range, all, download), chips, note, problems, list.element);
    const server = followServer({ onBack: () => problem?.status === 0 && load() });
    // Back leads to the same rows.
    list.element.addEventListener("click", () => history.replaceState({ ...history.state, top: scrollY }, ""));

    function whenTyped() {
        clearTimeout(timer);
        timer = setTimeout(() => change({ q: search.value.trim() }), typingMilliseconds);
    }

    function change(changes) {
        filter = { ...filter, ...changes };
        history.replaceState({ ...history.state, top: 0 }, "", tabURL(item, "pages", filter));
        load();
    }

    /** The filter as the server reads it. */
    function wantedPages() {
        const { q, sort: order, collapse } = filter;
        return { q, sort: sorts.includes(order) ? order : "", collapse: collapse === "url" ? collapse : "", ...readSpan(filter) };
    }

    async function read(offset, limit, signal) {
        const { total, pages } = await api.pages(item, wantedPages(), { offset, limit, signal });
        return { total, items: pages };
    }

    async function load(top = 0) {
        loaded = JSON.stringify(filter);
        showChips();
        await list.load(top);
    }

    function onLoad({ total, error }) {
        problem = error;
        problems.replaceChildren(...(error ? [errorBlock(error, message("pages.failed"), error.status >= 500 && load)] : []));
        list.element.hidden = total === 0;
        const isFiltered = Boolean(filter.q || readSpan(filter));
        search.parentElement.hidden = !error && total === 0 && !isFiltered;
        all.hidden = total <= rowsOfOneScreen || total > wholeMax;
        download.hidden = total === 0;
        if (error) return;
        const text = message(isFiltered ? "pages.found" : "count.pages", { n: total });
        if (range.textContent !== text && isFiltered) announce(text);
        range.textContent = text;
        note.replaceChildren(...notes(total, isFiltered));
    }

    function notes(total, isFiltered) {
        if (list.item(0)?.list === "detected") return [make("p", { class: "note quiet", text: message("pages.detected", { kind: item.kind }) })];
        return total === 0 && !isFiltered ? [emptyState()] : [];
    }

    /** Without pages, the URLs can be browsed. */
    function emptyState() {
        if (isUnavailable(item)) return make("p", { class: "empty-list quiet", text: message("archive.needs-file", { kind: item.kind }) });
        const place = make("p", { class: "empty-list" });
        const link = (text) => make("a", { href: tabURL(item, "urls") }, ...text);
        const show = (key, values) => place.replaceChildren(...messageParts(key, values, { a: (...text) => link(text) }));
        show("pages.none", { kind: item.kind });
        counts().then((known) => known?.urls && show("pages.none-but-urls", { kind: item.kind, n: known.urls }), () => {});
        return place;
    }

    function showChips() {
        const span = readSpan(filter);
        chips.hidden = !span;
        if (!span) return;
        const text = spanText(span);
        chips.replaceChildren(make("li", {}, make("a", { class: "tag", href: tabURL(item, "pages", { ...filter, after: "", before: "" }),
            "aria-label": message("list.remove-filter", { text }) }, make("span", { text }), make("span", { "aria-hidden": "true", text: "×" }))));
    }

    async function showAll() {
        all.disabled = true;
        await list.showAll();
        all.disabled = false;
        all.hidden = true;
    }

    return {
        element,

        async show(wanted = {}) {
            filter = wanted;
            if (document.activeElement !== search) search.value = filter.q ?? "";
            sort.value = sorts.includes(filter.sort) ? filter.sort : "";
            once.checked = filter.collapse === "url";
            const { top = 0 } = history.state ?? {};
            if (JSON.stringify(filter) !== loaded) await load(top);
            else if (top > 0) scrollTo(0, top);
        },

        close() {
            clearTimeout(timer);
            server.close();
            list.close();
        },
    };
}

function pageRow(item, page, member) {
    const url = plainURL(page.url, 400);
    const host = /^https?:\/\/[^/?#]+/.exec(item.mainPage?.url ?? "")?.[0];
    // On the main site, the path tells pages apart.
    const shown = host && page.url.startsWith(`${host}/`) ? plainURL(page.url.slice(host.length), 400) : url.replace(/^https?:\/\//, "");
    return make("div", { class: "page-line" }, ...spaced(
        make("a", { href: pageURL(item, page.url, page.timestamp), dir: "auto", text: plain(page.title) || url }),
        make("span", { class: "url", dir: "ltr", title: url }, shown, page.copies > 1 && " ",
            page.copies > 1 && make("span", { class: "copies", text: message("pages.copies", { n: page.copies }) })),
        member && make("span", { class: "member", dir: "auto", title: member, text: member }),
        page.capturedAt && make("time", { datetime: page.capturedAt, title: page.capturedAt, text: moment(page.capturedAt) })));
}
