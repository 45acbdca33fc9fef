/** Says what groups of findings mean, and sorts the groups by what a person notices of them. `docs/findings.md` lists the codes. */
import { message } from "../core/i18n.js";
import { causes, groupsOf, severities, severityOf } from "./issue-groups.js";
import { sentence } from "./messages.js";
import { plain } from "../core/dom.js";
import { exactURL } from "../core/text.js";

/**
 * @typedef {import("../core/api.js").Finding} Finding
 * @typedef {{cause: string, effect: "see"|"untrue"|"tools", severity: Finding["severity"], title: string, text: string,
 *   urls: string[], urlCount: number, findings: Finding[]}} Issue `effect`: what you'll see, what may be untrue, or what only
 *   other programs notice; `urlCount` can be more than `urls`
 */

const effects = ["see", "untrue", "tools"];
const textCharactersMax = 1000;

/**
 * @param {Finding[]} findings
 * @returns {Issue[]} in the order in which they are shown
 */
export function issuesOf(findings) {
    return [...groupsOf(findings)].map(([cause, group]) => issue(cause, group)).sort((one, other) =>
        effects.indexOf(one.effect) - effects.indexOf(other.effect)
        || severities.indexOf(one.severity) - severities.indexOf(other.severity));
}

function issue(cause, group) {
    const severity = severityOf(group);
    const findings = [...group].sort((one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity));
    const { urls, urlCount } = urlsIn(findings);
    const [effect] = causes[cause] ?? [cause === "signature" ? "untrue" : severity === "error" ? "see" : "tools"];
    const isKnown = Object.hasOwn(causes, cause) || cause === "signature" || cause === "signature-notes";
    const n = countOf(cause, findings, urlCount);
    const [{ what, consequence }] = findings;
    const first = sentence(plain(what, textCharactersMax));
    return { cause, effect, severity, findings, urls, urlCount,
        title: isKnown ? message(`issue.${cause}.title`, { n, severity })
            : n > 1 ? message("issue.repeated", { text: first.replace(/\.$/, ""), n }) : first,
        text: isKnown ? message(`issue.${cause}.text`) : sentence(plain(consequence, textCharactersMax)) };
}

/** The number of captures, files or lines that an issue is about. */
function countOf(cause, findings, urlCount) {
    const byCode = new Map();
    for (const { code } of findings) byCode.set(code, (byCode.get(code) ?? 0) + 1);
    // A finding with a total stands for those that aren't listed.
    for (const { code, total } of findings) if (total) byCode.set(code, total);
    if (cause === "unreadable" || cause === "changed-records") return urlCount;
    if (cause !== "index") return [...byCode.values()].reduce((sum, count) => sum + count, 0);
    // A capture that the index doesn't list, and the line that should list it, are the same one.
    const unlisted = byCode.get("record-unindexed") ?? 0;
    byCode.delete("record-unindexed");
    return Math.max(unlisted, [...byCode.values()].reduce((sum, count) => sum + count, 0));
}

function urlsIn(findings) {
    const urls = new Set(findings.flatMap((finding) => finding.urls ?? []));
    const unlisted = findings.reduce((sum, { urls: some = [], urlCount = some.length }) => sum + urlCount - some.length, 0);
    return { urls: [...urls], urlCount: urls.size + unlisted };
}

const line = (text) => plain(text, textCharactersMax);

/**
 * @param {Issue[]} issues
 * @returns {string} all that is known of them, for a message to the person who made the file
 */
export const issueText = (issues) => issues.map(({ title, text, urls, findings }) => [title, text, ...urls.map((url) => `  ${exactURL(url)}`),
    ...findings.map(({ severity, code, what, location }) => `  ${severity} ${code}: ${line(what)}${location ? ` (${line(location)})` : ""}`),
].filter(Boolean).join("\n")).join("\n\n");
