/** The time that a link or the user asked for, if there is no capture on that day. The address keeps it while the page stays. */
import { dateLocale, message } from "../core/i18n.js";

const forms = { 4: { year: "numeric" }, 6: { month: "short", year: "numeric" }, 8: { dateStyle: "medium" } };

/** Writes a year, a month or a day in UTC. */
function text(period) {
    const date = new Date(Date.UTC(period.slice(0, 4), Number(period.slice(4, 6) || 1) - 1, period.slice(6, 8) || 1));
    return new Intl.DateTimeFormat(dateLocale(), { ...forms[period.length], timeZone: "UTC" }).format(date);
}

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
    return message("viewer.no-capture", { period: period.length === 8 ? "day" : "span", asked: text(period),
        shown: text(capture.timestamp.slice(0, 8)) });
}
