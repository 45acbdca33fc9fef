/** What is said of an archive or a collection whose files are not all here. */
import { plain } from "../core/dom.js";
import { counted } from "../core/format.js";

const archiveWords = {
    offline: (place) => `Its file${place} is not where it was. Attach the volume that holds it, or put the file back; `
        + "nothing else of the archive is lost.",
    changed: (place) => `Its file${place} was changed since it was read, and is not shown as what it was. Put it back `
        + "as it was, or read it anew with `replayhost import --link`.",
    missing: () => "Its file is gone from the library's folder. Import it again, or take it from a backup.",
};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing a collection with its members as archives
 * @returns {boolean} whether nothing of it can be shown now
 */
export function isUnavailable(thing) {
    if (thing.kind === "collection") return thing.availability === "unavailable" || thing.members.length === 0;
    return Object.hasOwn(archiveWords, thing.availability);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing a collection with its members as archives
 * @returns {string} one or two words for a list; empty when all is here
 */
export function unavailabilityMark(thing) {
    if (thing.kind !== "collection") return isUnavailable(thing) ? thing.availability : "";
    return { partly: "partly offline", offline: "unavailable" }[thing.availability] ?? "";
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing a collection with its members as archives
 * @returns {string} what is away and what to do, with names in backticks; empty when all is here
 */
export function unavailabilityText(thing) {
    if (thing.kind === "collection") return collectionWords(thing);
    const place = thing.linkedPath ? `, \`${plain(thing.linkedPath, 300).replaceAll("`", "'")}\`,` : "";
    return isUnavailable(thing) ? archiveWords[thing.availability](place) : "";
}

function collectionWords({ members, availability }) {
    if (members.length === 0) return "It has no archives. Add some on its page.";
    if (availability === "unavailable") {
        return "The files of all its archives are away. Attach the volumes that hold them, or put the files back.";
    }
    if (availability !== "partly") return "";
    const unavailable = members.filter(isUnavailable);
    const names = unavailable.slice(0, 5).map(({ title, id }) => `“${plain(title, 80) || id}”`).join(", ");
    const [are, they] = unavailable.length === 1 ? ["one is", "it has"] : [`${unavailable.length} are`, "they have"];
    return `Of ${counted(members.length, "archive")} ${are} away: ${names}${unavailable.length > 5 ? "…" : ""}. `
        + `What only ${they} cannot be shown.`;
}
