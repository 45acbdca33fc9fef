/** The captures of a URL: a field for a date, a bar for each year, the days of a month, and the captures of a day. */
import "../messages/en/captures.js";
import { popover } from "../components/popover.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { navigate } from "../core/navigation.js";
import { laterPeriod, mediumPeriodText, periodText } from "../core/periods.js";
import { compareURL } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { readDate } from "../core/typed-dates.js";
import { createDayCaptures } from "./day-captures.js";
import { createMonthGrid, inMonth } from "./month-grid.js";
import { createYearBars } from "./year-bars.js";

/**
 * Makes a button open the captures of the URL that is shown.
 *
 * @param {HTMLButtonElement} button
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {{capture: import("../core/api.js").Capture}} current what is shown when it opens
 * @param {import("./capture-chip.js").Listener["onTime"]} onTime
 * @param {boolean} [canCompare] whether what is shown can be compared with another capture
 * @returns {{close: () => void}}
 */
export function capturesPopover(button, archive, current, onTime, canCompare = true) {
    const go = make("button");
    const compares = make("input", { type: "checkbox", on: { change: nameGo } });

    function nameGo() {
        go.textContent = message(compares.checked ? "captures.compare-closest" : "captures.go");
    }

    const { close, place } = popover(button, () => {
        const { capture } = current;
        compares.checked = false;
        nameGo();
        const calendar = make("div", { class: "calendar-place" }, make("p", { class: "quiet", role: "status", text: message("captures.counting") }));
        fill(calendar, archive, capture, choose).then(() => {
            place();
            // Unless a date is being typed.
            if ([button, document.body].includes(document.activeElement)) calendar.querySelector('[role="grid"] [tabindex="0"]')?.focus();
        });
        return [make("h2", { text: message("captures.title") }), dateForm(go, choose),
            canCompare && make("label", { class: "compare-choice" }, compares, message("captures.compare")), calendar].filter(Boolean);
    }, { class: "captures", role: "dialog", "aria-label": message("captures.title") });

    /** The page that opens gets the focus. */
    function choose(timestamp, url) {
        close();
        if (compares.checked) {
            compareWith(timestamp);
            return;
        }
        document.activeElement?.blur();
        onTime(timestamp, url);
    }

    /** The earlier capture is on side A. Of a day, a month or a year, the latest one is compared. */
    function compareWith(timestamp) {
        const { timestamp: shown, url, request, mime } = current.capture;
        const isLater = timestamp.padEnd(17, "9") > shown;
        const [a, b] = isLater ? [shown, timestamp] : [timestamp, shown];
        navigate(compareURL(archive, request ?? url, { a, b, as: mime?.startsWith("image/") ? "pages" : "text" }));
    }

    return { close };
}

/** Opens the capture that is closest to a date. */
function dateForm(go, choose) {
    const problem = make("p", { id: "captures-date-problem", class: "problem", role: "alert" });
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: message("captures.date-example"),
        "aria-describedby": "captures-date-problem", on: { input: () => {
            problem.textContent = "";
            input.removeAttribute("aria-invalid");
        } } });
    return make("form", { class: "date-form", on: { submit: (event) => {
        event.preventDefault();
        const date = readDate(input.value);
        if (date) {
            choose(date);
            return;
        }
        problem.textContent = message("captures.not-a-date");
        input.setAttribute("aria-invalid", "true");
        input.focus();
    } } }, make("label", {}, message("captures.date"), input), go, problem);
}

async function fill(place, archive, capture, choose) {
    try {
        const found = await api.capturesByDay(archive, capture.url);
        if (place.isConnected) place.replaceChildren(...calendarOf(archive, capture, found, choose));
    } catch (error) {
        place.replaceChildren(make("p", { role: "alert", text: message("captures.failed", { problem: plain(error.message, 300) }) }));
    }
}

function calendarOf(archive, capture, { total, counts }, choose) {
    const byDay = new Map(counts.map(({ period, captures }) => [period.replaceAll("-", ""), captures]));
    const byYear = new Map();
    for (const [day, n] of byDay) byYear.set(day.slice(0, 4), (byYear.get(day.slice(0, 4)) ?? 0) + n);
    const days = [...byDay.keys()];
    const shownDay = capture.timestamp.slice(0, 8);
    const open = ({ timestamp, request, url }) => choose(timestamp, request ?? url);
    const heading = make("h3", { "aria-live": "polite" });
    const step = (shape, key, steps) => make("button", { type: "button", class: "tool", "aria-label": message(key), title: message(key),
        on: { click: () => show(inMonth(day, steps)) } }, icon(shape));
    const previous = step("back", "captures.previous-month", -1);
    const next = step("forward", "captures.next-month", 1);
    const list = createDayCaptures(archive, capture, byDay, { onChosen: open, onBeyond: show });
    const grid = createMonthGrid(byDay, shownDay, { onMoved: show, onChosen: chooseDay });
    const bars = createYearBars(byYear, (year) => show(dayIn(year)));
    let day = "";

    function show(wanted, focus) {
        const focused = document.activeElement;
        day = wanted;
        const month = day.slice(0, 6);
        heading.textContent = periodText(month);
        previous.disabled = month <= days[0].slice(0, 6);
        next.disabled = month >= days.at(-1).slice(0, 6);
        bars.show(day.slice(0, 4));
        grid.show(day);
        list.show(day, focus);
        // A button that is disabled loses the focus.
        if ([previous, next].some((button) => button.disabled && button === focused)) grid.focus();
    }

    /** A day with one capture opens it, and a day with none the closest. Of several, one is chosen in the list. */
    async function chooseDay(chosen) {
        const n = byDay.get(chosen) ?? 0;
        if (n > 1) {
            list.show(chosen, "start");
            return;
        }
        // It may be the answer to a form.
        const found = n === 1 && await api.captures(archive, capture.url, { after: laterPeriod(chosen, -1), limit: 1 }).catch(() => null);
        const [only] = found?.captures ?? [];
        if (!grid.element.isConnected) return;
        if (only) open(only);
        else choose(chosen);
    }

    /** The first day with captures in a year, if possible of the month that is shown. */
    function dayIn(year) {
        const ofYear = days.filter((each) => each.startsWith(year));
        return ofYear.find((each) => each.slice(4, 6) === day.slice(4, 6)) ?? ofYear[0] ?? `${year}${day.slice(4, 6)}01`;
    }

    show(shownDay);
    return [make("p", { class: "quiet", text: message("captures.count", { n: total, first: mediumPeriodText(days[0]), last: mediumPeriodText(days.at(-1)) }) }),
        byYear.size > 1 && bars.element,
        make("div", { class: "month-and-day" },
            make("div", { class: "month" }, make("div", { class: "month-head" }, previous, heading, next), grid.element,
                settings().times === "local" && make("p", { class: "quiet", text: message("captures.utc") })),
            list.element)].filter(Boolean);
}
