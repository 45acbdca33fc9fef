/** Edits the title, tags and notes of an archive or a collection. */
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import { tagEditor } from "../components/tag-editor.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {Promise<import("../core/api.js").Archive|import("../core/api.js").Collection|null>} the result; `null` if nothing changed
 */
export async function editMetadata(item) {
    const title = make("input", { type: "text", id: "edit-title", required: true, autocomplete: "off", dir: "auto", maxlength: 300 });
    title.value = item.title;
    const notes = make("textarea", { id: "edit-notes", rows: 6, dir: "auto" });
    notes.value = item.notes ?? "";
    const tags = tagEditor(item.tags ?? []);
    // Browsers change some characters in fields, so only fields that were edited are sent.
    const before = { title: title.value, notes: notes.value };
    let changed = null;

    async function save() {
        const changes = {};
        if (title.value !== before.title) changes.title = title.value;
        if (notes.value !== before.notes) changes.notes = notes.value;
        const { tags: now } = tags.read();
        if (now.join("\n") !== (item.tags ?? []).join("\n")) changes.tags = now;
        if (Object.keys(changes).length > 0) changed = await api.edit(item, changes);
    }

    await showDialog({
        title: message(item.kind === "collection" ? "edit.collection" : "edit.archive"),
        class: "edit-dialog",
        body: [item.kind === "archive" && make("p", { class: "quiet hint", text: message("edit.file-stays") }),
            make("label", { for: title.id, text: message("edit.title") }), title,
            ...tags.elements,
            make("label", { for: notes.id, text: message("edit.notes") }), notes].filter(Boolean),
        action: { value: "save", text: message("edit.save"), run: save, failure: message("edit.failed") },
    });
    if (changed) announce(message("edit.saved"));
    return changed;
}

/**
 * Puts a field in the place of a title.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {HTMLElement} place what it stands in for
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection|null) => void} onEnd `null`: nothing changed
 */
export function editTitle(item, place, onEnd) {
    const problems = make("div");
    const input = make("input", { type: "text", "aria-label": message("edit.title"), required: true, autocomplete: "off", dir: "auto",
        maxlength: 300, on: { keydown: (event) => event.key === "Escape" && !event.isComposing && end(null) } });
    input.value = item.title;
    const save = make("button", { type: "submit", class: "primary", text: message("edit.save") });
    const form = make("form", { class: "title-form", on: {
        submit: (event) => {
            event.preventDefault();
            send();
        },
    } }, make("h1", { class: "visually-hidden", text: plain(item.title) || item.id }), make("div", { class: "joined" }, input, save,
        make("button", { type: "button", text: message("dialog.cancel"), on: { click: () => end(null) } })), problems);

    function end(now) {
        form.replaceWith(place);
        onEnd(now);
    }

    async function send() {
        if (input.value === item.title) {
            end(null);
            return;
        }
        save.disabled = true;
        try {
            const now = await api.edit(item, { title: input.value });
            announce(message("edit.saved"));
            end(now);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("edit.failed")));
            save.disabled = false;
        }
    }
    place.replaceWith(form);
    input.focus();
    input.select();
}
