/** What is in one archive or collection: its facts, what is said of it, its pages, and a way to any address in it. */
import { unavailabilityText, isUnavailable } from "../components/availability.js";
import { findingList } from "../components/findings.js";
import { errorBlock, withCode } from "../components/messages.js";
import { pageRow } from "../components/page-row.js";
import { confirmRemoval } from "../components/removal.js";
import { pageHeader, showBanners } from "../components/shell.js";
import * as api from "../core/api.js";
import { completeAddress } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, moment, number, size, span } from "../core/format.js";
import { mainAddress, pageAddress, pagesAddress } from "../core/routes.js";
import { memberSection } from "./members.js";
import { wordsSection } from "./words.js";

const pagesShown = 100;
// Findings that only say what stands in large letters above them.
const unavailableFindings = ["file-unavailable", "file-changed", "file-missing"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing a collection with its members as archives
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @returns {HTMLElement}
 */
export function createArchivePage(thing, onChanged) {
    const title = plain(thing.title) || thing.id;
    const description = plain(thing.description, 600);
    const findings = (thing.findings ?? []).filter(({ code }) => !unavailableFindings.includes(code));
    const isCollection = thing.kind === "collection";
    const element = make("div", { class: "archive-page" },
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }),
            make("span", { class: "here", "aria-current": "page", text: title })]),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {}, make("h1", { text: title, tabindex: "-1" }), isCollection && make("p", { class: "quiet",
                    text: `A collection of ${counted(thing.members.length, "archive")}, replayed as one` }),
                description && make("p", { text: description })),
                thing.mainPage && !isUnavailable(thing) && make("a", { class: "button primary", href: mainAddress(thing),
                    text: "Visit the main page" })),
            unavailableNotice(thing),
            wordsSection(thing, onChanged),
            factList(thing),
            !isUnavailable(thing) && addressForm(thing),
            !isUnavailable(thing) && isolationHelp(thing),
            isCollection && memberSection(thing, onChanged),
            findings.length > 0 && make("section", { "aria-labelledby": "findings-title" },
                make("h2", { id: "findings-title", text: "Findings" }),
                make("p", { class: "quiet", text: "What the import found in this file that is not as it should be." }),
                findingList(findings)),
            thing.pageCount > 0 ? pageSection(thing) : noPages(thing),
            isCollection && dissolveSection(thing)));
    queueMicrotask(showBanners);
    return element;
}

function unavailableNotice(thing) {
    const text = unavailabilityText(thing);
    return text && make("div", { class: "notice warning", role: "status" }, make("p", {}, ...withCode(text)));
}

function factList(thing) {
    const rows = thing.kind === "collection" ? collectionFacts(thing) : archiveFacts(thing);
    const facts = [
        ["Captured", span(thing.firstCapture, thing.lastCapture) || "unknown"],
        ["Holds", [thing.pageCount !== undefined && counted(thing.pageCount, "page"),
            thing.captureCount !== undefined && counted(thing.captureCount, "capture")].filter(Boolean).join(", ")],
        ...rows,
    ];
    return make("dl", { class: "facts" }, ...facts.filter(([, value]) => value).map(([name, value]) =>
        make("div", {}, make("dt", { text: name }), make("dd", {}, ...[value].flat()))));
}

function archiveFacts(archive) {
    const made = [archive.createdAt && moment(archive.createdAt), plain(archive.software, 120)].filter(Boolean);
    const version = archive.waczVersion ? `WACZ ${plain(archive.waczVersion, 20)}, ` : "";
    const verification = archive.verification === "not-yet-verified"
        ? "not yet verified: the hashes inside the package have not been checked" : plain(archive.verification);
    return [
        ["Made", made.join(", with ")],
        ["Imported", [archive.importedAt && moment(archive.importedAt),
            archive.originalName && `as ${plain(archive.originalName)}`].filter(Boolean).join(", ")],
        ["File", version + size(archive.size)],
        ["Stays at", archive.linkedPath && make("code", { text: plain(archive.linkedPath, 400) })],
        ["SHA-256", archive.sha256 ? make("code", { text: archive.sha256 })
            : archive.linkedPath && "not known yet: the file is read for it in the background"],
        ["Verification", verification],
        ["In collections", archive.collections?.length > 0 && archive.collections.flatMap((id, index) => [index > 0 ? ", " : "",
            make("a", { href: pagesAddress({ kind: "collection", id }), text: id })])],
    ];
}

function collectionFacts(collection) {
    return [
        ["Made", [collection.createdAt && moment(collection.createdAt),
            collection.originalName && `from ${plain(collection.originalName)}`].filter(Boolean).join(", ")],
        ["Files", size(collection.size)],
    ];
}

function dissolveSection(collection) {
    const problems = make("div");
    async function dissolve() {
        if (!await confirmRemoval(collection)) return;
        try {
            await api.remove(collection);
            location.assign("/");
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "The collection was not removed"));
        }
    }
    return make("section", {}, problems,
        make("button", { type: "button", class: "danger", text: "Remove this collection…", on: { click: dissolve } }),
        make("p", { class: "quiet below", text: "Its archives stay in the library." }));
}

function addressForm(archive) {
    const input = make("input", { type: "text", id: "visit-address", inputmode: "url", autocapitalize: "none",
        autocomplete: "off", spellcheck: "false", placeholder: "https://example.org/", dir: "ltr" });
    return make("form", { class: "address-form", on: {
        submit: (event) => {
            event.preventDefault();
            if (input.value.trim()) location.href = pageAddress(archive, completeAddress(input.value));
        },
    } },
    make("label", { for: "visit-address", text: `Visit an address in this ${archive.kind}` }),
    make("div", { class: "joined" }, input, make("button", { type: "submit", text: "Visit" })));
}

function isolationHelp(thing) {
    return make("details", { class: "isolation" }, make("summary", { text: `Don't trust this ${thing.kind}?` }),
        make("p", {}, "Open it in a separate browser without network access: ",
            make("code", { text: `replayhost open --isolated ${thing.id}` })));
}

function noPages(thing) {
    return make("section", { "aria-labelledby": "pages-title" },
        make("h2", { id: "pages-title", text: "Pages" }),
        make("p", { text: `This ${thing.kind} lists no pages. What was captured is there all the same: enter an `
            + "address above that you know or expect to be in it." }));
}

function pageSection(archive) {
    const search = make("input", { type: "search", placeholder: "Search titles and addresses",
        "aria-label": `Search the pages of this ${archive.kind} by title and address` });
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
            result = await api.pages(archive, { offset, limit: pagesShown, words, signal: abort.signal });
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
