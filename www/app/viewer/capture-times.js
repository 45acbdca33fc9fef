/** Chooses another capture of the URL that is shown. Long lists are loaded in parts. */
import { make } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { exactMoment } from "../core/times.js";

/**
 * @typedef {{onTime: (timestamp: string) => void,
 *   list: (part: {closest?: string, before?: string, after?: string}) => Promise<import("../core/api.js").CaptureList>}} Listener
 */

/** Pads a timestamp, so that timestamps with and without milliseconds compare as text. */
const digits = ({ timestamp }) => timestamp.padEnd(17, "0");

/**
 * @param {import("../core/api.js").Capture} shown
 * @param {import("../core/api.js").CaptureList} near captures of the same URL around it
 * @param {Listener} listener
 * @returns {HTMLElement[]} the time; for several captures, a list of times between buttons for previous and next
 */
export function createTimeChoice(shown, near, { onTime, list }) {
    const around = distinctTimes(near.captures);
    const hasMore = near.total > near.captures.length;
    if (around.length < 2 && !hasMore) return [timeText(shown)];
    const count = hasMore ? near.total : around.length;
    const select = make("select", { "aria-label": message("viewer.capture-times", { n: count }),
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
            // The list stays. The user's next action reports the error.
            select.value = shown.timestamp;
        }
    }

    const before = around.filter((capture) => digits(capture) < digits(shown)).pop();
    const after = around.find((capture) => digits(capture) > digits(shown));
    return [step("back", message("viewer.previous-capture"), before, onTime), select, step("forward", message("viewer.next-capture"), after, onTime)];
}

function step(shape, label, capture, onTime) {
    return make("button", { type: "button", class: "tool step", "aria-label": label, title: label,
        disabled: capture === undefined, on: { click: () => onTime(capture.timestamp) } }, icon(shape));
}

/** Lists some captures, options that load earlier and later ones, and always the shown capture. */
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
    const more = (value, label) => make("option", { value, text: label });
    const choices = [];
    if (!isListed && isBefore) choices.push(option(shown));
    if (position > 0) choices.push(more("first", message("viewer.first-captures")), more("earlier", message("viewer.earlier-captures", { n: position })));
    choices.push(...times.map(option));
    if (laterCount > 0) choices.push(more("later", message("viewer.later-captures", { n: laterCount })), more("latest", message("viewer.latest-captures")));
    if (!isListed && !isBefore) choices.push(option(shown));
    select.replaceChildren(...choices);
    select.value = shown.timestamp;
}

function label({ capturedAt, status }, text) {
    const time = text(capturedAt);
    return status !== undefined && status !== 200 ? message("viewer.time-with-status", { time, status: String(status) }) : time;
}

/** @returns {import("../core/api.js").Capture[]} one capture for each time */
function distinctTimes(captures) {
    const seen = new Set();
    return captures.filter(({ timestamp }) => !seen.has(timestamp) && seen.add(timestamp));
}

function timeText(capture) {
    return make("time", { datetime: capture.capturedAt, title: capture.capturedAt, text: moment(capture.capturedAt) });
}
