/** The names of the types in a list of captures. */
import { plain } from "../core/dom.js";
import { hasMessage, message } from "../core/i18n.js";

/** The types, in the order of menus. */
export const typeNames = ["html", "pdf", "image", "audio", "video", "font", "script", "style", "json", "text", "other"];

/**
 * @param {string} type
 * @returns {string} for example `Web pages`
 */
export const typeName = (type) => hasMessage(`type.${type}`) ? message(`type.${type}`) : plain(type, 40);
