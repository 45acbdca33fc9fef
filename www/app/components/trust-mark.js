/** The mark of what the last verification of an archive found: a glyph and a few words, and a popover that says what it proves. */
import { drawing, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { openOnDemand } from "./on-demand.js";

/** The codes that a list shows, with what kind of news they are. The server decides which code an archive has. */
export const kinds = { signed: "good", uncovered: "doubtful", "signer-not-proven": "doubtful", "records-differ": "doubtful", suspicious: "doubtful",
    changed: "doubtful", unreplayable: "bad", "invalid-signature": "bad", damaged: "bad" };
const glyphs = { "": "M12 11v7M12 6v1", good: "M4 13l5 5L20 6", doubtful: "M12 3L22 21H2zM12 10v5M12 17.5v1", bad: "M5 5l14 14M19 5L5 19" };

/**
 * @param {{id?: string, verification?: import("../core/api.js").Code, verificationSummary?: import("../core/api.js").Summary,
 *   showsUncovered?: boolean}} item an archive, or what a hit has of it
 * @returns {import("./trust-sentences.js").Trust}
 */
export function trustOf({ id, verification = "unavailable", verificationSummary, showsUncovered }) {
    const signer = plain(verificationSummary?.signer, 60);
    const text = message(verification === "unavailable" ? "availability.unavailable" : `trust.mark.${verification}`, { signer });
    // What is known of an archive from a hit isn't all.
    const uncoveredState = id ? showsUncovered ? "shown" : "hidden" : "";
    return { code: verification, signer, kind: kinds[verification] ?? "", text, uncoveredState };
}

/**
 * @param {import("../core/api.js").Archive} archive signed, and as it was verified
 * @param {import("../core/api.js").Capture} capture
 * @returns {boolean} whether it's known that the signature covers what is shown for the capture
 */
export const isCovered = ({ findings }, { verification, uncovered, contentArchive }) =>
    // MD5 protects no record, and no signature is about content in another archive.
    Boolean(verification && !uncovered && !contentArchive && findings && !findings.some(({ code }) => code === "hash-weak"));

/**
 * @param {Parameters<typeof trustOf>[0]} archive
 * @param {import("../core/api.js").Capture} capture
 * @returns {import("./trust-sentences.js").Trust} what is known of what is shown for the capture
 */
export function captureTrust(archive, { verification = archive.verification, uncovered }) {
    const trust = trustOf({ ...archive, verification });
    return uncovered && trust.kind !== "bad" ? { ...trust, code: "uncovered", kind: "doubtful", text: message("trust.capture-mark") } : trust;
}

/**
 * @param {Parameters<typeof trustOf>[0] & {kind?: string, findings?: import("../core/api.js").Finding[]}} item
 * @param {{target?: import("../core/route-types.js").Target, page?: import("../core/api.js").Capture, isMember?: boolean,
 *   isInList?: boolean, text?: string}} [options]
 *   `target`: the archive, if `item` is a hit; `page`: the capture that is shown, which the mark is about; `isMember`: whether
 *   it is shown together with other archives; `isInList`: leaves out what needs no attention and proves nothing about who made the file; `text`: instead of the usual one
 * @returns {HTMLElement|null} `null` for a collection, and for a file that isn't there
 */
export function trustMark(item, { target = item.id ? item : undefined, page, isMember = false, isInList = false, text } = {}) {
    if (item.kind === "collection" || !item.verification) return null;
    const trust = page ? captureTrust(item, page) : trustOf(item);
    if (isInList && !trust.kind) return null;
    const shown = text ?? (isMember ? message("trust.document-mark", { result: trust.text }) : trust.text);
    const button = make("button", { type: "button", class: `trust ${trust.kind}`.trim(), "data-trust": trust.code },
        drawing(glyphs[trust.kind]), make("span", { dir: "auto", text: shown }));
    openOnDemand(button, async () => (await import("./trust-sentences.js"))
        .trustPopover(button, trust, { summary: item.verificationSummary, target, page, isMember,
            isPageCovered: page && trust.code === "uncovered" && isCovered(item, page) }));
    // The button and its popover are one item of the row that they are in.
    return make("span", { class: "trust-place" }, button);
}
