/** Blocks that show an error or a notice: what happened, where, and what to do. */
import "../messages/en/shell.js";
import { HostError } from "../core/request.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * Returns a message of the server as a sentence. Like the command line's, it starts in lower case and has no full stop.
 *
 * @param {string} text
 * @returns {string}
 */
export function sentence(text) {
    if (!text) return "";
    // A name at the start (`datapackage.json`, `replayhost`) keeps its spelling, and so does a URL.
    const start = /^(?!replayhost\b)[a-z]+(?=[\s,;]|:(?!\/\/)|$)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
    return /[.!?…]$/.test(start) ? start : `${start}.`;
}

/**
 * Turns text between backticks into `code` elements.
 *
 * @param {string} text
 * @returns {(Node|string)[]}
 */
export function withCode(text) {
    return text.split(/`([^`]+)`/).map((part, index) => (index % 2 ? make("code", { text: part }) : part));
}

/**
 * Returns the parts of an error's message as sentences.
 *
 * @param {unknown} error
 * @returns {{what: string, where: string, hint: string}}
 */
export function messageParts(error) {
    if (error instanceof HostError) {
        return { what: sentence(error.what), where: error.where, hint: sentence(error.hint) };
    }
    return { what: sentence(error?.message ?? String(error)), where: "", hint: "" };
}

/**
 * @param {unknown} error
 * @param {string} [title] what failed
 * @param {(() => void)|false|null} [again] tries it again, by a button
 * @returns {HTMLElement} an alert
 */
export function errorBlock(error, title = "", again = null) {
    const { what, where, hint } = messageParts(error);
    return make("div", { class: "notice error", role: "alert" },
        title && make("strong", { text: title }),
        make("p", {}, ...withCode(what), where && make("span", { class: "where", text: ` (${where})` })),
        hint && make("p", { class: "hint" }, ...withCode(hint)),
        again && make("button", { type: "button", text: message("view.try-again"), on: { click: () => again() } }));
}
