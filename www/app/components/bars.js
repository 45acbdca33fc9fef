/** A bar chart of counts, whose bars are links, with the same counts as a list. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @param {string} label
 * @param {{short: string, text: string, count: number, href: string, isCurrent?: boolean}[]} entries `text` is the bar's
 *   name and count; `short` stands below it
 * @returns {HTMLElement}
 */
export function barChart(label, entries) {
    const most = Math.max(1, ...entries.map(({ count }) => count));
    const bars = make("ol", { class: "bars", "aria-label": label }, ...entries.map((entry) => make("li", {}, barOf(entry, most))));
    return make("div", { class: "bar-chart" }, bars);
}

function barOf({ short, text, count, href, isCurrent }, most) {
    const bar = make("span", { class: "bar" });
    // Few captures among many are still seen.
    bar.style.height = count > 0 ? `${Math.max(4, count / most * 100)}%` : "0";
    return make("a", { href, "aria-label": text, title: text, "aria-current": isCurrent ? "true" : null, class: count > 0 ? null : "none" },
        make("span", { class: "track" }, bar), make("span", { class: "tick", text: short }));
}

/**
 * @param {{text: string}[]} entries
 * @returns {HTMLElement} the counts of a chart as a list, closed at first
 */
export function listOfBars(entries) {
    return make("details", { class: "as-list" }, make("summary", { text: message("chart.as-list") }),
        make("ul", {}, ...entries.filter(({ count }) => count > 0).map(({ text, href }) => make("li", {}, make("a", { href, text })))));
}
