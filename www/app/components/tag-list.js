/** Lists the tags of an archive or a collection. */
import { make, plain } from "../core/dom.js";
import { libraryURL } from "../core/routes.js";

/**
 * @param {string[]|undefined} tags
 * @param {string} [current] the tag that filters the library
 * @returns {HTMLElement|null} links that filter the library by each tag
 */
export function tagList(tags, current = "") {
    if (!tags?.length) return null;
    return make("ul", { class: "tags", "aria-label": "Tags" }, ...tags.map((tag) => make("li", {},
        make("a", { class: "tag", href: libraryURL({ tag: [tag] }), text: plain(tag, 60),
            "aria-current": tag === current ? "true" : null }))));
}
