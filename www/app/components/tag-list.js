/** Lists the tags of an archive or a collection. */
import "../messages/en/around.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { libraryURL } from "../core/routes.js";

/**
 * @param {string[]|undefined} tags
 * @param {string} [current] the tag that filters the library
 * @returns {HTMLElement|null} links that filter the library by each tag
 */
export function tagList(tags, current = "") {
    if (!tags?.length) return null;
    return make("ul", { class: "tags", "aria-label": message("edit.tags") }, ...tags.map((tag) => make("li", {},
        make("a", { class: "tag", href: libraryURL({ tag: [tag] }), text: plain(tag, 60),
            "aria-current": tag === current ? "true" : null }))));
}
