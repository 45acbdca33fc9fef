/** Asks for confirmation before a download is removed from the list. */
import { make, plain } from "../app/core/dom.js";
import { size } from "../app/core/format.js";
import { message } from "../app/core/i18n.js";

/**
 * @param {import("./api.js").Download} download
 * @param {string} name
 * @returns {Promise<{archive: boolean, file: boolean}|null>} what to delete with it; `null` without a confirmation
 */
export function confirmRemoval({ file_path: file, file_size: bytes, archive }, name) {
    const fileBox = make("input", { type: "checkbox", id: "remove-file" });
    const archiveBox = make("input", { type: "checkbox", id: "remove-archive" });
    const amount = bytes > 0 ? size(bytes) : "none";
    const kept = file && archive ? "both" : file ? "file" : archive ? "archive" : "none";
    return new Promise((resolve) => {
        const dialog = make("dialog", { "aria-labelledby": "removal-title", "aria-describedby": "removal-text" },
            make("form", { method: "dialog" },
                make("h2", { id: "removal-title", text: message("capture.remove.title", { name }) }),
                make("p", { id: "removal-text", text: message("capture.remove.text", { kept }) }),
                file && choice(fileBox, message("capture.remove.file", { file: plain(file), size: amount })),
                archive && choice(archiveBox, message("capture.remove.archive")),
                make("div", { class: "dialog-actions" },
                    make("button", { type: "submit", value: "cancel", text: message("capture.remove.cancel"), autofocus: true }),
                    make("button", { type: "submit", value: "remove", class: "danger", text: message("capture.remove.remove") }))));
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "remove" ? { archive: archiveBox.checked, file: fileBox.checked } : null);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

const choice = (box, text) => make("div", { class: "choice" }, box, make("label", { for: box.id, text }));
