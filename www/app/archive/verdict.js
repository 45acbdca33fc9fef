/** What a verification found, and what that proves. */
import "../messages/en/around.js";
import { isUnavailable } from "../components/availability.js";
import { countIssues } from "../components/issue-groups.js";
import { kinds, trustOf } from "../components/trust-mark.js";
import { trustSentences } from "../components/trust-sentences.js";
import { make, plain } from "../core/dom.js";
import { day, moment } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { exactMoment } from "../core/times.js";

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {HTMLElement[]}
 */
export function verdict(archive) {
    const report = archive.verificationReport;
    // Results are of the file as it was read.
    if (isUnavailable(archive)) return [make("p", { text: trustSentences(trustOf(archive))[0] })];
    if (!report) return [make("p", { text: message("verdict.none") })];
    const { result, previous, signature, summary, newFindings } = report;
    const signer = signatureVerdict(report);
    const contents = contentsVerdict(report);
    const lines = [contents, signer].sort((one, other) => (other.kind === "bad") - (one.kind === "bad"));
    const trust = trustOf({ ...archive, verification: summary.code, verificationSummary: summary });
    const isSame = previous && newFindings.length === 0 && previous.code === summary.code;
    return [
        ...lines.map(({ kind, parts }) => make("p", { class: `verdict ${kind}` }, make("strong", { dir: "auto" }, ...parts))),
        make("p", { class: "quiet", text: message(isSame ? "verdict.at-same" : "trust.verified-at", { time: moment(summary.verifiedAt) }) }),
        newFindings.length > 0 && make("p", { class: "notice warning",
            text: message("verdict.changed-since", { time: moment(previous.verifiedAt) }) }),
        make("details", { class: "isolation" },
            make("summary", { text: message("verification.proof") }),
            ...trustSentences(trust).map((text) => make("p", { text })),
            trust.code === "signed-anonymously" && make("p", { text: message("trust.fingerprint") }),
            make("p", { text: message("trust.hash") }), make("p", { text: message("trust.servers") })),
        make("dl", { class: "facts" }, ...[...comparisonFacts(result), ...signatureFacts(signature, archive)].map(([name, value]) =>
            make("div", {}, make("dt", { text: name }), make("dd", {}, value)))),
    ].filter(Boolean);
}

/** What the verification says about the contents, without the signature. */
function contentsVerdict({ result, summary }) {
    const findings = result.findings.filter(({ code }) => !code.startsWith("signature-"));
    const { contents } = summary;
    const name = ["hashes-agree", "uncovered"].includes(contents) && summary.code === "invalid-signature" ? "doubted" : contents;
    return { kind: kinds[contents] ?? "",
        parts: messageParts(`verdict.contents.${name}`, { n: contents === "records-differ" ? result.records.failed : countIssues(findings, ["error"]) },
            { issues: issuesLink }) };
}

/** Leads to the list of issues on the same page. */
const issuesLink = (...text) => make("button", { type: "button", class: "inline", on: { click: () => {
    const heading = document.getElementById("findings-title");
    heading?.scrollIntoView();
    heading?.focus();
} } }, ...text);

const signatureKinds = { "other-file": "bad", "valid-domain": "", "valid-key": "", untrusted: "doubtful", invalid: "bad", suspicious: "doubtful" };

/** What the verification says about who signed the file. */
function signatureVerdict({ signature, summary }) {
    if (!signature) return { kind: "", parts: [message("verdict.signature.none")] };
    const { outcome, signer, timeStamp } = signature;
    const domain = plain(signer?.certified ?? signer?.domain, 200);
    const ofValid = summary.contents === "suspicious" ? "suspicious" : `valid-${domain ? "domain" : "key"}`;
    const name = outcome === "valid" ? ofValid : outcome;
    const known = Object.hasOwn(signatureKinds, name) ? name : "unreadable";
    const kind = summary.code === "signed" ? "good" : signatureKinds[known] ?? "doubtful";
    return { kind, parts: [message(`verdict.signature.${known}`, { signer: domain ? "domain" : "key", domain, result: summary.code,
        time: timeStamp?.time ? exactMoment(plain(timeStamp.time, 60)) : "" })] };
}

function signatureFacts(signature, archive) {
    if (!signature) return [];
    const { signer, timeStamp, created, outcome } = signature;
    const [certificate] = signer?.chain ?? [];
    const authority = plain(timeStamp?.authority, 200);
    return [
        ["key", signer?.keySHA256 && make("code", { text: plain(signer.keySHA256, 64) })],
        ["certificate", certificate && message("verdict.certificate", { subject: plain(certificate.subject, 200), issuer: plain(certificate.issuer, 200),
            first: day(certificate.notBefore), last: day(certificate.notAfter), trusted: outcome === "valid" ? "yes" : "no" })],
        ["stamp", timeStamp && message("verdict.stamp", { known: timeStamp.time ? "yes" : "no", time: timeStamp.time ? exactMoment(plain(timeStamp.time, 60)) : "",
            named: authority ? "yes" : "no", authority, outcome: timeStamp.outcome ?? "" })],
        ["signed", !timeStamp && created && message("verdict.signed-time", { time: moment(plain(created, 60)),
            isEarlier: hasLaterCaptures(created, archive) ? "yes" : "no" })],
    ].filter(([, value]) => value).map(([name, value]) => [message(`verdict.fact.${name}`), value]);
}

/**
 * @param {string} created when the file claims to have been signed
 * @param {import("../core/api.js").Archive} archive
 * @returns {boolean} whether the claim is of a time before its last capture
 */
export const hasLaterCaptures = (created, { lastCapture }) => Date.parse(created) < Date.parse(lastCapture);

/**
 * @param {import("../core/api.js").Report["result"]} result
 * @returns {[string, string][]} what was compared, and how much of it agrees
 */
export function comparisonFacts({ files, dataPackage, records, unreadableRecords = 0, payloadDigests, captures, revisits, pages }) {
    return [
        ["files", tally("files", files)],
        ["list", dataPackage.checked + dataPackage.without > 0 && message(`verdict.list-${dataPackage.checked === 0 ? "unprotected"
            : dataPackage.failed > 0 ? "differs" : "same"}`)],
        ["records", tally("records", records, unreadableRecords)],
        ["payloads", payloads(payloadDigests)],
        ["captures", tally("captures", captures)],
        ["revisits", tally("revisits", revisits)],
        ["pages", tally("pages", pages)],
    ].filter(([, value]) => value).map(([name, value]) => [message(`verdict.fact.${name}`), value]);
}

const tally = (name, { checked, failed, without }, unreadable = 0) => checked + unreadable + without > 0
    && message(`verdict.${name}`, { same: checked - failed, total: checked + unreadable, unreadable, without });

/** What payload digests were computed of, since programs differ in it. */
function payloads(digests = {}) {
    const parts = ["withTransferCoding", "withoutTransferCoding", "decoded"].filter((form) => digests[form] > 0)
        .map((form) => message(`verdict.payloads-${form}`, { n: digests[form] }));
    return parts.length > 0 && parts.reduce((first, next) => message("verdict.payloads-several", { first, next }));
}
