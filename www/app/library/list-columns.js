/** The heads of the columns of the list, which sort it. */
import "../messages/en/library.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

// The orders of a column, the usual one first.
const columns = { title: ["title", "-title"], site: [], captured: ["-captured", "captured"], pages: ["-pages", "pages"], size: ["-size", "size"],
    trust: ["-trust", "trust"] };

/**
 * @param {(order: string) => void} sort
 * @returns {{element: HTMLElement, show: (isList: boolean, order: string) => void}}
 */
export function listColumns(sort) {
    let current = "";
    const heads = Object.entries(columns).map(([name, orders]) => {
        const text = message(`library.column-${name}`);
        const arrow = make("span", { class: "arrow", "aria-hidden": "true" });
        const button = orders.length > 0 && make("button", { type: "button", class: "plain", on: { click: () =>
            sort(orders[current === orders[0] ? 1 : 0]) } }, text, arrow);
        return { name, orders, arrow, button, element: make("span", { class: `column-${name}` }, button || text) };
    });
    // The list of rows isn't a table: each row says what its texts are.
    const element = make("div", { class: "list-columns", role: "group", "aria-label": message("library.columns") },
        make("div", { class: "about" }, ...heads.map((head) => head.element)));

    return {
        element,

        show(isList, order) {
            current = order;
            element.classList.toggle("shown", isList);
            for (const { orders, arrow, button } of heads) {
                const isSorted = orders.includes(order);
                arrow.textContent = !isSorted ? "" : order.startsWith("-") ? " ↓" : " ↑";
                if (button) button.setAttribute("aria-pressed", String(isSorted));
            }
        },
    };
}
