/** Texts for archives and collections with unavailable files. */
import { plain } from "../core/dom.js";
import { counted } from "../core/format.js";

const namesMax = 5;
const archiveTexts = {
    unavailable: (file) => `Can't find ${file}. Connect the drive it's on, or locate the file. Your notes and tags are safe.`,
    changed: () => "This file has changed since you added it. Add the new version, or restore the old file.",
    missing: () => "This archive's file is missing from the library. Add it again, or restore it from a backup.",
};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {boolean} whether no part of it can be shown now
 */
export function isUnavailable(item) {
    if (item.kind === "collection") return item.availability === "unavailable" || item.members.length === 0;
    return Object.hasOwn(archiveTexts, item.availability);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {string} one or two words for a list; empty when everything is available
 */
export function unavailabilityMark(item) {
    const marks = item.kind === "collection" ? { partly: "Partly unavailable", unavailable: "Unavailable" }
        : { unavailable: "Unavailable", changed: "Changed", missing: "Missing" };
    return Object.hasOwn(marks, item.availability) ? marks[item.availability] : "";
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {string} what is unavailable and what to do, with file names in backticks; empty when everything is available
 */
export function unavailabilityText(item) {
    if (item.kind === "collection") return collectionText(item);
    const file = item.linkedPath ? `\`${plain(item.linkedPath, 300).replaceAll("`", "'")}\`` : "this archive's file";
    return isUnavailable(item) ? archiveTexts[item.availability](file) : "";
}

function collectionText({ members, availability }) {
    if (members.length === 0) return "This collection has no archives. Add some on its page.";
    if (availability === "unavailable") return "All archives in this collection are unavailable. Connect the drives they're on.";
    if (availability !== "partly") return "";
    const unavailable = members.filter(isUnavailable);
    const names = unavailable.slice(0, namesMax).map(({ title, id }) => `“${plain(title, 80) || id}”`).join(", ");
    return `${unavailable.length} of ${counted(members.length, "archive")} ${unavailable.length === 1 ? "is" : "are"} unavailable: `
        + `${names}${unavailable.length > namesMax ? "…" : ""}. Captures found only there can't be shown.`;
}
