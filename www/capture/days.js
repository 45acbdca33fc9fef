/** The names of days. */
import { dateLocale, message } from "../app/core/i18n.js";

const hours = 24;

/**
 * @param {number} time milliseconds since 1970
 * @param {number} [now]
 * @returns {string} `Today`, `Yesterday` or a date, of this device's time zone
 */
export function dayName(time, now = Date.now()) {
    const format = new Intl.DateTimeFormat(dateLocale(), { dateStyle: "full" });
    const name = format.format(time);
    if (name === format.format(now)) return message("capture.day.today");
    const yesterday = new Date(now);
    // Noon exists on each day, whatever daylight saving time does.
    yesterday.setHours(hours / 2);
    yesterday.setDate(yesterday.getDate() - 1);
    return name === format.format(yesterday) ? message("capture.day.yesterday") : name;
}

/**
 * @param {number} time milliseconds since 1970
 * @returns {string} the time of day on this device
 */
export const clock = (time) => new Intl.DateTimeFormat(dateLocale(), { timeStyle: "short" }).format(time);
