/** URLs as they're typed, indexed and shown. */
import "../messages/en/around.js";
import { answerOf } from "./answer.js";
import { fragmentOf, withoutFragment } from "./fragments.js";
import { message } from "./i18n.js";
import { plainURL } from "./text.js";

export { fragmentOf, withoutFragment };

/**
 * Completes a typed URL: `example.com` becomes `https://example.com/`.
 *
 * @param {string} typed
 * @returns {string}
 */
export function completeURL(typed) {
    // Browsers treat a backslash before the query as a slash (WHATWG URL).
    const text = typed.trim().replace(/^(?:https?:|(?=\\))[^?#]*/i, (start) => start.replaceAll("\\", "/"));
    if (/^([a-z][a-z0-9+.-]*:\/\/|(urn|file|data|about|mailto):)/i.test(text)) {
        return /^https?:\/\/[^/?#]+$/i.test(text) ? `${text}/` : text;
    }
    const rest = text.replace(/^\/+/, "");
    return /^[^/?#]+$/.test(rest) ? `https://${rest}/` : `https://${rest}`;
}

/**
 * @param {string} typed
 * @returns {boolean} whether the text is one or several words rather than a URL. A single word can also be a host.
 */
export function isWords(typed) {
    const text = typed.trim();
    return /\s/.test(text) ? !/^[a-z][a-z0-9+.-]*:|\//i.test(text) : !/[./:?#\\]/.test(text);
}

/**
 * Encodes a URL as browsers send it: `/café` as `/caf%C3%A9`. Most captures are indexed in this form.
 *
 * @param {string} url
 * @returns {string}
 */
export function encodedURL(url) {
    try {
        return new URL(url).href;
    } catch {
        return url;
    }
}

/**
 * @param {string} requested
 * @param {string} shown the URL of the capture that is shown for it
 * @returns {string} a hint when only one of the two paths ends in a slash; else empty
 */
export function slashHint(requested, shown) {
    const path = (url) => withoutFragment(url).replace(/\?.*$/s, "").replace(/^[a-z]+:/i, "");
    const endsIn = (url, ending) => path(ending).includes("/", 2) && path(url).endsWith(`${path(ending)}/`);
    if (!endsIn(shown, requested) && !endsIn(requested, shown)) return "";
    return message(endsIn(shown, requested) ? "viewer.with-slash" : "viewer.without-slash", { url: plainURL(shown, 120) });
}

/**
 * @param {import("./api.js").CaptureList|undefined} list
 * @returns {string} a hint when the captures are those of a similar URL; else empty
 */
export const similarHint = (list) => (list?.similarTo ? message("viewer.similar-url", { url: plainURL(list.similarTo, 120) }) : "");

/**
 * @param {import("./api.js").Capture} capture
 * @returns {string} what a page doesn't show of its capture: an error of the site, or a request other than `GET`
 */
export function captureNote(capture) {
    const { status } = answerOf(capture);
    return [capture.request && message("viewer.form-answer"), status >= 400 && message("viewer.site-answered", { status: String(status) })]
        .filter(Boolean).join(" ");
}

/**
 * @param {import("./api.js").Part} part
 * @param {import("./api.js").Capture} page
 * @returns {boolean} whether the part, or the content that it repeats, comes from another archive of the collection than the page
 */
export const isFromElsewhere = ({ archive, content }, page) => [archive, content?.archive].some((each) => each && each !== page.archive);

/**
 * @param {string} url
 * @returns {boolean} whether the URL contains a request method, as index entries of `POST` captures do
 */
export const namesMethod = (url) => /[?&]__wb_method=/.test(url);

/**
 * @param {import("./api.js").Capture|undefined} capture
 * @returns {boolean} whether it's a successful capture of a PDF
 */
export function isPDF(capture) {
    const { status, mime } = answerOf(capture);
    return mime === "application/pdf" && (status === undefined || status === 200);
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {boolean} whether the URLs differ only in their fragments
 */
export const sameDocument = (one, other) => withoutFragment(one) === withoutFragment(other);

/**
 * @param {string} url
 * @returns {string} the last part of the path, decoded where possible
 */
export function decodeName(url) {
    const name = url.replace(/[?#].*$/s, "").replace(/\/$/, "").split("/").pop();
    try {
        return decodeURIComponent(name);
    } catch {
        return name;
    }
}
