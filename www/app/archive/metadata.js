/** Edits the title, tags and notes of an archive or a collection. */
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
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
        const now = tags.read();
        if (now.join("\n") !== (item.tags ?? []).join("\n")) changes.tags = now;
        if (Object.keys(changes).length > 0) changed = await api.edit(item, changes);
    }

    await showDialog({
        title: message(item.kind === "collection" ? "edit.collection" : "edit.archive"),
        class: "edit-dialog",
        body: [make("label", { for: title.id, text: message("edit.title") }), title,
            ...tags.elements,
            make("label", { for: notes.id, text: message("edit.notes") }), notes],
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
    } }, make("div", { class: "joined" }, input, save,
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

/** Edits tags one by one. Tags of the library are suggested. */
function tagEditor(first) {
    const tags = [...first];
    const list = make("ul", { class: "tags", "aria-label": message("edit.tags") });
    const known = make("datalist", { id: "known-tags" });
    const input = make("input", { type: "text", id: "edit-tag", list: known.id, autocomplete: "off", dir: "auto",
        "aria-describedby": "edit-tag-hint", on: {
            keydown: (event) => {
                if (event.isComposing || !input.value.trim()) return;
                if (event.key !== "Enter" && event.key !== ",") return;
                event.preventDefault();
                add(input.value);
            },
            // Pasted text has its commas, too.
            input: () => {
                const parts = input.value.split(",");
                const last = parts.pop();
                if (parts.length > 0) parts.forEach(add);
                if (parts.length > 0) input.value = last.trimStart();
            },
        } });

    function add(text) {
        const tag = text.trim();
        if (tag && !tags.includes(tag)) {
            tags.push(tag);
            announce(message("edit.tag-added", { tag: plain(tag, 60) }));
        }
        input.value = "";
        show();
    }

    function remove(tag) {
        tags.splice(tags.indexOf(tag), 1);
        announce(message("edit.tag-removed", { tag: plain(tag, 60) }));
        show();
        input.focus();
    }

    function show() {
        list.hidden = tags.length === 0;
        list.replaceChildren(...tags.map((tag) => make("li", {},
            make("button", { type: "button", class: "tag", "aria-label": message("edit.remove-tag", { tag: plain(tag, 60) }),
                title: message("edit.remove-tag", { tag: plain(tag, 60) }), on: { click: () => remove(tag) } },
            make("span", { dir: "auto", text: plain(tag, 60) }), make("span", { "aria-hidden": "true", text: "×" })))));
    }
    show();
    // Without suggestions, tags can still be typed.
    tagsOfLibrary().then((all) => known.replaceChildren(...all.map((value) => make("option", { value }))), () => {});

    return {
        elements: [make("label", { for: input.id, text: message("edit.tags") }), list, input, known,
            make("p", { class: "quiet hint", id: "edit-tag-hint", text: message("edit.tags-hint") })],

        /** Returns the tags, including text left in the field. */
        read() {
            const last = input.value.trim();
            return last && !tags.includes(last) ? [...tags, last] : tags;
        },
    };
}

async function tagsOfLibrary() {
    const all = await Promise.all([api.archives(), api.collections()]);
    return [...new Set(all.flat().flatMap(({ tags }) => tags ?? []))].sort((one, other) => one.localeCompare(other));
}
