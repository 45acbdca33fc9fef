/** The evidence report of an archive or of one captured page: a sheet to print, which says what is known and how to check it. */
import "../messages/en/archive.js";
import "../messages/en/report.js";
import { copyText } from "../components/copy-text.js";
import { errorBlock } from "../components/messages.js";
import { menu } from "../components/popover.js";
import { pageHeader } from "../components/page-header.js";
import { followActivity } from "../core/activity.js";
import { followServer } from "../core/connection.js";
import { foreign, make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL, tabURL } from "../core/routes.js";
import { exactURL } from "../core/text.js";
import { citations } from "./citation.js";
import { isAsVerified, reportData } from "./report-data.js";
import { reportSections } from "./report-sheet.js";

const slowMilliseconds = 150;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @param {{page?: string, ts?: string}} filter the capture; without `page`, the report is about the archive
 * @returns {{element: HTMLElement, title: string, close: () => void}}
 */
export function createReport(item, { page, ts = "" }) {
    const filter = { page, ts: ts.replace(/\D/g, "").slice(0, 17) };
    const name = plain(item.title) || item.id;
    const heading = make("h1", { text: message("report.title"), tabindex: "-1" });
    const sheet = make("article", { class: "report-sheet", "aria-busy": "true" }, heading);
    const cite = make("button", { type: "button", text: message("report.cite") });
    const actions = make("div", { class: "report-actions" },
        make("button", { type: "button", class: "primary", text: message("report.print"), on: { click: () => print() } }), cite,
        make("a", { class: "button", href: filter.page ? pageURL(item, filter.page, filter.ts) : tabURL(item, "details"),
            text: message(filter.page ? "report.open-page" : "report.open-archive") }));
    const pages = new CSSStyleSheet();
    document.adoptedStyleSheets.push(pages);
    let texts = null;
    let isOpen = true;
    menu(cite, () => ["plain", "chicago", "bibtex"].map((style) => texts
        && { text: message(`report.cite.${style}`), onChosen: () => copyText(texts[style]) }));
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    // The archive whose verification the report waits for.
    let unverified = "";
    const activity = followActivity({ onChange: () => {}, onJob({ kind, archive, state }) {
        if (isOpen && unverified && kind === "verify" && archive === unverified && state === "done") load();
    } });

    async function load() {
        retry = null;
        const timer = setTimeout(show, slowMilliseconds, [make("p", { class: "quiet", text: message("report.loading") })]);
        try {
            const data = await reportData(item, filter);
            if (!isOpen) return;
            texts = data && citations(data);
            nameOnPages(data?.archive);
            show(data ? reportSections(data, filter) : [make("p", {}, ...messageParts("report.not-captured", { archive: foreign(name) })),
                make("p", { class: "url", dir: "ltr", text: exactURL(filter.page) })]);
            unverified = data?.archive && !isAsVerified(data.archive) ? data.archive.id : "";
            actions.hidden = !data || unverified !== "";
        } catch (error) {
            if (!isOpen) return;
            if (error.status === 0) retry = load;
            actions.hidden = true;
            show([errorBlock(error, message("report.failed"))]);
        } finally {
            clearTimeout(timer);
            sheet.setAttribute("aria-busy", "false");
        }
    }

    /** Each printed page names the file, so that pages of two reports can't be mixed up. The SHA-256 is hexadecimal. */
    function nameOnPages({ sha256 = "" } = {}) {
        const text = /^[0-9a-f]{64}$/.test(sha256) ? `SHA-256 ${sha256}` : "";
        pages.replaceSync(`@page { @bottom-left { content: "${text}"; font: 7pt sans-serif; } }`);
    }

    function show(parts) {
        sheet.replaceChildren(heading, ...parts);
    }

    const element = make("div", { class: "report" },
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }), make("a", { class: "current", href: tabURL(item), dir: "auto", text: name })]),
        make("main", { class: "column" }, actions, sheet));
    load();
    queueMicrotask(() => {
        if (document.activeElement === document.body) heading.focus({ preventScroll: true });
    });
    return { element, title: message("report.document-title", { archive: name }), close() {
        isOpen = false;
        server.close();
        activity.close();
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== pages);
        element.remove();
    } };
}
