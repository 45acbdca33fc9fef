/** Removes archives and collections from the library: stored ones after a confirmation, others with Undo. */
import "../messages/en/around.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { keyOf, removing } from "../core/removing.js";
import { showDialog } from "./dialog.js";
import { messageParts } from "./messages.js";
import { toast } from "./toast.js";

const titlesMax = 10;

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
        if (!await confirmRemoval([item], () => api.remove(item))) return false;
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
    removing.add(keyOf(item));
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
    removing.delete(keyOf(item));
    if (isUndone) onUndone();
    return !isUndone;
}

/**
 * @param {(import("../core/api.js").Archive|import("../core/api.js").Collection)[]} items several are archives
 * @param {() => Promise<unknown>} [run] what removes them
 * @returns {Promise<boolean>} whether the removal was confirmed
 */
export async function confirmRemoval(items, run) {
    const [first, other] = items;
    return await showDialog({
        title: other ? message("removal.title-many", { n: items.length }) : message("removal.title", { title: plain(first.title, 200) || first.id }),
        body: other ? consequences(items) : [make("p", { text: consequence(first) })],
        action: { value: "remove", text: message("removal.remove"), isDanger: true, run, failure: message("removal.problem") },
    }) === "remove";
}

function consequence(item) {
    if (item.kind === "collection") return message("removal.of-collection");
    const file = plain(item.originalName ?? item.id);
    return item.storage === "linked" ? message("removal.of-linked", { file })
        : message("removal.of-stored", { file, size: size(item.size) });
}

function consequences(archives) {
    const stored = archives.filter(({ storage }) => storage !== "linked");
    const bytes = stored.reduce((sum, archive) => sum + archive.size, 0);
    return [
        stored.length > 0 && make("p", { text: message("removal.deletes", { n: stored.length, size: size(bytes) }) }),
        archives.length > stored.length && make("p", { text: message("removal.linked", { n: archives.length - stored.length }) }),
        make("ul", { class: "removed-titles" }, ...archives.slice(0, titlesMax).map((archive) =>
            make("li", { dir: "auto", text: plain(archive.title, 100) || archive.id })),
        archives.length > titlesMax && make("li", { text: message("removal.more", { n: archives.length - titlesMax }) })),
    ].filter(Boolean);
}
