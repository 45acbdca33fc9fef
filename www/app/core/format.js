/** Formats numbers, sizes and times. Times are in UTC, or in the time zone of this computer if the settings say so. */
import { message } from "./i18n.js";
import { settings } from "./settings.js";

const numbers = new Intl.NumberFormat("en");
const formats = { utc: createFormats({ timeZone: "UTC" }), local: createFormats({}) };

function createFormats(zone) {
    const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short", ...zone };
    return {
        days: new Intl.DateTimeFormat("en-GB", { dateStyle: "long", ...zone }),
        clock: new Intl.DateTimeFormat("en-GB", hours),
        exactClock: new Intl.DateTimeFormat("en-GB", { second: "2-digit", ...hours }),
    };
}

/** Applies one of the formats to a time, or returns a text that isn't a time as it is. */
function formatted(time, ...names) {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    const chosen = formats[settings().times] ?? formats.utc;
    return names.map((name) => chosen[name].format(date)).join(", ");
}

/** @returns {string} the time zone of this computer, for example `Europe/Berlin` */
export const localZone = () => formats.local.clock.resolvedOptions().timeZone;

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
export const day = (time) => formatted(time, "days");

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27 UTC`
 */
export const moment = (time) => formatted(time, "days", "clock");

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27:35 UTC`
 */
export const exactMoment = (time) => formatted(time, "days", "exactClock");

/**
 * @param {number} seconds
 * @returns {string} about how long something still takes, for example `4 min left`
 */
export function timeLeft(seconds) {
    if (seconds < 60) return message("time.left-seconds", { n: Math.max(5, Math.ceil(seconds / 5) * 5) });
    if (seconds < 5400) return message("time.left-minutes", { n: Math.round(seconds / 60) });
    return message("time.left-hours", { n: Math.round(seconds / 3600) });
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
