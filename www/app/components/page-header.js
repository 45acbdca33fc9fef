/** The app bar, and the banners below it. `shell.js` fills both once it has loaded. */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { searchField } from "../search/search-field.js";

const fill = { count: () => {}, capture: () => {}, banners: null };

/**
 * @param {{count: (link: HTMLElement) => void, capture: (link: HTMLElement) => void, banners: () => HTMLElement[]}} parts `count`: says
 *   how many jobs there are; `capture`: shows a link to the capture server while that server runs
 */
export function fillHeaders(parts) {
    Object.assign(fill, parts);
    document.querySelectorAll(".activity-count").forEach(fill.count);
    document.querySelectorAll(".capture-link").forEach(fill.capture);
    showBanners();
}

/** @returns {boolean} whether a banner says so when the server stops */
export const saysWhenStopped = () => fill.banners !== null;

/** Shows the banners of the app in the present view. */
export function showBanners() {
    document.querySelector(".banners")?.replaceChildren(...fill.banners?.() ?? []);
}

/** @returns {HTMLElement} a link to the capture server, which is hidden unless that server runs */
export function captureLink() {
    const link = make("a", { class: "button capture-link", text: message("shell.capture"), hidden: true });
    fill.capture(link);
    return link;
}

/**
 * @param {(Node|string)[]} trail the breadcrumbs after the app's name
 * @param {HTMLElement} [searchBox] that of the library by default
 * @returns {HTMLElement}
 */
export function pageHeader(trail, searchBox = searchField()) {
    const current = (name) => (location.hash === `#${name}` ? "page" : null);
    const count = make("a", { class: "activity-count", href: "/#activity", text: message("activity.title"), "aria-current": current("activity") });
    fill.count(count);
    return make("header", { class: "page-header" }, skipLink(),
        make("div", { class: "column app-bar" },
            make("nav", { class: "trail", "aria-label": message("shell.breadcrumbs") },
                make("a", { class: "wordmark", href: "/" }, "replayhost"),
                ...trail),
            searchBox,
            make("nav", { class: "bar-links", "aria-label": "replayhost" }, count,
                make("a", { href: "/#settings", text: message("settings.title"), "aria-current": current("settings") }))),
        make("div", { class: "banners column" }));
}

/** The first control of a view leads past the app bar. */
function skipLink() {
    const list = () => document.querySelector("main .windowed [tabindex='0']");
    const link = make("a", { class: "skip", href: "#main", text: message("shell.skip-to-content"), on: {
        focus: () => {
            link.textContent = message(list() ? "shell.skip-to-list" : "shell.skip-to-content");
        },
        click: (event) => {
            event.preventDefault();
            (list() ?? document.querySelector("main h1"))?.focus();
        },
    } });
    return link;
}
