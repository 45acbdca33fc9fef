/** The issues of an archive that its page shows. */

// Findings that repeat the notice about an unavailable file.
const repeated = ["file-unavailable", "file-changed", "file-missing"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {import("../core/api.js").Finding[]}
 */
export const issuesOf = ({ findings = [] }) => findings.filter(({ code }) => !repeated.includes(code));

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {number} how many errors and warnings there are. Those of a collection are its archives'
 */
export function issueCount(item) {
    const members = item.kind === "collection" ? item.members : [];
    return issuesOf(item).filter(({ severity }) => severity !== "notice").length
        + members.reduce((sum, { findingCounts = {} }) => sum + (findingCounts.error ?? 0) + (findingCounts.warning ?? 0), 0);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {import("../core/api.js").Finding|undefined} the first issue that changes what is seen
 */
export const seenIssue = (item) => issuesOf(item).find(({ severity }) => severity === "error");
