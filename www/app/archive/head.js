/** The head of the page of an archive or a collection: title, facts, Open, and a menu of what can be done with it. */
import { archiveMark } from "../components/archive-mark.js";
import { createTitles, distinction } from "../components/archive-name.js";
import { isUnavailable } from "../components/availability.js";
import { errorBlock, withCode } from "../components/messages.js";
import { menu } from "../components/popover.js";
import { removeItem } from "../components/removal.js";
import { trustMark } from "../components/trust-mark.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { navigate } from "../core/navigation.js";
import { mainURL, tabURL } from "../core/routes.js";
import { span } from "../core/times.js";
import { createExporter } from "./exporter.js";
import { editMetadata, editTitle } from "./metadata.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {(now: import("../core/api.js").Archive|import("../core/api.js").Collection) => void} onChanged
 * @param {() => import("../core/api.js").Capture|null|undefined} shownCapture what the viewer shows
 * @returns {{element: HTMLElement, edit: () => Promise<void>, exportPage: () => Promise<void>, exporter: ReturnType<typeof createExporter>,
 *   showTrust: (now: import("../core/api.js").Archive, text?: string) => void, close: () => void}} `edit` opens the dialog for
 *   title, tags and notes; `showTrust` shows the result of a verification, or a text while there is none
 */
export function archiveHead(item, onChanged, shownCapture) {
    const name = plain(item.title) || item.id;
    const exporter = createExporter(item);
    const problems = make("div");
    const isOpenable = !isUnavailable(item);
    const heading = make("h1", { text: name, dir: "auto", tabindex: "-1" });
    const pencil = make("button", { type: "button", class: "plain icon-button", "aria-label": message("edit.title-action"),
        title: message("edit.title-action"), on: { click: () => editTitle(item, title, (now) => now ? onChanged(now) : pencil.focus()) } },
    icon("edit"));
    const trust = make("span", { class: "trust-place" }, trustMark(item));
    const title = make("div", { class: "title" }, heading, pencil);
    const more = make("button", { type: "button", class: "icon-button", "aria-label": message("archive.more-actions"),
        title: message("archive.more-actions"), text: "⋯" });
    menu(more, () => entries());
    const text = unavailabilityText(item);
    const factLine = make("p", { class: "quiet facts-line" }, ...factsLine(item), trust);
    if (item.kind === "archive") showFile();
    const element = make("div", { class: "archive-head" },
        archiveMark(item),
        make("div", { class: "title-block" }, title,
            factLine),
        make("div", { class: "head-actions" }, openButton(item, isOpenable), more));

    /** Shows the file name, or when it was added, if another archive has the same title. */
    async function showFile() {
        const titles = createTitles(await api.archivesTitled(item.title).catch(() => []));
        titles.note(item);
        if (!titles.isShared(item) || !item.originalName) return;
        factLine.prepend(make("span", { class: "file-name", dir: "auto", text: `${distinction(item, titles)} ·` }), " ");
    }

    async function edit() {
        const now = await editMetadata(item);
        if (now) onChanged(now);
    }

    async function verify() {
        problems.replaceChildren();
        try {
            await api.verify(item);
            navigate(tabURL(item, "details"));
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("archive.cant-verify")));
        }
    }

    const remove = () => removeItem(item, { onRemoving: () => navigate("/"), onUndone: () => navigate(tabURL(item)) });

    const exportPage = () => exporter.askForPage(shownCapture());

    function entries() {
        const isArchive = item.kind === "archive";
        // What each of them gives.
        const hint = (name) => message(`archive.${name}-hint`, { kind: item.kind });
        return [
            { text: message("archive.edit"), onChosen: edit },
            isOpenable && isArchive && { text: message("archive.download"), hint: hint("download"), href: `/archives/${item.id}.wacz`,
                download: item.originalName || `${item.id}.wacz` },
            isOpenable && !isArchive && { text: message("archive.download"), hint: hint("download"), onChosen: () => exporter.prepare({}) },
            isOpenable && isArchive && { text: message("archive.export-page"), hint: hint("export-page"), onChosen: exportPage },
            isOpenable && isArchive && { text: message("archive.save-files"), hint: hint("save-files"), onChosen: exporter.askForFiles },
            isOpenable && isArchive && { text: message("archive.repaired-copy"), hint: hint("repaired-copy"),
                onChosen: () => exporter.prepare({ kind: "repaired" }) },
            isOpenable && isArchive && { text: message("archive.verify"), onChosen: verify },
            { text: message("archive.remove"), isDanger: true, onChosen: remove },
        ];
    }

    return {
        element: make("div", {}, element,
            text && make("div", { class: "notice warning", role: "status" }, make("p", {}, ...withCode(text))),
            problems, exporter.element),
        edit,
        exportPage,
        exporter,
        showTrust: (now, text) => trust.replaceChildren(...[trustMark(now, { text })].filter(Boolean)),
        close: exporter.close,
    };
}

function openButton(item, isOpenable) {
    if (!isOpenable) return null;
    return item.mainPage ? make("a", { class: "button primary", href: mainURL(item), text: message("archive.open") })
        : make("a", { class: "button primary", href: tabURL(item, "urls"), text: message("archive.browse-urls") });
}

/** One line: when it was captured, and how much it has. */
function factsLine(item) {
    const facts = [
        item.kind === "collection" && message("archive.collection-of", { n: item.members.length }),
        span(item.firstCapture, item.lastCapture),
        item.pageCount ? message(item.pagesDetected ? "count.pages-detected" : "count.pages", { n: item.pageCount }) : "",
        item.captureCount === undefined ? "" : message("count.captures", { n: item.captureCount }),
        item.size > 0 && size(item.size),
    ].filter(Boolean);
    // The dots end the lines that the facts are broken into.
    return facts.flatMap((fact, index) => [make("span", { text: index < facts.length - 1 ? `${fact} ·` : fact }), " "]);
}
