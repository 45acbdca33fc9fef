/** Errors and notices as blocks of text: what, where, what now. */
import { HostError } from "../core/api.js";
import { make } from "../core/dom.js";

/**
 * A sentence: the host writes lower-case starts and no full stops, as its command line does.
 *
 * @param {string} text
 * @returns {string}
 */
export function sentence(text) {
    if (!text) return "";
    // A name at the start (`datapackage.json`, `replayhost.localhost`) stays as it is written.
    const start = /^[a-z]+(?=[\s,;:]|$)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
    return /[.!?…]$/.test(start) ? start : `${start}.`;
}

/**
 * Text in which backticks mark what is typed or named.
 *
 * @param {string} text
 * @returns {(Node|string)[]}
 */
export function withCode(text) {
    return text.split(/`([^`]+)`/).map((part, index) => (index % 2 ? make("code", { text: part }) : part));
}

/**
 * @param {unknown} error
 * @returns {{what: string, where: string, hint: string}}
 */
export function words(error) {
    if (error instanceof HostError) {
        return { what: sentence(error.what), where: error.where, hint: sentence(error.hint) };
    }
    return { what: sentence(error?.message ?? String(error)), where: "", hint: "" };
}

/**
 * @param {unknown} error
 * @param {string} [title] what was being done
 * @returns {HTMLElement} an alert
 */
export function errorBlock(error, title = "") {
    const { what, where, hint } = words(error);
    return make("div", { class: "notice error", role: "alert" },
        title && make("strong", { text: title }),
        make("p", {}, ...withCode(what), where && make("span", { class: "where", text: ` (${where})` })),
        hint && make("p", { class: "hint" }, ...withCode(hint)));
}

/**
 * @param {"warning"|"info"} kind
 * @param {string} title
 * @param {string} text
 * @returns {HTMLElement}
 */
export function noticeBlock(kind, title, text) {
    return make("div", { class: `notice ${kind}`, role: "status" },
        make("strong", { text: title }),
        make("p", {}, ...withCode(text)));
}
