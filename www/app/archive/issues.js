/** The issues of an archive that its page shows. */
import { countIssues } from "../components/issue-groups.js";

// Findings that repeat the notice about an unavailable file.
const repeated = ["file-unavailable", "file-changed", "file-missing"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {import("../core/api.js").Finding[]}
 */
export const issuesOf = ({ findings = [] }) => findings.filter(({ code }) => !repeated.includes(code));

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {number} how many issues its list shows, without notices. Those of a collection are the errors and warnings of its archives
 */
export function issueCount(item) {
    const members = item.kind === "collection" ? item.members : [];
    return countIssues(issuesOf(item), ["error", "warning"])
        + members.reduce((sum, { findingCounts = {} }) => sum + (findingCounts.error ?? 0) + (findingCounts.warning ?? 0), 0);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} item
 * @returns {import("../core/api.js").Finding|undefined} the first issue that changes what is seen
 */
export const seenIssue = (item) => issuesOf(item).find(({ severity }) => severity === "error");
