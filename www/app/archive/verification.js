/** What the last verification of an archive found, what that proves, and a button that verifies it again. */
import { errorBlock } from "../components/messages.js";
import { trustOf, trustSentences } from "../components/trust-mark.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { counted, day, moment, number, size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { contentsState } from "./contents-state.js";

const activeStates = ["waiting", "running", "paused"];

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {(findings: import("../core/api.js").Finding[], now: import("../core/api.js").Archive) => void} onFindings
 *   called after a verification, whose findings replace those that were known
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function verificationSection(archive, onFindings) {
    const text = make("p", { class: "quiet progress-text", role: "status" });
    const bar = make("progress", { "aria-label": "Verification", hidden: true });
    const problems = make("div");
    const results = make("div", { class: "results" });
    const button = make("button", { type: "button", on: { click: verify } });
    const element = make("section", { class: "verification", "aria-labelledby": "verification-title" },
        make("h2", { id: "verification-title", text: "Verification" }), results, problems,
        make("div", { class: "verify-row" }, button,
            make("a", { href: tabURL(archive, "report"), text: message("report.title") }), bar, text));
    let job = null;
    let events = null;
    let shown;
    // The first progress of the running job.
    let seen = null;
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    function showReport({ verificationReport: report }) {
        shown = report && JSON.stringify(report);
        results.replaceChildren(...verdict(report));
        button.textContent = report ? "Verify again" : "Verify now";
    }
    showReport(archive);

    async function verify() {
        if (button.getAttribute("aria-disabled") === "true") return;
        problems.replaceChildren();
        retry = null;
        try {
            follow();
            const { job: queued } = await (await api.verify(archive)).json();
            // An event that came first is newer.
            if (queued.id !== job?.id) show(queued);
        } catch (error) {
            if (error.status === 0) retry = verify;
            problems.replaceChildren(errorBlock(error, "Couldn't start the verification"));
        }
    }

    function show(now) {
        if (!now || now.kind !== "verify" || now.archive !== archive.id || job && now.id < job.id) return;
        job = now;
        const isActive = activeStates.includes(now.state);
        button.setAttribute("aria-disabled", String(isActive));
        bar.hidden = !isActive;
        if (isActive) follow();
        if (now.total > 0) Object.assign(bar, { max: now.total, value: now.done });
        if (now.state !== "running" || seen?.id !== now.id) seen = { id: now.id, done: now.done, at: Date.now() };
        text.textContent = stateText(now) + timeLeft(now, seen);
        if (now.state === "done") refresh();
        else if (!isActive) stop();
    }

    async function refresh() {
        const finished = job?.id;
        retry = null;
        let now;
        try {
            now = await api.details(archive);
        } catch (error) {
            if (error.status === 0) retry = refresh;
            else stop();
            problems.replaceChildren(errorBlock(error, "Can't read the result"));
            return;
        }
        const report = now.verificationReport;
        // Another verification may have started meanwhile.
        if (!report || job?.id !== finished) return;
        problems.replaceChildren();
        stop();
        text.textContent = "";
        if (JSON.stringify(report) === shown) return;
        announce("Verification finished.");
        showReport(now);
        onFindings(now.findings ?? [], now);
    }

    function follow() {
        events ??= followEvents({ onConnected: check, onJob: show });
    }

    function stop() {
        events?.close();
        events = null;
        button.setAttribute("aria-disabled", "false");
        bar.hidden = true;
    }

    /** Follows a verification that is in progress. */
    async function check() {
        const before = job;
        const jobs = await api.jobs().catch(() => null);
        if (!jobs) {
            retry ??= check;
            return;
        }
        // What came meanwhile is newer than the list.
        if (job !== before) return;
        const found = jobs.filter(({ id, kind, archive: of, state }) =>
            kind === "verify" && of === archive.id && (activeStates.includes(state) || id === job?.id));
        found.forEach(show);
        if (found.length === 0 && (job || !shown)) refresh();
    }
    // A new archive is verified soon.
    if (shown) check();
    else follow();

    return { element, close() {
        stop();
        server.close();
    } };
}

