/** Untrusted URLs and texts of several lines. */
import { make, plain, shortened, withFewMarks } from "./dom.js";

// Characters that are invisible or look like a space. U+2800 is a Braille pattern without dots.
const invisible = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Returns an untrusted URL as text to read, as in the address bars of browsers: letters of other scripts are decoded, and
 * invisible characters are percent-encoded.
 *
 * @param {string} url
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function plainURL(url, charactersMax = 4000) {
    // Only characters that aren't ASCII: the others can have a meaning in URLs.
    const start = url.slice(0, charactersMax * 12).replace(/(?:%[89A-F][\dA-F])+/gi, decoded);
    return exactURL(start, charactersMax);
}

/**
 * Returns an untrusted URL as text to copy. Invisible characters are percent-encoded, and marks that would be drawn over other lines.
 *
 * @param {string} url
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function exactURL(url, charactersMax = 4000) {
    const visible = url.slice(0, charactersMax * 4).replace(invisible, encodeURIComponent);
    return shortened(withFewMarks(visible, encodeURIComponent), charactersMax);
}

function decoded(escapes) {
    try {
        return decodeURIComponent(escapes);
    } catch {
        return escapes;
    }
}

/**
 * Puts spaces between the parts of a line, which would run together for screen readers and in copied text.
 *
 * @param {...(Node|string|null|undefined|false)} parts
 * @returns {(Node|string)[]}
 */
export const spaced = (...parts) => parts.filter(Boolean).flatMap((part, index) => (index > 0 ? [" ", part] : [part]));

/**
 * Lets a host name or URL break between its parts rather than within a word.
 *
 * @param {string} text
 * @returns {(Node|string)[]}
 */
export const breakable = (text) => text.split(/(?<=[./?&])(?=\w)/).flatMap((part, index) => (index > 0 ? [make("wbr"), part] : [part]));

/**
 * Returns untrusted text like `plain`, but keeps its lines.
 *
 * @param {unknown} text
 * @param {number} [linesMax]
 * @returns {string}
 */
export function plainLines(text, linesMax = 2000) {
    return String(text ?? "").split(/\r\n?|\n/).slice(0, linesMax).map((line) => plain(line, 4000)).join("\n").trim();
}
