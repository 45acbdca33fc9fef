/** Says why an archive is unavailable. */
import { make } from "../core/dom.js";
import { withCode } from "./messages.js";
import { popover } from "./popover.js";
import { unavailabilityText } from "./unavailability-text.js";

/**
 * Makes a button open the text.
 *
 * @param {HTMLButtonElement} button
 * @param {import("../core/api.js").Archive} archive
 */
export function unavailabilityPopover(button, archive) {
    popover(button, () => [make("p", {}, ...withCode(unavailabilityText(archive)))]);
}
