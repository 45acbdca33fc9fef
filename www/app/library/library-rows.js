/** One archive or one collection in the library. */
import { unavailabilityMark, unavailabilityText, isUnavailable } from "../components/availability.js";
import { findingSummary, worstFinding } from "../components/findings.js";
import { withCode } from "../components/messages.js";
import { tagList } from "../components/tag-list.js";
import { make, plain } from "../core/dom.js";
import { counted, day, moment, size, span } from "../core/format.js";
import { mainAddress, pagesAddress } from "../core/routes.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} thing a collection with its members as archives
 * @param {string} tag the one that the library is filtered by
 * @param {(thing: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onRemove
 * @returns {HTMLElement}
 */
export function libraryRow(thing, tag, onRemove) {
    const title = plain(thing.title) || thing.id;
    const unavailable = isUnavailable(thing);
    return make("li", {},
        make("div", { class: "about" },
            make("h2", {}, make("a", { href: unavailable ? pagesAddress(thing) : mainAddress(thing), text: title })),
            ...facts(thing),
            tagList(thing.tags, tag),
            marks(thing),
            unavailable && make("p", { class: "unavailable" }, ...withCode(unavailabilityText(thing)))),
        make("div", { class: "actions" },
            !unavailable && make("a", { class: "button", href: mainAddress(thing), text: "Visit",
                "aria-label": `Visit ${title}` }),
            make("a", { class: "button", href: pagesAddress(thing), text: "Pages",
                "aria-label": `Pages of ${title}` }),
            make("button", { type: "button", class: "quiet-button", text: "Remove…", "aria-label": `Remove ${title}`,
                on: { click: () => onRemove(thing) } })));
}

/**
 * The same while archives are chosen for a collection.
 *
 * @param {import("../core/api.js").Archive} archive
 * @param {Set<string>} chosen ids, kept up to date
 * @param {() => void} onChange
 * @returns {HTMLElement}
 */
export function choiceRow(archive, chosen, onChange) {
    const box = make("input", { type: "checkbox", id: `choose-${archive.id}`, on: {
        change: () => {
            if (box.checked) chosen.add(archive.id);
            else chosen.delete(archive.id);
            onChange();
        },
    } });
    box.checked = chosen.has(archive.id);
    return make("li", { class: "choice" }, box,
        make("div", { class: "about" },
            make("h2", {}, make("label", { for: box.id, text: plain(archive.title) || archive.id })),
            ...facts(archive), marks(archive)));
}

function facts(thing) {
    const captured = span(thing.firstCapture, thing.lastCapture);
    const since = thing.kind === "collection" ? thing.createdAt : thing.importedAt;
    const holds = [
        thing.pageCount === undefined ? "" : counted(thing.pageCount, "page"),
        thing.captureCount === undefined ? "" : counted(thing.captureCount, "capture"),
        size(thing.size),
    ].filter(Boolean).join(" · ");
    return [
        make("p", { text: holds }),
        make("p", { class: "quiet" },
            captured ? `Captured ${captured}` : "Time of capture unknown",
            since && make("span", { title: moment(since) },
                ` · ${thing.kind === "collection" ? "made" : "imported"} ${day(since)}`)),
    ];
}

function marks(thing) {
    const unavailable = unavailabilityMark(thing);
    const findings = findingSummary(thing.findingCounts);
    return make("p", { class: "marks" },
        thing.kind === "collection" && make("span", { class: "mark",
            text: `collection of ${counted(thing.members.length, "archive")}` }),
        unavailable && make("span", { class: `mark ${unavailable === "changed" || unavailable === "missing" ? "error" : "warning"}`,
            text: unavailable, title: unavailabilityText(thing).replaceAll("`", "") }),
        findings && make("a", { class: `mark ${worstFinding(thing.findingCounts)}`, href: pagesAddress(thing),
            text: findings }),
        thing.verification === "not-yet-verified" && make("span", { class: "mark", text: "not yet verified",
            title: "The hashes inside the package have not been checked yet." }));
}
