/** What is said of an archive or a group whose files are not all here. */
import { plain } from "../core/dom.js";
import { counted } from "../core/format.js";

const archiveWords = {
    offline: (place) => `Its file${place} is not where it was. Attach the volume that holds it, or put the file back; `
        + "nothing else of the archive is lost.",
    changed: (place) => `Its file${place} was changed since it was read, and is not shown as what it was. Put it back `
        + "as it was, or read it anew with `replayhost import --reference`.",
    missing: () => "Its file is gone from the library's folder. Import it again, or take it from a backup.",
};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Group} thing a group with its members as archives
 * @returns {boolean} whether nothing of it can be shown now
 */
export function isAway(thing) {
    if (thing.kind === "group") return thing.availability === "offline" || thing.members.length === 0;
    return Object.hasOwn(archiveWords, thing.availability);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Group} thing a group with its members as archives
 * @returns {string} one or two words for a list; empty when all is here
 */
export function awayMark(thing) {
    if (thing.kind !== "group") return isAway(thing) ? thing.availability : "";
    return { partly: "partly offline", offline: "offline" }[thing.availability] ?? "";
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Group} thing a group with its members as archives
 * @returns {string} what is away and what to do, with names in backticks; empty when all is here
 */
export function awayWords(thing) {
    if (thing.kind === "group") return groupWords(thing);
    const place = thing.reference ? `, \`${plain(thing.reference, 300).replaceAll("`", "'")}\`,` : "";
    return isAway(thing) ? archiveWords[thing.availability](place) : "";
}

function groupWords({ members, availability }) {
    if (members.length === 0) return "It has no archives. Add some on its page.";
    if (availability === "offline") {
        return "The files of all its archives are away. Attach the volumes that hold them, or put the files back.";
    }
    if (availability !== "partly") return "";
    const away = members.filter(isAway);
    const names = away.slice(0, 5).map(({ title, id }) => `“${plain(title, 80) || id}”`).join(", ");
    const [are, they] = away.length === 1 ? ["one is", "it has"] : [`${away.length} are`, "they have"];
    return `Of ${counted(members.length, "archive")} ${are} away: ${names}${away.length > 5 ? "…" : ""}. `
        + `What only ${they} cannot be shown.`;
}
