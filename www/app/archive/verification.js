/** What the last verification of an archive found, and a button that verifies it again. */
import { withTime } from "../components/activity-text.js";
import { isUnavailable } from "../components/availability.js";
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { verdict } from "./verdict.js";

const activeStates = ["waiting", "running", "paused"];

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {(findings: import("../core/api.js").Finding[], now: import("../core/api.js").Archive) => void} onFindings
 *   called after a verification, whose findings replace those that were known
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function verificationSection(archive, onFindings) {
    const text = make("p", { class: "quiet progress-text", role: "status" });
    const bar = make("progress", { "aria-label": message("verification.title"), hidden: true });
    const problems = make("div");
    const results = make("div", { class: "results" });
    const button = make("button", { type: "button", on: { click: verify } });
    const element = make("section", { class: "verification", "aria-labelledby": "verification-title" },
        make("h2", { id: "verification-title", text: message("verification.title") }), results, problems,
        make("div", { class: "verify-row" }, !isUnavailable(archive) && button,
            make("a", { href: tabURL(archive, "report"), text: message("report.title") }), bar, text));
    let job = null;
    let events = null;
    let shown;
    // The first progress of the running job.
    let seen = null;
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    function showReport(now) {
        const report = now.verificationReport;
        shown = report && JSON.stringify(report);
        results.replaceChildren(...verdict(now));
        button.textContent = message(report ? "verification.again" : "verification.now");
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
            problems.replaceChildren(errorBlock(error, message("archive.cant-verify")));
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
        text.textContent = withTime(stateText(now), secondsLeft(now, seen));
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
            problems.replaceChildren(errorBlock(error, message("verification.cant-read")));
            return;
        }
        const report = now.verificationReport;
        // Another verification may have started meanwhile.
        if (!report || job?.id !== finished) return;
        problems.replaceChildren();
        stop();
        text.textContent = "";
        if (JSON.stringify(report) === shown) return;
        announce(message("verification.finished"));
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
    if (state === "running" && total > 0) return message("verification.state-read", { done: size(done), total: size(total) });
    return state === "done" ? "" : message(`verification.state-${state}`, { reason: plain(reason, 300) });
}

/** The seconds left, once they can be estimated. */
function secondsLeft({ state, done, total }, seen) {
    const seconds = (Date.now() - seen.at) / 1000;
    if (state !== "running" || !(total > done) || seconds < 3 || done <= seen.done) return null;
    return (total - done) / (done - seen.done) * seconds;
}
