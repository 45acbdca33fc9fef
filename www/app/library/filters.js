/** Filters of the library: a field, and links for tags, sites, years and states, each with its number of archives. */
import { make, plain } from "../core/dom.js";
import { number } from "../core/format.js";
import { message } from "../core/i18n.js";
import { libraryURL } from "../core/routes.js";

const valuesShown = 6;
const states = ["issues", "unavailable", "unverified"];

/**
 * Returns the groups of links that narrow the list. Values that are chosen already aren't among them.
 *
 * @param {import("../core/routes.js").LibraryFilter} filter
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
        if (values.length === 0) return null;
        const row = ({ value, count }) => make("li", {}, make("a", { href: libraryURL({ ...filter, ...change(value) }) },
            make("span", { dir: "auto", text: nameOf(value) }),
            make("span", { class: "count" }, number(count),
                make("span", { class: "visually-hidden", text: ` ${message("library.facet-archives", { n: count })}` }))));
        const others = values.slice(valuesShown);
        return make("section", {}, make("h2", { text: message(title) }), make("ul", {}, ...values.slice(0, valuesShown).map(row)),
            others.length > 0 && make("details", {}, make("summary", { text: message("library.more-values", { n: others.length }) }),
                make("ul", {}, ...others.map(row))));
    }
}

/**
 * @param {import("../core/routes.js").LibraryFilter} filter
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

/** URLs without a host are grouped by their scheme. */
function siteName(site) {
    return site === "file:" ? message("site.local-files") : plain(site, 80);
}