function stateText({ state, done, total, reason }) {
    return {
        waiting: "Waiting to start",
        running: total > 0 ? `Read ${size(done)} of ${size(total)}` : "In progress",
        paused: "Paused, see Activity in the library",
        failed: `Couldn't be verified: ${plain(reason, 300)}`,
        cancelled: "Cancelled",
    }[state] ?? "";
}

/** The time left, once it can be estimated. */
function timeLeft({ state, done, total }, seen) {
    const seconds = (Date.now() - seen.at) / 1000;
    if (state !== "running" || !(total > done) || seconds < 3 || done <= seen.done) return "";
    const left = Math.ceil((total - done) / (done - seen.done) * seconds);
    return left < 60 ? `, ${left} s left` : `, ${Math.ceil(left / 60)} min left`;
}

function verdict(report) {
    if (!report) return [make("p", { text: "Not verified. The hashes in this file haven't been checked yet." })];
    const { result, previous, signature, summary } = report;
    const signer = signatureVerdict(report);
    const contents = contentsVerdict(report, signer);
    const lines = [contents, signer].sort((one, other) => (other.kind === "bad") - (one.kind === "bad"));
    const trust = trustOf(summary);
    return [
        ...lines.map(({ kind, text }) => make("p", { class: `verdict ${kind}` }, make("strong", { dir: "auto", text }))),
        make("p", { class: "quiet", text: `Verified ${moment(summary.verifiedAt)}.${sameResult(report)}` }),
        report.newFindings.length > 0 && make("p", { class: "notice warning",
            text: `Changed since the verification of ${moment(previous.verifiedAt)}: see the issues below.` }),
        make("details", { class: "isolation" },
            make("summary", { text: message("verification.proof") }),
            ...trustSentences(trust).map((text) => make("p", { text })),
            trust.state === "key" && make("p", { text: message("trust.fingerprint") }),
            make("p", { text: message("trust.hash") }), make("p", { text: message("trust.servers") })),
        make("dl", { class: "facts" }, ...[...comparisonFacts(result), ...signatureFacts(signature)].map(([name, value]) =>
            make("div", {}, make("dt", { text: name }), make("dd", {}, ...[value].flat())))),
    ].filter(Boolean);
}

const sameResult = ({ previous, summary, newFindings }) =>
    previous && newFindings.length === 0 && previous.outcome === summary.outcome ? " The result is the same as before." : "";

/** What the verification says about the contents, without the signature. */
function contentsVerdict({ result, summary }, signer) {
    const errors = result.findings.filter(({ severity, code }) => severity === "error" && !code.startsWith("signature-"));
    switch (contentsState(summary)) {
    case "damaged":
        return { kind: "bad", text: `This file is damaged or was changed: ${counted(errors.length, "error")} below.` };
    case "unreplayable":
        return { kind: "bad", text: `This file is as it was packed, but not all of it can be replayed: ${counted(errors.length, "error")} below.` };
    case "suspicious":
        return { kind: "doubtful", text: "This file is as it was packed, but its ZIP is made in a way that may be an attack." };
    case "digestsDiffer":
        return { kind: "doubtful", text: `This file is as it was packed. ${differing(result.records.failed)} (changed before packing, or `
            + "computed wrongly)." };
    case "incomplete":
        return { kind: "", text: "Nothing disagrees, but not everything in this file could be checked." };
    default:
        return { kind: "", text: signer.kind === "bad" ? "The contents match the file's own hashes, which anyone can compute again."
            : "This file is undamaged: everything in it that has a hash agrees." };
    }
}

const differing = (count) => count === 1 ? "1 record doesn't match the digests written in it"
    : `${number(count)} records don't match the digests written in them`;

