/** The tab's title for each state of the viewer. */
import { decodeName } from "../core/captures.js";
import { message } from "../core/i18n.js";

/**
 * @param {import("./navigation.js").ViewerState} state
 * @param {string} reported the page's own title; untrusted
 * @returns {string|undefined} `undefined` if the title doesn't change
 */
export function titleOf({ name, url }, reported) {
    switch (name) {
    case "absent":
        return message("viewer.not-captured");
    case "failed":
        return "Can't show page";
    case "file":
        return decodeName(url);
    case "page":
        return reported || decodeName(url);
    default:
        return undefined;
    }
}
