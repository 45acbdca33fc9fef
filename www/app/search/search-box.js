/** The search field in the header: suggests pages, sites and archives while typing. */
import * as api from "../core/api.js";
import { announce, make, plain, plainURL } from "../core/dom.js";
import { hasMessage, message } from "../core/i18n.js";
import { pageURL, tabURL, searchURL } from "../core/routes.js";
import { createSuggestionList } from "./suggestion-list.js";

const typingMilliseconds = 120;

/**
 * Returns a form that opens the results of a search of the whole library.
 *
 * @param {(address: string) => void} [open]
 * @returns {{element: HTMLElement, show: (search: import("../core/routes.js").Search) => void}} `show`: the field gets
 *   these words, and its next search keeps these filters
 */
export function createSearchBox(open = (address) => location.assign(address)) {
    let current = { words: "" };
    let abort = new AbortController();
    let timer;
    const input = field(message("search.field"), { type: "text", role: "combobox", "aria-autocomplete": "list",
        "aria-expanded": "false", "aria-controls": "suggestions" });
    const list = createSuggestionList(input, leave);

    function leave(address) {
        stop();
        input.blur();
        open(address);
    }

    /** Discards the suggestions and those that are being fetched. */
    function stop() {
        clearTimeout(timer);
        abort.abort();
        list.close();
    }

    const submit = () => leave(searchURL({ ...current, words: input.value.trim() }));

    async function suggest() {
        abort.abort();
        abort = new AbortController();
        const { signal } = abort;
        const typed = input.value.trim();
        if (!typed) {
            list.close();
            return;
        }
        // Without suggestions, the field still searches.
        const found = await api.suggestions(typed, signal).catch(() => []);
        if (signal.aborted || document.activeElement !== input) return;
        list.open([...found.map(option), found.length > 0 && { text: message("search.for", { words: plain(typed, 60) }), detail: "",
            address: searchURL({ ...current, words: typed }) }].filter(Boolean));
        if (found.length > 0) announce(message("search.suggestion-count", { n: found.length }));
    }

    input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(suggest, typingMilliseconds);
    });
    input.addEventListener("blur", stop);
    input.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.key === "ArrowDown" && !list.isOpen && input.value.trim()) {
            event.preventDefault();
            suggest();
        } else if (event.key === "Escape" && (list.isOpen || input.value)) {
            event.preventDefault();
            if (!list.isOpen) input.value = "";
            stop();
        } else {
            list.receive(event);
        }
    });
    return {
        element: form(input, submit, list.element),
        show(search) {
            current = search;
            input.value = search.words;
        },
    };
}

/**
 * Returns a form that opens the results of a search of one archive or collection.
 *
 * @param {import("../core/routes.js").Target} target
 * @returns {HTMLElement}
 */
export function targetSearchBox({ kind, id }) {
    const input = field(message(`search.field-${kind}`));
    const filter = kind === "collection" ? { collection: id } : { in: id };
    return form(input, () => location.assign(searchURL({ words: input.value.trim(), ...filter })));
}

function field(label, attributes = {}) {
    return make("input", { type: "search", class: "search-field", placeholder: label, "aria-label": label,
        "aria-keyshortcuts": "/", autocomplete: "off", autocapitalize: "none", spellcheck: "false", dir: "auto",
        enterkeyhint: "search", maxlength: 2000, ...attributes });
}

function form(input, onSubmit, ...others) {
    return make("form", { class: "search-box", role: "search", on: {
        submit: (event) => {
            event.preventDefault();
            onSubmit();
        },
    } }, input, ...others);
}

/** @param {import("../core/api.js").Suggestion} suggestion */
function option({ kind, text, url, archive, timestamp }) {
    const target = { kind: "archive", id: archive };
    const detail = kind === "page" ? plainURL(url, 200) : hasMessage(`search.kind-${kind}`) ? message(`search.kind-${kind}`) : "";
    if (kind === "site") return { text: plain(text), detail, address: searchURL({ words: "", site: text }) };
    if (kind === "archive") return { text: plain(text), detail, address: tabURL(target) };
    return { text: kind === "url" ? plainURL(text, 200) : plain(text), detail, address: pageURL(target, url, timestamp) };
}

// `/` leads to the visible search field.
document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    const input = [...document.querySelectorAll(".search-field")].find((one) => one.offsetParent !== null);
    if (!input) return;
    event.preventDefault();
    input.focus();
    input.select();
});
