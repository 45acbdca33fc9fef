/** Moves the focus between the rows of a windowed list and their controls. */

/**
 * @param {import("./list-types.js").ListParts} list
 * @param {KeyboardEvent} event of an arrow key, Page Up, Page Down, Home or End
 */
export function move(list, event) {
    // Another key may have moved the focus since.
    const index = list.indexOf(document.activeElement);
    if (index === undefined) return;
    const { columns, height } = list.measure();
    const screen = columns * Math.max(1, Math.floor(innerHeight / height) - 2);
    const step = { ArrowDown: columns, ArrowUp: -columns, PageDown: screen, PageUp: -screen, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) {
        moveInRow(list, index, (event.key === "ArrowRight") === (getComputedStyle(list.element).direction === "ltr") ? 1 : -1);
        return;
    }
    const to = Math.min(Math.max(index + step, 0), list.total - 1);
    if (event.shiftKey) list.onKey?.(event, list.item(index), index, to);
    focus(list, to);
}

/** Moves to the next or previous control, which can be in another row. */
function moveInRow(list, index, step) {
    const controls = list.controls(list.rowAt(index));
    const next = controls[controls.indexOf(document.activeElement) + step];
    if (next) next.focus();
    else if (index + step >= 0 && index + step < list.total) focus(list, index + step);
}

/**
 * Scrolls to a row, and gives it the focus.
 *
 * @param {import("./list-types.js").ListParts} list
 * @param {number} index
 */
export function focus(list, index) {
    const target = Math.min(Math.max(0, index), list.total - 1);
    const { columns, height, shown, count } = list.measure();
    const row = Math.floor(target / columns);
    const { top } = list.element.getBoundingClientRect();
    const at = shown < count * height ? row / count * shown : row * height;
    // Clear of bars at the top and the bottom of the window.
    const { fontSize, scrollPaddingBlockEnd } = getComputedStyle(document.documentElement);
    const margin = 6 * parseFloat(fontSize);
    const below = Math.max(margin, parseFloat(scrollPaddingBlockEnd) || 0);
    if (top + at + height > innerHeight - below) scrollBy(0, top + at + height - innerHeight + below);
    else if (top + at < margin) scrollBy(0, top + at - margin);
    list.activate(target);
}
