/** URLs in text that someone pasted, and URLs that this page links to. */
import { hostOf } from "../app/core/hosts.js";

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

/**
 * @param {string} host
 * @param {string} domain
 * @returns {boolean} whether a host is the domain or below it
 */
export const isWithin = (host, domain) => host === domain || host.endsWith(`.${domain}`);

const charactersMax = 2048;

/**
 * @param {string} url
 * @param {string} [allowedDomains] hosts with commas, with the hosts below them; empty for all
 * @returns {""|"too-long"|"user-info"|"malformed"|"domain"} why it can't be saved; empty if it can
 */
export function problemOf(url, allowedDomains = "") {
    if (url.length > charactersMax) return "too-long";
    if (!URL.canParse(url)) return "malformed";
    const { username, password, hostname } = new URL(url);
    if (username || password) return "user-info";
    const allowed = allowedDomains.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const isAllowed = allowed.length === 0 || allowed.some((domain) => isWithin(hostname, domain));
    return isAllowed ? "" : "domain";
}

/**
 * Returns the URL of what another app shared: apps put it in any of the fields, often in prose.
 *
 * @param {URLSearchParams} fields `url`, `text` and `title`
 * @param {string} [allowedDomains] as for `problemOf`
 * @returns {string} empty if there is none that can be saved
 */
export function sharedURL(fields, allowedDomains = "") {
    const [url = ""] = ["url", "text", "title"].flatMap((name) => urlsIn(fields.get(name) ?? ""));
    return url && !problemOf(url, allowedDomains) ? url : "";
}
