/** The page of an archive or collection: a head, and tabs, each of which loads when it's first shown. */
import "../messages/en/archive.js";
import { isUnavailable } from "../components/availability.js";
import { groupsOf } from "../components/issue-groups.js";
import { errorBlock, sentence } from "../components/messages.js";
import { pageHeader, showBanners } from "../components/page-header.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { message, messageParts } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { targetSearchBox } from "../search/search-box.js";
import { createCounts } from "./counts.js";
import { archiveHead } from "./head.js";
import { issueCount, seenIssue } from "./issues.js";
import { tabs } from "./parts.js";

/**
 * @typedef {object} Context what tabs are made of
 * @property {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @property {() => Promise<import("./counts.js").Counts|null>} counts
 * @property {() => Promise<void>} edit opens the dialog for title, tags and notes
 * @property {ReturnType<typeof import("./exporter.js").createExporter>} exporter
 * @property {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @property {(findings: import("../core/api.js").Finding[], now: import("../core/api.js").Archive) => void} onFindings after a
 *   verification
 *
 * @typedef {{element: HTMLElement, show?: (filter: Object<string, string>) => void, close: () => void}} Tab
 */

/** What these list is read from the file. */
const needsFile = ["urls", "files", "timeline"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @param {() => import("../core/api.js").Capture|null|undefined} shownCapture what the viewer shows
 * @returns {{element: HTMLElement, show: (route: import("../core/route-types.js").TargetRoute) => Promise<void>,
 *   exportPage: () => void, close: () => void}} `show` shows a tab. Opened again, a tab keeps what it shows
 */
export function createArchivePage(item, onChanged, shownCapture) {
    const counts = createCounts(item);
    const head = archiveHead(item, onChanged, shownCapture);
    const context = { item, counts, onChanged, edit: head.edit, exporter: head.exporter, onFindings: showFindings };
    const names = Object.keys(tabs).filter((name) => name !== "archives" || item.kind === "collection");
    const links = Object.fromEntries(names.map((name) => [name, make("a", { href: tabURL(item, name) }, ...label(name))]));
    const nav = make("nav", { class: "tabs", "aria-label": message("archive.tabs") }, ...Object.values(links));
    const banner = make("div");
    const place = make("div", { class: "tab-content" });
    const element = make("div", { class: "archive-page" },
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }),
            make("span", { class: "current", "aria-current": "page", dir: "auto", text: plain(item.title) || item.id })], targetSearchBox(item)),
        make("main", { class: "column" }, head.element, nav, banner, place));
    const open = new Map();
    let wanted = null;
    // Its place changes with the window, and with the numbers in the tabs.
    const resized = new ResizeObserver(() => scrollToTab(nav));
    for (const one of nav.children) resized.observe(one);
    resized.observe(nav);
    document.addEventListener("keydown", editByKey);
    showFindings(item.findings);
    queueMicrotask(showBanners);
    // A new archive is verified soon, whichever tab is shown.
    let events = item.kind === "archive" && !item.verificationSummary ? followEvents({
        onConnected: showVerification,
        onJob: showJob,
    }) : null;
    // What the head says about its verification.
    let jobText;
    // Without the counts, the tab has no number.
    counts().then((found) => found?.urls !== undefined && links.urls.replaceChildren(...label("urls", found.urls)), () => {});

    function label(name, count = { pages: item.pageCount || undefined, archives: item.members?.length }[name]) {
        return messageParts(count === undefined ? `tab.${name}` : `tab.${name}-count`, { n: count },
            { n: (...text) => make("span", { class: "count" }, ...text) });
    }

    function showFindings(findings, verified) {
        if (verified) {
            head.showTrust(verified);
            events?.close();
            events = null;
        }
        const now = { ...item, findings };
        const count = issueCount(now);
        const warning = (...text) => make("span", { class: "issue-count" }, make("span", { "aria-hidden": "true", text: "⚠" }), ...text);
        links.details.replaceChildren(...(count === 0 ? label("details") : messageParts("tab.details-issues", { n: count }, { w: warning,
            h: (...text) => make("span", { class: "visually-hidden" }, ...text) })));
        const seen = seenIssue(now);
        banner.replaceChildren(...(seen ? [replayNote(item, seen)] : []));
    }

    async function showVerification() {
        const now = await api.details(item).catch(() => null);
        if (now?.verificationSummary) {
            showFindings(now.findings ?? [], now);
            return;
        }
        const before = jobText;
        const jobs = await api.jobs(["waiting", "running"]).catch(() => []);
        // What came meanwhile is newer than the list.
        if (jobText === before) jobs.forEach(showJob);
    }

    /** Shows in the head that the verification waits or runs. */
    function showJob({ kind, archive, state }) {
        if (!events || kind !== "verify" || archive !== item.id) return;
        if (state === "done") {
            showVerification();
            return;
        }
        const text = ["waiting", "running"].includes(state) ? message(`verification.state-${state}`) : undefined;
        if (text !== jobText) head.showTrust(item, text);
        jobText = text;
    }

    async function show(route) {
        wanted = route;
        const name = Object.hasOwn(links, route.view) ? route.view : "overview";
        for (const [tab, link] of Object.entries(links)) {
            if (tab === name) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        scrollToTab(nav);
        banner.hidden = name === "details";
        if (!open.has(name)) {
            try {
                const { createTab } = needsFile.includes(name) && isUnavailable(item) ? { createTab: unavailableTab } : await tabs[name]();
                if (!open.has(name)) open.set(name, createTab(context));
            } catch (error) {
                // Browsers don't load a module again that failed.
                if (wanted === route) place.replaceChildren(errorBlock(error, message("view.cant-load"), () => location.reload()));
                return;
            }
        }
        // Another tab was chosen meanwhile.
        if (wanted !== route) return;
        const tab = open.get(name);
        if (place.firstChild !== tab.element) place.replaceChildren(tab.element);
        await tab.show?.(route.filter ?? {});
        // The other tabs can then be shown while the server is stopped.
        for (const other of names) tabs[other]().catch(() => {});
    }

    /** `e` edits, outside text fields. */
    function editByKey(event) {
        if (event.key !== "e" || event.ctrlKey || event.metaKey || event.altKey || !settings().singleKeys || element.hidden) return;
        if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
        event.preventDefault();
        head.edit();
    }

    return {
        element,
        show,
        exportPage: head.exportPage,

        close() {
            document.removeEventListener("keydown", editByKey);
            events?.close();
            resized.disconnect();
            head.close();
            for (const tab of open.values()) tab.close();
        },
    };
}

/** Shows the current tab in the middle of the tabs, where they scroll. */
function scrollToTab(nav) {
    const current = nav.querySelector("[aria-current]");
    if (current) nav.scrollLeft = current.offsetLeft - nav.clientWidth / 2 + current.offsetWidth / 2;
}

function unavailableTab({ item }) {
    return { element: make("p", { class: "empty-list quiet", text: message("archive.needs-file", { kind: item.kind }) }), close: () => {} };
}

/** Says what will look different, when an issue changes what is seen. */
function replayNote(item, finding) {
    const { what, consequence } = finding;
    const [cause] = groupsOf([finding]).keys();
    const text = ["changed", "changed-records"].includes(cause) ? message("archive.changed-note") : sentence(plain(consequence || what, 300));
    return make("div", { class: "notice warning replay-note" },
        make("p", {}, make("strong", { text: message("archive.replay-note") }), " ",
            make("span", { dir: "auto", text }), " ",
            make("a", { href: tabURL(item, "details"), text: message("archive.see-details") })));
}
