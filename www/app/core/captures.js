/** Addresses as they are typed, indexed and shown. */
import { plainURL } from "./dom.js";

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

/**
 * @param {string} asked
 * @param {string} shown the URL of the capture that is shown for it
 * @returns {string} what to say where one of their paths ends in a slash and the other does not; else empty
 */
export function slashHint(asked, shown) {
    const path = (url) => withoutFragment(url).replace(/\?.*$/s, "").replace(/^[a-z]+:/i, "");
    // Behind the host every path begins with a slash.
    const endsIn = (url, ending) => path(ending).includes("/", 2) && path(url).endsWith(`${path(ending)}/`);
    if (!endsIn(shown, asked) && !endsIn(asked, shown)) return "";
    return `Showing ${plainURL(shown, 120)} (the archive has it ${endsIn(shown, asked) ? "with" : "without"} a slash).`;
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
