/** Opens views of the app in this document, so that imports go on. */

let show = null;

/** @param {() => void} listener shows the view of the URL in the address bar */
export function whenNavigated(listener) {
    show = listener;
}

/**
 * Opens a URL. One of the app opens in this document.
 *
 * @param {string} address
 */
export function navigate(address) {
    const { href, origin, pathname } = new URL(address, location.href);
    if (!show || origin !== location.origin || pathname !== "/" || location.pathname !== "/") {
        location.assign(href);
        return;
    }
    if (href !== location.href) history.pushState(null, "", href);
    show();
}

/** Has links to the app open in this document, as {@link navigate} does. Another tab or window is the browser's. */
export function followLinks() {
    document.addEventListener("click", (event) => {
        const link = event.target.closest?.("a[href]");
        const isOrdinary = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
        if (!link || event.defaultPrevented || !isOrdinary || link.target || link.hasAttribute("download")) return;
        if (link.origin !== location.origin || link.pathname !== "/" || location.pathname !== "/") return;
        event.preventDefault();
        navigate(link.href);
    });
}
