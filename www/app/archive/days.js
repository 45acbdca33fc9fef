/** The days of a month as a calendar, and the captures of a day. */
import { cursorReader } from "../components/cursor-reader.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { exactMoment, timeOf } from "../core/times.js";
import { daysOf, isIn, laterPeriod, periodText, shortPeriodText, spanOf, weekdayNames, weekdayOf } from "../core/periods.js";

// The list of URLs isn't in order of time. Of a month with more captures, the days aren't counted.
const countedMax = 5000;
const partSize = 1000;
const clock = (time) => /T(\d\d:\d\d:\d\d)/.exec(time)?.[1] ?? "";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{onChosen: (span: {after: string, before: string}) => void}} listener a day was chosen
 * @returns {{element: HTMLElement, show: (month: string, span: {after: string, before: string}|null) => void, close: () => void}}
 */
export function createDays(item, { onChosen }) {
    let shownMonth = "";
    let shownSpan = "";
    // The captures of the month, or `null` if there are too many to count.
    let captures = null;
    let abort = new AbortController();
    const calendar = make("div", { class: "calendar" });
    const problems = make("div");
    const title = make("h3", {});
    const rows = make("ol", { class: "day-captures" });
    const reader = cursorReader({
        read: async (cursor, limit, signal) => {
            const found = await api.urls(item, { ...JSON.parse(shownSpan), cursor, limit }, signal);
            return { rows: found.urls, next: found.next };
        },
        onRows(found, isFirst) {
            const sorted = [...found].sort((one, other) => (one.timestamp < other.timestamp ? -1 : 1));
            rows[isFirst ? "replaceChildren" : "append"](...sorted.map((one) => captureRow(item, one)));
        },
        onState: ({ error }) => problems.replaceChildren(...(error ? [errorBlock(error, message("urls.failed"))] : [])),
    });
    const list = make("div", { hidden: true }, title, rows, reader.element);
    const element = make("div", { class: "days", hidden: true }, calendar, make("div", {}, problems, list));

    async function show(month, span) {
        element.hidden = month === "";
        if (month !== shownMonth) {
            shownMonth = month;
            captures = null;
            if (month !== "") await count(month);
        }
        if (month !== shownMonth || month === "") return;
        draw(month, span);
        showList(span);
    }

    /** Reads the captures of a month, if there aren't too many. */
    async function count(month) {
        abort.abort();
        abort = new AbortController();
        const { signal } = abort;
        draw(month, null);
        const found = [];
        let cursor;
        problems.replaceChildren();
        try {
            do {
                const part = await api.urls(item, { ...spanOf(month), cursor, limit: partSize }, signal);
                found.push(...part.urls);
                cursor = part.next;
            } while (cursor && found.length < countedMax);
            if (!signal.aborted) captures = cursor ? null : found;
        } catch (error) {
            if (!signal.aborted) problems.replaceChildren(errorBlock(error, message("urls.failed")));
        }
    }

    function draw(month, span) {
        const perDay = new Map();
        for (const { timestamp } of captures ?? []) perDay.set(timestamp.slice(0, 8), (perDay.get(timestamp.slice(0, 8)) ?? 0) + 1);
        const most = Math.max(1, ...perDay.values());
        const hasFocus = calendar.contains(document.activeElement);
        const days = daysOf(month);
        const cells = days.map((day) => dayCell(day, captures ? perDay.get(day) ?? 0 : null, most, span));
        const weeks = [];
        days.forEach((day, index) => {
            if (index === 0 || weekdayOf(day) === 0) weeks.push(Array.from({ length: 7 }, () => make("td", {})));
            weeks.at(-1)[weekdayOf(day)] = cells[index];
        });
        calendar.replaceChildren(make("table", { "aria-label": periodText(month) },
            make("thead", {}, make("tr", {}, ...weekdayNames().map((text) => make("th", { scope: "col", text })))),
            make("tbody", {}, ...weeks.map((week) => make("tr", {}, ...week)))));
        const stop = calendar.querySelector("[aria-current]") ?? calendar.querySelector("a");
        if (stop) stop.tabIndex = 0;
        if (hasFocus) stop?.focus({ preventScroll: true });
    }

    function dayCell(day, count, most, span) {
        if (count === 0) return make("td", {}, make("span", { class: "quiet", text: shortPeriodText(day) }));
        const text = count === null ? periodText(day) : message("chart.bar", { period: periodText(day), n: count });
        const dot = make("span", { class: "dot" });
        if (count !== null) dot.style.scale = String(.35 + .65 * Math.sqrt(count / most));
        return make("td", {}, make("a", { href: tabURL(item, "timeline", spanOf(day)), tabindex: "-1", "aria-label": text, title: text,
            "data-day": day, "aria-current": span && isIn(span, day) ? "true" : null, on: { keydown: move } }, dot,
        make("span", { text: shortPeriodText(day) })));
    }

    /** The arrow keys choose a day of the same month, Page Up and Page Down another month. */
    function move(event) {
        const { day } = event.currentTarget.dataset;
        const month = { PageUp: -1, PageDown: 1 }[event.key];
        if (month !== undefined) {
            event.preventDefault();
            onChosen(spanOf(laterPeriod(shownMonth, event.shiftKey ? month * 12 : month)));
            calendar.querySelector('a[tabindex="0"]')?.focus();
            return;
        }
        const days = [...calendar.querySelectorAll("a")];
        const index = days.findIndex((link) => link.dataset.day === day);
        const to = { ArrowRight: days[index + 1], ArrowLeft: days[index - 1], Home: days[0], End: days.at(-1),
            ArrowDown: days.find((link) => link.dataset.day >= laterPeriod(day, 7)),
            ArrowUp: days.findLast((link) => link.dataset.day <= laterPeriod(day, -7)) }[event.key];
        if (!to) return;
        event.preventDefault();
        onChosen(spanOf(to.dataset.day));
    }

    function showList(span) {
        const now = span ? JSON.stringify(span) : "";
        list.hidden = span === null;
        if (now === shownSpan) return;
        shownSpan = now;
        rows.replaceChildren();
        if (!span) {
            reader.abort();
            return;
        }
        title.textContent = message("timeline.captures-of", { day: periodText(span.after) });
        reader.start(partSize);
    }

    return {
        element,
        show,
        close() {
            abort.abort();
            reader.close();
        },
    };
}

function captureRow(item, { url, timestamp, status, method }) {
    const time = timeOf(timestamp);
    const shown = plainURL(url, 400);
    return make("li", {},
        make("time", { datetime: time, title: time && exactMoment(time), text: clock(time) }),
        make("span", { class: "quiet", text: [method && plain(method, 20), status ?? "–"].filter(Boolean).join(" ") }),
        // The viewer opens captures of GET requests only.
        method ? make("span", { class: "url", dir: "ltr", text: shown })
            : make("a", { class: "url", href: pageURL(item, url, timestamp), dir: "ltr", text: shown }));
}
