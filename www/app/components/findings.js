/** Lists the issues that an import found in an archive. */
import { make, plain } from "../core/dom.js";
import { counted } from "../core/format.js";
import { sentence } from "./messages.js";

const textCharactersMax = 1000;
const order = ["error", "warning", "notice"];

/**
 * @param {{notice: number, warning: number, error: number}|undefined} counts
 * @returns {string} for example `1 error, 2 warnings`; empty without errors and warnings
 */
export function findingSummary(counts) {
    if (!counts) return "";
    return ["error", "warning"]
        .filter((severity) => counts[severity] > 0)
        .map((severity) => counted(counts[severity], severity))
        .join(", ");
}

/**
 * @param {{notice: number, warning: number, error: number}|undefined} counts
 * @returns {"error"|"warning"|""} the highest severity; notices don't count
 */
export function worstFinding(counts) {
    if (counts?.error > 0) return "error";
    return counts?.warning > 0 ? "warning" : "";
}

/**
 * @param {import("../core/api.js").Finding[]} findings
 * @returns {HTMLElement}
 */
export function findingList(findings) {
    const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
    return make("ul", { class: "findings" }, ...sorted.map(findingRow));
}

function findingRow({ severity, what, location, consequence }) {
    return make("li", { class: order.includes(severity) ? `${severity}-finding` : "" },
        make("span", { class: "severity", text: plain(severity) }),
        make("div", {},
            make("p", { class: "what", text: sentence(plain(what, textCharactersMax)) }),
            location && make("p", { class: "location" }, "In ",
                make("code", { text: plain(location, textCharactersMax) })),
            consequence && make("p", { class: "consequence",
                text: sentence(plain(consequence, textCharactersMax)) })));
}
