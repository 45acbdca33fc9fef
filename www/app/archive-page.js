/** What is in one archive: its facts, what was found wrong with it, its pages, and a way to any address in it. */
import * as api from "./api.js";
import { announce, make, plain } from "./dom.js";
import { findingList } from "./findings.js";
import { counted, moment, number, size, span } from "./format.js";
import { completeAddress } from "./captures.js";
import { errorBlock } from "./messages.js";
import { mainAddress, pageAddress } from "./routes.js";
import { pageHeader, showBanners } from "./shell.js";

const pagesShown = 100;

/**
 * @param {import("./api.js").Archive} archive
 * @returns {HTMLElement}
 */
export function createArchivePage(archive) {
    const title = plain(archive.title) || archive.id;
    const description = plain(archive.description, 600);
    const findings = archive.findings ?? [];
    const element = make("div", { class: "archive-page" },
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }),
            make("span", { class: "here", "aria-current": "page", text: title })]),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {}, make("h1", { text: title }), description && make("p", { text: description })),
                archive.mainPage && make("a", { class: "button primary", href: mainAddress(archive.id),
                    text: "Visit the main page" })),
            factList(archive),
            addressForm(archive),
            findings.length > 0 && make("section", { "aria-labelledby": "findings-title" },
                make("h2", { id: "findings-title", text: "Findings" }),
                make("p", { class: "quiet", text: "What the import found in this file that is not as it should be." }),
                findingList(findings)),
            archive.pageCount > 0 ? pageSection(archive) : noPages()));
    queueMicrotask(showBanners);
    return element;
}

function factList(archive) {
    const made = [archive.createdAt && moment(archive.createdAt), plain(archive.software, 120)].filter(Boolean);
    const version = archive.waczVersion ? `WACZ ${plain(archive.waczVersion, 20)}, ` : "";
    const verification = archive.verification === "not-yet-verified"
        ? "not yet verified: the hashes inside the package have not been checked" : plain(archive.verification);
    const facts = [
        ["Captured", span(archive.firstCapture, archive.lastCapture) || "unknown"],
        ["Holds", [archive.pageCount !== undefined && counted(archive.pageCount, "page"),
            archive.captureCount !== undefined && counted(archive.captureCount, "capture")].filter(Boolean).join(", ")],
        ["Made", made.join(", with ")],
        ["Imported", [archive.importedAt && moment(archive.importedAt),
            archive.originalName && `as ${plain(archive.originalName)}`].filter(Boolean).join(", ")],
        ["File", version + size(archive.size)],
        ["SHA-256", archive.sha256],
        ["Verification", verification],
    ];
    return make("dl", { class: "facts" }, ...facts.filter(([, value]) => value).map(([name, value]) =>
        make("div", {}, make("dt", { text: name }),
            make("dd", {}, name === "SHA-256" ? make("code", { text: value }) : value))));
}

function addressForm(archive) {
    const input = make("input", { type: "text", id: "visit-address", inputmode: "url", autocapitalize: "none",
        autocomplete: "off", spellcheck: "false", placeholder: "https://example.org/", dir: "ltr" });
    return make("form", { class: "address-form", on: {
        submit: (event) => {
            event.preventDefault();
            if (input.value.trim()) location.href = pageAddress(archive.id, completeAddress(input.value));
        },
    } },
    make("label", { for: "visit-address", text: "Visit an address in this archive" }),
    make("div", { class: "joined" }, input, make("button", { type: "submit", text: "Visit" })));
}

function noPages() {
    return make("section", { "aria-labelledby": "pages-title" },
        make("h2", { id: "pages-title", text: "Pages" }),
        make("p", { text: "This archive lists no pages. What was captured is there all the same: enter an address "
            + "above that you know or expect to be in it." }));
}

function pageSection(archive) {
    const search = make("input", { type: "search", placeholder: "Search titles and addresses",
        "aria-label": "Search the pages of this archive by title and address" });
    const range = make("p", { class: "quiet range" });
    const list = make("ol", { class: "pages" });
    const earlier = make("button", { type: "button", text: "Previous" });
    const later = make("button", { type: "button", text: "Next" });
    const pager = make("nav", { class: "pager", "aria-label": "More pages" }, earlier, later);
    const section = make("section", { "aria-labelledby": "pages-title" },
        make("div", { class: "list-head" }, make("h2", { id: "pages-title", text: "Pages" }), search),
        range, list, pager);
    let offset = 0;
    let total = 0;
    let abort = null;
    let timer;

    async function load() {
        abort?.abort();
        abort = new AbortController();
        const words = search.value.trim();
        let result;
        try {
            result = await api.pages(archive.id, { offset, limit: pagesShown, words, signal: abort.signal });
        } catch (error) {
            if (error.name === "AbortError") return;
            list.replaceChildren(make("li", {}, errorBlock(error, "The pages could not be read")));
            return;
        }
        total = result.total;
        list.replaceChildren(...result.pages.map((page) => pageRow(archive, page)));
        list.start = offset + 1;
        range.textContent = rangeText(words, result.pages.length);
        pager.hidden = total <= pagesShown;
        earlier.disabled = offset === 0;
        later.disabled = offset + pagesShown >= total;
        if (words) announce(counted(total, "page"));
    }

    function rangeText(words, count) {
        const matching = words ? ` with “${plain(words, 60)}”` : "";
        if (total === 0) return `No page${matching}.`;
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
    load();
    return section;
}

/**
 * One page as a link into the viewer, its address as text beside it.
 *
 * @param {import("./api.js").Archive} archive
 * @param {import("./api.js").Page} page
 * @returns {HTMLElement}
 */
export function pageRow(archive, page) {
    const url = plain(page.url, 400);
    return make("li", {},
        make("a", { href: pageAddress(archive.id, page.url, page.timestamp), text: plain(page.title) || url }),
        make("span", { class: "address", dir: "ltr", text: url }),
        page.capturedAt && make("time", { datetime: page.capturedAt, title: page.capturedAt,
            text: moment(page.capturedAt) }));
}
