/** Years, months and days in UTC, as the beginnings of timestamps: `2024`, `202405`, `20240503`. */
import { dateLocale, language } from "./i18n.js";

const format = (options) => new Intl.DateTimeFormat(dateLocale(), { ...options, timeZone: "UTC" });
const longForms = { 4: format({ year: "numeric" }), 6: format({ month: "long", year: "numeric" }), 8: format({ dateStyle: "long" }) };
const mediumForms = { 4: longForms[4], 6: format({ month: "short", year: "numeric" }), 8: format({ dateStyle: "medium" }) };
const shortForms = { 4: longForms[4], 6: new Intl.DateTimeFormat(language, { month: "short", timeZone: "UTC" }), 8: format({ day: "numeric" }) };
const weekdays = format({ weekday: "short" });

const isPeriod = (text) => /^\d{4}$|^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?$/.test(text ?? "");
const dateOf = (period) => new Date(Date.UTC(Number(period.slice(0, 4)), Number(period.slice(4, 6) || 1) - 1, Number(period.slice(6, 8) || 1)));
const digits = (date, length) => date.toISOString().replaceAll("-", "").slice(0, length);

/**
 * @param {string} period
 * @param {number} [steps] can be negative
 * @returns {string} the period of the same length that many later
 */
export function laterPeriod(period, steps = 1) {
    const date = dateOf(period);
    if (period.length === 4) date.setUTCFullYear(date.getUTCFullYear() + steps);
    else if (period.length === 6) date.setUTCMonth(date.getUTCMonth() + steps);
    else date.setUTCDate(date.getUTCDate() + steps);
    return digits(date, period.length);
}

/**
 * @param {string} period
 * @returns {string} for example `2024`, `May 2024`, `3 May 2024`
 */
export const periodText = (period) => longForms[period.length].format(dateOf(period));

/**
 * @param {string} period
 * @returns {string} for example `2024`, `Nov 2024`, `3 Nov 2024`
 */
export const mediumPeriodText = (period) => mediumForms[period.length].format(dateOf(period));

/**
 * @param {string} period
 * @returns {string} for example `2024`, `May`, `3`
 */
export const shortPeriodText = (period) => shortForms[period.length].format(dateOf(period));

/**
 * @param {{period: string, captures: number}[]} counted periods of one length, in order
 * @param {number} most
 * @returns {{period: string, captures: number}[]|null} these, and those between them, which have no captures; `null` if there
 *   are more than `most`
 */
export function withGaps(counted, most) {
    const captures = new Map(counted.map((one) => [one.period, one.captures]));
    const all = [];
    for (let { period } = counted[0]; period <= counted.at(-1).period; period = laterPeriod(period)) {
        if (all.length === most) return null;
        all.push({ period, captures: captures.get(period) ?? 0 });
    }
    return all;
}

/**
 * @param {string} month
 * @returns {string[]} its days
 */
export function daysOf(month) {
    const days = [];
    for (let day = `${month}01`; day.startsWith(month); day = laterPeriod(day)) days.push(day);
    return days;
}

/**
 * @param {string} year
 * @returns {string[]} its months
 */
export const monthsOf = (year) => Array.from({ length: 12 }, (_, index) => laterPeriod(`${year}01`, index));

/**
 * @param {string} day
 * @returns {number} 0 for Monday, 6 for Sunday
 */
export const weekdayOf = (day) => (dateOf(day).getUTCDay() + 6) % 7;

/** @returns {string[]} the names of the days of a week, short, from Monday */
export const weekdayNames = () => Array.from({ length: 7 }, (_, index) => weekdays.format(new Date(Date.UTC(2024, 0, 1 + index))));

/**
 * Reads a span of time from a URL. Each end is a period, and the last one isn't part of it.
 *
 * @param {{after?: string, before?: string}} filter
 * @returns {{after: string, before: string}|null} both of the same length; `null` unless both are years, months or days
 */
export function readSpan({ after, before }) {
    if (!isPeriod(after) || !isPeriod(before) || after.length !== before.length || after >= before) return null;
    return { after, before };
}

/**
 * @param {string} first
 * @param {string} [last] of the same length, in any order
 * @returns {{after: string, before: string}} the span from one period through the other
 */
export const spanOf = (first, last = first) => first <= last ? { after: first, before: laterPeriod(last) }
    : { after: last, before: laterPeriod(first) };

/**
 * @param {{after: string, before: string}} span
 * @returns {[string, string]} its first and its last period
 */
export const endsOf = ({ after, before }) => [after, laterPeriod(before, -1)];

/**
 * @param {{after?: string, before?: string}} span
 * @param {string} time a timestamp or a period
 * @returns {boolean} whether the time is in it
 */
export const isIn = ({ after = "", before = "" }, time) => time >= after && (before === "" || time < before);
