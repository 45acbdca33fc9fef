/** The tab with all downloads of the server and all shares of this device, by day. */
import { showDialog } from "../app/components/dialog.js";
import { errorBlock } from "../app/components/messages.js";
import { announce, arrange, make, setText } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import * as api from "./api.js";
import { dayName } from "./days.js";
import { createRow } from "./download-row.js";
import { saveList } from "./history-export.js";
import { createShareRow } from "./share-row.js";
import * as shares from "./shares.js";
import { isWithin, siteOf } from "./urls.js";

const pageSize = 20;
// What is followed while it changes: one request. Older rows are read once.
const followedMax = 100;
const typingMilliseconds = 300;

/**
 * @param {{onChanged: () => void, onShareAgain: (item: {url: string}) => void}} host `onChanged`: the page should be read again
 */
export function createHistory({ onChanged, onShareAgain }) {
    const [form, source, search, domain, status] =
        ["history-filter", "history-source", "history-search", "history-domain", "history-status"].map((id) => document.getElementById(id));
    const [list, more, count, problems] = ["history-list", "history-more", "history-count", "history-problems"].map((id) => document.getElementById(id));
    const rows = new Map();
    const days = new Map();
    let wanted = pageSize;
    let known = [];
    let focusFrom = null;
    let typing = 0;
    let reading = null;
    let isAgain = false;
    // Whether the next page was asked for during a read.
    let isMoreWanted = false;

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
        clearTimeout(typing);
        // A choice applies at once, a text after a pause.
        typing = setTimeout(() => {
            wanted = pageSize;
            known = [];
            refresh();
        }, event.target.tagName === "SELECT" ? 0 : typingMilliseconds);
    });
    more.addEventListener("click", () => {
        focusFrom = rows.size;
        showMore();
    });
    document.getElementById("history-export").addEventListener("click", () => attempt(() => saveList(filter(), isOfDevice() ? matches : null)));
    document.getElementById("history-range").addEventListener("click", deleteRange);
    // The next page comes while scrolling.
    new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && !more.hidden && showMore(), { rootMargin: "300px" }).observe(more);

    const isOfDevice = () => source.value === "device";
    const trimmed = (field) => field.value.trim();

    function filter() {
        const fields = { q: trimmed(search), domain: trimmed(domain).toLowerCase(), status: status.value };
        return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
    }

    /** Whether an entry of this device fits the filter. */
    function matches(entry) {
        const { q = "", domain: host = "", status: state = "" } = filter();
        const site = siteOf(entry.url);
        const states = { pending: "queued", downloading: "", completed: "confirmed", failed: "failed" };
        return q.toLowerCase().split(/\s+/).every((word) => entry.url.toLowerCase().includes(word))
            && (!host || isWithin(site, host)) && (!state || states[state] === entry.status);
    }

    function showMore() {
        isMoreWanted = reading !== null;
        if (isMoreWanted) return;
        wanted += pageSize;
        refresh();
    }

    async function attempt(act) {
        problems.replaceChildren();
        try {
            await act();
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("capture.history.cant-do")));
        }
    }

    /** Reads the list again, if the tab is shown. A call during a read causes one more read. */
    function refresh() {
        if (form.offsetParent === null) return;
        isAgain = reading !== null;
        reading ??= read().catch((error) => problems.replaceChildren(errorBlock(error, message("capture.page.cant-read")))).finally(() => {
            reading = null;
            if (isMoreWanted) showMore();
            else if (isAgain) refresh();
        });
    }

    async function read() {
        if (isOfDevice()) {
            const { entries, isLast } = await shares.history({ limit: wanted, matches: Object.keys(filter()).length > 0 ? matches : undefined });
            show(entries.map((entry) => ({ id: entry.id, time: entry.sharedAt, entry })), isLast ? entries.length : null);
            return;
        }
        let total;
        try {
            total = await readDownloads();
        } catch (error) {
            if (!api.isUnreachable(error)) throw error;
            // What this device knows is better than nothing.
            source.value = "device";
            await read();
            return;
        }
        problems.replaceChildren();
        show(known.map((download) => ({ id: download.download_id, time: Date.parse(download.submitted_at), download })), total);
    }

    /** Reads the newest downloads again, and older ones as far as they're wanted. Returns the number of all. */
    async function readDownloads() {
        const chosen = filter();
        const newest = await api.historyPage(0, Math.min(wanted, followedMax), chosen);
        const ids = new Set(newest.downloads.map(({ download_id: id }) => id));
        const since = newest.downloads.at(-1)?.submitted_at ?? "";
        const found = [...newest.downloads, ...known.filter(({ download_id: id, submitted_at: time }) => !ids.has(id) && time <= since)];
        while (found.length < wanted && found.length < newest.total) {
            const { downloads } = await api.historyPage(found.length, pageSize, chosen);
            const more = downloads.filter(({ download_id: id }) => !found.some((each) => each.download_id === id));
            if (more.length === 0) break;
            found.push(...more);
        }
        known = found;
        return newest.total;
    }

    function rowOf({ id, entry, download }) {
        if (download) return createRow(download, { onChanged, onShareAgain, onRemoved: () => removed(id) });
        return createShareRow(entry, { onShareAgain, onRemoved: () => removed(id) });
    }

    function show(items, total) {
        const listed = new Set(items.map(({ id }) => id));
        for (const id of [...rows.keys()]) {
            if (!listed.has(id)) rows.delete(id);
        }
        const groups = new Map();
        for (const item of items) {
            const row = rows.get(item.id) ?? rowOf(item);
            rows.set(item.id, row);
            row.update(item.download ?? item.entry, []);
            const name = dayName(item.time);
            groups.set(name, [...groups.get(name) ?? [], row.element]);
        }
        const elements = [...groups].map(([name, children]) => {
            const day = days.get(name) ?? makeDay(name);
            days.set(name, day);
            arrange(day.list, children);
            return day.element;
        });
        const nothing = make("p", { class: "quiet empty", text: message(Object.keys(filter()).length > 0 ? "capture.history.no-match" : "capture.history.empty") });
        arrange(list, elements.length > 0 ? elements : [nothing]);
        more.hidden = total !== null && total <= items.length;
        setText(count, total === null || total === 0 ? "" : message("capture.history.count", { n: total }));
        list.removeAttribute("aria-busy");
        focusNew();
    }

    function focusNew() {
        if (focusFrom === null || rows.size <= focusFrom) return;
        [...rows.values()][focusFrom].focus();
        focusFrom = null;
    }

    function removed(id) {
        const elements = [...list.querySelectorAll("li.download")];
        const place = elements.indexOf(rows.get(id)?.element);
        const next = elements[place + 1] ?? elements[place - 1];
        const nextRow = [...rows.values()].find(({ element }) => element === next);
        rows.get(id)?.element.remove();
        rows.delete(id);
        known = known.filter(({ download_id: each }) => each !== id);
        if (nextRow) nextRow.focus();
        else search.focus();
        refresh();
    }

    async function deleteRange() {
        const [from, to] = ["from", "to"].map((name) => make("input", { type: "date", id: `range-${name}`, required: true }));
        const choice = await showDialog({
            title: message("capture.history.range-title"),
            body: [make("p", { text: message("capture.history.range-text", { source: source.value }) }),
                make("label", { for: from.id, text: message("capture.history.range-from") }), from,
                make("label", { for: to.id, text: message("capture.history.range-to") }), to],
            action: { value: "delete", text: message("capture.history.range-delete"), isDanger: true, failure: message("capture.history.cant-do"), run },
        });
        if (choice) announce(message("capture.history.range-done"));

        async function run() {
            // Days of this device, from midnight to midnight.
            const start = new Date(`${from.value}T00:00:00`);
            const end = new Date(`${to.value}T00:00:00`);
            end.setDate(end.getDate() + 1);
            if (!(start < end)) throw new Error(message("capture.history.range-order"));
            if (!isOfDevice()) await api.removeRange(secondsOf(start), secondsOf(end));
            known = [];
            await shares.forget(({ sharedAt }) => sharedAt >= start.getTime() && sharedAt < end.getTime());
            refresh();
            onChanged();
        }
    }

    return { refresh };
}

/** The API's times have no fractions. */
const secondsOf = (time) => time.toISOString().replace(/\.\d+Z$/, "Z");

function makeDay(name) {
    const list = make("ul", { class: "downloads" });
    return { list, element: make("section", { class: "day" }, make("h2", { text: name }), list) };
}
