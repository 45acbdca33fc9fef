/** Rows of the library's list: archives and collections. */
import { contentsState } from "../archive/contents-state.js";
import { unavailabilityMark, unavailabilityText, isUnavailable } from "../components/availability.js";
import { findingSummary, worstFinding } from "../components/findings.js";
import { withCode } from "../components/messages.js";
import { tagList } from "../components/tag-list.js";
import { make, plain } from "../core/dom.js";
import { counted, countedPages, day, moment, size, span } from "../core/format.js";
import { mainURL, tabURL } from "../core/routes.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item a collection with its members as archives
 * @param {string} tag the tag that filters the library
 * @param {(item: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onRemove
 * @returns {HTMLElement}
 */
export function libraryRow(item, tag, onRemove) {
    const title = plain(item.title) || item.id;
    const unavailable = isUnavailable(item);
    return make("li", {},
        make("div", { class: "about" },
            make("h2", {}, make("a", { href: unavailable ? tabURL(item) : mainURL(item), text: title })),
            ...facts(item),
            tagList(item.tags, tag),
            marks(item),
            unavailable && make("p", { class: "unavailable" }, ...withCode(unavailabilityText(item)))),
        make("div", { class: "actions" },
            !unavailable && make("a", { class: "button", href: mainURL(item), text: "Open",
                "aria-label": `Open ${title}` }),
            make("a", { class: "button", href: tabURL(item), text: "Pages",
                "aria-label": `Pages of ${title}` }),
            make("button", { type: "button", class: "quiet-button", text: "Remove…", "aria-label": `Remove ${title}`,
                on: { click: () => onRemove(item) } })));
}

/**
 * Returns an archive's row with a checkbox, for a new collection.
 *
 * @param {import("../core/api.js").Archive} archive
 * @param {Set<string>} selected IDs of archives, kept up to date
 * @param {() => void} onChange
 * @returns {HTMLElement}
 */
export function selectableRow(archive, selected, onChange) {
    const box = make("input", { type: "checkbox", id: `choose-${archive.id}`, on: {
        change: () => {
            if (box.checked) selected.add(archive.id);
            else selected.delete(archive.id);
            onChange();
        },
    } });
    box.checked = selected.has(archive.id);
    return make("li", { class: "selectable" }, box,
        make("div", { class: "about" },
            make("h2", {}, make("label", { for: box.id, text: plain(archive.title) || archive.id })),
            ...facts(archive), marks(archive)));
}

function facts(item) {
    const captured = span(item.firstCapture, item.lastCapture);
    const since = item.kind === "collection" ? item.createdAt : item.importedAt;
    const contents = [
        countedPages(item),
        item.captureCount === undefined ? "" : counted(item.captureCount, "capture"),
        size(item.size),
    ].filter(Boolean).join(" · ");
    return [
        make("p", { text: contents }),
        make("p", { class: "quiet" },
            captured ? `Captured ${captured}` : "Capture dates unknown",
            since && make("span", { title: moment(since) },
                ` · ${item.kind === "collection" ? "created" : "added"} ${day(since)}`)),
    ];
}

function verificationMark({ verification, verificationSummary: summary }) {
    if (verification === undefined) return null;
    const [text, style = "mark"] = markOf(summary);
    return make("span", { class: style, dir: "auto", text });
}

/** The result of the last verification in a few words. */
function markOf(summary) {
    if (!summary) return ["Not verified"];
    const { signature } = summary;
    const signer = plain(summary.signer, 60);
    const state = contentsState(summary);
    if (state === "damaged") return ["Damaged or changed", "mark error"];
    if (state === "unreplayable") return ["Not all of it can be replayed", "mark error"];
    if (signature === "invalid" || summary.outcome === "failed") return ["Invalid signature", "mark error"];
    if (state === "suspicious") return ["May be an attack, see its issues", "mark warning"];
    if (state === "digestsDiffer") return ["As it was packed, some digests differ", "mark warning"];
    if (state === "incomplete") return ["Partly verified"];
    return [{ valid: signer ? `Undamaged, signed by ${signer}` : "Undamaged, signed with an unknown key",
        untrusted: "Undamaged, signer not proven", none: "Undamaged, not signed" }[signature] ?? "Undamaged"];
}

function marks(item) {
    const unavailable = unavailabilityMark(item);
    const findings = findingSummary(item.findingCounts);
    return make("p", { class: "marks" },
        item.kind === "collection" && make("span", { class: "mark",
            text: `Collection of ${counted(item.members.length, "archive")}` }),
        unavailable && make("span", { class: `mark ${["changed", "missing"].includes(item.availability) ? "error" : "warning"}`,
            text: unavailable, title: unavailabilityText(item).replaceAll("`", "") }),
        findings && make("a", { class: `mark ${worstFinding(item.findingCounts)}`, href: tabURL(item),
            text: findings }),
        verificationMark(item));
}
