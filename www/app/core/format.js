/** Formats numbers, sizes and times. All times are in UTC. */

const numbers = new Intl.NumberFormat("en");
const days = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const exactClock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

/**
 * @param {number} count
 * @param {string} singular
 * @param {string} [plural]
 * @returns {string} for example `1 page`, `2,041 pages`
 */
export function counted(count, singular, plural = `${singular}s`) {
    return `${numbers.format(count)} ${count === 1 ? singular : plural}`;
}

/**
 * @param {{pageCount?: number, pagesDetected?: boolean}} item an archive or collection
 * @returns {string} for example `3 pages (detected)`; empty when it has none or the number is unknown
 */
export function countedPages({ pageCount, pagesDetected }) {
    return pageCount ? `${counted(pageCount, "page")}${pagesDetected ? " (detected)" : ""}` : "";
}

/**
 * @param {number} count
 * @returns {string}
 */
export function number(count) {
    return numbers.format(count);
}

/**
 * @param {number} bytes
 * @returns {string} for example `1.4 MB` (decimal units)
 */
export function size(bytes) {
    const units = ["bytes", "kB", "MB", "GB", "TB"];
    let value = bytes;
    let unit = 0;
    while (value >= 999.5 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    const digits = unit > 0 && value < 9.95 ? 1 : 0;
    return `${value.toFixed(digits)} ${units[unit]}`;
}

/**
 * @param {string} timestamp 14 or 17 digits
 * @returns {string} RFC 3339; empty when it isn't a timestamp
 */
export function timeOf(timestamp) {
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{0,3}$/.exec(timestamp ?? "");
    return parts ? `${parts.slice(1, 4).join("-")}T${parts.slice(4).join(":")}Z` : "";
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026`
 */
export function day(time) {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? time : days.format(date);
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27 UTC`
 */
export function moment(time) {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? time : `${days.format(date)}, ${clock.format(date)} UTC`;
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27:35 UTC`
 */
export function exactMoment(time) {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? time : `${days.format(date)}, ${exactClock.format(date)} UTC`;
}

/**
 * @param {string|undefined} first RFC 3339
 * @param {string|undefined} last RFC 3339
 * @returns {string} one day, or a range of days; empty when unknown
 */
export function span(first, last) {
    if (!first && !last) return "";
    const from = day(first ?? last);
    const to = day(last ?? first);
    return from === to ? from : `${from} – ${to}`;
}
