/** Which capture of an address is meant. */

/**
 * Makes an address out of what a person typed: `example.com` means `https://example.com/`.
 *
 * @param {string} typed
 * @returns {string}
 */
export function completeAddress(typed) {
    // Browsers take a backslash for a slash there as well.
    const text = typed.trim().replace(/^(?:https?:|(?=\\))[^?#]*/i, (start) => start.replaceAll("\\", "/"));
    if (/^([a-z][a-z0-9+.-]*:\/\/|(urn|file|data|about|mailto):)/i.test(text)) {
        return /^https?:\/\/[^/?#]+$/i.test(text) ? `${text}/` : text;
    }
    const rest = text.replace(/^\/+/, "");
    return /^[^/?#]+$/.test(rest) ? `https://${rest}/` : `https://${rest}`;
}

/**
 * The address as browsers send it: `/café` as `/caf%C3%A9`. Captures are mostly indexed so.
 *
 * @param {string} address
 * @returns {string}
 */
export function encodedAddress(address) {
    try {
        return new URL(address).href;
    } catch {
        return address;
    }
}

/**
 * @param {string} url
 * @returns {string} its fragment with the number sign in front; empty when it has none
 */
export const fragmentOf = (url) => /#.+$/s.exec(url)?.[0] ?? "";

/**
 * @param {string} url
 * @returns {string}
 */
export const withoutFragment = (url) => url.replace(/#.*$/s, "");

/** Time in milliseconds of a timestamp of 4 to 17 digits. */
function time(timestamp) {
    const full = timestamp.padEnd(14, "0").replace(/^(\d{4})00/, "$101").replace(/^(\d{6})00/, "$101");
    const part = (from, to) => Number(full.slice(from, to));
    return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14),
        Number(full.slice(14, 17) || 0));
}

/**
 * @param {import("./api.js").Capture[]} captures
 * @param {string} timestamp the time wanted; empty for the latest
 * @param {string} [url] of the captures of one moment, the one with this URL is preferred
 * @returns {import("./api.js").Capture|undefined} the closest one; of two equally close ones the later, and one that
 *   shows a page before one that says where else to look
 */
export function closestCapture(captures, timestamp, url = "") {
    const closest = closestInTime(captures, timestamp);
    const wanted = withoutFragment(url);
    const isSpelledSo = (capture) => capture.timestamp === closest?.timestamp && capture.url === wanted;
    return captures.find(isSpelledSo) ?? closest;
}

function closestInTime(captures, timestamp) {
    const exact = timestamp && captures.find((capture) => capture.timestamp === timestamp);
    if (exact) return exact;
    const wanted = timestamp ? time(timestamp) : Infinity;
    const distance = (capture) => (timestamp ? Math.abs(time(capture.timestamp) - wanted) : -time(capture.timestamp));
    const good = captures.filter((capture) => capture.status === undefined || capture.status < 300);
    const field = !timestamp && good.length > 0 ? good : captures;
    return field.reduce((best, capture) =>
        (best === undefined || distance(capture) <= distance(best) ? capture : best), undefined);
}

/**
 * @param {string} url
 * @returns {string} its host, or empty
 */
export function hostOf(url) {
    try {
        return new URL(url).hostname;
    } catch {
        return "";
    }
}

/**
 * @param {import("./api.js").Capture|undefined} capture
 * @returns {boolean} whether it is a PDF that was there
 */
export function isPDF(capture) {
    return capture?.mime === "application/pdf" && (capture.status === undefined || capture.status === 200);
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {boolean} whether the URLs differ in nothing but their fragments
 */
export const sameDocument = (one, other) => withoutFragment(one) === withoutFragment(other);

/**
 * @param {string} url
 * @returns {string} its last part, readable where it can be
 */
export function decodeName(url) {
    const name = url.replace(/[?#].*$/s, "").replace(/\/$/, "").split("/").pop();
    try {
        return decodeURIComponent(name);
    } catch {
        return name;
    }
}
