/** The mark of an archive's last verification: a glyph and a few words, and a popover that says what it proves. */
import { contentsState } from "../archive/contents-state.js";
import { icon, make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { popover } from "./popover.js";

/**
 * @typedef {"signed"|"key"|"unsigned"|"doubtful"|"incomplete"|"digests-differ"|"suspicious"|"unreplayable"|"bad-signature"
 *   |"damaged"|"unverified"} TrustState
 * @typedef {{state: TrustState, kind: "good"|"doubtful"|"bad"|"", text: string, signer: string}} Trust
 */

const kinds = { signed: "good", key: "good", doubtful: "doubtful", "digests-differ": "doubtful", suspicious: "doubtful",
    unreplayable: "bad", "bad-signature": "bad", damaged: "bad" };
const glyphs = { good: "check", doubtful: "warning", bad: "cross" };

/**
 * @param {import("../core/api.js").Summary|undefined} summary
 * @returns {TrustState} what the marks and the sentences of the app are about
 */
function stateOf(summary) {
    if (!summary) return "unverified";
    const contents = contentsState(summary);
    if (contents === "damaged" || contents === "unreplayable") return contents;
    // A signature that can't be read makes the whole result fail, too.
    if (summary.signature === "invalid" || summary.outcome === "failed") return "bad-signature";
    if (contents === "suspicious") return contents;
    if (contents === "digestsDiffer") return "digests-differ";
    if (contents === "incomplete") return contents;
    if (summary.signature === "valid") return summary.signer ? "signed" : "key";
    return summary.signature === "none" ? "unsigned" : "doubtful";
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Summary|undefined} item an archive, or the summary of its
 *   verification
 * @returns {Trust}
 */
export function trustOf(item) {
    // A file that was replaced isn't the one that was verified.
    const isOtherFile = ["changed", "missing"].includes(item?.availability);
    const summary = isOtherFile ? undefined : item?.contents ? item : item?.verificationSummary;
    const state = stateOf(summary);
    const signer = plain(summary?.signer, 60);
    return { state, signer, kind: kinds[state] ?? "", text: message(`trust.mark.${state}`, { signer }) };
}

/**
 * @param {Trust} trust
 * @returns {[string, string]} what the mark proves, and what it doesn't
 */
export const trustSentences = ({ state, signer }) =>
    [message(`trust.proves.${state}`, { signer }), message(`trust.limits.${state}`, { signer })];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Summary|undefined} item an archive, or the summary of its
 *   verification
 * @param {{target?: import("../core/routes.js").Target, page?: {url: string, timestamp: string}, isInList?: boolean}} [options]
 *   `target`: the archive, if `item` is a summary; `page`: the capture that is shown, for its evidence report; `isInList`:
 *   leaves out marks that say nothing special, and those that say nothing yet
 * @returns {HTMLElement|null} `null` for a collection; in a list also for "Undamaged, not signed" and "Not verified"
 */
export function trustMark(item, { target = item?.id ? item : undefined, page, isInList = false } = {}) {
    if (item?.kind === "collection") return null;
    const trust = trustOf(item);
    if (isInList && ["unsigned", "unverified"].includes(trust.state)) return null;
    const summary = item?.contents ? item : item?.verificationSummary;
    const button = make("button", { type: "button", class: `trust ${trust.kind}`.trim(), "data-trust": trust.state },
        trust.kind && icon(glyphs[trust.kind]), make("span", { dir: "auto", text: trust.text }));
    popover(button, () => [
        ...trustSentences(trust).map((text) => make("p", { text })),
        summary && trust.state !== "unverified" && make("p", { class: "quiet", text: message("trust.verified-at", { time: moment(summary.verifiedAt) }) }),
        target && make("p", { class: "trust-links" },
            make("a", { href: tabURL(target, "details"), text: message("trust.details") }),
            page && make("a", { href: tabURL(target, "report", { page: page.url, ts: page.timestamp }), text: message("report.title") })),
    ].filter(Boolean), { class: "trust-popover", role: "group", "aria-label": message("trust.about") });
    // The button and its popover are one item of the row that they are in.
    return make("span", { class: "trust-place" }, button);
}