/** What the verification says about who signed the file. */
function signatureVerdict({ signature, result }) {
    if (!signature) return { kind: "", text: "It isn't signed, so nothing shows who made it." };
    const { outcome, signer, timeStamp } = signature;
    const domain = plain(signer?.domain, 200);
    const who = domain || "an anonymous key";
    if (result.findings.some(({ code }) => code === "signature-other-file")) {
        return { kind: "bad",
            text: `The signature is for other contents, so it proves nothing: the file was changed after ${who} signed it.` };
    }
    switch (outcome) {
    case "valid":
        return domain ? { kind: "good", text: `${domain} signed it on ${moment(timeStamp?.time)}.` }
            : { kind: "", text: "It was signed with the key below. It doesn't show whose key that is." };
    case "untrusted":
        return { kind: "doubtful", text: `It says that ${who} signed it, but that isn't proven.` };
    case "invalid":
        return { kind: "bad", text: `The signature, which names ${who}, is invalid and proves nothing.` };
    default:
        return { kind: "doubtful", text: "The signature can't be checked." };
    }
}

function signatureFacts(signature) {
    if (!signature) return [];
    const { signer, timeStamp, created } = signature;
    const [certificate] = signer?.chain ?? [];
    const outcomes = { valid: "valid", untrusted: "not trusted", invalid: "invalid", unreadable: "unreadable" };
    return [
        ["Key fingerprint", signer?.keySHA256 && make("code", { text: plain(signer.keySHA256, 64) })],
        ["Certificate", certificate && `${plain(certificate.subject, 200)}, from ${plain(certificate.issuer, 200)}, valid from `
            + `${day(certificate.notBefore)} to ${day(certificate.notAfter)}`
            + (signature.outcome === "valid" ? ": trusted, and valid when it signed" : "")],
        ["Time stamp", timeStamp && `${timeStamp.time ? moment(timeStamp.time) : "Unknown time"}, by `
            + `${plain(timeStamp.authority, 200) || "an unknown authority"}, ${outcomes[timeStamp.outcome] ?? ""}`],
        ["Signed", !timeStamp && created && `${moment(plain(created, 60))}, as the signer says`],
    ].filter(([, value]) => value);
}

/**
 * @param {import("../core/api.js").Report["result"]} result
 * @returns {[string, string][]} what was compared, and how much of it agrees
 */
export function comparisonFacts({ files, dataPackage, records, unreadableRecords = 0, payloadDigests, captures, revisits, pages }) {
    return [
        ["Files", tally(files, "match their hashes", "without a hash")],
        ["File list", dataPackage.checked + dataPackage.without === 0 ? "" : dataPackage.checked === 0 ? "Not protected by a hash"
            : dataPackage.failed > 0 ? "Doesn't match its hash" : "Matches its hash"],
        ["Records", tally(records, "match their digests", "without a digest", unreadableRecords)],
        ["Payload digests", payloads(payloadDigests)],
        ["Captures", tally(captures, "are the records that the index names", "not in the index")],
        ["Revisits", tally(revisits, "have their content", "")],
        ["Pages", tally(pages, "were captured", "")],
    ].filter(([, value]) => value);
}

function tally({ checked, failed, without }, what, withoutWhat, unreadable = 0) {
    if (checked + unreadable + without === 0) return "";
    const damaged = unreadable > 0 ? `, ${number(unreadable)} unreadable` : "";
    const rest = without > 0 ? `, ${counted(without, "more", "more")} ${withoutWhat}` : "";
    return `${number(checked - failed)} of ${number(checked + unreadable)} ${what}${damaged}${rest}`;
}

/** What payload digests were computed of, since programs differ in it. */
function payloads({ withTransferCoding = 0, withoutTransferCoding = 0, decoded = 0 } = {}) {
    return [[withTransferCoding, "with its transfer coding, as it was recorded"], [withoutTransferCoding, "without its transfer coding"],
        [decoded, "decoded, without transfer and content coding"]]
        .filter(([count]) => count > 0).map(([count, form]) => `${number(count)} of the body ${form}`).join("; ");
}
