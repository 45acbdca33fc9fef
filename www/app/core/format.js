/** Formats numbers, sizes and times. Times are in UTC, or in the time zone of this computer if the settings say so. */
import { dateLocale, language } from "./i18n.js";
import { settings } from "./settings.js";

const numbers = new Intl.NumberFormat("en");
// By language.
const formats = {};

function createFormats(zone) {
    const locale = dateLocale();
    const hours = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short", ...zone };
    return {
        days: new Intl.DateTimeFormat(locale, { dateStyle: "long", ...zone }),
        shortDays: new Intl.DateTimeFormat(locale, { dateStyle: "medium", ...zone }),
        clock: new Intl.DateTimeFormat(locale, hours),
        exactClock: new Intl.DateTimeFormat(locale, { second: "2-digit", ...hours }),
    };
}

/** Applies one of the formats to a time, or returns a text that isn't a time as it is. */
export function formatted(time, ...names) {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    formats[language] ??= { utc: createFormats({ timeZone: "UTC" }), local: createFormats({}) };
    const chosen = formats[language][settings().times] ?? formats[language].utc;
    return names.map((name) => chosen[name].format(date)).join(", ");
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
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026`
 */
export const day = (time) => formatted(time, "days");

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 Nov 2026`
 */
export const shortDay = (time) => formatted(time, "shortDays");

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `20 November 2026, 23:27 UTC`
 */
export const moment = (time) => formatted(time, "days", "clock");
