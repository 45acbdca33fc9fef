/**
 * Draws marks over the frame of the page. The layer covers all of the frame, so that a page that asks its browser whether
 * something is in front of a word (IntersectionObserver, trackVisibility) gets the same answer for each word.
 */

const placesMax = 6000;
const margin = 1;
const space = "http://www.w3.org/2000/svg";

/**
 * @typedef {object} Places
 * @property {number[]} list for each visible word: where it begins and ends in the text, and its rectangle
 * @property {number} width of what the frame shows, without scroll bars
 * @property {number} height
 * @property {number} x the scroll position
 * @property {number} y
 */

/** @returns {Places|null} `null` if the agent's message isn't valid */
export function readPlaces({ places: list, width, height, x, y }) {
    const isValid = Array.isArray(list) && list.length <= placesMax * 6 && [width, height, x, y, ...list].every(Number.isFinite);
    return isValid ? { list, width, height, x, y } : null;
}

/** Returns the index of the first mark that ends after a position. */
function firstAfter(marks, position) {
    let [low, high] = [0, marks.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (marks[middle].end > position) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** Joins the words of a mark that are in one line. */
function addBox(boxes, box) {
    const last = boxes.at(-1);
    const isLine = last && last.mark === box.mark && Math.abs(last.y + last.height / 2 - box.y - box.height / 2) < box.height / 2
        && box.x - last.x - last.width < box.height && last.x - box.x - box.width < box.height;
    if (!isLine) {
        boxes.push(box);
        return;
    }
    const [right, bottom] = [Math.max(last.x + last.width, box.x + box.width), Math.max(last.y + last.height, box.y + box.height)];
    last.x = Math.min(last.x, box.x);
    last.y = Math.min(last.y, box.y);
    last.width = right - last.x;
    last.height = bottom - last.y;
}

function element(name, attributes, ...children) {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/**
 * @param {HTMLElement} layer
 * @param {Places|null} places
 * @param {import("./word-matcher.js").Mark[]} marks
 * @param {number} current the index of the current mark, or -1
 * @returns {Set<number>} the indexes of the marks that are visible
 */
export function drawMarks(layer, places, marks, current) {
    const boxes = [];
    for (let at = 0; at < (places?.list.length ?? 0); at += 6) {
        const [start, end, x, y, width, height] = places.list.slice(at, at + 6);
        const mark = firstAfter(marks, start);
        if (mark < marks.length && marks[mark].start < end) addBox(boxes, { mark, x, y, width, height });
    }
    layer.replaceChildren(...(boxes.length > 0 ? [element("svg", { width: places.width, height: places.height },
        element("g", {}, ...boxes.map(({ mark, x, y, width, height }) => element("rect", {
            class: mark === current ? "word-mark current" : "word-mark", x: x - margin, y: y - margin, width: width + margin * 2,
            height: height + margin * 2, rx: 2,
        }))))] : []));
    return new Set(boxes.map(({ mark }) => mark));
}
