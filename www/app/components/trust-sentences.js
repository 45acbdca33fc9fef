/** What a mark of trust proves and what it doesn't, as sentences and in the mark's popover. */
import "../messages/en/around.js";
import { foreign, make } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { exactURL } from "../core/text.js";
import { popover } from "./popover.js";

/**
 * @typedef {{code: import("../core/api.js").Code|"unavailable", kind: "good"|"doubtful"|"bad"|"", text: string, signer: string,
 *   uncoveredState: "shown"|"hidden"|""}} Trust `uncoveredState`: of what its signature doesn't cover, if it's known
 */

/**
 * @param {Trust} trust
 * @returns {[string, string]} what the mark proves, and what it doesn't
 */
export const trustSentences = ({ code, signer, uncoveredState }) =>
    [message(`trust.proves.${code}`, { signer }), message(`trust.limits.${code}`, { signer, state: uncoveredState })];

/**
 * @param {import("../core/api.js").Capture} [capture]
 * @returns {(Node|string)[][]} what is said of this capture only
 */
export const captureSentences = ({ uncovered, contentArchive, recorded } = {}) => [
    uncovered && [message("trust.capture-uncovered")],
    contentArchive && [message("trust.capture-content", { archive: contentArchive })],
    recorded?.url && messageParts("trust.capture-url", { url: make("span", { class: "url", dir: "ltr", text: exactURL(recorded.url) }) }),
    recorded?.status && [message("trust.capture-status", { status: String(recorded.status) })],
    recorded?.mime && messageParts("trust.capture-type", { type: foreign(recorded.mime, 100) }),
].filter(Boolean);

/**
 * Makes a mark open its popover.
 *
 * @param {HTMLButtonElement} button
 * @param {Trust} trust
 * @param {{summary?: import("../core/api.js").Summary, target?: import("../core/route-types.js").Target,
 *   page?: import("../core/api.js").Capture, isMember: boolean, isPageCovered?: boolean}} about as in `trustMark`; `isPageCovered`:
 *   by the signature of an archive that also has other content
 */
export function trustPopover(button, trust, { summary, target, page, isMember, isPageCovered }) {
    popover(button, () => [
        isPageCovered && make("p", { text: message("trust.capture-covered", { signer: trust.signer, named: trust.signer ? "yes" : "no" }) }),
        ...captureSentences(page).map((parts) => make("p", {}, ...parts)),
        ...trustSentences(trust).map((text) => make("p", { text })),
        isMember && make("p", { text: message("trust.member") }),
        summary && make("p", { class: "quiet", text: message("trust.verified-at", { time: moment(summary.verifiedAt) }) }),
        target && make("p", { class: "trust-links" },
            make("a", { href: tabURL(target, "details"), text: message("trust.details") }),
            page && make("a", { href: tabURL(target, "report", { page: page.url, ts: page.timestamp }), text: message("report.title") })),
    ].filter(Boolean), { class: "trust-popover", role: "group", "aria-label": message("trust.about") });
}
