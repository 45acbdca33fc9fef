/** Keyboard shortcuts of the whole app, and the dialog that lists all of them. */
import "../messages/en/around.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { settings } from "../core/settings.js";
import { showDialog } from "./dialog.js";

/** Each group: the key of its title, and for each shortcut the key of its text and the keys to press. */
const groups = [
    ["shortcuts.everywhere", [["shortcuts.search", ["/"]], ["shortcuts.help", ["?"]], ["shortcuts.escape", ["Esc"]]]],
    ["shortcuts.lists", [["shortcuts.move", ["↑", "↓"]], ["shortcuts.controls", ["←", "→"]],
        ["shortcuts.pages", ["Page Up", "Page Down"]], ["shortcuts.ends", ["Home", "End"]], ["shortcuts.open", ["Enter"]]]],
    ["shortcuts.library", [["shortcuts.select", ["Space"]], ["shortcuts.select-several", ["Shift+↑", "Shift+↓"]],
        ["shortcuts.tags", ["e"]], ["shortcuts.remove", ["Del"]]]],
    ["shortcuts.archive", [["shortcuts.edit", ["e"]]]],
    ["shortcuts.viewer", [["shortcuts.toolbar", ["F6"]], ["shortcuts.to-page", ["Esc"]], ["shortcuts.info", ["i"]], ["shortcuts.captures", ["c"]], ["shortcuts.capture-step", ["Alt+Page Up", "Alt+Page Down"]],
        ["shortcuts.print", ["Ctrl+p"]], ["shortcuts.history", ["Alt+←", "Alt+→"]],
        ["shortcuts.words", ["Shift+F6"]], ["shortcuts.words-step", ["n", "Shift+n"]], ["shortcuts.words-off", ["Esc"]]]],
    ["shortcuts.calendar", [["shortcuts.day", ["←", "→", "↑", "↓"]], ["shortcuts.month", ["Page Up", "Page Down"]],
        ["shortcuts.year", ["Shift+Page Up", "Shift+Page Down"]], ["shortcuts.week", ["Home", "End"]],
        ["shortcuts.first-last", ["Ctrl+Home", "Ctrl+End"]], ["shortcuts.open", ["Enter"]]]],
];

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether a key without modifiers was pressed where nothing is typed, and such shortcuts are on
 */
export function isSingleKey(event) {
    if (!settings().singleKeys || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
    return !event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog, [popover]");
}

/** Handles `/` and `?` in every view. */
export function followShortcuts() {
    document.addEventListener("keydown", (event) => {
        if (!["/", "?"].includes(event.key) || !isSingleKey(event)) return;
        if (event.key === "?") {
            event.preventDefault();
            showShortcuts();
            return;
        }
        const input = [...document.querySelectorAll(".search-field")].find((one) => one.offsetParent !== null);
        if (!input) return;
        event.preventDefault();
        input.focus();
        input.select();
    });
}

/** Lists the shortcuts. */
export function showShortcuts() {
    return showDialog({
        title: message("shortcuts.title"),
        class: "shortcuts",
        body: [...groups.map(([title, rows]) => make("section", {}, make("h3", { text: message(title) }),
            make("dl", {}, ...rows.flatMap(([text, keys]) => [make("dt", {}, ...keys.map((key) => make("kbd", { text: key }))),
                make("dd", { text: message(text) })])))),
        !settings().singleKeys && make("p", { class: "quiet", text: message("shortcuts.off") })].filter(Boolean),
        close: message("dialog.close"),
    });
}
