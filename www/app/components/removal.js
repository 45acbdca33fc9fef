/** Asks for confirmation before an archive or a collection is removed. */
import { make, plain } from "../core/dom.js";
import { size } from "../core/format.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {Promise<boolean>} whether the removal was confirmed
 */
export function confirmRemoval(item) {
    return new Promise((resolve) => {
        const title = plain(item.title) || item.id;
        const dialog = make("dialog", { "aria-labelledby": "removal-title" },
            make("form", { method: "dialog" },
                make("h2", { id: "removal-title", text: `Remove “${title}”?` }),
                make("p", { text: consequence(item) }),
                make("div", { class: "dialog-actions" },
                    make("button", { type: "submit", value: "cancel", text: "Cancel", autofocus: true }),
                    make("button", { type: "submit", value: "remove", class: "danger", text: "Remove" }))));
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "remove");
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

function consequence(item) {
    if (item.kind === "collection") {
        return "This deletes the collection's title, tags and notes. Its archives stay in the library.";
    }
    const name = plain(item.originalName ?? item.id);
    if (item.storage === "linked") {
        return `This deletes the archive's title, tags and notes. The file “${name}” stays where it is.`;
    }
    return `This deletes the library's copy of “${name}” (${size(item.size)}). Copies elsewhere aren't affected. `
        + "You can't undo this.";
}
