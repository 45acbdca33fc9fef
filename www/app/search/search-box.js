/** The search field in the app bar: suggests pages, sites and archives while typing. */
import "../messages/en/search.js";
import * as api from "../core/api.js";
import { announce, plain } from "../core/dom.js";
import { hasMessage, message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { pageURL, tabURL, searchURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { searchForm } from "./search-field.js";
import { createSuggestionList } from "./suggestion-list.js";

const typingMilliseconds = 120;

/**
 * Makes a form open the results of a search of the whole library, or of one archive or collection.
 *
 * @param {(address: string) => void} [open]
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} [target]
 * @param {HTMLFormElement} [element] a new one by default
 * @returns {{element: HTMLElement, show: (search: import("../core/route-types.js").Search) => void}} `show`: the field gets
 *   these words, and its next search keeps these filters
 */
export function createSearchBox(open = navigate, target, element = searchForm(message(target ? `search.field-${target.kind}` : "search.field"))) {
    let current = { words: "", ...target && { [target.kind === "collection" ? "collection" : "in"]: target.id } };
    let abort = new AbortController();
    let timer;
    const [input] = element.children;
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
        const options = suggested(found, target).map(option);
        const choices = searches(typed, current, target);
        if (target) list.open([...choices, ...options]);
        else list.open(options.length > 0 ? [...options, ...choices] : []);
        if (list.isOpen) announce(message("search.suggestions", { n: options.length + (target ? choices.length : 0) }));
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
        } else if (event.key === "Escape") {
            event.preventDefault();
            if (!list.isOpen && !input.value) input.blur();
            else if (!list.isOpen) input.value = "";
            stop();
        } else {
            list.receive(event);
        }
    });
    element.addEventListener("submit", (event) => {
        event.preventDefault();
        leave(searchURL({ ...current, words: input.value.trim() }));
    });
    element.append(list.element);
    // What was typed before.
    if (document.activeElement === input && input.value) suggest();
    return {
        element,

        show(search) {
            current = search;
            input.value = search.words;
        },
    };
}

/**
 * Returns a form that opens the results of a search of one archive or collection, or of the library.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} target
 * @returns {HTMLElement}
 */
export const targetSearchBox = (target) => createSearchBox(navigate, target).element;

/** What the field can search for the typed words. In an archive, the library is another choice. */
function searches(typed, current, target) {
    const words = plain(typed, 60);
    const all = { text: message(target ? "search.in-library" : "search.for", { words }), detail: "",
        address: searchURL(target ? { words: typed } : { ...current, words: typed }) };
    if (!target) return [all];
    return [{ text: message(`search.in-${target.kind}`, { words }), detail: "", address: searchURL({ ...current, words: typed }) }, all];
}

/** Suggestions of an archive or collection are those that are in it. */
function suggested(found, target) {
    if (!target) return found;
    const ids = target.kind === "collection" ? target.members.map((member) => member.id ?? member) : [target.id];
    return found.filter(({ kind, archive }) => kind !== "archive" && ids.includes(archive));
}

/** @param {import("../core/api.js").Suggestion} suggestion */
function option({ kind, text, url, archive, timestamp }) {
    const target = { kind: "archive", id: archive };
    const detail = kind === "page" ? plainURL(url, 200) : hasMessage(`search.kind-${kind}`) ? message(`search.kind-${kind}`) : "";
    if (kind === "site") return { text: plain(text), detail, address: searchURL({ words: "", site: text }) };
    if (kind === "archive") return { text: plain(text), detail, address: tabURL(target) };
    return { text: kind === "url" ? plainURL(text, 200) : plain(text), detail, address: pageURL(target, url, timestamp) };
}
