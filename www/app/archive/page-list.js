/** The list of the pages of an archive or collection. */
import { errorBlock } from "../components/messages.js";
import { pageRow } from "../components/page-row.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, number } from "../core/format.js";
import { tabURL } from "../core/routes.js";

const pagesShown = 100;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function pageSection(archive) {
    const search = make("input", { type: "search", placeholder: "Search titles and URLs",
        "aria-label": "Search pages by title or URL" });
    const range = make("p", { class: "quiet range" });
    const note = make("p", { class: "note", hidden: true });
    const list = make("ol", { class: "pages" });
    const earlier = make("button", { type: "button", text: "Previous" });
    const later = make("button", { type: "button", text: "Next" });
    const pager = make("nav", { class: "pager", "aria-label": "More pages" }, earlier, later);
    const section = make("section", { "aria-labelledby": "pages-title" },
        make("div", { class: "list-head" }, make("h2", { id: "pages-title", text: "Pages" }), search),
        note, range, list, pager);
    let offset = 0;
    let total = 0;
    let abort = null;
    let hasFailed = false;
    let timer;

    async function load() {
        abort?.abort();
        abort = new AbortController();
        hasFailed = false;
        const query = search.value.trim();
        let result;
        try {
            result = await api.pages(archive, { offset, limit: pagesShown, query, signal: abort.signal });
        } catch (error) {
            if (error.name === "AbortError") return;
            hasFailed = error.status === 0;
            list.replaceChildren(make("li", {}, errorBlock(error, "Can't load the pages")));
            return;
        }
        total = result.total;
        if (!query) showNote(result);
        list.replaceChildren(...result.pages.map((page) => pageRow(archive, page)));
        list.start = offset + 1;
        range.textContent = rangeText(query, result.pages.length);
        pager.hidden = total <= pagesShown;
        earlier.disabled = offset === 0;
        later.disabled = offset + pagesShown >= total;
        if (query) announce(counted(total, "page"));
    }

    function showNote({ pages }) {
        const isDetected = pages[0]?.list === "detected";
        note.hidden = total > 0 && !isDetected;
        search.hidden = total === 0;
        range.hidden = total === 0;
        note.replaceChildren(isDetected ? `These pages were detected: the ${archive.kind} has no page list.`
            : make("span", {}, `This ${archive.kind} has no page list. You can still `,
                make("a", { href: tabURL(archive, "urls"), text: "browse its URLs" }), "."));
    }

    function rangeText(query, count) {
        const matching = query ? ` for “${plain(query, 60)}”` : "";
        if (total === 0) return `No pages${matching}.`;
        if (total <= pagesShown) return counted(total, "page") + matching;
        return `${number(offset + 1)}–${number(offset + count)} of ${counted(total, "page")}${matching}`;
    }

    function turn(step) {
        offset = Math.max(0, offset + step * pagesShown);
        load().then(() => section.scrollIntoView({ block: "start" }));
    }
    earlier.addEventListener("click", () => turn(-1));
    later.addEventListener("click", () => turn(1));
    search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            offset = 0;
            load();
        }, 200);
    });
    const server = followServer({ onBack: () => hasFailed && load() });
    load();
    return { element: section, close: server.close };
}
