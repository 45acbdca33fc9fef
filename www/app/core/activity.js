/** The server's jobs by kind, for all views. */
import * as api from "./api.js";
import { followServer } from "./connection.js";
import { followEvents } from "./events.js";

const key = "replayhost-batch";
const milliseconds = 1000;

const listeners = new Set();
let kinds = null;
let since = read();
let isReading = false;
let isStale = false;
let timer = 0;
// What was done of each kind at what time, to tell how long the rest takes.
const starts = new Map();

/** @param {import("./api.js").KindSummary} kind */
export const activeJobs = ({ waiting, running, paused }) => waiting + running + paused;

/** @returns {import("./api.js").KindSummary[]} of this batch: with what has finished since nothing was going on */
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
    try {
        kinds = await api.jobSummary(since);
        noteBatch();
        [...listeners].forEach(({ onChange }) => onChange());
    } catch {
        // The banner says that the server is away. What is shown stays until it's back.
    }
    isReading = false;
    timer = setTimeout(() => {
        timer = 0;
        if (isStale) load();
    }, milliseconds);
}

function noteBatch() {
    for (const kind of kinds) {
        if (kind.running + kind.waiting === 0) starts.delete(kind.kind);
        else if (!starts.has(kind.kind)) starts.set(kind.kind, { done: kind.done, at: performance.now() });
    }
    if (kinds.some((kind) => activeJobs(kind) > 0)) return;
    since = new Date().toISOString();
    try {
        sessionStorage.setItem(key, since);
    } catch {
        // Without storage, a reload of the page begins a new batch.
    }
}

function read() {
    try {
        return sessionStorage.getItem(key) ?? new Date().toISOString();
    } catch {
        return new Date().toISOString();
    }
}

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
