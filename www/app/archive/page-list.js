/** The list of the pages of an archive or collection. */
import "../messages/en/archive.js";
import { isUnavailable } from "../components/availability.js";
import { errorBlock } from "../components/messages.js";
import { windowedList } from "../components/windowed-list.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { isIn, readSpan } from "./periods.js";
import { spanText } from "./span-text.js";

const typingMilliseconds = 200;
const narrowPixels = 640;
const wholeMax = 10_000;
const rowsOfOneScreen = 40;
// A span of time is looked for in the list itself, in requests of this size.
const pagesPerRequest = 1000;
const pagesSearchedMax = 100_000;

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts }) {
    let filter = {};
    let loaded = null;
    let timer;
    let problem = null;
    // What was found in a span of time, and how many pages were searched for it.
    let found = null;
    const search = make("input", { type: "search", placeholder: message("pages.filter"), "aria-label": message("pages.filter"), dir: "auto",
        on: { input: whenTyped } });
    const range = make("p", { class: "quiet range" });
    const chips = make("ul", { class: "tags", "aria-label": message("list.filters"), hidden: true });
    const problems = make("div");
    const note = make("div", { class: "list-note" });
    const all = make("button", { type: "button", class: "plain", hidden: true, text: message("list.show-all"), on: { click: showAll } });
    const list = windowedList({ label: message("tab.pages"), load: read, render: (page) => pageRow(item, page),
        shape: (width) => ({ rem: width < narrowPixels ? 4.25 : 2.75, columns: 1 }), onLoad });
    const element = make("section", { class: "page-list", "aria-labelledby": "pages-title" },
        make("h2", { id: "pages-title", class: "visually-hidden", text: message("tab.pages") }),
        make("div", { class: "list-bar" }, search, range, all), chips, note, problems, list.element);
    const server = followServer({ onBack: () => problem?.status === 0 && load() });
    // Back leads to the same rows.
    list.element.addEventListener("click", () => history.replaceState({ ...history.state, top: scrollY }, ""));

    function whenTyped() {
        clearTimeout(timer);
        timer = setTimeout(() => {
            filter = { ...filter, q: search.value.trim() };
            history.replaceState({ ...history.state, top: 0 }, "", tabURL(item, "pages", filter));
            load();
        }, typingMilliseconds);
    }

    async function read(offset, limit, signal) {
        const span = readSpan(filter);
        if (!span) {
            const answer = await api.pages(item, { offset, limit, query: filter.q ?? "", signal });
            return { total: answer.total, items: answer.pages };
        }
        found ??= searchSpan(span, signal).catch((error) => {
            found = null;
            throw error;
        });
        const { pages } = await found;
        return { total: pages.length, items: pages.slice(offset, offset + limit) };
    }

    /** Looks for the pages of a span of time, since the server's list has no filter for it. */
    async function searchSpan(span, signal) {
        const pages = [];
        let searched = 0;
        let total = 1;
        while (searched < Math.min(total, pagesSearchedMax)) {
            const answer = await api.pages(item, { offset: searched, limit: pagesPerRequest, query: filter.q ?? "", signal });
            ({ total } = answer);
            searched += pagesPerRequest;
            pages.push(...answer.pages.filter(({ timestamp = "" }) => timestamp && isIn(span, timestamp)));
        }
        return { pages, searched: searched < total ? searched : 0 };
    }

    async function load(top = 0) {
        found = null;
        loaded = JSON.stringify(filter);
        showChips();
        await list.load(top);
    }

    async function onLoad({ total, error }) {
        problem = error;
        problems.replaceChildren(...(error ? [errorBlock(error, message("pages.failed")), retryButton(error)] : []));
        list.element.hidden = total === 0;
        const isFiltered = Boolean(filter.q || readSpan(filter));
        search.parentElement.hidden = !error && total === 0 && !isFiltered;
        all.hidden = total <= rowsOfOneScreen || total > wholeMax;
        if (error) return;
        const text = message(isFiltered ? "pages.found" : "count.pages", { n: total });
        if (range.textContent !== text && isFiltered) announce(text);
        range.textContent = text;
        note.replaceChildren(...await notes(total, isFiltered));
    }

    async function notes(total, isFiltered) {
        const searched = (await found)?.searched;
        if (searched) return [make("p", { class: "note", text: message("pages.searched", { n: searched }) })];
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

    const retryButton = ({ status }) => status >= 500
        ? make("button", { type: "button", text: message("view.try-again"), on: { click: () => load() } }) : "";

    function showChips() {
        const span = readSpan(filter);
        chips.hidden = !span;
        if (!span) return;
        const text = spanText(span);
        chips.replaceChildren(make("li", {}, make("a", { class: "tag", href: tabURL(item, "pages", { q: filter.q }),
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

function pageRow(item, page) {
    const url = plainURL(page.url, 400);
    const host = /^https?:\/\/[^/?#]+/.exec(item.mainPage?.url ?? "")?.[0];
    // On the main site, the path tells pages apart.
    const shown = host && page.url.startsWith(`${host}/`) ? plainURL(page.url.slice(host.length), 400) : url.replace(/^https?:\/\//, "");
    const member = item.kind === "collection" && item.members.find(({ id }) => id === page.archive);
    return make("div", { class: "page-line" },
        make("a", { href: pageURL(item, page.url, page.timestamp), dir: "auto", text: plain(page.title) || url }),
        make("span", { class: "url", dir: "ltr", title: url, text: shown }),
        member && make("span", { class: "member", dir: "auto", text: plain(member.title, 80) || member.id }),
        page.capturedAt && make("time", { datetime: page.capturedAt, title: page.capturedAt, text: moment(page.capturedAt) }));
}
