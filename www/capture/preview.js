/** Plays a preview. Its file is only in the server's temporary folder, and is deleted when the preview is closed. */
import { make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import * as api from "./api.js";
import { key } from "./connection.js";

/** Previews that belong to this tab. */
const own = new Set();

/** @param {string} id of a download that this tab asked for */
export const ownPreview = (id) => void own.add(id);

// The server ends them after a minute if this doesn't arrive.
addEventListener("pagehide", () => {
    for (const id of own) api.closePreview(id, true).catch(() => {});
});

/**
 * @param {string} id of the download
 * @param {{onClosed: () => void}} host
 */
export function createPlayer(id, { onClosed }) {
    const element = make("div", { class: "player", hidden: true });

    async function close() {
        own.delete(id);
        element.replaceChildren();
        element.hidden = true;
        await api.closePreview(id).catch(() => {});
        onClosed();
    }

    return {
        element,
        get isOpen() {
            return !element.hidden;
        },
        /** @param {import("./api.js").Download} download */
        async open(download) {
            own.add(id);
            const src = key() ? await api.fileTicket(id) : api.filePath(id);
            const media = make(download.options?.form === "audio" ? "audio" : "video", { controls: true, src, playsinline: true });
            element.replaceChildren(media, make("p", { class: "quiet", text: message("capture.preview.text") }),
                make("button", { type: "button", text: message("capture.preview.close"), on: { click: close } }));
            element.hidden = false;
            media.focus();
        },
        /** Removes the player when the preview has ended. */
        update({ state }) {
            if (state === "preview_ready" || element.hidden) return;
            own.delete(id);
            element.replaceChildren();
            element.hidden = true;
        },
    };
}
