/** The collections above the library's archives. */
import { isUnavailable, unavailabilityMark } from "../components/availability.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { mainURL, tabURL } from "../core/routes.js";

const shown = 6;

/**
 * @param {import("../core/api.js").Collection[]} collections
 * @param {import("../core/route-types.js").LibraryFilter} filter its words and tags also filter collections
 * @returns {HTMLElement[]} empty without collections
 */
export function collectionStrip(collections, { q = "", tag }) {
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const found = collections.filter(({ title, tags = [], notes = "" }) => tag.every((one) => tags.includes(one))
        && words.every((word) => [title, ...tags, notes].join("\n").toLowerCase().includes(word)));
    if (found.length === 0) return [];
    const others = found.slice(shown);
    return [make("section", { class: "collections", "aria-labelledby": "collections-title" },
        make("h2", { id: "collections-title", text: message("library.collections") }),
        make("ul", {}, ...found.slice(0, shown).map(row)),
        others.length > 0 && make("details", {}, make("summary", { text: message("library.more-collections", { n: others.length }) }),
            make("ul", {}, ...others.map(row))))];
}

function row(collection) {
    const { title: full, id, members } = collection;
    const title = plain(full, 200) || id;
    const unavailable = unavailabilityMark(collection);
    return make("li", {},
        make("div", {}, make("a", { class: "title", href: tabURL(collection), dir: "auto", text: title }),
            make("p", { class: "quiet", text: message("count.archives", { n: members.length }) }),
            unavailable && make("p", { class: "mark warning", text: unavailable })),
        !isUnavailable(collection) && make("a", { class: "button", href: mainURL(collection), text: message("library.open-main"),
            "aria-label": message("library.open-title", { title }) }));
}
