/** Saves a whole list as a file, with the filters that are shown. */
import "../messages/en/around.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { menu } from "./popover.js";

/**
 * @param {(format: "csv"|"json") => string} addressOf
 * @returns {HTMLButtonElement} opens a menu with the formats
 */
export function listDownload(addressOf) {
    const button = make("button", { type: "button", class: "list-download", text: message("download.list") });
    menu(button, () => ["csv", "json"].map((format) => ({ text: message(`download.${format}`), href: addressOf(format), download: true })));
    return button;
}
