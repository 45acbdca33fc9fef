/** Shows the issues of an archive: first what a person notices, then whether another archive is better, then the details. */
import { make, plain } from "../core/dom.js";
import { language, message } from "../core/i18n.js";
import { pageURL } from "../core/routes.js";
import { plainURL } from "../core/text.js";
import { copyText } from "./copy-text.js";
import { issuesOf, issueText } from "./issues.js";
import { sentence } from "./messages.js";
import { missingContent, otherCopies } from "./other-copies.js";

const textCharactersMax = 1000;
const urlsMax = 10;

/**
 * @param {{notice: number, warning: number, error: number}|undefined} counts
 * @returns {string} for example `1 error, 2 warnings`; empty without errors and warnings
 */
export function findingSummary(counts) {
    const parts = ["error", "warning"].filter((severity) => counts?.[severity] > 0)
        .map((severity) => message(`issue.count-${severity}`, { n: counts[severity] }));
    return new Intl.ListFormat(language, { style: "short", type: "unit" }).format(parts);
}

/**
 * @param {{notice: number, warning: number, error: number}|undefined} counts
 * @returns {"error"|"warning"|""} the highest severity; notices don't count
 */
export function worstFinding(counts) {
    if (counts?.error > 0) return "error";
    return counts?.warning > 0 ? "warning" : "";
}

/**
 * @param {import("../core/api.js").Finding[]} findings
 * @param {import("../core/api.js").Archive} [archive] whose findings they are, for links; without it, URLs are only text
 * @param {() => void} [repair] saves a repaired copy
 * @returns {HTMLElement}
 */
export function findingList(findings, archive, repair) {
    const issues = issuesOf(findings);
    const parts = ["see", "untrue", "tools"].map((effect) => [effect, issues.filter((issue) => issue.effect === effect)]);
    return make("div", { class: "findings" },
        ...parts.filter(([, some]) => some.length > 0).flatMap(([effect, some]) => [
            make("h3", { text: message(`issue.effect.${effect}`) }),
            make("ul", {}, ...some.map((issue) => issueRow(issue, archive, repair)))]),
        make("button", { type: "button", class: "plain", text: message("copy.as-text"), on: { click: () => copyText(issueText(issues)) } }));
}

function issueRow(issue, archive, repair) {
    const { severity, title, text, urls, urlCount, findings } = issue;
    const more = urlCount - Math.min(urls.length, urlsMax);
    return make("li", { class: `issue ${["error", "warning", "notice"].includes(severity) ? `${severity}-finding` : ""}`.trim(), "data-cause": issue.cause },
        make("p", { class: "issue-title" }, make("span", { class: "severity", text: message("issue.severity", { severity }) }), " ",
            make("strong", { dir: "auto", text: title })),
        text && make("p", { class: "issue-text", dir: "auto", text }),
        // A repaired copy has a new index.
        archive && issue.cause === "other-archive" && missingContent(archive),
        repair && issue.cause === "index" && make("button", { type: "button", text: message("issue.repair"), on: { click: repair } }),
        urls.length > 0 && make("ul", { class: "issue-urls" }, ...urls.slice(0, urlsMax).map((url) => urlRow(url, issue, archive)),
            more > 0 && make("li", { class: "quiet", text: message("issue.more-urls", { n: more }) })),
        make("details", {}, make("summary", { text: message("issue.technical") }),
            make("ul", {}, ...findings.map(findingRow))));
}

function urlRow(url, { cause, effect, findings }, archive) {
    const text = plainURL(url, 400);
    // A capture that the index doesn't list can't be opened.
    const isListed = findings.some(({ code, urls = [] }) => code !== "record-unindexed" && urls.includes(url));
    return make("li", {},
        archive && isListed ? make("a", { class: "url", dir: "ltr", href: pageURL(archive, url), text })
            : make("span", { class: "url", dir: "ltr", text }),
        archive && effect !== "tools" && otherCopies(archive, url, effect === "untrue" || cause === "changed-records"));
}

function findingRow({ code, what, location, consequence }) {
    return make("li", {},
        make("p", { class: "what", dir: "auto", text: sentence(plain(what, textCharactersMax)) }),
        location && make("p", { class: "location" }, make("code", { dir: "auto", text: plain(location, textCharactersMax) })),
        consequence && make("p", { class: "consequence", dir: "auto", text: sentence(plain(consequence, textCharactersMax)) }),
        make("p", { class: "quiet" }, make("code", { text: plain(code, 80) })));
}
