/** Popovers and menus, which open at a button. */
import { make } from "../core/dom.js";

let count = 0;

/**
 * Makes a button open a popover. It closes with Escape, with a click outside, and when the focus leaves it.
 *
 * @param {HTMLButtonElement} button
 * @param {(popover: HTMLElement) => (Node|string)[]} contents called each time it opens
 * @param {Object<string, any>} [properties] of the popover's element
 * @returns {{close: () => void, place: () => void}} `place`: call this when its size has changed
 */
export function popover(button, contents, properties = {}) {
    const element = make("div", { popover: "auto", id: `popover-${++count}`, ...properties,
        class: `popover ${properties.class ?? ""}`.trim() });
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", element.id);
    const placeAgain = () => place(element, button);
    let wasOpen = false;
    // A click on the button closes an open popover before the button gets it.
    button.addEventListener("pointerdown", () => {
        wasOpen = element.matches(":popover-open");
    });
    button.addEventListener("click", () => {
        if (!wasOpen) open();
        wasOpen = false;
    });
    element.addEventListener("toggle", ({ newState }) => {
        button.setAttribute("aria-expanded", String(newState === "open"));
        if (newState === "open") return;
        removeEventListener("resize", placeAgain);
        element.remove();
    });
    element.addEventListener("focusout", ({ relatedTarget }) => {
        if (relatedTarget && !element.contains(relatedTarget) && relatedTarget !== button) element.hidePopover();
    });

    function open() {
        element.replaceChildren(...contents(element));
        button.after(element);
        element.showPopover();
        placeAgain();
        addEventListener("resize", placeAgain);
    }

    return { close: () => element.matches(":popover-open") && element.hidePopover(), place: placeAgain };
}

/** Puts the popover below the button, or above it where there is more room, and inside the window. */
function place(element, button) {
    const at = button.getBoundingClientRect();
    // At its former place, the edge of the window could make it narrower.
    element.style.left = "0";
    const { width, height } = element.getBoundingClientRect();
    const isAbove = at.bottom + height > innerHeight && at.top > innerHeight - at.bottom;
    // At the side of the button that is nearer to the edge of the window.
    const start = at.left + at.right > innerWidth ? at.right - width : at.left;
    element.style.left = `${Math.max(8, Math.min(start, document.documentElement.clientWidth - width - 8))}px`;
    element.style.top = `${Math.max(8, isAbove ? at.top - height - 4 : at.bottom + 4)}px`;
}

/**
 * Makes a button open a menu (WAI-ARIA APG, "Menu Button").
 *
 * @param {HTMLButtonElement} button
 * @param {() => ({text: string, hint?: string, href?: string, download?: string, isDanger?: boolean, onChosen?: () => void}|null)[]} items
 */
export function menu(button, items) {
    button.setAttribute("aria-haspopup", "menu");
    let entries = [];
    const { close } = popover(button, () => {
        entries = items().filter(Boolean).map(({ text, hint, href, download, isDanger, onChosen }) =>
            make(href ? "a" : "button", { role: "menuitem", tabindex: "-1", type: href ? null : "button", href, download,
                "aria-label": hint && text, "aria-description": hint, class: isDanger && "danger", on: { click: () => {
                    close();
                    onChosen?.();
                } } }, text, hint && make("span", { class: "hint quiet", text: hint })));
        queueMicrotask(() => entries[0]?.focus());
        return entries;
    }, { role: "menu", class: "menu", "aria-label": button.getAttribute("aria-label") ?? button.textContent, on: {
        keydown: (event) => moveIn(entries, event),
        focusin: ({ target }) => entries.forEach((entry) => {
            entry.tabIndex = entry === target ? 0 : -1;
        }),
    } });
}

function moveIn(entries, event) {
    const current = entries.indexOf(document.activeElement);
    if (current < 0) return;
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: -1 }[event.key]
        ?? (event.key.length === 1 && event.key !== " "
            ? entries.findIndex(({ textContent }, index) => index > current && textContent.toLowerCase().startsWith(event.key)) : undefined);
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    entries.at(to % entries.length)?.focus();
}
