/** The view of the settings of this browser. */
import "../messages/en/settings.js";
import { showDialog } from "../components/dialog.js";
import { errorBlock } from "../components/messages.js";
import { pageHeader, showBanners } from "../components/page-header.js";
import { showShortcuts } from "../components/shortcuts.js";
import { toast } from "../components/toast.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { changeSettings, settings } from "../core/settings.js";
import { localZone } from "../core/times.js";
import { clearAllOrigins } from "../replay/clear-origin.js";

/** @param {HTMLElement} root */
export function showSettings(root) {
    document.title = `${message("settings.title")} – replayhost`;
    document.body.dataset.view = "settings";
    const problems = make("div", { role: "status" });

    function change(changes) {
        if (changeSettings(changes)) return;
        problems.replaceChildren(make("p", { class: "notice warning", text: message("settings.cant-keep") }));
    }

    /** Radio buttons for the values of one setting. */
    function choice(name, title, options, hint) {
        return make("fieldset", {}, make("legend", { text: title }), ...options.map(([value, text]) => {
            const input = make("input", { type: "radio", name, value, on: { change: () => change({ [name]: value }) } });
            input.checked = settings()[name] === value;
            return make("label", { class: "choice" }, input, text);
        }), hint && make("p", { class: "quiet hint", text: hint }));
    }

    const storage = storageSection();
    root.replaceChildren(pageHeader([]), make("main", { class: "column settings" },
        make("h1", { text: message("settings.title"), tabindex: "-1" }),
        make("p", { class: "quiet", text: message("settings.of-browser") }), problems,
        choice("theme", message("settings.appearance"), ["auto", "light", "dark"].map((one) => [one, message(`settings.theme-${one}`)])),
        choice("times", message("settings.times"), [["utc", message("settings.times-utc")],
            ["local", message("settings.times-local", { zone: localZone() })]]),
        choice("as", message("settings.as"), ["", "cards", "list"].map((one) => [one, message(`settings.as-${one || "auto"}`)])),
        choice("replay", message("settings.replay"), [["", message("settings.replay-default")],
            ["ranges", message("settings.replay-ranges")]], message("settings.replay-hint")),
        keySection(change), storage.element,
        make("p", {}, make("a", { href: "/api/docs", text: message("settings.api") }))));
    showBanners();
    const server = followServer({ onBack: storage.load });
    storage.load();
    return { kind: "settings", close: server.close };
}

function keySection(change) {
    const box = make("input", { type: "checkbox", on: { change: () => change({ singleKeys: box.checked }) } });
    box.checked = settings().singleKeys;
    return make("fieldset", {}, make("legend", { text: message("settings.keys") }),
        make("label", { class: "choice" }, box, message("settings.keys-single")),
        make("p", { class: "quiet hint", text: message("settings.keys-hint") }),
        make("button", { type: "button", text: message("settings.keys-list"), on: { click: showShortcuts } }));
}

function storageSection() {
    const facts = make("dl", { class: "storage" });
    const problems = make("div");
    const clear = make("button", { type: "button", text: `${message("settings.clear")}…`, on: { click: clearReplayData } });
    const element = make("section", { "aria-labelledby": "storage-title" },
        make("h2", { id: "storage-title", text: message("settings.storage") }),
        make("p", { class: "quiet hint", text: message("settings.storage-where") }), facts, problems,
        make("p", { class: "quiet hint", text: message("settings.clear-text") }), clear);

    async function load() {
        try {
            const { freeBytes, library } = await api.facets();
            const rows = [["settings.storage-used", library.bytes], ["settings.storage-free", freeBytes]];
            facts.replaceChildren(...rows.filter(([, bytes]) => bytes !== undefined).flatMap(([key, bytes]) =>
                [make("dt", { text: message(key) }), make("dd", { text: size(bytes) })]));
            problems.replaceChildren();
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("settings.cant-read-storage")));
        }
    }

    return { element, load };
}

async function clearReplayData() {
    const chosen = await showDialog({
        title: message("settings.clear-confirm"),
        body: [make("p", { text: message("settings.clear-text") })],
        action: { value: "clear", text: message("settings.clear"), isDanger: true, run: clearAllOrigins },
    });
    if (chosen) toast(message("settings.cleared"));
}
