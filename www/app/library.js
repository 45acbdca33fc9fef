/** The library: every archive of the store, and the way in for new ones. */
import * as api from "./api.js";
import { announce, make, plain } from "./dom.js";
import { findingSummary, worstFinding } from "./findings.js";
import { counted, day, moment, size, span } from "./format.js";
import { acceptDrops, createImports } from "./imports.js";
import { errorBlock } from "./messages.js";
import { confirmRemoval } from "./removal.js";
import { mainAddress, pagesAddress } from "./routes.js";
import { pageHeader } from "./shell.js";

const filterFrom = 10;

/**
 * @param {HTMLElement} root
 * @param {{navigate: (address: string) => void}} host
 * @returns {{close: () => void}}
 */
export function showLibrary(root, { navigate }) {
    document.title = "replayhost";
    document.body.dataset.view = "library";
    let known = [];
    let open = true;

    const imports = createImports({ onImported: refresh, openArchive: (address) => open && navigate(address) });
    const picker = make("input", { type: "file", multiple: true, accept: ".wacz,application/wacz", class: "unseen",
        tabindex: "-1", "aria-hidden": "true",
        on: {
            change: () => {
                imports.add(picker.files);
                picker.value = "";
            },
        } });
    const pick = () => make("button", { type: "button", class: "primary", text: "Import a WACZ file…",
        on: { click: () => picker.click() } });
    const filter = make("input", { type: "search", placeholder: "Filter by title", "aria-label": "Filter by title",
        on: { input: () => list() } });
    const filterBox = make("div", { class: "filter", hidden: true }, filter);
    const summary = make("p", { class: "quiet" });
    // Which of the two buttons there is shows once the list is here: one that goes again would take the focus with it.
    const headPick = pick();
    headPick.hidden = true;
    const body = make("div", { class: "library-body", "aria-busy": "true" });
    const problems = make("div");
    root.replaceChildren(
        pageHeader([]),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {}, make("h1", { text: "Library", tabindex: "-1" }), summary),
                headPick, picker),
            imports.element, problems, filterBox, body));

    async function refresh() {
        try {
            const latest = await api.archives();
            const isShown = !body.hasAttribute("aria-busy") && JSON.stringify(latest) === JSON.stringify(known);
            known = latest;
            problems.replaceChildren();
            // The same list stays as it is, and whoever is at one of its buttons stays there.
            if (open && !isShown) list();
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "The library could not be read"));
        }
        body.removeAttribute("aria-busy");
    }

    function list() {
        const words = filter.value.trim().toLowerCase();
        filterBox.hidden = known.length <= filterFrom && !words;
        headPick.hidden = known.length === 0;
        const bytes = known.reduce((sum, archive) => sum + archive.size, 0);
        summary.textContent = known.length ? `${counted(known.length, "archive")}, ${size(bytes)}` : "";
        const shown = known.filter((archive) => archive.title.toLowerCase().includes(words));
        if (known.length === 0) {
            body.replaceChildren(emptyState(pick()));
        } else if (shown.length === 0) {
            body.replaceChildren(make("p", { class: "quiet", text: `No title contains “${filter.value.trim()}”.` }));
        } else {
            body.replaceChildren(make("ul", { class: "archives" }, ...shown.map((a) => archiveRow(a, removeArchive))));
        }
        if (words) announce(counted(shown.length, "archive"));
    }

    async function removeArchive(archive) {
        if (!await confirmRemoval(archive)) return;
        try {
            await api.remove(archive.id);
            announce(`${plain(archive.title)} was removed.`);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, `“${plain(archive.title)}” was not removed`));
            return;
        }
        await refresh();
        root.querySelector("h1")?.focus();
    }

    const whenVisible = () => {
        if (document.visibilityState === "visible" && !imports.busy()) refresh();
    };
    document.addEventListener("visibilitychange", whenVisible);
    const endDrops = acceptDrops((files) => imports.add(files));
    const warnBeforeLeaving = (event) => {
        if (imports.busy()) event.preventDefault();
    };
    window.addEventListener("beforeunload", warnBeforeLeaving);
    refresh();

    return {
        close() {
            open = false;
            document.removeEventListener("visibilitychange", whenVisible);
            window.removeEventListener("beforeunload", warnBeforeLeaving);
            endDrops();
        },
    };
}

function emptyState(button) {
    return make("section", { class: "empty" },
        make("h2", { text: "No archives yet" }),
        make("p", {}, "Web archives come as ", make("code", { text: ".wacz" }),
            " files, for example from ArchiveWeb.page, Browsertrix or Scoop. Drop one anywhere on this page, or choose "
            + "it. It is copied into the library and opens offline from then on."),
        button,
        make("p", { class: "quiet" }, "From a terminal: ", make("code", { text: "replayhost import crawl.wacz" })));
}

function archiveRow(archive, onRemove) {
    const title = plain(archive.title) || archive.id;
    const captured = span(archive.firstCapture, archive.lastCapture);
    const findings = findingSummary(archive.findingCounts);
    const facts = [
        archive.pageCount === undefined ? "" : counted(archive.pageCount, "page"),
        archive.captureCount === undefined ? "" : counted(archive.captureCount, "capture"),
        size(archive.size),
    ].filter(Boolean).join(" · ");
    return make("li", {},
        make("div", { class: "about" },
            make("h2", {}, make("a", { href: mainAddress(archive.id), text: title })),
            make("p", { text: facts }),
            make("p", { class: "quiet" },
                captured ? `Captured ${captured}` : "Time of capture unknown",
                archive.importedAt && make("span", { title: moment(archive.importedAt) },
                    ` · imported ${day(archive.importedAt)}`)),
            make("p", { class: "marks" },
                findings && make("a", { class: `mark ${worstFinding(archive.findingCounts)}`,
                    href: pagesAddress(archive.id), text: findings }),
                archive.verification === "not-yet-verified" && make("span", { class: "mark", text: "not yet verified",
                    title: "The hashes inside the package have not been checked yet." }))),
        make("div", { class: "actions" },
            make("a", { class: "button", href: mainAddress(archive.id), text: "Visit",
                "aria-label": `Visit ${title}` }),
            make("a", { class: "button", href: pagesAddress(archive.id), text: "Pages",
                "aria-label": `Pages of ${title}` }),
            make("button", { type: "button", class: "quiet-button", text: "Remove…", "aria-label": `Remove ${title}`,
                on: { click: () => onRemove(archive) } })));
}
