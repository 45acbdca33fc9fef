/** The captures of a URL that was typed as a search, in all archives. */
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { timeOf } from "../core/times.js";

const shownMax = 10;

/**
 * @param {import("../core/route-types.js").Search} search
 * @param {AbortSignal} signal
 * @returns {Promise<import("../core/api.js").FoundCapture[]>} one more than is shown if there are more; empty when the
 *   search isn't a URL or has filters
 */
export async function urlCaptures({ words, ...filters }, signal) {
    const url = words.trim();
    if (!isURL(url) || Object.values(filters).some(Boolean)) return [];
    try {
        return await api.capturesInLibrary(url, shownMax + 1, signal);
    } catch (error) {
        if (signal.aborted) throw error;
        // The search still finds pages that have the words of the URL.
        return [];
    }
}

/** Whether a text is a URL, with or without scheme, or a pattern of URLs: `example.org/*`, `*.example.org`. */
export function isURL(text) {
    return /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text)
        || /^(\*\.)?([^\s./?#:*"]+\.)+[^\s./?#:*"\d][^\s./?#:*"]+(:\d+)?([/?#]\S*)?$/.test(text);
}

/**
 * @param {import("../core/api.js").FoundCapture[]} captures at least one
 * @param {string} typed
 * @param {Map<string, string>} titles of archives, by ID
 * @returns {HTMLElement}
 */
export function urlCaptureSection(captures, typed, titles) {
    const shown = captures.slice(0, shownMax);
    const isDomain = /^\*\.[^/]+$/.test(typed);
    const filter = typed.includes("*") ? { q: isDomain ? `${typed}/*` : typed, match: "pattern" } : { q: typed, match: "exact" };
    const archives = [...new Set(shown.map(({ source }) => source))];
    return make("section", { class: "url-captures", "aria-labelledby": "captures-title" },
        make("h2", { id: "captures-title" },
            ...messageParts("search.captures-of", { url: make("span", { dir: "ltr", text: plainURL(typed, 200) }) })),
        make("ul", {}, ...shown.map(({ url, timestamp, source }) => make("li", {},
            make("a", { href: pageURL({ kind: "archive", id: source }, url, timestamp), dir: "ltr", text: plainURL(url, 400) }),
            make("p", { class: "quiet" }, moment(timeOf(timestamp)) || message("library.time-unknown"), " · ",
                make("span", { dir: "auto", text: plain(titles.get(source) ?? source) }))))),
        captures.length > shownMax && make("p", { class: "quiet" }, ...messageParts("search.all-captures-in", {
            archives: make("span", {}, ...archives.flatMap((id, index) => [index > 0 && ", ",
                make("a", { href: tabURL({ kind: "archive", id }, "urls", filter), dir: "auto", text: titles.get(id) ?? id })])),
        })));
}
