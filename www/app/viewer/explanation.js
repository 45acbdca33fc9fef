/** Texts and links for the reasons why a URL can't be shown. `docs/json.md` describes the reasons. */
import { pageRow } from "../components/page-row.js";
import { togetherOffers } from "../components/together.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import { make, plain } from "../core/dom.js";
import { day, moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { pageURL } from "../core/routes.js";
import { plainURL, spaced } from "../core/text.js";

const urlCharactersMax = 300;

const urlText = (url) => make("span", { class: "url", dir: "ltr", text: plainURL(url, urlCharactersMax) });
const quoted = (title, id) => make("bdi", { text: `“${plain(title, 80) || id}”` });

/** Returns a URL with percent-encoding, which page lists may leave out. */
const encoded = (url) => (URL.canParse(url) ? new URL(url).href : url);

/** @returns {string} the day of 14 or 17 digits */
function dayOf(timestamp) {
    const [year, month, date] = [timestamp.slice(0, 4), timestamp.slice(4, 6), timestamp.slice(6, 8)];
    return day(`${year}-${month}-${date}T00:00:00Z`);
}

/**
 * The sentence for each code, as texts and elements.
 *
 * @type {Object<string, (reason: Object<string, any>, kind: "archive"|"collection",
 *   explanation: import("../core/api.js").Explanation) => (Node|string)[]>}
 */
const sentences = {
    "captured": ({ timestamp }) => messageParts("why.captured", { day: dayOf(timestamp) }),
    "other-archive": ({ total }) => messageParts("why.other-archive", { n: total }),
    "other-form": (reason, kind) => messageParts("why.other-form", { kind }),
    "other-query": ({ total, more }, kind) => messageParts(more ? "why.other-queries" : "why.other-query", { n: total, kind }),
    "post-only": (reason, kind) => messageParts("why.post-only", { kind }),
    "redirect-lost": ({ redirects, endless }) => (endless ? messageParts("why.redirects-endlessly")
        : messageParts("why.redirect-lost", { url: urlText(redirects[0].url) })),
    "error-page": ({ status, timestamp }) => messageParts(status ? "why.error-page" : "why.error-page-unknown",
        { status: String(status), day: dayOf(timestamp) }),
    "incomplete": ({ timestamp, archives, ...stored }) => messageParts("why.incomplete",
        { day: dayOf(timestamp), n: archives.length, what: make("span", {}, ...whatIsMissing(stored)) }),
    "unreadable": ({ timestamp, problem, archive }) => messageParts("why.unreadable",
        { day: dayOf(timestamp), problem: plain(problem, 300), command: `replayhost info ${archive}` }),
    "requires": ({ requires }) => messageParts("why.requires", { names: requires.map(({ filename, sha256 }) =>
        plain([filename, sha256 && `SHA-256 ${sha256}`].filter(Boolean).join(", "))).join("; ") },
    { a: (...children) => make("a", { href: "/" }, ...children) }),
    "unavailable": ({ archives }) => messageParts("why.unavailable", { archives: make("span", {},
        ...archives.flatMap(({ title, archive }, index) => [index ? ", " : "", quoted(title, archive)])) }),
    "crawl-failed": ({ page, timestamp, status, error }, kind, { url, missing }) => [
        ...messageParts(timestamp ? "why.crawl-failed-on" : "why.crawl-failed", { day: timestamp ? dayOf(timestamp) : "" }), " ",
        ...(error || status ? messageParts("why.crawl-error", { error: plain(error ?? status, 100) }) : []), " ",
        ...(page === (missing ?? url) ? [] : messageParts("why.part-of", { url: urlText(page) }))],
    "linked-from": ({ total }) => messageParts("why.linked-from", { n: total }),
    "site-not-captured": ({ host }, kind) => (host ? messageParts("why.site-not-captured", { host: plain(host, 80), kind }) : []),
    "never": ({ host, urls, more }, kind) => [...messageParts("why.never"), " ",
        ...(host ? messageParts(more ? "why.site-has-more" : "why.site-has", { n: urls, host: plain(host, 80), kind }) : [])],
};

/**
 * Returns the reasons, each with what it offers.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {import("../core/api.js").Explanation} explanation
 * @param {Map<string, string>} names of other archives, by ID
 * @returns {HTMLElement[]}
 */
export function reasonBlocks(archive, explanation, names) {
    // The panel names unavailable archives of a collection already.
    const isSaid = ({ code }) => code === "unavailable" && unavailabilityText(archive) !== "";
    return explanation.reasons.filter((reason) => !isSaid(reason) && Object.hasOwn(sentences, reason.code))
        .map((reason) => {
            const sentence = sentences[reason.code](reason, archive.kind, explanation);
            const rows = rowsOf(archive, reason, explanation.offers.filter(({ why }) => why === reason.code), names);
            return make("div", { class: "reason", "data-code": reason.code },
                make("p", {}, ...sentence),
                reason.code === "incomplete" && reason.archives.length > 0 && togetherOffers(archive, reason.archives, reason, names),
                rows.length > 0 && make("ul", { class: "pages" }, ...rows), restOf(reason));
        });
}

/** The content that a capture lacks, as it names it. */
function whatIsMissing({ url, storedURL, storedAt, isUnchanged }) {
    if (isUnchanged && !storedAt) return [message("why.incomplete-earlier")];
    const stored = urlText(storedURL ?? url);
    const time = storedAt && (Number.isNaN(Date.parse(storedAt)) ? plain(storedAt, 40) : moment(storedAt));
    return time ? messageParts("why.incomplete-of", { url: stored, time }) : [stored];
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {import("../core/api.js").Capture[]} captures
 * @param {import("../core/api.js").Page[]} pages with titles for some of the captures
 * @returns {HTMLElement[]}
 */
export function closestBlocks(archive, captures, pages) {
    if (captures.length === 0) return [];
    const rows = captures.map((capture) => {
        const { title } = pages.find(({ url }) => encoded(url) === encoded(capture.url)) ?? {};
        return title ? pageRow(archive, { ...capture, title }) : row(archive, capture);
    });
    return [make("h2", { text: message("viewer.closest-urls") }), make("ul", { class: "pages" }, ...rows)];
}

function rowsOf(archive, reason, offers, names) {
    if (reason.code === "other-archive") {
        return offers.map((capture) => {
            const other = reason.archives.find((each) => each.archive === capture.archive);
            return otherArchiveRow(capture, other ?? { title: "", captures: 1 }, names);
        });
    }
    if (reason.code === "linked-from") return reason.pages.map((page) => row(archive, page));
    return offers.map((capture) => row(archive, capture));
}

function otherArchiveRow(capture, { title, captures, firstYear, lastYear }, names) {
    return make("li", {}, ...spaced(
        make("a", { dir: "auto", href: pageURL({ kind: "archive", id: capture.archive }, capture.url, capture.timestamp),
            text: message("viewer.open-in", { title: names.get(capture.archive) || plain(title, 120) || capture.archive }) }),
        make("span", { class: "url", text: firstYear === lastYear
            ? message("search.captures-in", { n: captures, year: String(firstYear) })
            : message("search.captures-from", { n: captures, first: String(firstYear), last: String(lastYear) }) })));
}

/** A capture in this archive or collection. */
function row(archive, { url, request, timestamp, capturedAt }) {
    return make("li", {}, ...spaced(
        make("a", { dir: "ltr", href: pageURL(archive, request ?? url, timestamp),
            text: plainURL(url, urlCharactersMax) }),
        capturedAt ? make("time", { datetime: capturedAt, title: capturedAt, text: moment(capturedAt) })
            : make("span", { class: "url", text: dayOf(timestamp) })));
}

function restOf({ code, total, skipped, archives, pages }) {
    const more = total - (archives ?? pages ?? []).length;
    if (!["other-archive", "linked-from"].includes(code) || more <= 0 && !skipped) return null;
    const texts = [more > 0 && message("viewer.more", { n: more }), skipped > 0 && message("viewer.skipped", { n: skipped })];
    return make("p", { class: "quiet", text: texts.filter(Boolean).join(" ") });
}
