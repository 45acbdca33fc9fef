/** When a share that couldn't be sent is tried again. */

const secondsBetween = [0, 30, 120, 300];

/**
 * @param {number} attempts how often it was tried
 * @returns {number} the seconds until the next attempt
 */
export const secondsAfter = (attempts) => secondsBetween[Math.min(attempts, secondsBetween.length - 1)];

/**
 * @param {string|null} field the value of `Retry-After`: seconds or a date. RFC 9110 §10.2.3
 * @param {number} now milliseconds since 1970
 * @returns {number} seconds; 0 without a valid value
 */
export function retryAfter(field, now) {
    if (/^\d{1,9}$/.test(field ?? "")) return Number(field);
    const seconds = / GMT$/.test(field ?? "") ? (Date.parse(field) - now) / 1000 : 0;
    return seconds > 0 ? Math.ceil(seconds) : 0;
}
