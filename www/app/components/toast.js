/** Short messages at the edge of the window, which go away by themselves or can be dismissed. */
import "../messages/en/dialogs.js";
import { announce, make } from "../core/dom.js";
import { message } from "../core/i18n.js";

const secondsShown = 10;
let current = null;

/**
 * @param {string} text
 * @param {{text: string, onChosen: () => void}} [action] a button, such as Undo
 * @returns {Promise<boolean>} whether the action was chosen, once the toast is gone
 */
export function toast(text, action) {
    current?.end(false);
    return new Promise((resolve) => {
        const end = (isChosen) => {
            clearTimeout(timer);
            element.remove();
            current = null;
            if (isChosen) action.onChosen();
            resolve(isChosen);
        };
        const element = make("section", { class: "toast", "aria-label": message("toast.label") }, make("p", { text }),
            action && make("button", { type: "button", class: "plain", text: action.text, on: { click: () => end(true) } }),
            make("button", { type: "button", class: "plain", "aria-label": message("toast.dismiss"), text: "×", on: { click: () => end(false) } }));
        // It stays while it is used.
        let timer = setTimeout(end, secondsShown * 1000, false);
        for (const event of ["pointerenter", "focusin"]) element.addEventListener(event, () => clearTimeout(timer));
        for (const event of ["pointerleave", "focusout"]) {
            element.addEventListener(event, () => {
                clearTimeout(timer);
                timer = setTimeout(end, secondsShown * 1000, false);
            });
        }
        current = { end };
        document.body.append(element);
        announce(text);
    });
}
