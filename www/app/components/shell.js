/** The header, the footer and the banners around every view. */
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { noticeBlock } from "./messages.js";

const engineSource = "https://github.com/webrecorder/wabac.js";

/**
 * @param {(Node|string)[]} trail the breadcrumbs after the app's name
 * @param {HTMLElement} [searchBox]
 * @returns {HTMLElement}
 */
export function pageHeader(trail, searchBox) {
    return make("header", { class: "page-header" },
        make("div", { class: "column bar" },
            make("nav", { class: "trail", "aria-label": "Breadcrumbs" },
                make("a", { class: "wordmark", href: "/" }, "replayhost"),
                ...trail),
            searchBox),
        make("div", { class: "banners column" }));
}

let health = null;
let resolvable = true;
let stopped = false;

/**
 * Requests the server's health, and updates footer, banners and links to the capture server. Without a response, they stay.
 *
 * @returns {Promise<void>}
 */
export async function loadHealth() {
    const former = JSON.stringify(health);
    health = await api.health().catch(() => health);
    if (health && JSON.stringify(health) === former) return;
    showFooter();
    showBanners();
    document.querySelectorAll(".capture-link").forEach(showCaptureLink);
}

/** @returns {HTMLElement} a link to the capture server, which is hidden unless that server runs */
export function captureLink() {
    const link = make("a", { class: "button capture-link", text: "Save a URL" });
    showCaptureLink(link);
    return link;
}

function showCaptureLink(link) {
    link.hidden = !/^http:\/\/localhost:\d+$/.test(health?.capture);
    if (!link.hidden) link.href = health.capture;
}

/** Shows a banner: this browser can't open archives. */
export function showNamesUnresolved() {
    resolvable = false;
    showBanners();
}

function setServerStopped(now) {
    if (now === stopped) return;
    stopped = now;
    announce(now ? "replayhost has stopped." : "replayhost is running again.");
    showBanners();
    if (!now) loadHealth();
}
followServer({ onStopped: () => setServerStopped(true), onBack: () => setServerStopped(false) });

// While the server is stopped, a link would open the browser's error page.
document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isElsewhere = link?.origin === location.origin && link.pathname + link.search !== location.pathname + location.search;
    if (!stopped || !isElsewhere) return;
    event.preventDefault();
    window.scrollTo(0, 0);
    announce("replayhost has stopped.");
}, true);

/** @returns {boolean} whether this page can open archives */
export function canReplay() {
    return resolvable;
}

/** @returns {HTMLElement} the viewer's banner, for {@link showBanners} */
export const viewerBanner = () => make("div", { class: "viewer-banner" }, stopped && serverStopped());

/** Fills the elements for banners of {@link pageHeader} and {@link viewerBanner}. */
export function showBanners() {
    document.querySelector(".viewer-banner")?.replaceChildren(...(stopped ? [serverStopped()] : []));
    const banners = [];
    if (stopped) banners.push(serverStopped());
    if (health && health.engine === null) banners.push(engineMissing());
    if (!resolvable) banners.push(namesUnresolved());
    document.querySelector(".banners")?.replaceChildren(...banners);
}

/** @returns {HTMLElement} */
function serverStopped() {
    return noticeBlock("warning", "replayhost has stopped",
        `Start it again, for example with \`${api.startCommand()}\`, and this page will reconnect. `
        + "Until then, you can't open or add archives.");
}

/** @returns {HTMLElement} */
function engineMissing() {
    return noticeBlock("warning", "The replay engine is missing",
        "You can add and list archives, but not open them. Run `make setup` in the replayhost folder to download the "
        + "engine, then reload this page.");
}

/** @returns {HTMLElement} */
function namesUnresolved() {
    return noticeBlock("warning", "This browser can't open archives",
        "Each archive has its own host name, such as `name.replayhost.localhost`. This browser can't find these names. "
        + "Use Chrome, Chromium, Edge or Firefox, or start `replayhost serve --origins ports`. The library still works.");
}

function showFooter() {
    const version = document.querySelector('meta[name="replayhost-version"]')?.content ?? "";
    const engine = health?.engine;
    document.getElementById("footer").replaceChildren(make("p", { class: "column" },
        `replayhost ${health?.version ?? version}`,
        make("span", {}, engine ? `Replay engine: ${engine.name} ${engine.version} (AGPL-3.0-or-later), `
            : "Replay engine: wabac.js (AGPL-3.0-or-later, not installed), ",
        make("a", { href: engineSource, rel: "noreferrer", text: "source" }), ", ",
        make("a", { href: "/vendor/NOTICE.txt", text: "notice" }))));
}
