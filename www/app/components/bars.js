/** A bar chart of counts, whose bars are links, with the same counts as a list. */
import { make } from "../core/dom.js";
import { number } from "../core/format.js";
import { message } from "../core/i18n.js";

// As many names as fit below a chart, by their length.
const namesMax = (length) => length > 3 ? 8 : 12;

/**
 * @param {string} label
 * @param {{short: string, year?: string, text: string, count: number, href: string, isCurrent?: boolean}[]} entries `text` is the
 *   bar's name and count; `short` stands below it, and `year` below that
 * @returns {HTMLElement}
 */
export function barChart(label, entries) {
    const most = Math.max(1, ...entries.map(({ count }) => count));
    const step = Math.ceil(entries.length / namesMax(Math.max(...entries.map(({ short }) => short.length))));
    const bars = make("ol", { class: "bars", "aria-label": label }, ...entries.map((entry, index) =>
        make("li", {}, barOf({ ...entry, short: index % step === 0 || entry.isCurrent ? entry.short : "" }, most))));
    const chart = make("div", { class: "bar-chart" }, make("p", { class: "scale", "aria-hidden": "true", text: number(most) }), bars);
    chart.style.setProperty("--bars", entries.length);
    return chart;
}

function barOf({ short, year, text, count, href, isCurrent }, most) {
    const bar = make("span", { class: "bar" });
    // Few captures among many are still seen.
    bar.style.height = count > 0 ? `${Math.max(4, count / most * 100)}%` : "0";
    return make("a", { href, "aria-label": text, title: text, "aria-current": isCurrent ? "true" : null, class: count > 0 ? null : "none" },
        make("span", { class: "track" }, bar), make("span", { class: "tick", text: short }),
        year && make("span", { class: "tick", text: year }));
}

/**
 * @param {{text: string}[]} entries
 * @returns {HTMLElement} the counts of a chart as a list, closed at first
 */
export function listOfBars(entries) {
    return make("details", { class: "as-list" }, make("summary", { text: message("chart.as-list") }),
        make("ul", {}, ...entries.filter(({ count }) => count > 0).map(({ text, href }) => make("li", {}, make("a", { href, text })))));
}
