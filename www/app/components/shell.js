/** What surrounds the views: header, footer, notices that concern everything. */
import * as api from "../core/api.js";
import { announce, make } from "../core/dom.js";
import { noticeBlock } from "./messages.js";

const engineSource = "https://github.com/webrecorder/wabac.js";

/**
 * @param {(Node|string)[]} trail where one is, after the name of the host
 * @returns {HTMLElement}
 */
export function pageHeader(trail) {
    return make("header", { class: "page-header" },
        make("nav", { class: "column trail", "aria-label": "Where you are" },
            make("a", { class: "wordmark", href: "/" }, "replayhost"),
            ...trail),
        make("div", { id: "banners", class: "column" }));
}

let state = null;
let resolvable = true;
let stopped = false;

/**
 * Reads the host's health once and shows what follows from it.
 *
 * @returns {Promise<void>}
 */
export async function loadHealth() {
    try {
        state = await api.health();
    } catch {
        state = null;
    }
    showFooter();
    showBanners();
}

/** Says from now on that this browser cannot open archives. */
export function sayNamesUnresolved() {
    resolvable = false;
    showBanners();
}

/** @param {boolean} now whether the host has stopped answering */
export function sayServerStopped(now) {
    if (now === stopped) return;
    stopped = now;
    announce(now ? "replayhost has stopped." : "replayhost is running again.");
    showBanners();
}

// A link would lead to the browser's own error page.
document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isElsewhere = link?.origin === location.origin && link.pathname + link.search !== location.pathname + location.search;
    if (!stopped || !isElsewhere) return;
    event.preventDefault();
    window.scrollTo(0, 0);
    announce("replayhost has stopped.");
}, true);

/** @returns {boolean} whether archives can be opened from this address */
export function canReplay() {
    return resolvable;
}

/** Fills the place that {@link pageHeader} keeps for notices. */
export function showBanners() {
    const place = document.getElementById("banners");
    if (!place) return;
    const banners = [];
    if (stopped) banners.push(serverStopped());
    if (state && state.engine === null) banners.push(engineMissing());
    if (!resolvable) banners.push(namesUnresolved());
    place.replaceChildren(...banners);
}

/** @returns {HTMLElement} */
function serverStopped() {
    return noticeBlock("warning", "replayhost has stopped",
        "Start it the way you did before, for example with `replayhost serve`. This page reconnects automatically. You "
        + "can't open or import archives until it runs again.");
}

/** @returns {HTMLElement} */
function engineMissing() {
    return noticeBlock("warning", "The replay engine is missing",
        "Archives can be imported and listed, but not visited. Run `make setup` in the replayhost folder: it fetches "
        + "the engine. Then load this page again.");
}

/** @returns {HTMLElement} */
function namesUnresolved() {
    return noticeBlock("warning", "Archives cannot be visited in this browser",
        "Each archive has an address of its own, such as `name.replayhost.localhost`, and this browser does not find "
        + "such names on this computer. Chromium, Chrome, Edge and Firefox do. With `replayhost serve --origins ports` "
        + "each archive has a port of its own instead. The library works here all the same.");
}

function showFooter() {
    const version = document.querySelector('meta[name="replayhost-version"]')?.content ?? "";
    const engine = state?.engine;
    document.getElementById("footer").replaceChildren(make("p", { class: "column" },
        `replayhost ${state?.version ?? version}`,
        make("span", {}, engine ? `Replay engine: ${engine.name} ${engine.version} (AGPL-3.0-or-later), `
            : "Replay engine: wabac.js (AGPL-3.0-or-later, not installed), ",
        make("a", { href: engineSource, rel: "noreferrer", text: "source" }), ", ",
        make("a", { href: "/vendor/NOTICE.txt", text: "notice" }))));
}
