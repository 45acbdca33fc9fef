/** The beginning of an evidence report: the result in short, and what is affected by issues. */
import { issuesOf } from "../components/issues.js";
import { captureTrust, isCovered, trustOf } from "../components/trust-mark.js";
import { foreign, make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { exactURL } from "../core/text.js";
import { exactMoment } from "../core/times.js";
import { recordFault } from "./report-data.js";

const listedMax = 20;

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {import("../core/api.js").Capture} [capture]
 * @param {import("./report-data.js").RecordFacts} [record] that of the capture
 * @returns {(Node|string)[]} what the verification proves of the file or the capture, and what it doesn't
 */
export function shortResult(archive, capture, record) {
    if (capture?.uncovered) return [message("report.short.uncovered-capture")];
    const { code, signer } = capture ? captureTrust(archive, capture) : trustOf(archive);
    const signature = archive.verificationReport?.signature;
    const time = signature?.timeStamp?.time;
    return messageParts(`report.short.${code}`, { signer: foreign(signer || signature?.signer?.certified), named: signature?.signer?.certified ? "yes" : "no",
        about: capture && isCovered(archive, capture) ? "capture" : "file", outcome: signature?.outcome ?? "", time: time ? exactMoment(plain(time, 60)) : message("report.short.no-time"),
        record: capture ? recordResult(record) : "", reason: foreign(signatureFaults(signature)[0] ?? "", 300) });
}

/** What the digests say of what is shown for the capture. */
function recordResult(record) {
    if (recordFault(record)) return "fault";
    const digests = record?.type === "revisit" ? [record.digests, record.repeats?.digests] : [record?.digests];
    return digests.every((result) => result === "agrees") ? "agrees" : "unknown";
}

/**
 * @param {object} [signature]
 * @returns {string[]} why it's invalid, as sentences without the file's own texts, which findings quote
 */
export const signatureFaults = ({ findings = [] } = {}) => findings.filter(({ severity }) => severity === "error")
    .map(({ what, consequence }) => (/[“”]/.test(what) ? consequence ?? "" : what)).filter(Boolean);

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement[]} the issues that change what is seen or whether it's true, with the URLs that they're about, or their places in the file
 */
export function affectedParts({ findings = [] }) {
    // The section on the signature says why one is invalid.
    const issues = issuesOf(findings.filter(({ code }) => !code.startsWith("signature-")))
        .filter(({ effect, severity, cause }) => effect !== "tools" && (severity === "error" || cause === "uncovered"));
    return issues.flatMap((issue) => {
        const { title, urlCount } = issue;
        const urls = issue.urls.slice(0, listedMax);
        const { places, count } = placesOf(issue, findings);
        const rows = [
            ...urls.map((url) => make("li", { class: "url", dir: "ltr", text: exactURL(url, 1000) })),
            urlCount > urls.length && make("li", { text: message("issue.more-urls", { n: urlCount - urls.length }) }),
            ...places.map((place) => make("li", {}, make("code", { dir: "auto", text: plain(place, 200) }))),
            count > places.length && make("li", { text: message("report.more-places", { n: count - places.length }) }),
        ].filter(Boolean);
        return [make("h3", { dir: "auto", text: title }), rows.length > 0 && make("ul", {}, ...rows)].filter(Boolean);
    });
}

/** Where in the file an issue is, as far as no URLs of captures say it. `count`: of all of these places. */
function placesOf({ severity, findings }, all) {
    const found = findings.filter((finding) => finding.severity === severity && !finding.urls?.length);
    const places = [...new Set(found.filter(({ total, location }) => !total && location).map(({ location }) => location))];
    // A finding with a total stands for those that aren't listed.
    const unlisted = found.filter(({ total }) => total).reduce((sum, { code, total }) => sum + total - all.filter((one) => one.code === code && !one.total).length, 0);
    return { places: places.slice(0, listedMax), count: places.length + unlisted };
}
