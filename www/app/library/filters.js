/** Filters of the library: a field, and links for tags, sites, years and states, each with its number of archives. */
import { facetGroup, siteName } from "../components/facet-group.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { libraryURL } from "../core/routes.js";

const states = ["issues", "unavailable", "unverified"];

/**
 * Returns the groups of links that narrow the list. Values that are chosen already aren't among them.
 *
 * @param {import("../core/route-types.js").LibraryFilter} filter
 * @param {import("../core/api.js").Facets} facets
 * @returns {HTMLElement[]}
 */
export function facetGroups(filter, facets) {
    const chosenStates = (filter.state ?? "").split(",").filter(Boolean);
    return [
        group("library.state", states.filter((state) => facets.states[state] > 0 && !chosenStates.includes(state))
            .map((state) => ({ value: state, count: facets.states[state] })),
        (state) => message(`library.state-${state}`), (state) => ({ state: [...chosenStates, state].join(",") })),
        group("library.tags", facets.tags.filter(({ value }) => !filter.tag.includes(value)), (tag) => plain(tag, 60),
            (tag) => ({ tag: [...filter.tag, tag] })),
        group("library.sites", facets.sites.filter(({ value }) => value !== filter.site), siteName, (site) => ({ site })),
        group("library.years", facets.years.filter(({ value }) => value !== filter.year), plain, (year) => ({ year })),
    ].filter(Boolean);

    function group(title, values, nameOf, change) {
        const addressOf = (value) => libraryURL({ ...filter, ...change(value) });
        return facetGroup(message(title), values, { nameOf, addressOf, unit: "library.facet-archives" });
    }
}

/**
 * @param {import("../core/route-types.js").LibraryFilter} filter
 * @returns {HTMLElement[]} links that each remove one filter, and one that removes all
 */
export function filterChips(filter) {
    const chips = [
        ...(filter.state ?? "").split(",").filter(Boolean).map((state, index, all) => [
            states.includes(state) ? message(`library.state-${state}`) : plain(state, 40),
            { state: all.filter((other) => other !== state).join(",") }]),
        ...filter.tag.map((tag) => [plain(tag, 60), { tag: filter.tag.filter((other) => other !== tag) }]),
        filter.site && [siteName(filter.site), { site: "" }],
        filter.year && [plain(filter.year, 10), { year: "" }],
    ].filter(Boolean);
    const links = chips.map(([text, change]) => make("li", {},
        make("a", { class: "tag", href: libraryURL({ ...filter, ...change }), "aria-label": message("library.remove-filter", { text }) },
            make("span", { dir: "auto", text }), make("span", { "aria-hidden": "true", text: "×" }))));
    const { sort, as } = filter;
    if (links.length > 1) links.push(make("li", {}, make("a", { class: "tag", href: libraryURL({ sort, as }), text: message("library.clear-filters") })));
    return links;
}

/** @returns {boolean} whether the filter leaves anything out */
export const isFiltered = ({ q, tag, site, year, state }) => Boolean(q?.trim() || tag.length > 0 || site || year || state);
