/** The time that a link or the user asked for, if there is no capture on that day. The address keeps it while the page stays. */
import { message } from "../core/i18n.js";
import { mediumPeriodText } from "../core/periods.js";
import { exactMoment } from "../core/times.js";

/** The year, month or day that a timestamp names. */
const periodOf = (timestamp) => timestamp.slice(0, Math.min(8, timestamp.length - timestamp.length % 2));

/**
 * Returns the capture of the day, month or year that was asked for, if one of another is closer to its end.
 *
 * @param {string} timestamp the requested time
 * @param {import("../core/api.js").CaptureList|undefined} list captures around the closest one
 * @returns {import("../core/api.js").Capture|undefined}
 */
export function captureOfPeriod(timestamp, list) {
    if (timestamp.length < 4 || timestamp.length >= 14 || !list?.closest || list.closest.timestamp.startsWith(periodOf(timestamp))) return undefined;
    return list.captures.findLast((one) => !one.request && one.timestamp.startsWith(periodOf(timestamp)));
}

/**
 * @param {string} timestamp the requested time
 * @param {import("../core/api.js").CaptureList|undefined} list captures around the closest one
 * @returns {string} the timestamp if no capture is of that day, month or year; else empty
 */
export function askedTime(timestamp, list) {
    if (!list?.closest || list.similarTo || !/^\d{4,17}$/.test(timestamp)) return "";
    const isOfPeriod = (one) => one.timestamp.startsWith(periodOf(timestamp));
    // The answer to a form isn't the page.
    return [list.closest, ...list.captures.filter(({ request }) => !request)].some(isOfPeriod) ? "" : timestamp;
}

/**
 * @param {import("./navigation.js").Page} page
 * @returns {string} a hint that there is no capture at the requested time; empty if there is one
 */
export function closestHint({ askedTime: asked, capture }) {
    if (!asked) return "";
    const period = periodOf(asked);
    return message("viewer.no-capture", { period: period.length === 8 ? "day" : "span", asked: mediumPeriodText(period),
        shown: mediumPeriodText(capture.timestamp.slice(0, 8)) });
}

/**
 * @param {import("../core/api.js").Capture|undefined} chosen
 * @param {import("../core/api.js").Capture} shown another capture of the same URL, or the same one
 * @returns {string} a hint if replay shows another capture than the chosen one: `docs/captures.md`, "Which capture"
 */
export function skippedHint(chosen, shown) {
    if (!chosen || chosen.request || chosen.timestamp === shown.timestamp) return "";
    // Others are always shown. Revisits may have no status in the index.
    if (chosen.status !== undefined && (chosen.status < 300 || chosen.status >= 400)) return "";
    return message("viewer.skipped-capture", { time: exactMoment(chosen.capturedAt), shown: exactMoment(shown.capturedAt) });
}
