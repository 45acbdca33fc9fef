/** A page that was found: its title, URL, a piece of its text, its archive and its captures. */
import { make, plain, plainURL } from "../core/dom.js";
import { counted, day, timeOf } from "../core/format.js";
import { pageURL, tabURL } from "../core/routes.js";

/**
 * @param {import("../core/api.js").Hit} hit
 * @returns {HTMLElement}
 */
export function hitRow({ archive, archiveTitle, url, timestamp, title, snippet, captures, years, type }) {
    const target = { kind: "archive", id: archive };
    const shownURL = plainURL(url, 400);
    const captured = timeOf(timestamp);
    return make("li", {},
        make("h2", {}, make("a", { href: pageURL(target, url, timestamp), dir: "auto", text: plain(title, 300) || shownURL || archive }),
            type === "pdf" && make("span", { class: "kind", text: "PDF" })),
        make("p", { class: "url", dir: "ltr", text: shownURL }),
        snippet.length > 0 && make("p", { class: "snippet", dir: "auto" },
            ...snippet.map(({ text, match }) => (match ? make("mark", { text }) : text))),
        make("p", { class: "quiet" },
            make("a", { href: tabURL(target), dir: "auto", text: plain(archiveTitle) || archive }),
            captures > 1 ? ` · ${counted(captures, "capture")}${span(years)}` : captured && ` · Captured ${day(captured)}`));
}

function span(years) {
    if (years.length === 0) return "";
    const [first, last] = [years[0], years[years.length - 1]];
    return first === last ? ` in ${first}` : ` ${first}–${last}`;
}
