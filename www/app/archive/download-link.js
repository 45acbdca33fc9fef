/** A link that downloads a captured file, as the site sent it. */
import { messageParts as errorParts } from "../components/messages.js";
import { toast } from "../components/toast.js";
import * as api from "../core/api.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { replaysOnPorts } from "../core/origins.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{url: string, timestamp: string}} capture
 * @param {string} name for people
 * @returns {HTMLElement|null} `null` if it can't be downloaded
 */
export function downloadLink(item, capture, name) {
    const path = api.originalFile(item, capture, "dl_");
    return path ? make("a", { class: "icon-link", href: path, title: message("urls.download-hint"), on: { click: viaPort },
        "aria-label": message("urls.download", { url: name }) }, icon("save")) : null;

    /** Where each archive has a port, a file comes only from there. */
    async function viaPort(event) {
        if (!replaysOnPorts()) return;
        event.preventDefault();
        try {
            location.assign(await api.openOrigin(item) + path);
        } catch (error) {
            toast(errorParts(error).what);
        }
    }
}
