/** Panels that the viewer shows instead of a page: progress, not captured, and errors. */
import { namesOf } from "../components/archive-names.js";
import { withCode, messageParts } from "../components/messages.js";
import { pageRow } from "../components/page-row.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import * as api from "../core/api.js";
import { sameDocument } from "../core/captures.js";
import { make, plain } from "../core/dom.js";
import { hostOf } from "../core/hosts.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { failureText } from "../replay/setup-texts.js";
import { closestBlocks, reasonBlocks } from "./explanation.js";

const suggestionsMax = 8;
// Error codes of the server, and the texts that replay setup has for the same failures.
const fileFailures = { "archive-unavailable": "file-unavailable", "archive-changed": "file-changed" };

function panel(kind, ...children) {
    return make("div", { class: `panel ${kind}` }, make("div", { class: "panel-content" }, ...children));
}

const heading = (text) => make("h1", { text, tabindex: "-1" });

/**
 * @param {string} title
 * @param {string} text
 * @returns {HTMLElement}
 */
export function progressPanel(title, text) {
    return panel("progress-panel", heading(title), make("p", { class: "quiet step", text }),
        make("div", { class: "pulse", "aria-hidden": "true" }));
}

/**
 * @param {string} title
 * @param {{hint?: string}|Error} error
 * @param {() => void} retry
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement}
 */
export function failurePanel(title, error, retry, archive) {
    const code = archive.kind === "archive" && fileFailures[error.code];
    const { what: problem = error.message, hint = "" } = code ? failureText(code, archive.replayOrigin, archive.id) : error;
    const { what } = messageParts(new Error(problem));
    const kind = error.code === "server-unavailable" ? "failure-panel server-panel" : "failure-panel";
    return panel(kind, heading(title),
        make("p", { role: "alert" }, ...withCode(what)),
        hint && make("p", {}, ...withCode(messageParts({ message: hint }).what)),
        make("p", { class: "panel-actions" },
            make("button", { type: "button", class: "primary", text: message("view.try-again"), on: { click: retry } }),
            make("a", { class: "button", href: tabURL(archive, "pages"), text: message("viewer.all-pages") })));
}

/**
 * Returns a panel for a URL without a capture that can be shown. The reason, and what can be opened instead, appear when the
 * server has found them.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive its current state, with unavailable files
 * @param {string} url from the index if it's indexed; otherwise untrusted
 * @param {{indexed: boolean, asked: string, timestamp: string}} request `indexed`: whether the index lists a capture, which
 *   then can't be shown; `asked`: the requested URL if it redirects to this one; else empty
 * @returns {HTMLElement}
 */
export function absencePanel(archive, url, { indexed, asked, timestamp }) {
    const title = plain(archive.title) || archive.id;
    const reasons = make("div", { class: "explanation", "aria-live": "polite" },
        make("p", { class: "quiet", text: message("viewer.looking") }));
    const nearby = make("div", { class: "explanation" });
    explain(archive, url, asked, timestamp, reasons, nearby);
    return panel("absence-panel",
        heading(message(indexed ? "viewer.cant-show-capture" : "viewer.not-in", { title })),
        make("p", { class: "url wrap", dir: "ltr", text: plainURL(url, 600) }),
        make("p", { role: "status", text: message(indexed ? "viewer.listed" : "viewer.nothing-loaded", { title }) }),
        unavailabilityText(archive) && make("p", {}, ...withCode(unavailabilityText(archive))),
        make("p", { class: "panel-actions" },
            history.length > 1
                && make("button", { type: "button", text: message("viewer.go-back"), on: { click: () => history.back() } }),
            make("a", { class: "button", href: tabURL(archive, "pages"), text: message("viewer.all-pages") })),
        reasons, nearby);
}

/** Fills in the reasons, then what is close to the URL, so that nothing moves afterwards. */
async function explain(archive, url, asked, timestamp, reasons, nearby) {
    const host = hostOf(url).toLowerCase().replace(/^www\./, "");
    const pages = host ? api.pages(archive, { q: host }, { limit: suggestionsMax }).catch(() => null) : null;
    const found = await explanationOf(archive, url, asked, timestamp).catch(() => null);
    const names = found ? await otherNames(archive, found) : null;
    reasons.replaceChildren(...(found ? reasonBlocks(archive, found, names) : []));
    const offered = found?.offers.map((capture) => capture.url) ?? [];
    const closest = found?.closest.filter((capture) => !offered.includes(capture.url)) ?? [];
    const listed = await pages;
    nearby.replaceChildren(...closestBlocks(archive, closest, listed?.pages ?? []),
        ...pageBlocks(archive, host, listed, closest.map((capture) => capture.url)));
}

/** The names of the other archives that a reason offers. */
async function otherNames(archive, { reasons }) {
    const others = reasons.filter(({ code }) => ["other-archive", "incomplete"].includes(code)).flatMap(({ archives }) => archives);
    const here = archive.kind === "archive" ? [archive] : archive.members;
    // Without the files, the titles are shown.
    return namesOf([...others.map(({ archive: id, title }) => ({ id, title })), ...here]).catch(() => new Map());
}

async function explanationOf(archive, url, asked, timestamp) {
    const first = asked ? await api.explanation(archive, asked, timestamp) : null;
    if (first?.missing && sameDocument(first.missing, url)) return first;
    return api.explanation(archive, url, timestamp);
}

/** @param {string[]} shown URLs that are listed already */
function pageBlocks(archive, host, found, shown) {
    const pages = found?.pages.filter((page) => !shown.includes(page.url)) ?? [];
    if (pages.length === 0) return [];
    const more = found.total - found.pages.length;
    return [make("h2", { text: message("viewer.pages-from", { host: plain(host, 80), kind: archive.kind }) }),
        make("ul", { class: "pages" }, ...pages.map((page) => pageRow(archive, page))),
        ...(more > 0 ? [make("p", { class: "quiet", text: message("viewer.more-pages", { n: more }) })] : [])];
}

/**
 * @param {number} seconds
 * @returns {Error} the page didn't arrive in this time
 */
export function lateError(seconds) {
    return Object.assign(new Error(message("viewer.late", { n: seconds })), { hint: message("viewer.late-hint"), isOfPage: true });
}
