/** The chosen filters of the library. */
import "../messages/en/library.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { libraryURL } from "../core/routes.js";
import { siteName } from "../core/site-name.js";
import { plainURL } from "../core/text.js";

/** The states of archives that the library can be narrowed to: two, and what verifications found, the worst first. */
export const states = ["issues", "unavailable", "damaged", "invalid-signature", "unreplayable", "suspicious", "records-differ", "signer-not-proven",
    "uncovered", "partly", "not-verified", "hashes-agree", "signed-anonymously", "signed"];

/**
 * @param {string} state
 * @returns {string} its name
 */
export const stateName = (state) => {
    if (!states.includes(state)) return plain(state, 40);
    return message(["issues", "unavailable", "signed"].includes(state) ? `library.state-${state}` : `trust.mark.${state}`);
};

/**
 * @param {import("../core/route-types.js").LibraryFilter} filter
 * @returns {HTMLElement[]} links that each remove one filter, and one that removes all
 */
export function filterChips(filter) {
    const chips = [
        ...(filter.state ?? "").split(",").filter(Boolean).map((state, index, all) => [
            stateName(state),
            { state: all.filter((other) => other !== state).join(",") }]),
        ...filter.tag.map((tag) => [plain(tag, 60), { tag: filter.tag.filter((other) => other !== tag) }]),
        filter.site && [siteName(filter.site), { site: "" }],
        filter.year && [plain(filter.year, 10), { year: "" }],
        filter.saved && [message("library.saved-from", { url: plainURL(filter.saved, 60) }), { saved: "" }],
    ].filter(Boolean);
    const links = chips.map(([text, change]) => make("li", {},
        make("a", { class: "tag", href: libraryURL({ ...filter, ...change }), "aria-label": message("library.remove-filter", { text }) },
            make("span", { dir: "auto", text }), make("span", { "aria-hidden": "true", text: "×" }))));
    const { sort, as } = filter;
    if (links.length > 1) links.push(make("li", {}, make("a", { class: "tag", href: libraryURL({ sort, as }), text: message("library.clear-filters") })));
    return links;
}

/** @returns {boolean} whether the filter leaves anything out */
export const isFiltered = ({ q, tag, site, year, saved, state }) => Boolean(q?.trim() || tag.length > 0 || site || year || saved || state);
