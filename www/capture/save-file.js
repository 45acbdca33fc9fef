/** Saves a file that the page has, as the browser saves a download. */
import { make } from "../app/core/dom.js";

const keptMilliseconds = 60_000;

/**
 * @param {Blob} content
 * @param {string} name
 */
export function saveFile(content, name) {
    const url = URL.createObjectURL(content);
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), keptMilliseconds);
}
