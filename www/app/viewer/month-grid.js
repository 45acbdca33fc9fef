/** A month of captures as a grid of days (WAI-ARIA APG, "Grid"), with one tab stop. Days are in UTC. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { daysOf, laterPeriod, periodText, shortPeriodText, weekdayNames, weekdayOf } from "../core/periods.js";

/**
 * @param {Map<string, number>} counts the number of captures of each day that has any; days as `20240503`
 * @param {string} shownDay that of the capture that is shown
 * @param {{onMoved: (day: string) => void, onChosen: (day: string) => void}} listener
 * @returns {{element: HTMLElement, show: (day: string) => void, focus: () => void}} `show` shows a day with its month
 */
export function createMonthGrid(counts, shownDay, { onMoved, onChosen }) {
    const days = [...counts.keys()];
    const [first, last] = [days[0], days.at(-1)];
    const most = days.reduce((found, day) => Math.max(found, counts.get(day)), 1);
    const element = make("table", { role: "grid", class: "month-grid", on: { keydown: move, click: choose, focusin: follow } });
    let month = "";
    let current = "";

    function show(day) {
        current = day;
        const hadFocus = element.contains(document.activeElement);
        if (day.slice(0, 6) !== month) draw(day.slice(0, 6));
        for (const cell of element.querySelectorAll("[data-day]")) {
            const isCurrent = cell.dataset.day === day;
            cell.tabIndex = isCurrent ? 0 : -1;
            cell.setAttribute("aria-selected", String(isCurrent));
        }
        if (hadFocus) focus();
    }

    function draw(now) {
        month = now;
        element.setAttribute("aria-label", periodText(month));
        const weeks = [];
        for (const day of daysOf(month)) {
            if (weeks.length === 0 || weekdayOf(day) === 0) weeks.push(Array.from({ length: 7 }, () => make("td", { role: "gridcell" })));
            weeks.at(-1)[weekdayOf(day)] = cellOf(day);
        }
        element.replaceChildren(
            make("thead", {}, make("tr", {}, ...weekdayNames().map((text) => make("th", { scope: "col", text })))),
            make("tbody", {}, ...weeks.map((week) => make("tr", {}, ...week))));
    }

    function cellOf(day) {
        const n = counts.get(day) ?? 0;
        const label = message("captures.bar", { period: periodText(day), n });
        const dot = make("span", { class: "dot" });
        // Few captures among many are still seen.
        dot.style.scale = String(.4 + .6 * Math.sqrt(n / most));
        return make("td", { role: "gridcell", "data-day": day, "aria-label": label, title: label, class: n > 0 ? "captured" : null,
            "aria-current": day === shownDay ? "date" : null }, n > 0 && dot, make("span", { text: shortPeriodText(day) }));
    }

    function move(event) {
        if (event.ctrlKey && ["Home", "End"].includes(event.key)) {
            go(event, event.key === "Home" ? first : last);
            return;
        }
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            onChosen(current);
            return;
        }
        const months = event.shiftKey ? 12 : 1;
        const weekday = weekdayOf(current);
        const to = { ArrowLeft: () => laterPeriod(current, -1), ArrowRight: () => laterPeriod(current), ArrowUp: () => laterPeriod(current, -7),
            ArrowDown: () => laterPeriod(current, 7), PageUp: () => inMonth(current, -months), PageDown: () => inMonth(current, months),
            Home: () => laterPeriod(current, -weekday), End: () => laterPeriod(current, 6 - weekday) }[event.key];
        if (to) go(event, to());
    }

    /** No day outside of the months with captures has any. */
    function go(event, day) {
        event.preventDefault();
        event.stopPropagation();
        if (day.slice(0, 6) < first.slice(0, 6) || day.slice(0, 6) > last.slice(0, 6)) return;
        show(day);
        focus();
        onMoved(day);
    }

    /** Screen readers can move the focus themselves. */
    function follow({ target }) {
        const { day } = target.dataset;
        if (!day || day === current) return;
        show(day);
        onMoved(day);
    }

    function choose({ target }) {
        const cell = target.closest("[data-day]");
        if (!cell) return;
        cell.focus({ preventScroll: true });
        onChosen(cell.dataset.day);
    }

    const focus = () => element.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });

    return { element, show, focus };
}

/** The same day of another month, or the last one of a shorter month. */
export function inMonth(day, steps) {
    const month = laterPeriod(day.slice(0, 6), steps);
    // After 9999, years have more digits.
    if (!/^\d{6}$/.test(month)) return day;
    const days = daysOf(month);
    return days[Math.min(Number(day.slice(6)), days.length) - 1];
}
