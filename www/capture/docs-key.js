/** The field for the key of the requests that the description's page sends. */
import { make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";

// What can be in a header field.
const keyForm = /^[\x21-\x7E]*$/;

/**
 * @typedef {{element: HTMLElement, read: () => string|null}} KeyField `read` returns the key, empty without one. For a text
 *   that can't be a key, it says so and returns `null`
 */

/** @returns {KeyField} The key is in the field only: it's forgotten when the page closes. */
export function createKeyField() {
    const problem = make("p", { class: "notice error", role: "alert", hidden: true, id: "key-problem", text: message("capture.connect.no-key") });
    const input = make("input", {
        id: "key", type: "text", autocapitalize: "none", autocomplete: "off", spellcheck: "false", "aria-describedby": "key-hint key-problem",
    });
    const element = make("div", { class: "key" }, make("label", { for: "key", text: message("docs.key") }), input,
        make("p", { id: "key-hint", class: "quiet", text: message("docs.key-hint") }), problem);

    function read() {
        const text = input.value.trim();
        problem.hidden = keyForm.test(text);
        if (problem.hidden) return text;
        input.focus();
        return null;
    }

    return { element, read };
}
