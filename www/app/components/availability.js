/** Whether the files of archives and collections are available. */
import { message } from "../core/i18n.js";

const states = { archive: ["unavailable", "changed", "missing"], collection: ["partly", "unavailable"] };

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {boolean} whether no part of it can be shown now
 */
export function isUnavailable(item) {
    if (item.kind === "collection") return item.availability === "unavailable" || item.members.length === 0;
    return states.archive.includes(item.availability);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @returns {string} one or two words for a list; empty when everything is available
 */
export const unavailabilityMark = ({ kind, availability }) =>
    (states[kind === "collection" ? kind : "archive"].includes(availability) ? message(`availability.${availability}`) : "");
