/** The times at which the URL that is shown was captured: all of them, some at a time. */
import { icon, make } from "../core/dom.js";
import { exactMoment, moment } from "../core/format.js";

/**
 * @typedef {{onTime: (timestamp: string) => void,
 *   list: (part: {closest?: string, before?: string, after?: string}) => Promise<import("../core/api.js").CaptureList>}} Listener
 */

/** Digits that sort as the times do, whether a timestamp has milliseconds or not. */
const digits = ({ timestamp }) => timestamp.padEnd(17, "0");

/**
 * @param {import("../core/api.js").Capture} shown
 * @param {import("../core/api.js").CaptureList} near captures of the same URL around it
 * @param {Listener} listener
 * @returns {HTMLElement[]} the time; with several a list to choose from, and the ones before and after
 */
export function createTimeChoice(shown, near, { onTime, list }) {
    const around = distinctTimes(near.captures);
    const hasMore = near.total > near.captures.length;
    if (around.length < 2 && !hasMore) return [timeText(shown)];
    const count = hasMore ? near.total : around.length;
    const select = make("select", { "aria-label": `Time of capture, ${count} to choose from`,
        title: shown.capturedAt, on: { change: choose } });
    fill(select, shown, near);

    async function choose() {
        const { value } = select;
        const [first, last] = [select.dataset.first, select.dataset.last];
        const parts = { first: {}, earlier: { before: first }, later: { after: last }, latest: { closest: "" } };
        if (!parts[value]) {
            onTime(value);
            return;
        }
        try {
            fill(select, shown, await list(parts[value]));
        } catch {
            // The server is away, which whatever is done next will say; what was listed stays.
            select.value = shown.timestamp;
        }
    }

    const before = around.filter((capture) => digits(capture) < digits(shown)).pop();
    const after = around.find((capture) => digits(capture) > digits(shown));
    return [step("back", "Previous capture", before, onTime), select, step("forward", "Next capture", after, onTime)];
}

function step(shape, label, capture, onTime) {
    return make("button", { type: "button", class: "tool step", "aria-label": label, title: label,
        disabled: capture === undefined, on: { click: () => onTime(capture.timestamp) } }, icon(shape));
}

/** Lists some captures, ways to those before and after, and always the one that is shown. */
function fill(select, shown, { captures, total, position }) {
    const times = distinctTimes(captures);
    select.dataset.first = times[0]?.timestamp ?? "";
    select.dataset.last = times[times.length - 1]?.timestamp ?? "";
    const laterCount = total - position - captures.length;
    const isListed = times.some(({ timestamp }) => timestamp === shown.timestamp);
    const isBefore = times.length > 0 && digits(shown) < digits(times[0]);
    const minutes = new Set(times.map(({ capturedAt }) => moment(capturedAt)));
    const text = minutes.size === times.length ? moment : exactMoment;
    const option = (capture) => make("option", { value: capture.timestamp, text: label(capture, text),
        selected: capture.timestamp === shown.timestamp });
    const way = (value, label) => make("option", { value, text: label });
    const choices = [];
    if (!isListed && isBefore) choices.push(option(shown));
    if (position > 0) choices.push(way("first", "First captures"), way("earlier", `${position} earlier captures`));
    choices.push(...times.map(option));
    if (laterCount > 0) choices.push(way("later", `${laterCount} later captures`), way("latest", "Latest captures"));
    if (!isListed && !isBefore) choices.push(option(shown));
    select.replaceChildren(...choices);
    select.value = shown.timestamp;
}

function label({ capturedAt, status }, text) {
    return text(capturedAt) + (status !== undefined && status !== 200 ? ` (status ${status})` : "");
}

/** @returns {import("../core/api.js").Capture[]} one for each time */
function distinctTimes(captures) {
    const seen = new Set();
    return captures.filter(({ timestamp }) => !seen.has(timestamp) && seen.add(timestamp));
}

function timeText(capture) {
    return make("time", { datetime: capture.capturedAt, title: capture.capturedAt, text: moment(capture.capturedAt) });
}
