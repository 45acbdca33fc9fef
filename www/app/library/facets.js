/** Links for tags, sites, years and states, each with its number of archives. They load after the first rows. */
import "../messages/en/library.js";
import { facetGroup } from "../components/facet-group.js";
import { plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { libraryURL } from "../core/routes.js";
import { siteName } from "../core/site-name.js";
import { stateName, states } from "./filters.js";

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
        stateName, (state) => ({ state: [...chosenStates, state].join(",") })),
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
