/** The line above the page. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @param {string} fallback the text while there is no other
 * @returns {{element: HTMLElement, show: (text: string, copied?: string) => void}} `show` shows a text, or hides the line;
 *   `copied` is the end of the text, with a button that copies it
 */
export function createHintBar(fallback) {
    const element = make("p", { class: "hint-bar", role: "status", hidden: true });
    return {
        element,
        show(text, copied = "") {
            element.textContent = text || fallback;
            element.hidden = !element.textContent;
            if (!copied) return;
            const part = make("span", { text: copied });
            element.append(" ", part);
            if (navigator.clipboard) {
                element.append(" ", make("button", { type: "button", class: "quiet-button", text: message("viewer.copy"),
                    on: { click: () => navigator.clipboard.writeText(part.textContent) } }));
            }
        },
    };
}
