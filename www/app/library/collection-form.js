/** The form for a new collection: its title, and archives selected in the library's list. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make } from "../core/dom.js";
import { counted } from "../core/format.js";

/**
 * @param {{onCreated: (collection: import("../core/api.js").Collection) => void, onEnd: () => void}} listener `onEnd`: cancelled
 */
export function createCollectionForm({ onCreated, onEnd }) {
    const selected = new Set();
    const title = make("input", { type: "text", id: "collection-title", required: true, maxlength: 300,
        autocomplete: "off" });
    const count = make("p", { class: "quiet", role: "status" });
    const problems = make("div");
    const submit = make("button", { type: "submit", class: "primary", text: "Create collection" });
    const element = make("form", { class: "collection-form sheet", hidden: true, "aria-labelledby": "collection-form-title", on: {
        submit: (event) => {
            event.preventDefault();
            send();
        },
        keydown: (event) => {
            if (event.key === "Escape") end();
        },
    } },
    make("h2", { id: "collection-form-title", text: "New collection" }),
    make("p", { class: "quiet", text: "Archives in a collection replay together. Each part of a page comes from the "
        + "capture closest in time. Select archives in the list below." }),
    make("label", { for: title.id, text: "Collection title" }), title,
    count, problems,
    make("div", { class: "form-actions" }, submit,
        make("button", { type: "button", text: "Cancel", on: { click: end } })));

    function update() {
        count.textContent = `${counted(selected.size, "archive")} selected`;
    }

    function end() {
        element.hidden = true;
        onEnd();
    }

    async function send() {
        if (selected.size === 0) {
            problems.replaceChildren(errorBlock(new Error("Select at least one archive in the list below.")));
            return;
        }
        submit.disabled = true;
        try {
            const collection = await api.createCollection({ title: title.value, members: [...selected] });
            announce("Collection created.");
            element.hidden = true;
            onCreated(collection);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Couldn't create the collection"));
        }
        submit.disabled = false;
    }

    return {
        element,
        /** IDs of the selected archives, in the order of selection. */
        selected,
        update,

        get isOpen() {
            return !element.hidden;
        },

        begin() {
            selected.clear();
            title.value = "";
            problems.replaceChildren();
            update();
            element.hidden = false;
            title.focus();
        },
    };
}
