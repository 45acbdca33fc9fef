/** The server's jobs by kind, for all views. */
import * as api from "./api.js";
import { followServer } from "./connection.js";
import { followEvents } from "./events.js";

const milliseconds = 1000;

const listeners = new Set();
let kinds = null;
// Nothing is asked before a view wants to know.
let isFollowing = false;
let isReading = false;
let isStale = false;
let timer = 0;
// What was done of each kind at what time, to tell how long the rest takes.
const starts = new Map();

/** @param {import("./api.js").KindSummary} kind */
export const activeJobs = ({ waiting, running, paused }) => waiting + running + paused;

/** @returns {import("./api.js").KindSummary[]} */
export const jobKinds = () => kinds ?? [];

/** @returns {boolean} whether the server has said what is going on */
export const isActivityKnown = () => kinds !== null;

/**
 * @param {import("./api.js").KindSummary} kind
 * @returns {number|null} the seconds that its jobs still take; `null` while that's unknown
 */
export function secondsLeft(kind) {
    const start = starts.get(kind.kind);
    const done = kind.done - (start?.done ?? kind.done);
    return done > 0 ? activeJobs(kind) * (performance.now() - start.at) / done / 1000 : null;
}

/**
 * @param {{onChange: () => void, onJob?: (job: import("./api.js").Job) => void, onConnected?: () => void}} listener
 * @returns {{close: () => void}}
 */
export function followActivity(listener) {
    if (!isFollowing) follow();
    listeners.add(listener);
    return { close: () => listeners.delete(listener) };
}

/** Reads the numbers again, at most once a second. */
export function refreshActivity() {
    if (isReading || timer) {
        isStale = true;
        return;
    }
    load();
}

async function load() {
    isReading = true;
    isStale = false;
    // Without an answer, what is shown stays. The view of all activity shows the error of its list.
    const now = await api.jobSummary().catch(() => null);
    isReading = false;
    timer = setTimeout(() => {
        timer = 0;
        if (isStale) load();
    }, milliseconds);
    if (!now) return;
    kinds = now;
    noteStarts();
    [...listeners].forEach(({ onChange }) => onChange());
}

function noteStarts() {
    for (const name of starts.keys()) if (!kinds.some(({ kind }) => kind === name)) starts.delete(name);
    for (const kind of kinds) {
        if (kind.running + kind.waiting === 0) starts.delete(kind.kind);
        else if (!starts.has(kind.kind)) starts.set(kind.kind, { done: kind.done, at: performance.now() });
    }
}

function follow() {
    isFollowing = true;
    followEvents({
        onConnected: () => {
            refreshActivity();
            [...listeners].forEach(({ onConnected }) => onConnected?.());
        },
        onJob: (job) => {
            refreshActivity();
            [...listeners].forEach(({ onJob }) => onJob?.(job));
        },
    });
    followServer({ onBack: refreshActivity });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refreshActivity());
}
