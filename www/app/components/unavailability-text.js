/** Texts for archives and collections with unavailable files. */
import "../messages/en/around.js";
import { plain } from "../core/dom.js";
import { language, message } from "../core/i18n.js";
import { isUnavailable } from "./availability.js";

const namesMax = 5;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {string} what is unavailable and what to do, with file names in backticks; empty when everything is available
 */
export function unavailabilityText(item) {
    if (item.kind === "collection") return collectionText(item);
    if (!isUnavailable(item)) return "";
    if (item.availability !== "unavailable" || !item.linkedPath) return message(`unavailable.${item.availability}`);
    return message("unavailable.linked", { file: `\`${plain(item.linkedPath, 300).replaceAll("`", "'")}\`` });
}

function collectionText({ members, availability }) {
    if (members.length === 0) return message("unavailable.no-members");
    if (availability === "unavailable") return message("unavailable.all-members");
    if (availability !== "partly") return "";
    const unavailable = members.filter(isUnavailable);
    const names = unavailable.slice(0, namesMax).map(({ title, id }) => `“${plain(title, 80) || id}”`);
    const list = new Intl.ListFormat(language, { style: "short", type: "unit" });
    return message("unavailable.some-members", { n: unavailable.length, total: members.length,
        more: unavailable.length > namesMax ? "some" : "none", names: list.format(names) });
}
