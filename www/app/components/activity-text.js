/** Texts that say what is going on: for the app bar, the line at the bottom of the window, and the view of all activity. */
import "../messages/en/around.js";
import { activeJobs, jobKinds, secondsLeft } from "../core/activity.js";
import { plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { imports } from "./import-queue.js";

/** From this number on, jobs of one kind are one line. */
export const groupFrom = 3;

/** @returns {import("../core/api.js").KindSummary[]} without the job of the file that this page uploads */
export function otherKinds() {
    return jobKinds().map((one) => (one.kind === "import" && imports.current && one.running > 0
        ? { ...one, running: one.running - 1 } : one));
}

/** @returns {{active: number, failed: number}} */
export function activityCounts() {
    const kinds = otherKinds();
    const own = imports.failures.filter(({ job }) => !job).length;
    return {
        active: imports.unfinished.length + kinds.reduce((sum, kind) => sum + activeJobs(kind), 0),
        failed: own + kinds.reduce((sum, { failed }) => sum + failed, 0),
    };
}

/**
 * @param {import("../core/api.js").KindSummary} kind
 * @returns {{text: string, done: number, total: number}} for example `Verifying 290 of 610 · 4 min left`
 */
export function kindProgress(kind) {
    const total = kind.done + activeJobs(kind);
    const text = message(`activity.group-${kind.kind}`, { done: kind.done, total });
    if (kind.running + kind.waiting === 0) return { text: message("activity.group-paused", { text }), done: kind.done, total };
    const seconds = secondsLeft(kind);
    return { text: withTime(text, seconds), done: kind.done, total };
}

/**
 * @param {string} text
 * @param {number|null} seconds
 * @returns {string} the text and the time left, if that is known
 */
export const withTime = (text, seconds) => (seconds === null ? text : message("activity.with-time", { text, time: timeLeft(seconds) }));

/** @returns {{text: string, done: number, total: number}} of the files that this page uploads, in bytes */
export function importProgress() {
    const { items, startedAt } = imports.batch;
    const wanted = items.filter(({ state }) => state !== "cancelled");
    const total = wanted.reduce((sum, { file }) => sum + file.size, 0);
    const done = wanted.reduce((sum, { state, file, sent }) => sum + (["failed", "cut"].includes(state) ? file.size : sent), 0);
    if (imports.isWaiting) return { text: message("import.waiting", { n: imports.unfinished.length }), done, total };
    const seconds = (performance.now() - startedAt) / 1000;
    const left = seconds > 3 && done > 0 ? (total - done) * seconds / done : null;
    const count = wanted.length - imports.unfinished.length;
    const text = wanted.length === 1 ? message("import.one", { name: plain(wanted[0].file.name, 80), state: fileState(wanted[0]) })
        : message("import.many", { n: Math.min(count + 1, wanted.length), total: wanted.length });
    return { text: wanted.length === 1 ? text : withTime(text, left), done, total };
}

/** @param {import("./import-queue.js").Item} item */
export function fileState({ state, sent, file }) {
    if (state === "sending" && sent > 0) {
        return message("import.sending", { percent: Math.floor(sent / file.size * 100), sent: size(sent), total: size(file.size) });
    }
    return message(`import.state-${["queued", "sending"].includes(state) ? state : "checking"}`);
}

/** About how long something still takes, for example `4 min left`. */
function timeLeft(seconds) {
    if (seconds < 60) return message("time.left-seconds", { n: Math.max(5, Math.ceil(seconds / 5) * 5) });
    if (seconds < 5400) return message("time.left-minutes", { n: Math.round(seconds / 60) });
    return message("time.left-hours", { n: Math.round(seconds / 3600) });
}
