/** The page of an archive or collection: its metadata and details, a form that opens a URL, and its pages or URLs. */
import { unavailabilityText, isUnavailable } from "../components/availability.js";
import { findingList } from "../components/findings.js";
import { errorBlock, withCode } from "../components/messages.js";
import { confirmRemoval } from "../components/removal.js";
import { pageHeader, showBanners } from "../components/shell.js";
import * as api from "../core/api.js";
import { completeURL } from "../core/captures.js";
import { make, plain, plainURL } from "../core/dom.js";
import { counted, countedPages, moment, size, span } from "../core/format.js";
import { mainURL, pageURL, tabURL } from "../core/routes.js";
import { targetSearchBox } from "../search/search-box.js";
import { exportSection } from "./export.js";
import { memberSection } from "./members.js";
import { metadataSection } from "./metadata.js";
import { pageSection } from "./page-list.js";
import { urlSection } from "./url-list.js";
import { verificationSection } from "./verification.js";

// Findings that repeat the notice above them.
const repeatedFindings = ["file-unavailable", "file-changed", "file-missing"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @returns {{element: HTMLElement, show: (route: import("../core/routes.js").TargetRoute) => boolean,
 *   close: () => void}} `show` shows the list of pages or of URLs, and returns whether the other one was shown before
 */
export function createArchivePage(item, onChanged) {
    const title = plain(item.title) || item.id;
    const description = plain(item.description, 600);
    const findings = make("div");
    const isCollection = item.kind === "collection";
    const lists = createLists(item);
    const exports = isUnavailable(item) ? null : exportSection(item);
    const verification = isCollection ? null : verificationSection(item, showFindings);
    showFindings(item.findings ?? []);
    const element = make("div", { class: "archive-page" },
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }),
            make("span", { class: "current", "aria-current": "page", text: title })], targetSearchBox(item)),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {}, make("h1", { text: title, tabindex: "-1" }), isCollection && make("p", { class: "quiet",
                    text: `A collection of ${counted(item.members.length, "archive")} that replay together` }),
                description && make("p", { text: description })),
                item.mainPage && !isUnavailable(item) && make("a", { class: "button primary", href: mainURL(item),
                    text: "Open" })),
            unavailableNotice(item),
            metadataSection(item, onChanged),
            factList(item),
            verification?.element,
            findings,
            !isUnavailable(item) && urlForm(item),
            !isUnavailable(item) && isolationHelp(item),
            exports?.element,
            isCollection && memberSection(item, onChanged),
            lists.element,
            isCollection && removeSection(item)));
    queueMicrotask(showBanners);

    function showFindings(all) {
        const shown = all.filter(({ code }) => !repeatedFindings.includes(code));
        findings.replaceChildren(...(shown.length === 0 ? [] : [make("section", { "aria-labelledby": "findings-title" },
            make("h2", { id: "findings-title", text: "Issues found in this file" }), findingList(shown))]));
    }
    return { element, show: lists.show, close: () => {
        lists.close();
        verification?.close();
        exports?.close();
    } };
}

/** Returns the tabs for the list of pages and the list of URLs, and the list that is chosen. */
function createLists(item) {
    const tabs = { pages: make("a", { href: tabURL(item, "pages"), text: "Pages" }),
        urls: make("a", { href: tabURL(item, "urls"), text: "URLs" }) };
    const place = make("div");
    let list = null;
    return {
        element: make("section", { class: "lists", "aria-label": "Contents" },
            make("nav", { class: "tabs", "aria-label": "Contents" }, tabs.pages, tabs.urls), place),

        show({ view, filter }) {
            const name = view === "urls" ? "urls" : "pages";
            const hasChanged = list !== null && list.name !== name;
            for (const [tab, link] of Object.entries(tabs)) {
                if (tab === name) link.setAttribute("aria-current", "page");
                else link.removeAttribute("aria-current");
            }
            if (list?.name !== name) {
                list?.close();
                list = { name, ...(name === "urls" ? urlSection(item) : pageSection(item)) };
                place.replaceChildren(list.element);
            }
            list.show?.(filter);
            return hasChanged;
        },

        close: () => list?.close(),
    };
}

