/** Shows and edits the title, tags and notes of an archive or a collection. */
import { errorBlock } from "../components/messages.js";
import { tagList } from "../components/tag-list.js";
import * as api from "../core/api.js";
import { announce, make, plain, plainLines } from "../core/dom.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @returns {HTMLElement}
 */
export function metadataSection(item, onChanged) {
    const edit = make("button", { type: "button", class: "edit-metadata", text: "Edit title, tags and notes", on: {
        click: () => {
            const form = editForm(item, onChanged, () => {
                form.replaceWith(section);
                edit.focus();
            });
            section.replaceWith(form);
            form.querySelector("input").focus();
        },
    } });
    const notes = plainLines(item.notes);
    const section = make("section", { class: "metadata", "aria-label": "Tags and notes" },
        tagList(item.tags),
        notes && make("p", { class: "notes", dir: "auto", text: notes }),
        edit);
    return section;
}

function editForm(item, onChanged, onEnd) {
    const title = make("input", { type: "text", id: "edit-title", required: true, autocomplete: "off", dir: "auto" });
    title.value = item.title;
    const notes = make("textarea", { id: "edit-notes", rows: 6, dir: "auto" });
    notes.value = item.notes ?? "";
    const tags = tagEditor(item.tags ?? []);
    // Browsers change some characters in fields, so only fields that were edited are sent.
    const before = { title: title.value, notes: notes.value };
    const problems = make("div");
    const save = make("button", { type: "submit", class: "primary", text: "Save" });
    return make("form", { class: "metadata-form sheet", "aria-label": "Title, tags and notes", on: {
        submit: (event) => {
            event.preventDefault();
            send();
        },
    } },
    make("label", { for: title.id, text: "Title" }), title,
    ...tags.elements,
    make("label", { for: notes.id, text: "Notes" }), notes,
    problems,
    make("div", { class: "form-actions" }, save,
        make("button", { type: "button", text: "Cancel", on: { click: onEnd } })));

    async function send() {
        const changes = {};
        if (title.value !== before.title) changes.title = title.value;
        if (notes.value !== before.notes) changes.notes = notes.value;
        const now = tags.read();
        if (now.join("\n") !== (item.tags ?? []).join("\n")) changes.tags = now;
        save.disabled = true;
        try {
            const changed = await api.edit(item, changes);
            announce("Saved.");
            onChanged(changed);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Couldn't save"));
        }
        save.disabled = false;
    }
}

/** Edits tags one by one, since a tag can contain any character. */
function tagEditor(first) {
    const tags = [...first];
    const list = make("ul", { class: "tags", "aria-label": "Tags" });
    const input = make("input", { type: "text", id: "edit-tag", autocomplete: "off", dir: "auto",
        "aria-describedby": "edit-tag-hint", on: {
            keydown: (event) => {
                if (event.key !== "Enter" || !input.value.trim()) return;
                event.preventDefault();
                add();
            },
        } });

    function add() {
        const tag = input.value.trim();
        if (tag && !tags.includes(tag)) tags.push(tag);
        input.value = "";
        show();
        input.focus();
    }

    function show() {
        list.hidden = tags.length === 0;
        list.replaceChildren(...tags.map((tag) => make("li", {},
            make("button", { type: "button", class: "tag", "aria-label": `Remove tag ${plain(tag, 60)}`,
                title: "Remove tag", on: {
                    click: () => {
                        tags.splice(tags.indexOf(tag), 1);
                        show();
                        input.focus();
                    },
                } }, make("span", { text: plain(tag, 60) }), make("span", { "aria-hidden": "true", text: "×" })))));
    }
    show();

    return {
        elements: [
            make("label", { for: input.id, text: "Tags" }),
            list,
            make("div", { class: "joined" }, input,
                make("button", { type: "button", text: "Add", "aria-label": "Add tag", on: { click: add } })),
            make("p", { class: "quiet hint", id: "edit-tag-hint", text: "Press Enter after each tag." }),
        ],

        /** Returns the tags, including text left in the field. */
        read() {
            const last = input.value.trim();
            return last && !tags.includes(last) ? [...tags, last] : tags;
        },
    };
}
