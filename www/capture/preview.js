/** Plays a preview. Its file is only in the server's temporary folder, and is deleted when the preview is closed. */
import { make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import * as api from "./api.js";
import { key } from "./connection.js";

const pictures = ["jpg", "jpeg", "png", "gif", "webp", "avif"];
const files = ["zip", "epub", "mobi", "azw", "azw3"];
/** Previews that belong to this tab. */
const own = new Set();

/** @param {string} id of a download that this tab asked for */
export const ownPreview = (id) => void own.add(id);

// The server ends them after a minute if this doesn't arrive.
addEventListener("pagehide", () => {
    for (const id of own) api.closePreview(id, true).catch(() => {});
});

/** What shows a file: the browser's own player, a picture, or a link to its viewer. */
function shown({ file_path: file, options }, src) {
    const ending = /\.([a-z0-9]+)$/i.exec(file ?? "")?.[1].toLowerCase() ?? "";
    if (pictures.includes(ending)) return make("img", { src, alt: message("capture.preview.picture"), tabindex: "-1" });
    if (ending === "pdf") return make("a", { class: "button", href: src, target: "_blank", rel: "noreferrer", text: message("capture.row.pdf") });
    if (files.includes(ending)) return make("a", { class: "button", href: src, download: true, text: message("capture.row.file") });
    return make(options?.form === "audio" ? "audio" : "video", { controls: true, src, playsinline: true });
}

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
            const media = shown(download, src);
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
