/** The tags of an archive or a collection. */
import { make, plain } from "../core/dom.js";
import { tagAddress } from "../core/routes.js";

/**
 * @param {string[]|undefined} tags
 * @param {string} [current] the one that is filtered by
 * @returns {HTMLElement|null} links to what else has these tags
 */
export function tagList(tags, current = "") {
    if (!tags?.length) return null;
    return make("ul", { class: "tags", "aria-label": "Tags" }, ...tags.map((tag) => make("li", {},
        make("a", { class: "tag", href: tagAddress(tag), text: plain(tag, 60),
            "aria-current": tag === current ? "true" : null }))));
}
