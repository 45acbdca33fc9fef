/** The list of a combobox. WAI-ARIA Authoring Practices, "Editable Combobox With List Autocomplete". */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @typedef {{text: string, detail: string, address: string}} Option
 */

/**
 * @param {HTMLInputElement} input controls the list with the ID `suggestions`
 * @param {(address: string) => void} onChosen
 * @returns {{element: HTMLElement, readonly isOpen: boolean, open: (options: Option[]) => void, close: () => void,
 *   receive: (event: KeyboardEvent) => void}} `receive` handles a key that was pressed in the input
 */
export function createSuggestionList(input, onChosen) {
    const element = make("ul", { id: "suggestions", role: "listbox", class: "suggestions", "aria-label": message("search.suggestion-list"),
        hidden: true });
    let options = [];
    let active = -1;

    function activate(index) {
        active = index;
        [...element.children].forEach((row, number) => row.setAttribute("aria-selected", String(number === index)));
        if (index < 0) input.removeAttribute("aria-activedescendant");
        else input.setAttribute("aria-activedescendant", element.children[index].id);
        element.children[index]?.scrollIntoView({ block: "nearest" });
    }

    function open(now) {
        options = now;
        element.replaceChildren(...options.map((option, index) => row(option, index, () => onChosen(option.address))));
        element.hidden = options.length === 0;
        input.setAttribute("aria-expanded", String(options.length > 0));
        activate(-1);
    }

    // One step before the first option is the input itself.
    const step = (count) => activate((active + 1 + count + options.length + 1) % (options.length + 1) - 1);

    return {
        element,
        get isOpen() {
            return !element.hidden;
        },
        open,
        close: () => open([]),
        receive(event) {
            if (element.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
            if (event.key === "ArrowDown") step(1);
            else if (event.key === "ArrowUp") step(-1);
            else if (event.key === "Enter" && active >= 0) onChosen(options[active].address);
            else return;
            event.preventDefault();
        },
    };
}

function row({ text, detail }, index, onClick) {
    return make("li", { role: "option", id: `suggestion-${index}`, "aria-selected": "false", on: {
        // The input keeps the focus.
        mousedown: (event) => event.preventDefault(),
        click: onClick,
    } },
    make("span", { class: "text", dir: "auto", text }), detail && " ",
    detail && make("span", { class: "detail", dir: "ltr", text: detail }));
}
