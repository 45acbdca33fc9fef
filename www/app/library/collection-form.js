/** Making a collection: a title, and archives that are chosen in the library's list. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make } from "../core/dom.js";
import { counted } from "../core/format.js";

/**
 * @param {{onMade: (collection: import("../core/api.js").Collection) => void, onEnd: () => void}} listener `onEnd`: it was given up
 */
export function createCollectionForm({ onMade, onEnd }) {
    const chosen = new Set();
    const title = make("input", { type: "text", id: "collection-title", required: true, maxlength: 300,
        autocomplete: "off" });
    const count = make("p", { class: "quiet", role: "status" });
    const problems = make("div");
    const submit = make("button", { type: "submit", class: "primary", text: "Make the collection" });
    const element = make("form", { class: "collection-form sheet", hidden: true, "aria-labelledby": "collection-form-title", on: {
        submit: (event) => {
            event.preventDefault();
            send();
        },
        keydown: (event) => {
            if (event.key === "Escape") end();
        },
    } },
    make("h2", { id: "collection-form-title", text: "A collection of archives" }),
    make("p", { class: "quiet", text: "They are replayed as one: a page and what it needs come from whichever of them "
        + "has the capture closest in time. Choose them in the list below." }),
    make("label", { for: title.id, text: "Title of the collection" }), title,
    count, problems,
    make("div", { class: "form-actions" }, submit,
        make("button", { type: "button", text: "Cancel", on: { click: end } })));

    function update() {
        count.textContent = `${counted(chosen.size, "archive")} chosen`;
    }

    function end() {
        element.hidden = true;
        onEnd();
    }

    async function send() {
        if (chosen.size === 0) {
            problems.replaceChildren(errorBlock(new Error("Choose at least one archive in the list below.")));
            return;
        }
        submit.disabled = true;
        try {
            const collection = await api.makeCollection({ title: title.value, members: [...chosen] });
            announce("The collection was made.");
            element.hidden = true;
            onMade(collection);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "The collection was not made"));
        }
        submit.disabled = false;
    }

    return {
        element,
        /** Ids of archives, in the order in which they were chosen. */
        chosen,
        update,

        get isOpen() {
            return !element.hidden;
        },

        begin() {
            chosen.clear();
            title.value = "";
            problems.replaceChildren();
            update();
            element.hidden = false;
            title.focus();
        },
    };
}
