/** A line with a mark for each time, and a larger one for the page's own. */
import { make } from "../core/dom.js";
import { day } from "../core/format.js";

const space = "http://www.w3.org/2000/svg";
const width = 320;
const height = 24;
const margin = 8;

function shape(name, attributes) {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
}

/**
 * @param {string} label
 * @param {number[]} times in milliseconds
 * @param {number} own that of the page
 * @returns {HTMLElement}
 */
export function timeLine(label, times, own) {
    const all = [...times, own];
    const [first, last] = [Math.min(...all), Math.max(...all)];
    const place = (time) => last === first ? width / 2 : margin + (time - first) / (last - first) * (width - margin * 2);
    // Times that are drawn at the same place are one mark.
    const places = new Set(times.map((time) => Math.round(place(time))));
    const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    drawing.append(shape("line", { x1: margin, x2: width - margin, y1: height / 2, y2: height / 2 }),
        ...Array.from(places, (x) => shape("line", { class: "part", x1: x, x2: x, y1: 6, y2: height - 6 })),
        shape("circle", { cx: place(own), cy: height / 2, r: 5 }));
    const [from, to] = [first, last].map((time) => day(new Date(time).toISOString()));
    return make("figure", { class: "time-line", "aria-label": label }, drawing,
        make("figcaption", {}, make("span", { text: from }), from !== to && make("span", { text: to })));
}
