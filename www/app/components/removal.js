/** Asks before an archive or a collection is removed. */
import { make, plain } from "../core/dom.js";
import { size } from "../core/format.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing
 * @returns {Promise<boolean>} whether it may be removed
 */
export function confirmRemoval(thing) {
    return new Promise((resolve) => {
        const title = plain(thing.title) || thing.id;
        const dialog = make("dialog", { "aria-labelledby": "removal-title" },
            make("form", { method: "dialog" },
                make("h2", { id: "removal-title", text: `Remove “${title}”?` }),
                make("p", { text: consequence(thing) }),
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

function consequence(thing) {
    if (thing.kind === "collection") {
        return "The collection is dissolved, with its title, tags and notes. Its archives stay in the library.";
    }
    const name = plain(thing.originalName ?? thing.id);
    if (thing.storage === "linked") {
        return "The library forgets the archive, with its title, tags and notes. The file "
            + `“${name}” stays where it is.`;
    }
    return `The library's copy (${size(thing.size)}, imported as “${name}”) is deleted from this computer. Files `
        + "elsewhere are not touched. This cannot be undone.";
}