function unavailableNotice(item) {
    const text = unavailabilityText(item);
    return text && make("div", { class: "notice warning", role: "status" }, make("p", {}, ...withCode(text)));
}

function factList(item) {
    const rows = item.kind === "collection" ? collectionFacts(item) : archiveFacts(item);
    const facts = [
        ["Captured", span(item.firstCapture, item.lastCapture) || "Unknown"],
        ["Contents", [countedPages(item),
            item.captureCount !== undefined && counted(item.captureCount, "capture")].filter(Boolean).join(", ")],
        ...rows,
    ];
    return make("dl", { class: "facts" }, ...facts.filter(([, value]) => value).map(([name, value]) =>
        make("div", {}, make("dt", { text: name }), make("dd", {}, ...[value].flat()))));
}

function archiveFacts(archive) {
    const created = [archive.createdAt && moment(archive.createdAt), plain(archive.software, 120)].filter(Boolean);
    const version = archive.waczVersion ? `WACZ ${plain(archive.waczVersion, 20)}, ` : "";
    return [
        ["Created", created.join(", with ")],
        ["Saved from", archive.saved && [make("span", { dir: "ltr", text: plainURL(archive.saved.url, 400) }),
            archive.saved.user !== "defaultuser" && ` for ${plain(archive.saved.user, 100)}`]],
        ["Missing", plain(archive.saved?.incomplete, 1000)],
        ["Replay", plain(archive.saved?.replayCheck, 1000)],
        ["Added", [archive.importedAt && moment(archive.importedAt),
            archive.originalName && `from ${plain(archive.originalName)}`].filter(Boolean).join(" ")],
        ["File", version + size(archive.size)],
        ["Search", unreadPDFs(archive.text)],
        ["Location", archive.linkedPath && make("code", { text: plain(archive.linkedPath, 400) })],
        ["SHA-256", archive.sha256 ? make("code", { text: archive.sha256 })
            : archive.linkedPath && "Not calculated yet"],
        ["Collections", archive.collections?.length > 0 && archive.collections.flatMap((id, index) => [index > 0 ? ", " : "",
            make("a", { href: tabURL({ kind: "collection", id }), text: id })])],
    ];
}

/** Says that PDFs weren't read on this system, and why. */
function unreadPDFs({ withoutText } = { withoutText: {} }) {
    const { noPDFReader, noPDFSandbox } = withoutText;
    if (noPDFReader) return `${counted(noPDFReader, "PDF")} can't be searched: pdftotext isn't installed`;
    if (!noPDFSandbox) return "";
    return [`${counted(noPDFSandbox, "PDF")} can't be searched: no sandbox for pdftotext works on this system. For details, run `,
        make("code", { text: "replayhost doctor" })];
}

function collectionFacts(collection) {
    return [
        ["Created", [collection.createdAt && moment(collection.createdAt),
            collection.originalName && `from ${plain(collection.originalName)}`].filter(Boolean).join(" ")],
        ["Size", size(collection.size)],
    ];
}

function removeSection(collection) {
    const problems = make("div");
    async function remove() {
        if (!await confirmRemoval(collection)) return;
        try {
            await api.remove(collection);
            location.assign("/");
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Couldn't remove the collection"));
        }
    }
    return make("section", {}, problems,
        make("button", { type: "button", class: "danger", text: "Remove collection…", on: { click: remove } }),
        make("p", { class: "quiet note", text: "Its archives stay in the library." }));
}

function urlForm(archive) {
    const input = make("input", { type: "text", id: "open-url", inputmode: "url", autocapitalize: "none",
        autocomplete: "off", spellcheck: "false", placeholder: "https://example.org/", dir: "ltr" });
    return make("form", { class: "url-form", on: {
        submit: (event) => {
            event.preventDefault();
            if (input.value.trim()) location.href = pageURL(archive, completeURL(input.value));
        },
    } },
    make("label", { for: "open-url", text: "Open a URL" }),
    make("div", { class: "joined" }, input, make("button", { type: "submit", text: "Open" })));
}

function isolationHelp(item) {
    return make("details", { class: "isolation" }, make("summary", { text: `Don't trust this ${item.kind}?` }),
        make("p", {}, "Open it in a separate browser without network access: ",
            make("code", { text: `replayhost open --isolated ${item.id}` })));
}
