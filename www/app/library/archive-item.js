/** An archive in the library, as a card or as a row. */
import { archiveMark } from "../components/archive-mark.js";
import { distinction, uniqueTitle } from "../components/archive-name.js";
import { isUnavailable, unavailabilityMark } from "../components/availability.js";
import { openOnDemand } from "../components/on-demand.js";
import { trustMark } from "../components/trust-mark.js";
import { make, plain } from "../core/dom.js";
import { day, moment, size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { isBeingRemoved } from "../core/removing.js";
import { mainURL, tabURL } from "../core/routes.js";

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
        make("h2", {}, make("a", { href: tabURL(archive), dir: "auto", text: plain(archive.title, 300) || archive.id })),
        subtitle(archive, choices),
        make("p", { class: "facts" }, facts(archive)),
        marks(archive));
    return make("article", { class: `${as === "cards" ? "card" : "row"}${isBeingRemoved(archive) ? " leaving" : ""}` }, about,
        choices.isSelecting && checkbox(archive, title, choices), archiveMark(archive, "picture"), make("div", { class: "actions" }, open, more));
}

function checkbox(archive, title, { isSelected, select }) {
    const box = make("input", { type: "checkbox", "aria-label": message("library.select-title", { title }),
        on: { change: () => select(archive, box.checked) } });
    box.checked = isSelected(archive.id);
    return box;
}

function subtitle(archive, { titles }) {
    const { sites = [], siteCount = sites.length, originalName } = archive;
    const [site] = sites;
    return make("p", { class: "subtitle" },
        site && make("span", { class: "site", dir: "ltr", text: plain(site, 80) }), " ",
        siteCount > 1 && make("span", { class: "quiet", text: message("library.more-sites", { n: siteCount - 1 }) }), " ",
        (titles.isShared(archive) || !site) && originalName && make("span", { class: "file-name", dir: "auto", text: distinction(archive, titles) }));
}

function facts(archive) {
    const { firstCapture, lastCapture, pageCount, pagesDetected, captureCount, importedAt } = archive;
    const years = [firstCapture, lastCapture].map((time) => time?.slice(0, 4)).filter(Boolean);
    return make("span", { title: importedAt && message("archive.added", { time: moment(importedAt) }) }, [
        years.length === 0 ? message("library.time-unknown") : years[0] === years[1] ? day(firstCapture) : `${years[0]}–${years[1]}`,
        pageCount ? message(pagesDetected ? "count.pages-detected" : "count.pages", { n: pageCount })
            : message("count.captures", { n: captureCount ?? 0 }),
        size(archive.size),
    ].map((fact) => fact.replaceAll(" ", "\u00a0")).join(" · "));
}

/** What needs attention, and what is proven. */
function marks(archive) {
    const unavailable = unavailabilityMark(archive);
    const { error = 0, warning = 0 } = archive.findingCounts ?? {};
    return make("p", { class: "marks" },
        unavailable && unavailableMark(archive, unavailable),
        error + warning > 0 && make("span", { class: `mark ${error > 0 ? "error" : "warning"}`,
            text: `⚠ ${message("library.issues")}` }), " ",
        !unavailable && trustMark(archive, { isInList: true }));
}

function unavailableMark(archive, text) {
    const kind = ["changed", "missing"].includes(archive.availability) ? "error" : "warning";
    const button = make("button", { type: "button", class: `mark ${kind}`, text });
    openOnDemand(button, async () => (await import("../components/unavailability-popover.js")).unavailabilityPopover(button, archive));
    return button;
}
