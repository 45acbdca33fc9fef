/** What the library shows without archives. */
import "../messages/en/library-actions.js";
import { captureLink } from "../components/page-header.js";
import { addByPath } from "../components/path-import.js";
import { make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { libraryURL, searchURL } from "../core/routes.js";

/**
 * @param {HTMLElement} button adds files
 * @returns {HTMLElement[]} for a library that has nothing
 */
export const emptyState = (button) => [make("section", { class: "empty" },
    make("h2", { text: message("library.empty-title") }),
    make("p", {}, ...messageParts("library.empty-text")),
    make("div", { class: "empty-actions" }, button,
        make("button", { type: "button", text: message("library.add-by-path"), on: { click: addByPath } }), captureLink()),
    make("p", { class: "quiet" }, ...messageParts("library.empty-terminal")))];

/**
 * @param {import("../core/route-types.js").LibraryFilter} filter that leaves nothing
 * @returns {HTMLElement[]}
 */
export function noneFound({ q, sort, as }) {
    const words = q?.trim();
    return [
        make("p", {}, ...messageParts(words ? "library.none-match" : "library.none-left", { words: plain(words, 60) })),
        words && make("p", {}, make("a", { href: searchURL({ words }), text: message("library.search-inside") })),
        make("p", {}, make("a", { href: libraryURL({ sort, as, tag: [] }), text: message("library.clear-filters") })),
    ].filter(Boolean);
}
