/** URLs in text that someone pasted, and URLs that this page links to. */
import { hostOf } from "/app/core/hosts.js";

// Ends at a space, and at quotation marks and brackets that URLs contain only percent-encoded.
const urlPattern = /https?:\/\/[^\s<>"`“”„«»‹›「」『』【】（）《》〈〉、。]+/giu;
const trailing = /[.,;:!?'’…|\\}！？，．；：]$/u;
const pairs = { ")": "(", "]": "[" };

/**
 * Finds the URLs in a text, without trailing punctuation.
 *
 * @param {string} text
 * @returns {string[]} each one once
 */
export function urlsIn(text) {
    const found = (text.match(urlPattern) ?? []).map(withoutPunctuation);
    return [...new Set(found)].filter((url) => url.length > "https://".length);
}

function withoutPunctuation(url) {
    let end = url.length;
    while (end > 0 && (trailing.test(url[end - 1]) || closesNothing(url.slice(0, end)))) end -= 1;
    return url.slice(0, end);
}

/** Whether the last character is a bracket without its partner: `(see https://a.example/b)`. */
function closesNothing(url) {
    const opening = pairs[url.at(-1)];
    return opening !== undefined && url.split(url.at(-1)).length > url.split(opening).length;
}

/**
 * @param {string} url
 * @returns {string} the host name without `www.`; empty for other URLs
 */
export const siteOf = (url) => hostOf(url).replace(/^www\./, "");

/**
 * @param {unknown} url an archive's URL in the library
 * @returns {boolean} whether it leads to a library on this computer
 */
export const isReplayURL = (url) => typeof url === "string" && /^http:\/\/(replayhost\.)?localhost:\d+\//.test(url);

/**
 * @param {unknown} url
 * @returns {boolean} whether it's the URL of a library on this computer
 */
export const isLibraryURL = (url) => typeof url === "string" && /^http:\/\/(replayhost\.)?localhost:\d+\/?$/.test(url);
