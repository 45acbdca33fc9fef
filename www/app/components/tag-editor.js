/** Edits tags one by one, for the dialogs of one archive and of several. */
import "../messages/en/around.js";
import { announce, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { collections, facets } from "../core/library-api.js";

/**
 * Returns a field for tags, with those that the library has most often as suggestions.
 *
 * @param {string[]} first
 * @returns {{elements: HTMLElement[], read: () => {tags: string[], typed: string[]}}} `typed`: those that were typed, which can also be
 *   among the first ones
 */
export function tagEditor(first) {
    const tags = [...first];
    const typed = new Set();
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
        if (tag) {
            typed.add(tag);
            if (!tags.includes(tag)) tags.push(tag);
            announce(message("edit.tag-added", { tag: plain(tag, 60) }));
        }
        input.value = "";
        show();
    }

    function remove(tag) {
        tags.splice(tags.indexOf(tag), 1);
        typed.delete(tag);
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
    suggestions().then((options) => known.replaceChildren(...options), () => {});

    return {
        elements: [make("label", { for: input.id, text: message("edit.tags") }), list, input, known,
            make("p", { class: "quiet hint", id: "edit-tag-hint", text: message("edit.tags-hint") })],

        read() {
            // Text that was left in the field is a tag, too.
            if (input.value.trim()) add(input.value);
            return { tags, typed: [...typed] };
        },
    };
}

/** The tags of archives with their number, and those that only collections have. */
async function suggestions() {
    const [{ tags }, all] = await Promise.all([facets(), collections()]);
    const others = [...new Set(all.flatMap((collection) => collection.tags ?? []))].filter((tag) => !tags.some(({ value }) => value === tag));
    return [...tags.map(({ value, count }) => make("option", { value, label: message("edit.tag-count", { tag: plain(value, 60), n: count }) })),
        ...others.map((value) => make("option", { value }))];
}
