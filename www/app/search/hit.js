/** A page that was found: its title, URL, a piece of its text, its archive and its captures. */
import { make, plain } from "../core/dom.js";
import { popover } from "../components/popover.js";
import { trustMark, trustOf } from "../components/trust-mark.js";
import { day } from "../core/format.js";
import { message } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { withWords, wordsToMark } from "../core/search-words.js";
import { plainURL } from "../core/text.js";
import { timeOf } from "../core/times.js";

/**
 * @param {import("../core/api.js").Hit} hit
 * @param {Map<string, string>} names of archives, by ID
 * @param {string} search its words, which are marked in the page
 * @param {string[]} optional folded words that a page need not have, and that aren't marked
 * @returns {HTMLElement}
 */
export function hitRow({ archive, url, timestamp, title, snippet, captures, years, type, verification, verificationSummary, otherArchives = [] }, names, search, optional) {
    const target = { kind: "archive", id: archive };
    const words = wordsToMark(search, snippet, optional);
    const shownURL = plainURL(url, 400);
    return make("li", {},
        make("h2", {}, make("a", { href: withWords(pageURL(target, url, timestamp), words), dir: "auto", text: plain(title, 300) || shownURL || archive }), type === "pdf" && " ",
            type === "pdf" && make("span", { class: "kind", text: "PDF" })),
        make("p", { class: "url", dir: "ltr", text: shownURL }),
        snippet.length > 0 && make("p", { class: "snippet", dir: "auto" },
            ...snippet.map(({ text, match }) => (match ? make("mark", { text }) : text))),
        make("p", { class: "quiet" },
            make("a", { href: tabURL(target), dir: "auto", text: names.get(archive) ?? archive }),
            otherArchives.length > 0 && " ", otherArchives.length > 0 && others(otherArchives, names, (id) => withWords(pageURL({ kind: "archive", id }, url, timestamp), words)),
            " · ", captured(captures, years, timestamp), " ",
            trustMark({ verification, verificationSummary }, { target, isInList: true })));
}

/** The other archives with the same text at the same time. The best copy is the hit's own. */
function others(archives, names, addressIn) {
    const button = make("button", { type: "button", class: "plain also-in", text: message("search.other-archives", { n: archives.length }) });
    popover(button, () => [make("p", { class: "quiet", text: message("search.same-capture") }),
        make("ul", {}, ...archives.map((archive) => make("li", {},
            make("a", { href: addressIn(archive.id), dir: "auto", text: names.get(archive.id) ?? archive.id }), " ",
            copyMark(archive))))]);
    return button;
}

/** What the verification of another archive says, in a list that is a popover already. */
function copyMark(archive) {
    const { kind, text } = trustOf(archive);
    return kind ? make("span", { class: `trust ${kind}`, dir: "auto", text }) : null;
}

function captured(captures, years, timestamp) {
    const [first, last] = [years[0], years[years.length - 1]].map(String);
    if (captures < 2) return timestamp ? message("search.captured", { day: day(timeOf(timestamp)) }) : message("library.time-unknown");
    if (years.length === 0) return message("count.captures", { n: captures });
    return first === last ? message("search.captures-in", { n: captures, year: first })
        : message("search.captures-from", { n: captures, first, last });
}
