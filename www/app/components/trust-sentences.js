/** What a mark of trust proves and what it doesn't, as sentences and in the mark's popover. */
import "../messages/en/around.js";
import { make } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { popover } from "./popover.js";

/**
 * @typedef {{code: import("../core/api.js").Code|"unavailable", kind: "good"|"doubtful"|"bad"|"", text: string, signer: string}} Trust
 */

/**
 * @param {Trust} trust
 * @returns {[string, string]} what the mark proves, and what it doesn't
 */
export const trustSentences = ({ code, signer }) =>
    [message(`trust.proves.${code}`, { signer }), message(`trust.limits.${code}`, { signer })];

/**
 * Makes a mark open its popover.
 *
 * @param {HTMLButtonElement} button
 * @param {Trust} trust
 * @param {{summary?: import("../core/api.js").Summary, target?: import("../core/route-types.js").Target,
 *   page?: {url: string, timestamp: string}, isMember: boolean}} about as in `trustMark`
 */
export function trustPopover(button, trust, { summary, target, page, isMember }) {
    popover(button, () => [
        ...trustSentences(trust).map((text) => make("p", { text })),
        isMember && make("p", { text: message("trust.member") }),
        summary && make("p", { class: "quiet", text: message("trust.verified-at", { time: moment(summary.verifiedAt) }) }),
        target && make("p", { class: "trust-links" },
            make("a", { href: tabURL(target, "details"), text: message("trust.details") }),
            page && make("a", { href: tabURL(target, "report", { page: page.url, ts: page.timestamp }), text: message("report.title") })),
    ].filter(Boolean), { class: "trust-popover", role: "group", "aria-label": message("trust.about") });
}
