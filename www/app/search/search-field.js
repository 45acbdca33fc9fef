/** The search field in the app bar. Its suggestions load when it gets the focus. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { searchURL } from "../core/routes.js";

/** @returns {HTMLFormElement} opens the results of a search of the library */
export function searchField() {
    const form = searchForm(message("search.field"));
    const [input] = form.children;
    const submit = (event) => {
        event.preventDefault();
        navigate(searchURL({ words: input.value.trim() }));
    };
    form.addEventListener("submit", submit);
    input.addEventListener("focus", load);
    return form;

    async function load() {
        input.removeEventListener("focus", load);
        // Without suggestions, the field still searches.
        const box = await import("./search-box.js").catch(() => null);
        if (!box) return;
        form.removeEventListener("submit", submit);
        box.createSearchBox(navigate, undefined, form);
    }
}

/**
 * @param {string} label
 * @returns {HTMLFormElement} with a field, which `createSearchBox` makes work
 */
export function searchForm(label) {
    const input = make("input", { type: "text", class: "search-field", placeholder: label, "aria-label": label, role: "combobox",
        "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "suggestions", "aria-keyshortcuts": "/",
        autocomplete: "off", autocapitalize: "none", spellcheck: "false", dir: "auto", enterkeyhint: "search", maxlength: 2000 });
    return make("form", { class: "search-box", role: "search" }, input);
}
