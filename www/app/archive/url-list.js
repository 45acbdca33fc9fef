/** The list of all captured URLs of an archive or collection, with filters. */
import "../messages/en/archive.js";
import { cursorReader } from "../components/cursor-reader.js";
import { listDownload } from "../components/list-download.js";
import { errorBlock } from "../components/messages.js";
import { tableRows } from "../components/table-rows.js";
import * as api from "../core/api.js";
import { completeURL, isWords } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { day, size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { breakable, plainURL } from "../core/text.js";
import { exactMoment, timeOf } from "../core/times.js";
import { downloadLink } from "./download-link.js";
import { urlFilters } from "./url-filters.js";

// The server lists no more in another order than that of the index.
const sortedMax = 1000;

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, counts }) {
    let timer;
    let total = null;
    let shown = null;
    // The filter of the rows that are shown.
    let loaded = null;
    const form = urlFilters((delay) => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            history.replaceState({ ...history.state, rows: 0, top: 0 }, "", tabURL(item, "urls", form.read()));
            load();
        }, delay);
    });
    const range = make("span", { class: "quiet range" });
    const problems = make("div");
    const columns = ["url", "type", "status", "date", "size", "file"];
    const table = make("table", { class: "urls", hidden: true, "aria-label": message("tab.urls") },
        make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col", class: name },
            name === "file" ? make("span", { class: "visually-hidden", text: message("urls.column.file") }) : message(`urls.column.${name}`))))));
    const rows = tableRows(table, (url) => urlRow(item, url));
    const reader = cursorReader({
        read: async (cursor, limit, signal) => {
            const filter = form.read();
            // A sorted list has one part.
            const found = await api.urls(item, { ...filter, cursor, limit: filter.sort ? sortedMax : limit }, signal);
            return { rows: found.urls, next: found.next };
        },
        onRows(found, isFirst) {
            if (isFirst) rows.clear();
            rows.add(found);
        },
        onState: showState,
    });
    const download = listDownload((format) => api.listFile(item, "urls", form.read(), format));
    const element = make("section", { class: "url-list", "aria-labelledby": "urls-title" },
        make("h2", { id: "urls-title", class: "visually-hidden", text: message("tab.urls") }), form.element,
        make("div", { class: "list-bar list-state" }, form.sort, make("p", {}, range, " ", reader.stop), download), problems, table, reader.element);
    // Back leads to the same rows: their number is kept, and the position in the list.
    table.addEventListener("click", () => history.replaceState({ ...history.state, rows: reader.count, top: scrollY }, ""));
    // Without the counts, the list still works.
    counts().then((found) => {
        if (!found) return;
        form.showCounts(found.types);
        total = found;
        if (shown) showState(shown);
    }, () => {});

    async function load(count = 0) {
        problems.replaceChildren();
        loaded = null;
        const problem = form.problem();
        if (problem) {
            reader.abort();
            rows.clear();
            [table.hidden, range.textContent] = [true, ""];
            problems.replaceChildren(make("p", { role: "alert", dir: "auto", text: problem }));
            return;
        }
        const filter = JSON.stringify(form.read());
        if (!await reader.start(count)) return;
        loaded = filter;
        announce(range.textContent);
    }

    function showState(state) {
        shown = state;
        const { isBusy, isFirst, error } = state;
        problems.replaceChildren(...(error ? [errorBlock(error, message("urls.failed"))] : []));
        if (isBusy && isFirst) {
            // Rows of the search before would look like its results.
            rows.clear();
            range.textContent = message("urls.searching");
        }
        if (isBusy) table.setAttribute("aria-busy", "true");
        else table.removeAttribute("aria-busy");
        table.hidden = download.hidden = rows.count === 0;
        table.ariaRowCount = state.hasMore ? -1 : rows.count + 1;
        if (!isBusy) range.replaceChildren(rangeText(state), ...whyNot(state));
    }

    function rangeText({ count, wasStopped, hasMore, error }) {
        if (error && count === 0) return "";
        if (count === 0) return wasStopped ? message("urls.stopped") : form.emptyText();
        const { sort } = form.read();
        if (sort && count === sortedMax) return message(`urls.first-${sort}`, { n: count });
        if (total?.urls !== undefined && !form.isActive()) return message("urls.all", { captures: total.captures, urls: total.urls });
        return hasMore ? message("urls.first", { n: count }) : message("count.captures", { n: count });
    }

    /** For a URL that isn't there, the viewer says why. */
    function whyNot({ count, hasMore, error }) {
        const { q = "" } = form.read();
        if (count > 0 || hasMore || error || q.includes("*") || isWords(q)) return [];
        const url = completeURL(q);
        return [" ", ...messageParts("urls.why-not", { url: plainURL(url, 80) },
            { a: (...text) => make("a", { href: pageURL(item, url), dir: "ltr" }, ...text) })];
    }

    return {
        element,

        async show(filter = {}) {
            form.show(filter);
            const { rows: wanted = 0, top = 0 } = history.state ?? {};
            if (JSON.stringify(form.read()) !== loaded) await load(wanted);
            if (top > 0) scrollTo(0, top);
        },

        close() {
            clearTimeout(timer);
            reader.close();
            rows.close();
        },
    };
}

function urlRow(item, capture) {
    const { url, timestamp, status, type, mime, method, length } = capture;
    const time = timeOf(timestamp);
    const shown = breakable(plainURL(url, 2000));
    // The viewer opens captures of GET requests only.
    const text = method ? make("span", {}, ...shown) : make("a", { href: pageURL(item, url, timestamp) }, ...shown);
    return make("tr", {},
        make("td", { class: "url", dir: "ltr" },
            method && make("span", { class: "method", text: `${plain(method, 20)} ` }), text),
        make("td", { title: mime ? plain(mime, 100) : null, text: type }),
        make("td", { text: status ?? "–" }),
        make("td", {}, time && make("time", { datetime: time, title: exactMoment(time), text: day(time) })),
        make("td", { class: "size", text: length === undefined ? "" : size(length) }),
        make("td", { class: "file" }, !method && downloadLink(item, capture, plainURL(url, 120))));
}
