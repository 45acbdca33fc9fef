/** What the last verification of an archive found, what that proves, and a button that verifies it again. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { counted, moment, number, size } from "../core/format.js";

const activeStates = ["waiting", "running", "paused"];

const proofs = {
    valid: "A hash is a fingerprint of a file. The hashes in this file agree with its contents, so nothing in it was damaged since "
        + "it was packed. The signature shows who vouched for that, and when.",
    anonymous: "A hash is a fingerprint of a file. The hashes in this file agree with its contents, and they were signed with the "
        + "key above. Without that key, nothing can have been changed since. The file doesn't show whose key it is: compare its "
        + "fingerprint with one that you know.",
    none: "A hash is a fingerprint of a file. The hashes in this file agree with its contents, so it wasn't damaged. Without a "
        + "signature, it isn't shown who made the file: a person who changes a file can also change its hashes.",
};
const limits = "No check can show that a web server really sent these pages: a signature only shows who says so.";

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {(now: import("../core/api.js").Archive) => void} onChanged
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function verificationSection(archive, onChanged) {
    const text = make("p", { class: "quiet progress-text", role: "status" });
    const bar = make("progress", { "aria-label": "Verification", hidden: true });
    const problems = make("div");
    const button = make("button", { type: "button", text: archive.verificationReport ? "Verify again" : "Verify now",
        on: { click: verify } });
    const element = make("section", { class: "verification", "aria-labelledby": "verification-title" },
        make("h2", { id: "verification-title", text: "Verification" }), ...verdict(archive), problems,
        make("div", { class: "verify-row" }, button, bar, text));
    let job = null;
    let events = null;

    async function verify() {
        problems.replaceChildren();
        try {
            follow();
            show((await (await api.verify(archive)).json()).job);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Couldn't start the verification"));
        }
    }

    function show(now) {
        if (!now || now.kind !== "verify" || now.archive !== archive.id || job && now.id < job.id) return;
        job = now;
        const isActive = activeStates.includes(now.state);
        button.disabled = isActive;
        bar.hidden = !isActive;
        if (now.total > 0) Object.assign(bar, { max: now.total, value: now.done });
        text.textContent = stateText(now);
        if (now.state === "done") refresh();
        else if (!isActive) stop();
    }

    async function refresh() {
        stop();
        const now = await api.details(archive).catch(() => null);
        if (!now) return;
        announce(`Verification finished. ${summary(now)}`);
        onChanged(now);
    }

    function follow() {
        events ??= followEvents({ onConnected: check, onLost: () => {}, onArchives: () => {}, onJob: show });
    }

    function stop() {
        events?.close();
        events = null;
    }

    /** Follows a verification that is in progress. */
    async function check() {
        const jobs = await api.jobs().catch(() => []);
        const active = jobs.find(({ kind, archive: id, state }) =>
            kind === "verify" && id === archive.id && activeStates.includes(state));
        if (!active) {
            if (job) refresh();
            return;
        }
        follow();
        show(active);
    }
    check();

    return { element, close: stop };
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

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {string} the result in one sentence
 */
export function summary({ verification }) {
    return {
        verified: "Intact: everything that a hash protects agrees.",
        incomplete: "Nothing disagrees, but not everything could be checked.",
        failed: "Not intact: something is damaged or was changed.",
    }[verification] ?? "Not verified.";
}

function verdict(archive) {
    const report = archive.verificationReport;
    if (!report) {
        return [make("p", { text: "Not verified. The hashes in this file haven't been checked yet." })];
    }
    const { result, previous } = report;
    const signature = report.signature ?? { outcome: "none" };
    const kind = signature.outcome === "valid" ? signature.signer?.domain ? "valid" : "anonymous" : "none";
    return [
        make("p", { class: `verdict ${result.outcome}` }, make("strong", { text: summary(archive) }),
            ` Verified ${moment(report.summary.verifiedAt)}.`),
        report.newFindings.length > 0 && make("p", { class: "notice warning",
            text: `Changed since the verification of ${moment(previous.verifiedAt)}: see the issues below.` }),
        make("dl", { class: "facts" }, ...evidence(result).map(([name, value]) =>
            make("div", {}, make("dt", { text: name }), make("dd", { text: value })))),
        result.outcome !== "failed" && make("details", { class: "isolation" },
            make("summary", { text: "What this does and doesn't prove" }),
            make("p", { text: proofs[kind] }), make("p", { text: limits })),
    ].filter(Boolean);
}

function evidence({ files, dataPackage, records, captures, revisits, pages }) {
    return [
        ["Files", tally(files, "match their hashes", "without a hash")],
        ["File list", dataPackage.checked + dataPackage.without === 0 ? "" : dataPackage.checked === 0 ? "Not protected by a hash"
            : dataPackage.failed > 0 ? "Doesn't match its hash" : "Matches its hash"],
        ["Records", tally(records, "match their digests", "without a digest")],
        ["Captures", tally(captures, "are the records that the index names", "not in the index")],
        ["Revisits", tally(revisits, "have their content", "")],
        ["Pages", tally(pages, "were captured", "")],
    ].filter(([, value]) => value);
}

function tally({ checked, failed, without }, what, withoutWhat) {
    if (checked + without === 0) return "";
    const rest = without > 0 ? `, ${counted(without, "more", "more")} ${withoutWhat}` : "";
    return `${number(checked - failed)} of ${number(checked)} ${what}${rest}`;
}
