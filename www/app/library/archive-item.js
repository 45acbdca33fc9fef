/** An archive in the library, as a card or as a row. */
import { archiveMark } from "../components/archive-mark.js";
import { distinction, uniqueTitle } from "../components/archive-name.js";
import { isUnavailable, unavailabilityMark } from "../components/availability.js";
import { openOnDemand } from "../components/on-demand.js";
import { trustMark, trustOf } from "../components/trust-mark.js";
import { make, plain } from "../core/dom.js";
import { day, moment, size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { isBeingRemoved } from "../core/removing.js";
import { libraryURL, mainURL, tabURL } from "../core/routes.js";
import { siteName } from "../core/site-name.js";

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {import("./menus.js").Choices} choices
 * @param {"cards"|"list"} as
 * @returns {HTMLElement}
 */
export function archiveItem(archive, choices, as) {
    const title = uniqueTitle(archive, choices.titles);
    const isOpenable = archive.mainPage && !isUnavailable(archive);
    const { act } = choices;
    const more = make("button", { type: "button", class: "plain more", "aria-haspopup": "menu", "aria-label": message("library.more", { title }), text: "⋯" });
    openOnDemand(more, async () => (await import("./menus.js")).archiveMenu(more, archive, act));
    const open = isOpenable && make("a", { class: "button", href: mainURL(archive), text: message("library.open-main"),
        "aria-label": message("library.open-title", { title }) });
    const about = make("div", { class: "about" },
        make("h2", {}, make("a", { href: tabURL(archive), dir: "auto", title: as === "list" ? title : null, text: plain(archive.title, 300) || archive.id })),
        siteLine(archive),
        fileLine(archive, choices),
        facts(archive, as),
        marks(archive, as),
        savedLine(archive));
    return make("article", { class: `${as === "cards" ? "card" : "row"}${isBeingRemoved(archive) ? " leaving" : ""}` }, about,
        choices.isSelecting && checkbox(archive, title, choices), archiveMark(archive, "picture"), make("div", { class: "actions" }, open, more));
}

function checkbox(archive, title, { isSelected, select }) {
    const box = make("input", { type: "checkbox", "aria-label": message("library.select-title", { title }),
        on: { change: () => select(archive, box.checked) } });
    box.checked = isSelected(archive.id);
    return box;
}

function siteLine({ sites: [site] = [], siteCount = 1 }) {
    return make("p", { class: "subtitle" },
        site && make("span", { class: "site", dir: "ltr", text: siteName(site) }), " ",
        siteCount > 1 && make("span", { class: "quiet", text: message("library.more-sites", { n: siteCount - 1 }) }));
}

/** Leads to all archives that were saved from the same URL. */
function savedLine({ savedFrom: saved, savedTimes = 1 }) {
    if (savedTimes < 2) return null;
    return make("p", { class: "facts" }, make("a", { href: libraryURL({ saved }), text: message("library.saved-times", { n: savedTimes }) }));
}

/** What tells it from others of the same title. */
function fileLine(archive, { titles }) {
    if (!archive.originalName || archive.sites?.length > 0 && !titles.isShared(archive)) return null;
    return make("p", { class: "file-name", dir: "auto", text: distinction(archive, titles) });
}

/** In a list, a column says that pages were detected only when it's asked. */
function facts(archive, as) {
    const { firstCapture, lastCapture, pageCount, pagesDetected, captureCount, importedAt } = archive;
    const years = [firstCapture, lastCapture].map((time) => time?.slice(0, 4)).filter(Boolean);
    return make("p", { class: "facts", title: importedAt && message("archive.added", { time: moment(importedAt) }) }, ...[
        years.length === 0 ? message("library.time-unknown") : years[0] === years[1] ? day(firstCapture) : `${years[0]}–${years[1]}`,
        pageCount ? message(pagesDetected && as === "cards" ? "count.pages-detected" : "count.pages", { n: pageCount })
            : message("count.captures", { n: captureCount ?? 0 }),
        size(archive.size),
    ].flatMap((text) => [make("span", { text }), " "]));
}

/** The worst of what needs attention; else what is proven, and in a list also what isn't. */
function marks(archive, as) {
    const unavailable = unavailabilityMark(archive);
    const { error = 0, warning = 0 } = archive.findingCounts ?? {};
    const { kind } = trustOf(archive);
    const mark = () => {
        if (unavailable) return unavailableMark(archive, unavailable);
        if (error + warning > 0 && !["doubtful", "bad"].includes(kind)) {
            return make("span", { class: `mark ${error > 0 ? "error" : "warning"}`, text: `⚠ ${message("library.issues")}` });
        }
        return trustMark(archive, { isInList: as === "cards" });
    };
    return make("p", { class: "marks" }, mark());
}

function unavailableMark(archive, text) {
    const kind = archive.availability === "missing" ? "error" : "warning";
    const button = make("button", { type: "button", class: `mark ${kind}`, text });
    openOnDemand(button, async () => (await import("../components/unavailability-popover.js")).unavailabilityPopover(button, archive));
    return button;
}
