/** Filters of a search: links that narrow it, and those that are active. */
import { facetGroup } from "../components/facet-group.js";
import { make, plain } from "../core/dom.js";
import { hasMessage, language, message } from "../core/i18n.js";
import { searchFilters, searchURL } from "../core/routes.js";
import { siteName } from "../core/site-name.js";

const latestFirst = (one, other) => Number(other.value) - Number(one.value);
const languages = new Intl.DisplayNames(language, { type: "language", fallback: "code" });

/**
 * Returns links that narrow the search, in groups. A value that makes no difference isn't shown.
 *
 * @param {import("../core/route-types.js").Search} search
 * @param {NonNullable<import("../core/api.js").Results["facets"]>} facets
 * @param {Map<string, string>} titles of archives, by ID
 * @returns {HTMLElement[]}
 */
export function facetGroups(search, facets, titles) {
    const next = (year) => String(Number(year) + 1);
    return [
        // `in` and `collection` together find pages of either.
        group("search.archive", facets.archives, search.in, (id) => titles.get(id) ?? id, (id) => ({ in: id, collection: "" })),
        group("search.site", facets.sites, search.site, siteName, (site) => ({ site })),
        group("search.year", [...facets.years].sort(latestFirst), wholeYear(search), plain, (year) => ({ after: year, before: next(year) })),
        group("search.type", facets.types, search.type, typeName, (type) => ({ type })),
        group("search.language", facets.languages, search.lang, languageName, (lang) => ({ lang })),
        facets.isPartial && make("p", { class: "quiet", text: message("search.partial") }),
    ].filter(Boolean);

    function group(title, counts, current, nameOf, filter) {
        const values = counts.length < 2 ? [] : counts.filter(({ value }) => value !== current);
        const addressOf = (value) => searchURL({ ...search, ...filter(value) });
        return facetGroup(message(title), values, { nameOf, addressOf, unit: "search.facet-pages" });
    }
}

/**
 * @param {import("../core/route-types.js").Search} search
 * @param {Map<string, string>} titles of archives and collections, by ID
 * @returns {{text: string, without: import("../core/route-types.js").Search}[]} each with the search that lacks it
 */
export function activeFilters(search, titles) {
    const year = wholeYear(search);
    if (year) {
        const { after, before, ...others } = search;
        return [...activeFilters(others, titles).map(({ text, without }) => ({ text, without: { ...without, after, before } })),
            { text: year, without: others }];
    }
    return searchFilters.filter((name) => search[name]).flatMap((name) => {
        const values = search[name].split(",").filter(Boolean);
        return values.map((value) => ({
            text: filterText(name, value, titles),
            without: { ...search, [name]: values.filter((other) => other !== value).join(",") },
        }));
    });
}

function filterText(name, value, titles) {
    const texts = {
        site: () => siteName(value),
        in: () => titles.get(value) ?? value,
        collection: () => titles.get(value) ?? value,
        type: () => typeName(value),
        lang: () => languageName(value),
        after: () => message("search.from-time", { time: value }),
        before: () => message("search.before-time", { time: value }),
    };
    return plain(texts[name]?.() ?? value, 160);
}

const typeName = (type) => (hasMessage(`search.type-${type}`) ? message(`search.type-${type}`) : plain(type, 40));


/** Returns the year, if the search is limited to exactly one. */
function wholeYear({ after = "", before = "" }) {
    return /^\d{4}$/.test(after) && Number(before) === Number(after) + 1 ? after : "";
}

function languageName(code) {
    try {
        return languages.of(code);
    } catch {
        return plain(code, 20);
    }
}
