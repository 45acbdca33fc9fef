/** The beginning of an evidence report: the result in short, and what is affected by issues. */
import { issuesOf } from "../components/issues.js";
import { captureTrust, trustOf } from "../components/trust-mark.js";
import { foreign, make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { exactURL } from "../core/text.js";
import { exactMoment } from "../core/times.js";

const urlsMax = 20;

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {import("../core/api.js").Capture} [capture]
 * @returns {(Node|string)[]} what the verification proves of the file or the capture, and what it doesn't
 */
export function shortResult(archive, capture) {
    if (capture?.uncovered) return [message("report.short.uncovered-capture")];
    const { code, signer } = capture ? captureTrust(archive, capture) : trustOf(archive);
    const signature = archive.verificationReport?.signature;
    const time = signature?.timeStamp?.time;
    // MD5 protects no record, and no signature is about content in another archive.
    const isUnchanged = capture?.verification && !capture.contentArchive && !archive.findings?.some((finding) => finding.code === "hash-weak");
    return messageParts(`report.short.${code}`, { signer: foreign(signer || signature?.signer?.certified), named: signature?.signer?.certified ? "yes" : "no",
        about: isUnchanged ? "capture" : "file", time: time ? exactMoment(plain(time, 60)) : message("report.short.no-time"),
        reason: foreign(signatureFaults(signature)[0] ?? "", 300) });
}

/**
 * @param {object} [signature]
 * @returns {string[]} why it's invalid, as sentences without the file's own texts, which findings quote
 */
export const signatureFaults = ({ findings = [] } = {}) => findings.filter(({ severity }) => severity === "error")
    .map(({ what, consequence }) => (/[“”]/.test(what) ? consequence ?? "" : what)).filter(Boolean);

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement[]} the issues that change what is seen or whether it's true, with the URLs that they're about
 */
export function affectedParts({ findings = [] }) {
    // The section on the signature says why one is invalid.
    const issues = issuesOf(findings.filter(({ code }) => !code.startsWith("signature-")))
        .filter(({ effect, severity, cause }) => effect !== "tools" && (severity === "error" || cause === "uncovered"));
    return issues.flatMap(({ title, cause, urls, urlCount, findings: [first] }) => {
        const more = urlCount - Math.min(urls.length, urlsMax);
        return [make("h3", { dir: "auto", text: title }), cause === "uncovered" && first.location
            && make("p", {}, ...messageParts("report.uncovered-first", { file: make("code", { dir: "auto", text: plain(first.location, 200) }) })), urls.length > 0 && make("ul", {},
            ...urls.slice(0, urlsMax).map((url) => make("li", { class: "url", dir: "ltr", text: exactURL(url, 1000) })),
            more > 0 && make("li", { text: message("issue.more-urls", { n: more }) }))].filter(Boolean);
    });
}
