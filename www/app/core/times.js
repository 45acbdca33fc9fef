/** Times that `format.js` doesn't have: of captures, exact ones, and spans of days. */
import "../messages/en/around.js";
import { day, formatted } from "./format.js";
import { message } from "./i18n.js";

/**
 * @param {string} timestamp 14 or 17 digits
 * @returns {string} RFC 3339; empty when it isn't one of a real day
 */
export function timeOf(timestamp) {
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{0,3}$/.exec(timestamp ?? "");
    const time = parts ? `${parts.slice(1, 4).join("-")}T${parts.slice(4).join(":")}Z` : "";
    return Number.isNaN(Date.parse(time)) ? "" : time;
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27:35 UTC`
 */
export const exactMoment = (time) => formatted(time, "days", "exactClock");

/**
 * @param {string|undefined} first RFC 3339
 * @param {string|undefined} last RFC 3339
 * @returns {string} one day, or a range of days; empty when unknown
 */
export function span(first, last) {
    if (!first && !last) return "";
    const from = day(first ?? last);
    const to = day(last ?? first);
    return from === to ? from : message("span.from-to", { first: from, last: to });
}

/** @returns {string} the time zone of this computer, for example `Europe/Berlin` */
export const localZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
