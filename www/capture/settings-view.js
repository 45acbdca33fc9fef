/** The tab with the connection and the settings of this device. */
import { copyText } from "../app/components/copy-text.js";
import { showDialog } from "../app/components/dialog.js";
import { errorBlock } from "../app/components/messages.js";
import { make, setText } from "../app/core/dom.js";
import { message, messageParts } from "../app/core/i18n.js";
import * as api from "./api.js";
import { setKey } from "./connection.js";
import { clear } from "./database.js";
import { canInstall, connectionKind, install, isInstalled, onInstallChange, workerState } from "./installation.js";
import { forgetPreferences } from "./preferences.js";
import { createScanner } from "./qr-scanner.js";
import { settingsSections } from "./settings-form.js";
import { ago } from "./state-texts.js";

const systems = ["ios", "android", "macos", "windows", "linux", "firefox"];
const localHosts = ["localhost", "127.0.0.1", "[::1]"];

/** A bookmark that opens `/share` with the URL of the page that it's chosen on. It's the only script in a URL here, and never runs here. */
const bookmarklet = () => ["javascript", `void window.open('${location.origin}/share?url='+encodeURIComponent(location.href))`].join(":");

/**
 * @param {{onConnected: () => void, onRetryAll: () => void, onSetting: (key: string) => void}} host
 * @returns {{update: (state: {isConnected: boolean, syncedAt: number|null, pending: number}) => void, refresh: () => void}}
 */
export function createSettings({ onConnected, onRetryAll, onSetting }) {
    const element = document.getElementById("settings-body");
    const state = make("p", { id: "connection-state" });
    const synced = make("p", { class: "quiet" });
    const pending = make("p", { id: "pending-count" });
    const place = make("div");
    const result = make("div", { role: "status" });
    const retryAll = button("capture.settings.retry-all", onRetryAll);
    const test = button("capture.settings.test", runTest);
    const certificate = make("p", { id: "certificate-state" });
    const app = make("div");
    let isKnown = false;

    function button(name, act, style = "") {
        return make("button", { type: "button", class: style, text: message(name), on: { click: act } });
    }

    const sheet = (name, ...children) => make("section", { class: "sheet", "aria-labelledby": `settings-${name}` },
        make("h2", { id: `settings-${name}`, text: message(`capture.settings.${name}`) }), ...children);

    element.append(
        sheet("server",
            make("p", {}, make("strong", { dir: "ltr", text: location.origin })), state, synced, place,
            make("p", { class: "buttons" }, test, button("capture.settings.disconnect", disconnect, "danger")), result, pending, make("p", {}, retryAll)),
        sheet("connect", make("p", { class: "quiet", text: message("capture.settings.connect-text") }), createScanner({ onConnected })),
        sheet("app", app),
        sheet("certificate", certificate, ...certificateHelp()),
        ...settingsSections({ onChanged: onSetting }));
    onInstallChange(showInstallation);

    /** What this page can find out about the certificate, which browsers don't show to pages. */
    function showCertificate() {
        const kind = location.protocol !== "https:" ? "none" : workerState() === "runs" ? "trusted" : workerState() === "refused" ? "refused" : "unknown";
        certificate.textContent = message(`capture.settings.certificate-${kind}`);
    }

    function showInstallation() {
        showCertificate();
        showApp();
    }

    function showApp() {
        const isPlain = connectionKind() === "plain";
        app.replaceChildren(...[
            isPlain && make("p", { class: "notice warning", text: message("capture.settings.plain") }),
            isInstalled() ? make("p", { text: message("capture.settings.installed") })
                : canInstall() ? button("capture.settings.install", install, "primary")
                    : !isPlain && make("p", { class: "quiet", text: message("capture.settings.install-by-menu") }),
            make("p", {}, ...messageParts("capture.settings.bookmarklet", {}, {
                bookmark: (...text) => make("a", { class: "button", href: bookmarklet(), on: { click: (event) => event.preventDefault() } }, ...text),
            })),
            button("capture.settings.bookmarklet-copy", () => copyText(bookmarklet())),
        ].filter(Boolean));
    }

    async function showPlace() {
        if (localHosts.includes(location.hostname)) {
            place.replaceChildren(make("p", { class: "quiet", text: message("capture.settings.place-local") }));
            return;
        }
        let connection;
        try {
            connection = await api.connection();
        } catch {
            // It's asked again when the tab is opened again.
            isKnown = false;
            return;
        }
        const urls = { lan: connection.lan?.url, wan: connection.wan?.url };
        const known = Object.keys(urls).filter((name) => urls[name]);
        const isHere = (name) => new URL(urls[name]).origin === location.origin;
        place.replaceChildren(...known.map((name) => make("p", {}, isHere(name) ? message(`capture.settings.place-${name}`)
            : make("a", { href: `${new URL(urls[name]).origin}/`, text: message(`capture.settings.to-${name}`) }))));
    }

    async function runTest() {
        test.disabled = true;
        result.replaceChildren(make("p", { text: message("capture.settings.testing") }));
        try {
            const { software } = await api.health();
            await api.history(1);
            result.replaceChildren(make("p", { class: "ok", text: message("capture.settings.test-ok", { software: software ?? "replayhost-capture" }) }));
        } catch (error) {
            result.replaceChildren(errorBlock(error, message("capture.settings.test-failed")));
        }
        test.disabled = false;
    }

    async function disconnect() {
        const choice = await showDialog({
            title: message("capture.settings.disconnect-title"),
            body: [make("p", { text: message("capture.settings.disconnect-text") })],
            action: { value: "disconnect", text: message("capture.settings.disconnect-now"), isDanger: true, run: clear },
        });
        if (!choice) return;
        setKey("");
        forgetPreferences();
        location.assign("/");
    }

    return {
        update({ isConnected, syncedAt, pending: count }) {
            setText(state, message(isConnected ? "capture.settings.connected" : "capture.settings.not-connected"));
            state.className = isConnected ? "ok" : "error-text";
            synced.textContent = syncedAt ? message("capture.settings.synced", { time: ago(new Date(syncedAt).toISOString()) }) : message("capture.settings.never-synced");
            pending.textContent = message("capture.settings.pending", { n: count });
            retryAll.hidden = count === 0;
        },
        /** Call this when the tab is opened. */
        refresh() {
            showInstallation();
            if (isKnown) return;
            isKnown = true;
            showPlace();
        },
    };
}

/** Instructions for each system. */
function certificateHelp() {
    return [make("p", {}, make("a", { class: "button", href: "/server.crt", download: true, text: message("capture.settings.certificate-file") })),
        ...systems.map((system) => make("details", {}, make("summary", { text: message(`capture.certificate.${system}`) }),
            make("p", { text: message(`capture.certificate.${system}-text`) })))];
}
