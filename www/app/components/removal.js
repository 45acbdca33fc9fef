/** Removes archives and collections from the library: stored ones after a confirmation, others with Undo. */
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { showDialog } from "./dialog.js";
import { messageParts } from "./messages.js";
import { toast } from "./toast.js";

/** Archives and collections whose removal can still be undone, as `kind/id`. */
const undoable = new Set();
const keyOf = ({ kind, id }) => `${kind}/${id}`;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {boolean} whether it's removed unless a person chooses Undo. A list leaves it out
 */
export const isBeingRemoved = (item) => undoable.has(keyOf(item));

/**
 * Removes an archive or a collection. A stored archive is removed after a confirmation. Anything else goes at once, and
 * nothing is deleted as long as it can be undone.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{onRemoving: () => void, onUndone: () => void}} listener `onRemoving`: it should no longer be shown
 * @returns {Promise<boolean>} whether it was removed
 */
export async function removeItem(item, { onRemoving, onUndone }) {
    const title = plain(item.title, 80) || item.id;
    if (item.kind === "archive" && item.storage !== "linked") {
        if (!await confirmRemoval(item, () => api.remove(item))) return false;
        onRemoving();
        toast(message("removal.done", { title, size: size(item.size) }));
        return true;
    }
    return removeWithUndo(item, title, { onRemoving, onUndone });
}

async function removeWithUndo(item, title, { onRemoving, onUndone }) {
    let isUndone = false;
    let removal = null;
    const remove = (isLeaving) => {
        if (!isUndone) removal ??= api.remove(item, { isLeaving });
        return removal;
    };
    // Who leaves the app can't undo any more.
    const leave = () => remove(true);
    undoable.add(keyOf(item));
    addEventListener("pagehide", leave);
    onRemoving();
    isUndone = await toast(message("removal.undoable", { title, kind: item.kind }), { text: message("removal.undo"), onChosen: () => {} })
        && removal === null;
    removeEventListener("pagehide", leave);
    try {
        await remove(false);
    } catch (error) {
        const { what, hint } = messageParts(error);
        toast(message("removal.failed", { title, why: `${what} ${hint}`.trim() }));
        isUndone = true;
    }
    undoable.delete(keyOf(item));
    if (isUndone) onUndone();
    return !isUndone;
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {() => Promise<unknown>} [run] what removes it
 * @returns {Promise<boolean>} whether the removal was confirmed
 */
export async function confirmRemoval(item, run) {
    return await showDialog({
        title: message("removal.title", { title: plain(item.title, 200) || item.id }),
        body: [make("p", { text: consequence(item) })],
        action: { value: "remove", text: message("removal.remove"), isDanger: true, run, failure: message("removal.problem") },
    }) === "remove";
}

function consequence(item) {
    if (item.kind === "collection") return message("removal.of-collection");
    const file = plain(item.originalName ?? item.id);
    return item.storage === "linked" ? message("removal.of-linked", { file })
        : message("removal.of-stored", { file, size: size(item.size) });
}
