/** Shows what was saved of a page, as an image and as text: only the server's own computer can replay it. */
import { make } from "../app/core/dom.js";
import { moment } from "../app/core/format.js";
import { message } from "../app/core/i18n.js";
import { plainLines, plainURL } from "../app/core/text.js";
import * as api from "./api.js";

/**
 * @param {string} id of a download
 * @param {string} name
 */
export async function lookAt(id, name) {
    const { url, captured_at: time, text } = await api.savedPage(id);
    // Not every archive has one.
    const src = await api.screenshot(id).catch(() => "");
    const dialog = make("dialog", { class: "look", "aria-labelledby": "look-title" },
        make("form", { method: "dialog" },
            make("h2", { id: "look-title", dir: "auto", text: name }),
            make("p", { class: "quiet" }, make("span", { dir: "ltr", text: plainURL(url, 120) }), ` · ${moment(time)}`),
            make("p", { text: message("capture.look.text") }),
            src && make("img", { src, alt: message("capture.look.picture") }),
            text && make("p", { class: "words", dir: "auto", text: plainLines(text) }),
            make("div", { class: "dialog-actions" },
                make("button", { type: "submit", text: message("capture.look.close"), autofocus: true }))));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}
