/** Asks for confirmation before a download is removed from the list. */
import { make, plain } from "/app/core/dom.js";
import { size } from "/app/core/format.js";

/**
 * @param {import("./api.js").Download} download
 * @param {string} name
 * @returns {Promise<{archive: boolean, file: boolean}|null>} what to delete with it; `null` without a confirmation
 */
export function confirmRemoval({ file_path: file, file_size: bytes, archive }, name) {
    const fileBox = make("input", { type: "checkbox", id: "remove-file" });
    const archiveBox = make("input", { type: "checkbox", id: "remove-archive" });
    const amount = bytes > 0 ? ` (${size(bytes)})` : "";
    const kept = [file && "file", archive && "archive"].filter(Boolean);
    const consequence = kept.length === 0 ? "This removes it from this list, with its log."
        : `This removes it from this list, with its log. The ${kept.join(" and the ")} ${kept.length > 1 ? "stay" : "stays"}, `
            + "unless you choose otherwise.";
    return new Promise((resolve) => {
        const dialog = make("dialog", { "aria-labelledby": "removal-title", "aria-describedby": "removal-text" },
            make("form", { method: "dialog" },
                make("h2", { id: "removal-title", text: `Remove “${name}”?` }),
                make("p", { id: "removal-text", text: consequence }),
                file && choice(fileBox, `Also delete the file “${plain(file)}”${amount}`),
                archive && choice(archiveBox, "Also remove the archive from your library"),
                make("div", { class: "dialog-actions" },
                    make("button", { type: "submit", value: "cancel", text: "Cancel", autofocus: true }),
                    make("button", { type: "submit", value: "remove", class: "danger", text: "Remove" }))));
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "remove" ? { archive: archiveBox.checked, file: fileBox.checked } : null);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

const choice = (box, text) => make("div", { class: "choice" }, box, make("label", { for: box.id, text }));
