/** Texts and links for the reasons why a URL can't be shown. `docs/json.md` describes the reasons. */
import { unavailabilityText } from "../components/availability.js";
import { withCode } from "../components/messages.js";
import { pageRow } from "../components/page-row.js";
import { make, plain, plainURL } from "../core/dom.js";
import { counted, day, moment } from "../core/format.js";
import { pageURL } from "../core/routes.js";

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
 * The sentence for each code, as texts and elements. `place` is “this archive” or “this collection”.
 *
 * @type {Object<string, (reason: Object<string, any>, place: string, explanation: import("../core/api.js").Explanation) =>
 *   (Node|string)[]>}
 */
const sentences = {
    "captured": (reason) => [`The index lists a capture from ${dayOf(reason.timestamp)}.`],
    "other-archive": ({ total }) => [total === 1 ? "It's in another archive in your library."
        : `It's in ${total} other archives in your library.`],
    "other-form": (reason, place) => [`It's in ${place} under another form of the URL.`],
    "other-query": ({ total, more }, place) => [`It's in ${place} only with ${total === 1 && !more ? "another query"
        : `other queries, ${total}${more ? " or more" : ""} of them`}.`],
    "post-only": (reason, place) => [`It's in ${place} only as the answer to a form or a script.`],
    "redirect-lost": ({ redirects, endless }) => (endless ? ["It redirects without end, so there is no page to show."]
        : [urlText(redirects[0].url), " was captured only as a redirect to this page."]),
    "error-page": ({ status, timestamp }) => [
        `The site answered with an error${status ? ` (${status})` : ""} on ${dayOf(timestamp)}.`],
    "unreadable": ({ timestamp, problem, archive }) => [
        `The record of ${dayOf(timestamp)} can't be read: ${plain(problem, 300)}. The file may be damaged. `,
        ...withCode(`For details, run \`replayhost info ${archive}\`.`)],
    "requires": ({ requires }) => ["It needs another archive that isn't in your library or can't be read: ",
        requires.map(({ filename, sha256 }) => plain([filename, sha256 && `SHA-256 ${sha256}`].filter(Boolean).join(", ")))
            .join("; "), ". ", make("a", { href: "/", text: "Add it to your library" }), "."],
    "unavailable": ({ archives }) => ["The files of these archives can't be read: ",
        ...archives.flatMap(({ title, archive }, index) => [index ? ", " : "", quoted(title, archive)]), "."],
    "crawl-failed": ({ page, timestamp, status, error }, place, { url, missing }) => [
        `The crawler couldn't load it${timestamp ? ` on ${dayOf(timestamp)}` : ""}`,
        error || status ? ` (${plain(error ?? `status ${status}`, 100)})` : "",
        ...(page === (missing ?? url) ? [] : [", as a part of ", urlText(page)]), "."],
    "linked-from": ({ total }) => [total === 1 ? "A captured page uses it:" : `${counted(total, "captured page")} use it:`],
    "site-not-captured": ({ host }, place) => [host ? `Nothing from ${plain(host, 80)} is in ${place}.` : ""],
    "never": ({ host, urls, more }, place) => [host
        ? `It was never captured. ${more ? `${counted(urls, "URL")} or more` : counted(urls, "URL")} from ${plain(host, 80)} ${urls === 1 ? "is" : "are"} in ${place}.`
        : "It was never captured."],
};

/**
 * Returns the reasons, each with what it offers.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {import("../core/api.js").Explanation} explanation
 * @returns {HTMLElement[]}
 */
export function reasonBlocks(archive, explanation) {
    // The panel names unavailable archives of a collection already.
    const isSaid = ({ code }) => code === "unavailable" && unavailabilityText(archive) !== "";
    return explanation.reasons.filter((reason) => !isSaid(reason) && Object.hasOwn(sentences, reason.code))
        .map((reason) => {
            const sentence = sentences[reason.code](reason, `this ${archive.kind}`, explanation);
            const rows = rowsOf(archive, reason, explanation.offers.filter(({ why }) => why === reason.code));
            return make("div", { class: "reason", "data-code": reason.code },
                make("p", {}, ...sentence), rows.length > 0 && make("ul", { class: "pages" }, ...rows), restOf(reason));
        });
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
    return [make("h2", { text: "Closest URLs" }), make("ul", { class: "pages" }, ...rows)];
}

function rowsOf(archive, reason, offers) {
    if (reason.code === "other-archive") {
        return offers.map((capture) => {
            const other = reason.archives.find((each) => each.archive === capture.archive);
            return otherArchiveRow(capture, other ?? { title: "", captures: 1 });
        });
    }
    if (reason.code === "linked-from") return reason.pages.map((page) => row(archive, page));
    return offers.map((capture) => row(archive, capture));
}

function otherArchiveRow(capture, { title, captures, firstYear, lastYear }) {
    const years = firstYear === lastYear ? firstYear : `${firstYear}–${lastYear}`;
    return make("li", {},
        make("a", { dir: "auto", href: pageURL({ kind: "archive", id: capture.archive }, capture.url, capture.timestamp),
            text: `Open in “${plain(title, 120) || capture.archive}”` }),
        make("span", { class: "url", text: `${counted(captures, "capture")}, ${years}` }));
}

/** A capture in this archive or collection. */
function row(archive, { url, request, timestamp, capturedAt }) {
    return make("li", {},
        make("a", { dir: "ltr", href: pageURL(archive, request ?? url, timestamp),
            text: plainURL(url, urlCharactersMax) }),
        capturedAt ? make("time", { datetime: capturedAt, title: capturedAt, text: moment(capturedAt) })
            : make("span", { class: "url", text: dayOf(timestamp) }));
}

function restOf({ code, total, skipped, archives, pages }) {
    const more = total - (archives ?? pages ?? []).length;
    if (!["other-archive", "linked-from"].includes(code) || more <= 0 && !skipped) return null;
    const texts = [more > 0 && `${counted(more, "more", "more")}.`,
        skipped > 0 && `${counted(skipped, "archive wasn't", "archives weren't")} searched.`];
    return make("p", { class: "quiet", text: texts.filter(Boolean).join(" ") });
}
