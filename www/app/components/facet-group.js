/** A group of links that narrow a list, each with the number that remains. */
import { make } from "../core/dom.js";
import { number } from "../core/format.js";
import { message } from "../core/i18n.js";
import { breakable } from "../core/text.js";

const valuesShown = 6;

/**
 * @param {string} title
 * @param {import("../core/api.js").FacetCount[]} values
 * @param {{nameOf: (value: string) => string, addressOf: (value: string) => string, unit: string}} texts `unit`: the key of the
 *   message for what is counted
 * @returns {HTMLElement|null} `null` without values
 */
export function facetGroup(title, values, { nameOf, addressOf, unit }) {
    if (values.length === 0) return null;
    const row = ({ value, count }) => make("li", {}, make("a", { href: addressOf(value) },
        make("span", { dir: "auto" }, ...breakable(nameOf(value))), " ",
        make("span", { class: "count" }, number(count),
            make("span", { class: "visually-hidden", text: ` ${message(unit, { n: count })}` }))));
    const others = values.slice(valuesShown);
    return make("section", {}, make("h2", { text: title }), make("ul", {}, ...values.slice(0, valuesShown).map(row)),
        others.length > 0 && make("details", {}, make("summary", { text: message("library.more-values", { n: others.length }) }),
            make("ul", {}, ...others.map(row))));
}
