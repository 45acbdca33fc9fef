/** The app bar, the footer and the banners around every view. */
import { followActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { createSearchBox } from "../search/search-box.js";
import { activityCounts } from "./activity-text.js";
import { followImports } from "./import-queue.js";
import { followShortcuts } from "./shortcuts.js";
import { showTray } from "./tray.js";

const engineSource = "https://github.com/webrecorder/wabac.js";

/**
 * @param {(Node|string)[]} trail the breadcrumbs after the app's name
 * @param {HTMLElement} [searchBox] that of the library by default
 * @returns {HTMLElement}
 */
export function pageHeader(trail, searchBox = createSearchBox().element) {
    return make("header", { class: "page-header" }, skipLink(),
        make("div", { class: "column app-bar" },
            make("nav", { class: "trail", "aria-label": message("shell.breadcrumbs") },
                make("a", { class: "wordmark", href: "/" }, "replayhost"),
                ...trail),
            searchBox,
            make("nav", { class: "bar-links", "aria-label": "replayhost" },
                showCounts(make("a", { class: "activity-count", href: "/#activity" })),
                make("a", { href: "/#settings", text: message("settings.title"),
                    "aria-current": location.hash === "#settings" ? "page" : null }))),
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

function showCounts(link) {
    const { active, failed } = activityCounts();
    link.textContent = message("shell.activity", { n: active });
    link.setAttribute("aria-label", message("shell.activity-label", { n: active, failed }));
    link.classList.toggle("failed", failed > 0);
    if (location.hash === "#activity") link.setAttribute("aria-current", "page");
    return link;
}

const showAllCounts = () => document.querySelectorAll(".activity-count").forEach(showCounts);

let health = null;
let resolvable = true;
let stopped = false;

/** Starts what goes on around the views: the tray, shortcuts, and the number of jobs. */
export function startShell() {
    showTray();
    followShortcuts();
    followActivity({ onChange: showAllCounts });
    followImports({ onChange: showAllCounts });
}

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
    const link = make("a", { class: "button capture-link", text: message("shell.capture") });
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
    announce(message(now ? "shell.stopped-announced" : "shell.runs-again"));
    showBanners();
    if (!now) loadHealth();
}
followServer({ onStopped: () => setServerStopped(true), onBack: () => setServerStopped(false) });

// While the server is stopped, a link could open the browser's error page, or a view without contents.
document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isElsewhere = link?.origin === location.origin && link.pathname + link.search !== location.pathname + location.search;
    if (!stopped || !isElsewhere) return;
    event.preventDefault();
    window.scrollTo(0, 0);
    announce(message("shell.stopped-announced"));
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
    if (health && health.engine === null) banners.push(banner("shell.engine-missing", "shell.engine-missing-text"));
    if (!resolvable) banners.push(banner("shell.names-unresolved", "shell.names-unresolved-text"));
    document.querySelector(".banners")?.replaceChildren(...banners);
}

const serverStopped = () => banner("shell.stopped", "shell.stopped-text", { command: api.startCommand() });

function banner(title, text, values) {
    return make("div", { class: "notice warning", role: "status" }, make("strong", { text: message(title) }),
        make("p", {}, ...messageParts(text, values)));
}

function showFooter() {
    const version = document.querySelector('meta[name="replayhost-version"]')?.content ?? "";
    const engine = health?.engine;
    const source = (...children) => make("a", { href: engineSource, rel: "noreferrer" }, ...children);
    const notice = (...children) => make("a", { href: "/vendor/NOTICE.txt" }, ...children);
    document.getElementById("footer").replaceChildren(make("p", { class: "column" },
        `replayhost ${health?.version ?? version}`,
        make("span", {}, ...messageParts(engine ? "shell.engine" : "shell.engine-none",
            engine ? { name: engine.name, version: engine.version } : {}, { source, notice }))));
}
