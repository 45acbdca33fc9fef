/** The details of an archive or collection: its issues, its verification, and facts about its file. */
import "../messages/en/archive.js";
import { uniqueTitle, createTitles } from "../components/archive-name.js";
import { isUnavailable } from "../components/availability.js";
import { findingList, findingSummary } from "../components/findings.js";
import { listDownload } from "../components/list-download.js";
import * as api from "../core/api.js";
import { make, plain } from "../core/dom.js";
import { moment, size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { span } from "../core/times.js";
import { issuesOf } from "./issues.js";
import { sourceSection } from "./sources.js";
import { uncoveredChoice } from "./uncovered.js";
import { verificationSection } from "./verification.js";

/**
 * @param {import("./archive-page.js").Context} context
 * @returns {import("./archive-page.js").Tab}
 */
export function createTab({ item, onFindings, onChanged, exporter }) {
    const repair = isUnavailable(item) ? undefined : () => exporter.prepare({ kind: "repaired" });
    const issues = make("div");
    const verification = item.kind === "collection" ? null : verificationSection(item, (findings, now) => {
        showIssues(issuesOf({ ...item, findings }), now);
        uncovered.replaceChildren(...uncoveredChoice({ ...item, findings }, onChanged));
        onFindings(findings, now);
    });
    const hasSources = item.kind === "archive" && !isUnavailable(item) && packedFiles(item).length === 0;
    const sources = hasSources ? sourceSection(item) : null;
    const uncovered = make("div", {}, ...uncoveredChoice(item, onChanged));
    const element = make("div", { class: "details-tab" }, issues, verification?.element, uncovered, sources?.element,
        make("section", { "aria-labelledby": "about-title" },
            make("h2", { id: "about-title", text: message("details.about") }), factList(item), isolationHelp(item)));

    function showIssues(shown, archive = item) {
        issues.replaceChildren(...(shown.length === 0 ? [] : [make("section", { "aria-labelledby": "findings-title" },
            make("h2", { id: "findings-title", tabindex: "-1", text: message("details.issues", { isThere: isUnavailable(archive) ? "no" : "yes" }) }), findingList(shown, archive, repair),
            listDownload((format) => api.listFile(item, "issues", {}, format)))]));
    }
    if (item.kind === "collection") issues.replaceChildren(...memberIssues(item));
    else showIssues(issuesOf(item));
    return { element, close: () => {
        verification?.close();
        sources?.close();
    } };
}

/** Leads to the issues of each archive in a collection. */
function memberIssues({ members }) {
    const titles = createTitles(members);
    const rows = members.map((member) => ({ member, summary: findingSummary(member.findingCounts) })).filter(({ summary }) => summary);
    if (rows.length === 0) return [];
    return [make("section", { "aria-labelledby": "findings-title" },
        make("h2", { id: "findings-title", text: message("details.issues-of-archives") }),
        make("ul", { class: "member-issues" }, ...rows.map(({ member, summary }) => make("li", {},
            make("a", { href: tabURL(member, "details"), dir: "auto", text: uniqueTitle(member, titles) }), " ",
            make("span", { class: "warning-text", text: summary })))))];
}

function factList(item) {
    const rows = item.kind === "collection" ? collectionFacts(item) : archiveFacts(item);
    const contents = [
        item.pageCount ? message(item.pagesDetected ? "count.pages-detected" : "count.pages", { n: item.pageCount }) : "",
        item.captureCount === undefined ? "" : message("count.captures", { n: item.captureCount }),
    ].filter(Boolean).join(" · ");
    const facts = [["captured", span(item.firstCapture, item.lastCapture) || message("fact.unknown")], ["contents", contents], ...rows];
    return make("dl", { class: "facts" }, ...facts.filter(([, value]) => value).map(([name, value]) =>
        make("div", {}, make("dt", { text: message(`fact.${name}`) }), make("dd", {}, ...[value].flat()))));
}

function archiveFacts(archive) {
    const { waczVersion, saved, importedAt, originalName, linkedPath, sha256 } = archive;
    // The file that was added is the one that was packed.
    const addedFile = packedFiles(archive).length === 0 && plain(originalName);
    const code = (text) => make("code", { dir: "ltr", text });
    return [
        ["created", created(archive)],
        ["saved-from", saved && (saved.user === "defaultuser" ? [savedURL(saved)]
            : messageParts("fact.saved-for", { url: savedURL(saved), user: plain(saved.user, 100) }))],
        ["missing", plain(saved?.incomplete, 1000)],
        ["replay", plain(saved?.replayCheck, 1000)],
        ["added", importedAt && (addedFile ? message("fact.added-from", { time: moment(importedAt), file: addedFile }) : moment(importedAt))],
        ["file", waczVersion ? message("fact.wacz", { version: plain(waczVersion, 20), size: size(archive.size) }) : size(archive.size)],
        ["search", unreadPDFs(archive.text)],
        ["location", linkedPath && code(plain(linkedPath, 400))],
        ["sha256", sha256 ? code(sha256) : linkedPath && message("fact.not-calculated")],
        ["id", code(archive.id)],
        ["collections", archive.collections?.length > 0 && archive.collections.flatMap((id, index) => [index > 0 ? ", " : "",
            make("a", { href: tabURL({ kind: "collection", id }), text: id })])],
    ];
}

const savedURL = ({ url }) => make("span", { dir: "ltr", text: plainURL(url, 400) });

const isOwn = (software) => /^replayhost \d/.test(software ?? "");

/** The WARC and ARC files that replayhost packed into this archive. It names other sources with their hashes. */
function packedFiles({ software, sources = [] }) {
    const isPacked = isOwn(software) && sources.every(({ sha256, path }) => !sha256 && !path);
    return isPacked ? sources.map(({ title }) => plain(title, 120)).filter(Boolean) : [];
}

function created(archive) {
    const { createdAt, lastCapture } = archive;
    const software = plain(archive.software, 120);
    const files = packedFiles(archive);
    if (files.length > 0) return message("fact.created-at-import", { files: files.join(", "), software });
    // replayhost writes the time of the last capture there, so that the same captures make the same file.
    const isKnown = createdAt && !(isOwn(software) && createdAt === lastCapture);
    if (!isKnown) return software && message("fact.created-by", { software });
    return software ? message("fact.created-with", { time: moment(createdAt), software }) : moment(createdAt);
}

/** Says that PDFs weren't read on this system, and why. */
function unreadPDFs({ withoutText } = { withoutText: {} }) {
    const { noPDFReader, noPDFSandbox } = withoutText;
    if (noPDFReader) return message("fact.no-pdf-reader", { n: noPDFReader });
    return noPDFSandbox ? messageParts("fact.no-pdf-sandbox", { n: noPDFSandbox }) : "";
}

function collectionFacts({ id, createdAt, originalName, size: bytes }) {
    return [
        ["created", createdAt && (originalName ? message("fact.added-from", { time: moment(createdAt), file: plain(originalName) })
            : moment(createdAt))],
        ["size", size(bytes)],
        ["id", make("code", { dir: "ltr", text: id })],
    ];
}

function isolationHelp(item) {
    return make("details", { class: "isolation" }, make("summary", { text: message("details.no-trust", { kind: item.kind }) }),
        make("p", {}, ...messageParts("details.isolated", { command: `replayhost open --isolated ${item.id}` })));
}
