/** What is around every view, and loads after the first one: banners, the footer, the number of jobs, the tray, and shortcuts. */
import "../messages/en/around.js";
import { followActivity } from "../core/activity.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { canReplay } from "../core/origins.js";
import { activityCounts } from "./activity-text.js";
import { followImports } from "./import-queue.js";
import { fillHeaders, showBanners } from "./page-header.js";
import { followShortcuts } from "./shortcuts.js";
import { showTray } from "./tray.js";
// These work while the server is stopped, too.
import "./list-moves.js";
import "./trust-sentences.js";
import "./unavailability-text.js";

const engineSource = "https://github.com/webrecorder/wabac.js";

let health = null;
let stopped = false;

/** Starts what goes on around the views. */
export function startShell() {
    fillHeaders({ count: showCounts, capture: showCaptureLink, banners });
    showTray();
    followShortcuts();
    followActivity({ onChange: showAllCounts });
    followImports({ onChange: showAllCounts });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && loadHealth());
    loadHealth();
}

function showCounts(link) {
    const { active, failed } = activityCounts();
    link.textContent = message("shell.activity", { n: active });
    link.setAttribute("aria-label", message("shell.activity-label", { n: active, failed }));
    link.classList.toggle("failed", failed > 0);
}

const showAllCounts = () => document.querySelectorAll(".activity-count").forEach(showCounts);

/**
 * Requests the server's health, and updates footer, banners and links to the capture server. Without a response, they stay.
 *
 * @returns {Promise<void>}
 */
async function loadHealth() {
    const former = JSON.stringify(health);
    health = await api.health().catch(() => health);
    if (health && JSON.stringify(health) === former) return;
    showFooter();
    showBanners();
    document.querySelectorAll(".capture-link").forEach(showCaptureLink);
}

function showCaptureLink(link) {
    link.hidden = !/^http:\/\/localhost:\d+$/.test(health?.capture);
    if (!link.hidden) link.href = health.capture;
}

function setServerStopped(now) {
    if (now === stopped) return;
    stopped = now;
    announce(message(now ? "shell.stopped-announced" : "shell.runs-again"));
    document.querySelector(".viewer-banner")?.replaceChildren(...(stopped ? [serverStopped()] : []));
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

/** @returns {HTMLElement} the viewer's banner */
export const viewerBanner = () => make("div", { class: "viewer-banner" }, stopped && serverStopped());

function banners() {
    return [
        stopped && serverStopped(),
        health && health.engine === null && banner("shell.engine-missing", "shell.engine-missing-text"),
        !canReplay() && banner("shell.names-unresolved", "shell.names-unresolved-text"),
    ].filter(Boolean);
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
