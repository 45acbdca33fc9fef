/** Parts that the sections share. */
import { errorBlock } from "../../app/components/messages.js";
import { arrange, make } from "../../app/core/dom.js";
import { message } from "../../app/core/i18n.js";

/**
 * Replaces the children of an element if a value differs from the one that they show.
 *
 * @param {HTMLElement} element
 * @param {unknown} value
 * @param {() => (Node|string)[]} children
 */
export function showValue(element, value, children) {
    const shown = JSON.stringify(value);
    if (element.dataset.shown === shown) return;
    element.dataset.shown = shown;
    element.replaceChildren(...children());
}

/**
 * @param {Node} name
 * @param {Node[]} facts
 * @param {Node[]} [actions]
 * @returns {HTMLElement} a row of a list
 */
export const makeRow = (name, facts, actions = []) => make("li", { class: "row" },
    make("div", { class: "about" }, name, ...facts), actions.length > 0 && make("div", { class: "actions" }, ...actions));

/**
 * Returns a button of a row. Its label has the row's name, too.
 *
 * @param {string} text
 * @param {string} name
 * @param {() => void} act
 */
export const rowButton = (text, name, act) => make("button", {
    type: "button", text, "aria-label": message("admin.row.control", { action: text, name }), on: { click: act },
});

/**
 * Creates a list whose rows are updated in place, so that they keep the focus.
 *
 * @template Item
 * @param {object} options
 * @param {HTMLElement} options.container
 * @param {string} options.label of the list
 * @param {string} options.none the text of an empty list
 * @param {(item: Item) => string|number} options.idOf
 * @param {(item: Item) => {element: HTMLElement, update: (item: Item) => void}} options.create
 * @returns {{show: (items: Item[]) => void}}
 */
export function createList({ container, label, none, idOf, create }) {
    const list = make("ul", { class: "rows", "aria-label": label, hidden: true });
    const empty = make("p", { class: "quiet", text: none, tabindex: "-1", hidden: true });
    const rows = new Map();
    container.replaceChildren(list, empty);

    function show(items) {
        const ids = new Set(items.map(idOf));
        const gone = [...rows].filter(([id]) => !ids.has(id));
        const focused = gone.find(([, { element }]) => element.contains(document.activeElement))?.[1].element;
        const place = focused ? [...list.children].indexOf(focused) : -1;
        for (const [id] of gone) rows.delete(id);
        for (const item of items) {
            const id = idOf(item);
            if (!rows.has(id)) rows.set(id, create(item));
            rows.get(id).update(item);
        }
        arrange(list, items.map((item) => rows.get(idOf(item)).element));
        list.hidden = items.length === 0;
        empty.hidden = !list.hidden;
        // After the row with the focus, the next one has it.
        if (focused) (list.children[Math.min(place, list.children.length - 1)]?.querySelector("button") ?? empty).focus();
    }

    return { show };
}

/**
 * Runs a change while its button is disabled, and shows why it failed.
 *
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} problems
 * @param {string} failure what failed
 * @param {() => Promise<void>} act
 */
export async function runChange(button, problems, failure, act) {
    const hadFocus = document.activeElement === button;
    problems.replaceChildren();
    button.disabled = true;
    try {
        await act();
    } catch (error) {
        problems.replaceChildren(errorBlock(error, failure));
    }
    button.disabled = false;
    if (hadFocus && document.activeElement === document.body) button.focus();
}

const userForm = /^[a-z0-9]{1,100}$/i;

/**
 * @param {string} name
 * @returns {boolean} whether a user can have this name
 */
export const isUserName = (name) => userForm.test(name);

/**
 * Shows what is wrong with a field, and focuses it.
 *
 * @param {HTMLInputElement|HTMLTextAreaElement} field
 * @param {HTMLElement} problems
 * @param {string} text
 */
export function refuseField(field, problems, text) {
    field.setAttribute("aria-invalid", "true");
    field.addEventListener("input", () => field.removeAttribute("aria-invalid"), { once: true });
    problems.replaceChildren(make("div", { class: "notice error", role: "alert", text }));
    field.focus();
}
