/** The captures of one day, with one tab stop. The arrow keys lead on to the captures of other days. */
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { laterPeriod, mediumPeriodText, periodText } from "../core/periods.js";
import { pageURL } from "../core/routes.js";
import { exactMoment, timeOf } from "../core/times.js";
import { createCaptureRuns } from "./capture-runs.js";

const partSize = 200;
// A calendar's key that is held down passes many days.
const waitMilliseconds = 120;
const clock = (time) => /T(\d\d:\d\d:\d\d)/.exec(time)?.[1] ?? "";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {import("../core/api.js").Capture} shown
 * @param {Map<string, number>} counts as for `createMonthGrid`
 * @param {{onChosen: (capture: import("../core/api.js").Capture) => void, onBeyond: (day: string, end: "start"|"end") => void}} listener
 *   `onBeyond`: an arrow key leads to the captures of another day, to the first or the last one
 */
export function createDayCaptures(archive, shown, counts, { onChosen, onBeyond }) {
    const days = [...counts.keys()];
    const runs = createCaptureRuns(archive, shown.url);
    const title = make("h3", { id: "captures-of-day" });
    const rows = make("ul", { class: "day-list", "aria-labelledby": "captures-of-day", on: { keydown: move, focusin: ({ target }) => rove(target) } });
    const note = make("p", { class: "quiet", hidden: true, text: message("captures.unchanged-note") });
    const element = make("section", { class: "day-captures", "aria-labelledby": "captures-of-day" }, title, rows, note);
    let current = "";
    let timer = 0;
    let focusAt = null;

    /** @param {string} day @param {"start"|"end"} [focus] the end of the list that gets the focus */
    function show(day, focus) {
        focusAt = focus ?? null;
        if (day === current) {
            if (focusAt && rows.children.length > 0) focusEnd();
            return;
        }
        current = day;
        clearTimeout(timer);
        const n = counts.get(day) ?? 0;
        title.textContent = message("captures.bar", { period: periodText(day), n });
        // An arrow key that leads on to another day leaves its row only when the next one is there.
        if (!focus) rows.replaceChildren();
        rows.setAttribute("aria-busy", String(n > 0));
        // Enough room at once, so that nothing moves when they are there.
        rows.style.minBlockSize = n > 0 ? `${Math.min(n, 4) * 1.75}rem` : "0";
        if (n > 0) timer = setTimeout(() => load(day, laterPeriod(day, -1), n, true), focus ? 0 : waitMilliseconds);
    }

    /** Lists the captures after a time: the first ones of the day, or more. */
    async function load(day, after, left, isFirst = false) {
        const isCurrent = () => day === current && element.isConnected;
        try {
            const { captures } = await api.captures(archive, shown.url, { after, limit: partSize });
            const found = captures.filter(({ timestamp }) => timestamp.startsWith(day));
            // Without the digests, each capture is listed.
            const all = await runs.of(found).catch(() => found.map((capture) => ({ since: capture.timestamp, captures: [capture] })));
            if (!isCurrent()) return;
            const hadFocus = rows.contains(document.activeElement);
            const added = all.flatMap(rowsOf);
            if (isFirst) rows.replaceChildren();
            if (isFirst || note.hidden) note.hidden = !all.some(isRepeated);
            rows.querySelector(".more")?.remove();
            rows.append(...added);
            const rest = left - found.length;
            if (rest > 0 && found.length > 0) rows.append(moreRow(day, found.at(-1).timestamp, rest));
            rows.removeAttribute("aria-busy");
            rows.style.minBlockSize = "";
            rove(rows.querySelector('[aria-current]') ?? stops()[0]);
            if (focusAt) focusEnd();
            else if (hadFocus) added[0]?.querySelector("a, button")?.focus();
        } catch (error) {
            if (!isCurrent()) return;
            rows.removeAttribute("aria-busy");
            rows.replaceChildren(make("li", { class: "quiet", text: message("captures.failed", { problem: plain(error.message, 300) }) }));
        }
    }

    /** Whether a run has captures that only repeat another. */
    const isRepeated = ({ since, captures }) => captures.length > 1 || since !== captures[0].timestamp;

    /** The first capture of a run, and those that only repeat it. */
    function rowsOf({ since, captures }) {
        const isNew = since === captures[0].timestamp;
        const repeated = isNew ? captures.slice(1) : captures;
        const list = isNew ? [make("li", {}, rowOf(captures[0]))] : [];
        if (repeated.length === 1) list.push(make("li", {}, rowOf(repeated[0], since)));
        if (repeated.length > 1) list.push(groupOf(repeated, since));
        return list;
    }

    function groupOf(captures, since) {
        const isShown = captures.some(({ timestamp }) => timestamp === shown.timestamp);
        const list = make("ul", { hidden: !isShown }, ...captures.map((capture) => make("li", {}, rowOf(capture))));
        const button = make("button", { type: "button", class: "repeats", "aria-expanded": String(isShown), tabindex: "-1", on: { click: () => {
            list.hidden = !list.hidden;
            button.setAttribute("aria-expanded", String(!list.hidden));
        } } }, message("captures.repeats", { n: captures.length, since: sinceText(since) }));
        return make("li", { class: "repeated" }, button, list);
    }

    function rowOf(capture, since) {
        const { timestamp, capturedAt, status, request, url } = capture;
        const isShown = timestamp === shown.timestamp && url === shown.url && request === shown.request;
        const about = [request && message("captures.form"), status !== undefined && status !== 200 && String(status),
            since && message("captures.unchanged", { since: sinceText(since) }), isShown && message("captures.shown")].filter(Boolean);
        return make("a", { href: pageURL(archive, request ?? url, timestamp), tabindex: "-1", "aria-current": isShown ? "true" : null,
            title: exactMoment(capturedAt), on: { click: (event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                onChosen(capture);
            } } }, make("time", { datetime: capturedAt, text: clock(capturedAt) }), about.length > 0 && make("span", { class: "quiet", text: about.join(" · ") }));
    }

    function moreRow(day, after, left) {
        return make("li", { class: "more" }, make("button", { type: "button", class: "quiet-button", tabindex: "-1",
            text: message("captures.more", { n: Math.min(left, partSize), left }), on: { click: () => load(day, after, left) } }));
    }

    /** The time of the same day, or another day. */
    function sinceText(since) {
        return since.startsWith(current) ? clock(timeOf(since)) : mediumPeriodText(since.slice(0, 8));
    }

    const stops = () => [...rows.querySelectorAll("a, button")].filter((one) => one.checkVisibility());

    function rove(stop) {
        for (const one of rows.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
        if (stop) stop.tabIndex = 0;
    }

    function focusEnd() {
        const all = stops();
        (focusAt === "end" ? all.at(-1) : all[0])?.focus();
        focusAt = null;
    }

    function move(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
        const all = stops();
        const index = all.indexOf(document.activeElement);
        const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to === undefined || index < 0) return;
        event.preventDefault();
        event.stopPropagation();
        if (all[to]) {
            all[to].focus();
            return;
        }
        const beyond = to < 0 ? days.findLast((day) => day < current) : days.find((day) => day > current);
        if (beyond) onBeyond(beyond, to < 0 ? "end" : "start");
    }

    return { element, show, close: () => clearTimeout(timer) };
}
