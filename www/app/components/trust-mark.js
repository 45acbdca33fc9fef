/** The mark of an archive's last verification: a glyph and a few words, and a popover that says what it proves. */
import { drawing, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { openOnDemand } from "./on-demand.js";

const kinds = { signed: "good", key: "good", doubtful: "doubtful", "digests-differ": "doubtful", suspicious: "doubtful",
    unreplayable: "bad", "bad-signature": "bad", damaged: "bad" };
const glyphs = { good: "M4 13l5 5L20 6", doubtful: "M12 3L22 21H2zM12 10v5M12 17.5v1", bad: "M5 5l14 14M19 5L5 19" };

/**
 * @param {import("../core/api.js").Summary} summary
 * @returns {"undamaged"|"incomplete"|"digestsDiffer"|"suspicious"|"unreplayable"|"damaged"} what it says about the contents, without
 *   the signature
 */
export function contentsState({ state, contents }) {
    // Results of older versions have no state.
    return state ?? { failed: "damaged", incomplete: "incomplete" }[contents] ?? "undamaged";
}

/**
 * @param {import("../core/api.js").Summary|undefined} summary
 * @returns {import("./trust-sentences.js").TrustState} what the marks and the sentences of the app are about
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
 * @returns {import("./trust-sentences.js").Trust}
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
 * @param {import("../core/api.js").Archive|import("../core/api.js").Summary|undefined} item an archive, or the summary of its
 *   verification
 * @param {{target?: import("../core/route-types.js").Target, page?: {url: string, timestamp: string}, isInList?: boolean, text?: string}} [options]
 *   `target`: the archive, if `item` is a summary; `page`: the capture that is shown, for its evidence report; `isInList`:
 *   leaves out marks that say nothing special, and those that say nothing yet; `text`: instead of the usual one
 * @returns {HTMLElement|null} `null` for a collection; in a list also for "Undamaged, not signed" and "Not verified"
 */
export function trustMark(item, { target = item?.id ? item : undefined, page, isInList = false, text } = {}) {
    if (item?.kind === "collection") return null;
    const trust = trustOf(item);
    if (isInList && ["unsigned", "unverified"].includes(trust.state)) return null;
    const summary = item?.contents ? item : item?.verificationSummary;
    const button = make("button", { type: "button", class: `trust ${trust.kind}`.trim(), "data-trust": trust.state },
        trust.kind && drawing(glyphs[trust.kind]), make("span", { dir: "auto", text: text ?? trust.text }));
    openOnDemand(button, async () => (await import("./trust-sentences.js")).trustPopover(button, trust, { summary, target, page }));
    // The button and its popover are one item of the row that they are in.
    return make("span", { class: "trust-place" }, button);
}
