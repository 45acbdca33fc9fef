/** F6 moves the focus between toolbar and page. `replay/page.js` handles the key inside the page. */

/**
 * @param {HTMLElement} viewer where nothing has the focus, for example while a page loads, the key leads to the toolbar
 * @param {{element: HTMLElement, focus: () => void}} toolbar
 * @param {() => {focus: () => void}} page what gets the focus from the toolbar
 * @returns {{close: () => void}}
 */
export function followToolbarKey(viewer, toolbar, page) {
    function move(event) {
        if (viewer.hidden || event.key !== "F6" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        if (toolbar.element.contains(event.target)) page().focus();
        else toolbar.focus();
    }
    document.addEventListener("keydown", move);
    return { close: () => document.removeEventListener("keydown", move) };
}
