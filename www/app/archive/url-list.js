/** The list of all captured URLs of an archive or collection, with filters. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain, plainURL } from "../core/dom.js";
import { counted, day, exactMoment, number, size, timeOf } from "../core/format.js";
import { pageURL, tabURL } from "../core/routes.js";

const typingMilliseconds = 250;
const slowMilliseconds = 150;
const matches = { contains: "contains", prefix: "starts with", exact: "is", pattern: "matches pattern *" };
const types = { html: "Web pages", pdf: "PDF", image: "Images", audio: "Audio", video: "Video", font: "Fonts",
    script: "Scripts", style: "Style sheets", json: "JSON", text: "Text", other: "Other" };
const statuses = { "2xx": "2xx: found", "3xx": "3xx: redirect", "4xx": "4xx: not found", "5xx": "5xx: server error" };
const methods = { GET: "GET", POST: "POST", PUT: "PUT", HEAD: "HEAD", OPTIONS: "OPTIONS", DELETE: "DELETE" };

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {{element: HTMLElement, show: (filter: import("../core/routes.js").URLFilter) => void, close: () => void}}
 */
export function urlSection(item) {
    let abort = new AbortController();
    let cursor;
    let count = 0;
    let timer;
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });
    const form = createForm((delay) => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            history.replaceState(history.state, "", tabURL(item, "urls", form.read()));
            load();
        }, delay);
    });
    const range = make("span", { class: "quiet range" });
    const problems = make("div");
    const rows = make("tbody");
    const table = make("table", { class: "urls", hidden: true, "aria-label": "URLs" }, make("thead", {}, make("tr", {},
        ...["URL", "Type", "Status", "Date", "Size"].map((text) => make("th", { scope: "col", text })))), rows);
    const more = make("button", { type: "button", text: "More URLs", hidden: true, on: { click: loadMore } });
    const stop = make("button", { type: "button", text: "Stop", hidden: true, on: { click: () => abort.abort() } });
    const element = make("section", { class: "url-list", "aria-labelledby": "urls-title" },
        make("h2", { id: "urls-title", text: "URLs" }), form.element, make("p", { class: "list-state" }, range, " ", stop), problems, table,
        make("p", { class: "pager" }, more));
    if (item.kind === "archive") showCounts();

    /** Adds the numbers of captures to the menu of types. Without them, the list still works. */
    async function showCounts() {
        const found = await api.counts(item.id).catch(() => null);
        if (found) form.showCounts(found.types);
    }

    async function load() {
        abort.abort();
        cursor = undefined;
        if (await read(true)) announce(range.textContent);
    }

    async function loadMore() {
        const first = count;
        await read(false);
        rows.children[first]?.querySelector("a, [tabindex]")?.focus({ preventScroll: true });
    }

    /** Reads until there are more URLs: the server searches a large index in parts, which can be empty. */
    async function read(isFirst) {
        abort = new AbortController();
        retry = null;
        const { signal } = abort;
        const problem = form.problem();
        if (problem) {
            clear();
            problems.replaceChildren(make("p", { role: "alert", dir: "auto", text: problem }));
            showEnd(false);
            return false;
        }
        const filter = form.read();
        const slow = setTimeout(() => showBusy(isFirst), slowMilliseconds);
        problems.replaceChildren();
        try {
            let found;
            do {
                found = await api.urls(item, { ...filter, cursor }, signal);
                cursor = found.next;
            } while (found.urls.length === 0 && cursor);
            if (isFirst) clear();
            rows.append(...found.urls.map((url) => urlRow(item, url)));
            count += found.urls.length;
            return true;
        } catch (error) {
            // Another search has begun, or this one was stopped.
            if (signal.aborted && signal !== abort.signal) return false;
            if (isFirst) clear();
            if (!signal.aborted && error.status === 0) retry = isFirst ? load : loadMore;
            if (!signal.aborted) problems.replaceChildren(errorBlock(error, "Can't list the URLs"));
            return false;
        } finally {
            clearTimeout(slow);
            if (signal === abort.signal) showEnd(signal.aborted);
        }
    }

    function clear() {
        count = 0;
        rows.replaceChildren();
    }

    function showBusy(isFirst) {
        if (isFirst) {
            // Rows of the search before would look like its results.
            clear();
            table.hidden = true;
            range.textContent = "Searching…";
        }
        table.setAttribute("aria-busy", "true");
        more.hidden = true;
        stop.hidden = false;
    }

    function showEnd(wasStopped) {
        table.removeAttribute("aria-busy");
        table.hidden = count === 0;
        more.hidden = !cursor;
        more.textContent = count === 0 ? "Continue" : "More URLs";
        stop.hidden = true;
        const what = form.emptyText();
        if (problems.hasChildNodes()) range.textContent = "";
        else if (count === 0) range.textContent = wasStopped ? "Stopped. No URLs found so far." : what;
        else range.textContent = cursor ? `The first ${counted(count, "capture")}` : counted(count, "capture");
    }

    return {
        element,
        show(filter = {}) {
            form.show(filter);
            load();
        },
        close() {
            clearTimeout(timer);
            server.close();
            abort.abort();
        },
    };
}

