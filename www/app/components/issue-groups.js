/** Groups findings by their cause. `docs/findings.md` lists the codes. */

/** @typedef {import("../core/api.js").Finding} Finding */

/** What is noticed of a cause, and the codes of its findings. All other codes are causes of their own. */
export const causes = {
    nothing: ["see", "captures-missing", "archive-unreadable"],
    unreadable: ["see", "warc-damaged", "warc-segments-missing", "warc-shared-member", "http-head-too-long", "revisit-unreadable"],
    "data-missing": ["see", "resource-missing", "warc-is-zip"],
    index: ["see", "index-names-missing-warc", "index-outside-warc", "index-no-record", "index-short-length", "index-bad-line",
        "index-incomplete-line", "index-line-too-long", "index-not-utf8", "index-damaged", "index-block-digest", "record-unindexed"],
    "other-archive": ["see", "revisit-unresolved"],
    requires: ["see", "required-archive-missing", "required-archive-unknown"],
    "page-list": ["see", "pages-missing"],
    "pages-uncaptured": ["see", "page-uncaptured"],
    "pages-damaged": ["see", "pages-damaged", "page-bad-line", "page-line-too-long"],
    // Some of the records in a changed file can't be read.
    "changed-records": ["see"],
    changed: ["untrue", "resource-hash", "crc-differs", "entry-damaged", "file-hash"],
    "list-changed": ["untrue", "package-hash", "signature-other-file"],
    digests: ["untrue", "block-digest", "payload-digest"],
    "other-record": ["see", "index-other-record"],
    uncovered: ["untrue", "content-uncovered"],
    zip: ["untrue", "zip-duplicate-name", "zip-readers-disagree", "zip-unsafe-name"],
};
const causeOfCode = new Map(Object.entries(causes).flatMap(([cause, [, ...codes]]) => codes.map((code) => [code, cause])));

/** The highest first. */
export const severities = ["error", "warning", "notice"];

/**
 * @param {Finding[]} findings
 * @returns {Map<string, Finding[]>} those of each cause, which are shown as one issue
 */
export function groupsOf(findings) {
    const groups = new Map();
    for (const finding of findings) {
        const cause = causeOf(finding);
        if (!groups.has(cause)) groups.set(cause, []);
        groups.get(cause).push(finding);
    }
    return groups;
}

/** @returns {Finding["severity"]} the highest of a group */
export const severityOf = (group) => severities.find((name) => group.some(({ severity }) => severity === name)) ?? "notice";

/**
 * @param {Finding[]} findings
 * @param {Finding["severity"][]} wanted
 * @returns {number} how many issues of these severities are shown for them
 */
export const countIssues = (findings, wanted) => [...groupsOf(findings).values()].filter((group) => wanted.includes(severityOf(group))).length;

function causeOf({ code, severity, urls = [] }) {
    // A missing file without captures isn't noticed in replay.
    if (code === "resource-missing" && severity !== "error") return code;
    if (causeOfCode.get(code) === "changed" && urls.length > 0) return "changed-records";
    if (causeOfCode.has(code)) return causeOfCode.get(code);
    if (!code.startsWith("signature-")) return code;
    return severity === "notice" ? "signature-notes" : "signature";
}
