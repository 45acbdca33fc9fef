/** Reads dates that people type. */
import { language } from "./i18n.js";

/** The names of the months in a language, long and in lower case. */
const monthNames = (locale) => {
    const names = new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" });
    return Array.from({ length: 12 }, (_, index) => names.format(new Date(Date.UTC(2024, index))).toLowerCase());
};

/** Reads `may`, `sept` or a name in the language of the interface. */
function monthOf(word) {
    for (const locale of [language, "en"]) {
        const index = monthNames(locale).findIndex((name) => word.length >= 3 && name.startsWith(word));
        if (index >= 0) return index + 1;
    }
    return 0;
}

/** Returns year, month and day as digits, as far as they are given; `null` if there is no such day. */
function periodOf(year, month, day) {
    const parts = [year, month, day].filter((part) => part !== undefined).map(Number);
    const date = new Date(Date.UTC(parts[0], (parts[1] ?? 1) - 1, parts[2] ?? 1));
    const isReal = date.getUTCMonth() + 1 === (parts[1] ?? 1) && date.getUTCDate() === (parts[2] ?? 1) && parts[0] >= 1000;
    return isReal ? parts.map((part) => String(part).padStart(2, "0")).join("") : null;
}

/**
 * Reads `2024`, `2024-05`, `2024-05-03`, `3 May 2024`, `May 3, 2024`, and timestamps such as `20240503` or `20240503101500`.
 * A date such as `03/05/2024` has two meanings, so that it isn't read.
 *
 * @param {string} text
 * @returns {string|null} the beginning of a timestamp: 4, 6, 8 or 14 digits; `null` if it isn't a date
 */
export function readDate(text) {
    const typed = text.trim().toLowerCase();
    const numbers = /^(\d{4})(?:[-./]?(\d\d?)(?:[-./]?(\d\d?))?)?$/.exec(typed);
    if (numbers) return periodOf(...numbers.slice(1));
    const timestamp = /^(\d{4})-?(\d\d)-?(\d\d)[t ]?(\d\d):?(\d\d):?(\d\d)?(?:\.?\d{3})?(?: ?z| ?utc)?$/.exec(typed);
    if (timestamp) {
        const [, year, month, day, hour, minute, second = "00"] = timestamp;
        const date = periodOf(year, month, day);
        return date && hour < 24 && minute < 60 && second < 60 ? date + hour + minute + second : null;
    }
    const words = typed.match(/\p{L}+|\d+/gu) ?? [];
    const month = words.map(monthOf).find((number) => number > 0);
    const [year] = words.filter((word) => /^\d{4}$/.test(word));
    const days = words.filter((word) => /^\d{1,2}$/.test(word));
    if (!month || !year || days.length > 1) return null;
    // “3rd May 2024”, “3. Mai 2024”, but nothing else
    const known = words.filter((word) => /^\d+$/.test(word) || monthOf(word) > 0 || /^(st|nd|rd|th|of|de)$/.test(word));
    return known.length === words.length ? periodOf(year, month, days[0]) : null;
}
