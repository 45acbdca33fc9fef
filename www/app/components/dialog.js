/** Modal dialogs. */
import "../messages/en/dialogs.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { errorBlock } from "./messages.js";

let count = 0;

/**
 * Shows a dialog and waits until it is closed. Escape and Cancel close it without a value.
 *
 * @param {object} dialog
 * @param {string} dialog.title
 * @param {(Node|string)[]} dialog.body
 * @param {{value: string, text: string, isDanger?: boolean, run?: () => Promise<void>, failure?: string}} [dialog.action] the
 *   button beside Cancel; `run` is what it does before the dialog closes. If that fails, the dialog stays and says so
 * @param {string} [dialog.close] the text of the other button
 * @param {string} [dialog.class]
 * @returns {Promise<string>} the value of the button; empty when it was closed otherwise
 */
export function showDialog({ title, body, action, close = message("dialog.cancel"), class: name }) {
    return new Promise((resolve) => {
        const id = `dialog-${++count}`;
        const problems = make("div");
        const dialog = make("dialog", { "aria-labelledby": id, class: name },
            make("form", { method: "dialog" },
                make("h2", { id, text: title }), ...body, problems,
                make("div", { class: "dialog-actions" },
                    // Enter in a field presses the first button of a form.
                    action && make("button", { type: "submit", value: action.value, class: action.isDanger ? "danger" : "primary",
                        text: action.text }),
                    make("button", { type: "submit", value: "", formnovalidate: true, text: close, autofocus: !action || action.isDanger }))));
        dialog.addEventListener("submit", (event) => {
            if (!action?.run || event.submitter?.value !== action.value) return;
            event.preventDefault();
            run(event.submitter);
        });
        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue);
        });
        document.body.append(dialog);
        dialog.showModal();

        async function run(button) {
            button.disabled = true;
            try {
                await action.run();
                dialog.close(action.value);
            } catch (error) {
                problems.replaceChildren(errorBlock(error, action.failure));
            }
            button.disabled = false;
        }
    });
}
