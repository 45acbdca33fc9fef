/** What else to search for: another spelling, and the parts of a search that finds nothing. */
import { make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { searchURL } from "../core/routes.js";

const shownMax = 100;

/**
 * What the results of a search have besides its hits.
 *
 * @typedef {{part: string, query: string, total: number, totalIsMinimum: boolean}} OtherSearch
 * @typedef {import("../core/api.js").Results & {suggestion?: {query: string, total: number, totalIsMinimum: boolean,
 *   isApplied: boolean}, alternatives?: {parts: OtherSearch[], withoutFilter: OtherSearch[], isFiltered: boolean}}} Results
 */

/**
 * @param {Object<string, string>} search
 * @param {Results} found
 * @returns {HTMLElement[]} nothing if there is no other spelling
 */
export function spelling(search, { suggestion }) {
    if (!suggestion) return [];
    const { query, isApplied } = suggestion;
    const link = () => make("a", { href: searchURL({ ...search, words: query }), dir: "auto", text: plain(query, shownMax) });
    return [make("p", { class: "spelling" }, ...(isApplied
        ? messageParts("search.corrected", { words: plain(search.words, shownMax), query: link() })
        : messageParts("search.did-you-mean", { query: link() })))];
}

/**
 * @param {Object<string, string>} search that finds nothing
 * @param {Results} found
 * @returns {HTMLElement[]} nothing if the server named none; else which words aren't on any page, and what finds pages instead
 */
export function alternatives(search, { alternatives: found }) {
    // While archives are indexed, a search can find pages that are gone when its hits are read.
    if (!found) return [];
    const { parts, withoutFilter, isFiltered } = found;
    const absent = parts.filter(({ total }) => total === 0).map(({ part }) => `“${plain(part, shownMax)}”`);
    const others = [
        ...parts.filter(({ total }) => total > 0).map((other) => ({ ...other, name: plain(other.part, shownMax), to: { ...search, words: other.query } })),
        ...withoutFilter.map((other) => ({
            ...other, name: message("search.without", { filter: other.part }),
            to: other.part === "all" ? { words: other.query } : { ...search, words: other.query, [other.part]: undefined },
        })),
    ];
    return [
        absent.length > 0 && make("p", {}, ...messageParts(isFiltered ? "search.absent-here" : "search.absent",
            { n: absent.length, words: absent.join(", ") })),
        others.length > 0 && make("p", { text: message("search.found-instead") }),
        others.length > 0 && make("ul", { class: "instead" }, ...others.map(({ name, to, total, totalIsMinimum }) => make("li", {},
            make("a", { href: searchURL(to), dir: "auto", text: name }), " ",
            make("span", { class: "quiet", text: message(totalIsMinimum ? "search.more-than" : "count.pages", { n: total }) })))),
    ].filter(Boolean);
}
