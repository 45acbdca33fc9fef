/** Asks before an archive is removed. */
import { make, plain } from "./dom.js";
import { size } from "./format.js";

/**
 * @param {import("./api.js").Archive} archive
 * @returns {Promise<boolean>} whether it may be removed
 */
export function confirmRemoval(archive) {
    return new Promise((resolve) => {
        const title = plain(archive.title) || archive.id;
        const dialog = make("dialog", { "aria-labelledby": "removal-title" },
            make("form", { method: "dialog" },
                make("h2", { id: "removal-title", text: `Remove “${title}”?` }),
                make("p", { text: `The library's copy (${size(archive.size)}, imported as `
                    + `“${plain(archive.originalName ?? archive.id)}”) is deleted from this computer. Files elsewhere `
                    + "are not touched. This cannot be undone." }),
                make("div", { class: "dialog-actions" },
                    make("button", { type: "submit", value: "keep", text: "Keep it", autofocus: true }),
                    make("button", { type: "submit", value: "remove", class: "danger", text: "Remove" }))));
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "remove");
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}