function createForm(onChange) {
    const text = make("input", { type: "search", "aria-label": "Text in the URL", placeholder: "Text in the URL", dir: "ltr",
        autocomplete: "off", autocapitalize: "none", spellcheck: "false", on: { input: () => onChange(typingMilliseconds) } });
    const menu = (label, options, first) => make("select", { "aria-label": label, on: { change: () => onChange(0) } },
        first && make("option", { value: "", text: first }),
        ...Object.entries(options).map(([value, name]) => make("option", { value, text: name })));
    // A time that isn't complete yet is no mistake before the field is left.
    const time = (label) => make("input", { type: "text", "aria-label": label, placeholder: label, inputmode: "numeric",
        autocomplete: "off", class: "time", title: "For example 2019 or 2019-03-31", on: {
            input: ({ target }) => !target.value.trim() || isTime(target.value) ? onChange(typingMilliseconds) : null,
            change: ({ target }) => (isTime(target.value) ? null : onChange(0)),
        } });
    const fields = { match: menu("How the text matches", matches), q: text, type: menu("Type", types, "All types"),
        status: menu("Status", statuses, "All statuses"), method: menu("Method", methods, "All methods"),
        after: time("Captured since"), before: time("Captured before") };
    const element = make("form", { class: "url-filters", role: "search", "aria-label": "Filter URLs", on: {
        submit: (event) => {
            event.preventDefault();
            onChange(0);
        },
    } }, ...Object.values(fields));

    const values = () => Object.entries(fields).map(([name, { value }]) => {
        if (name === "match") return [name, value === "contains" ? "" : value];
        return [name, name === "after" || name === "before" ? digits(value) : value.trim()];
    });
    return {
        element,
        read: () => Object.fromEntries(values().filter(([, value]) => value)),

        /** @returns {string} why the filter can't be used; empty if it can */
        problem() {
            const wrong = [fields.after, fields.before].find(({ value }) => value.trim() && !isTime(value));
            return wrong ? `“${plain(wrong.value, 40)}” isn't a date. Write a year, a month or a day: 2019, 2019-03, 2019-03-31.` : "";
        },

        /** @returns {string} what to say if there are no captures */
        emptyText() {
            if (!values().some(([name, value]) => name !== "match" && value)) return "No URLs.";
            const needsHost = fields.q.value && ["prefix", "exact"].includes(fields.match.value);
            return needsHost ? `No URLs match. “${matches[fields.match.value]}” needs the whole host: example.org/` : "No URLs match.";
        },

        show(filter) {
            for (const [name, field] of Object.entries(fields)) {
                const value = filter[name] ?? (name === "match" ? "contains" : "");
                // The same time stays as it was typed, with its hyphens.
                if (["after", "before"].includes(name) && digits(field.value) === value) continue;
                if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
                    field.append(make("option", { value, text: plain(value, 40) }));
                }
                field.value = value;
            }
        },

        showCounts(found) {
            const counts = new Map(found.map(({ type, captures }) => [type, captures]));
            for (const option of fields.type.options) {
                if (!option.value) continue;
                const captures = counts.get(option.value) ?? 0;
                option.textContent = `${types[option.value] ?? plain(option.value, 40)} (${number(captures)})`;
            }
        },
    };
}

const digits = (text) => text.trim().replaceAll("-", "");

/** Whether a text is the beginning of a time, 4 to 14 digits. */
const isTime = (text) => /^\d{4}(\d\d){0,5}$/.test(digits(text));

function urlRow(item, { url, timestamp, status, type, mime, method, length }) {
    const time = timeOf(timestamp);
    const shown = plainURL(url, 2000);
    // The viewer opens captures of GET requests only.
    const text = method ? make("span", { tabindex: "-1", text: shown })
        : make("a", { href: pageURL(item, url, timestamp), text: shown });
    return make("tr", {},
        make("td", { class: "url", dir: "ltr" },
            method && make("span", { class: "method", text: `${plain(method, 20)} ` }), text),
        make("td", { title: mime ? plain(mime, 100) : null, text: type }),
        make("td", { text: status ?? "–" }),
        make("td", {}, time && make("time", { datetime: time, title: exactMoment(time), text: day(time) })),
        make("td", { class: "size", text: length === undefined ? "" : size(length) }));
}
