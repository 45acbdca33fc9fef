/**
 * The files that this page uploads, one after another. They belong to the document, not to a view.
 *
 * What hasn't begun waits while the server is stopped. An upload that was cut is listed, since the server has nothing of it.
 */
import { isServerAway, followServer } from "../core/connection.js";
import * as api from "../core/api.js";
import { fileUnreadable, isReadable, uploadFile } from "./upload.js";

/**
 * @typedef {{id: number, file: File, state: "queued"|"sending"|"checking"|"added"|"duplicate"|"failed"|"cut"|"cancelled",
 *   sent: number, startedAt?: number, result?: Object<string, any>, error?: import("../core/api.js").HostError, job?: number}} Item
 *   `cut`: the connection broke, and the file can be added again; `job`: the number of the failed job
 * @typedef {{items: Item[], skipped: number, startedAt: number, address: string}} Batch `skipped`: files in folders that can't
 *   be archives; `address`: what was open when it began
 */

const listeners = new Set();
let batch = emptyBatch();
// Of this batch and of earlier ones, until they're dismissed.
let failures = [];
let isRunning = false;
let isWaiting = false;
let isEnded = false;
let current = null;
let numbers = 0;
let whenBack = null;

function emptyBatch() {
    return { items: [], skipped: 0, startedAt: performance.now(), address: location.href };
}

const isUnfinished = ({ state }) => ["queued", "sending", "checking"].includes(state);
const tell = (name, value) => [...listeners].forEach((listener) => listener[name]?.(value));
const changed = () => tell("onChange");

/**
 * @param {{onChange?: () => void, onEnd?: (batch: Batch) => void}} listener
 * @returns {{close: () => void}}
 */
export function followImports(listener) {
    listeners.add(listener);
    return { close: () => listeners.delete(listener) };
}

/** What is going on, and the result of the last batch until it's dismissed. */
export const imports = {
    get batch() {
        return batch;
    },

    /** @returns {Item[]} */
    get unfinished() {
        return batch.items.filter(isUnfinished);
    },

    get failures() {
        return failures;
    },

    /** The upload that the server also has as a job. */
    get current() {
        return current?.item ?? null;
    },

    get isRunning() {
        return isRunning;
    },

    /** Whether it goes on when the server is back. */
    get isWaiting() {
        return isWaiting;
    },

    /** Whether the last batch has ended, and its result wasn't dismissed. */
    get hasResult() {
        return isEnded;
    },

    /**
     * @param {File[]} files
     * @param {number} [skipped]
     */
    add(files, skipped = 0) {
        if (files.length === 0 && skipped === 0) return;
        if (!isRunning) batch = emptyBatch();
        isEnded = false;
        batch.skipped += skipped;
        batch.items.push(...files.map((file) => ({ id: ++numbers, file, state: "queued", sent: 0 })));
        changed();
        run();
    },

    /** Uploads a file again whose upload was cut. */
    async addAgain(item) {
        if (!await isReadable(item.file)) {
            item.state = "failed";
            item.error = fileUnreadable();
            changed();
            return;
        }
        forget(item);
        this.add([item.file]);
    },

    cancel(item) {
        if (item.state === "queued") item.state = "cancelled";
        else if (current?.item === item) current.cancel();
        changed();
        if (isWaiting && this.unfinished.length === 0) whenBack?.();
    },

    cancelAll() {
        for (const item of this.unfinished.reverse()) this.cancel(item);
    },

    /** Removes a failure from the list, with the job that the server keeps of it. */
    dismiss(item) {
        forget(item);
        changed();
    },

    dismissResult() {
        isEnded = false;
        changed();
    },
};

function forget(item) {
    failures = failures.filter((one) => one !== item);
    // It may be dismissed already, for example in another tab.
    if (item.job) api.dismissJob(item.job).catch(() => {});
}

async function run() {
    if (isRunning) return;
    isRunning = true;
    for (let index = 0; index < batch.items.length; index += 1) {
        if (isServerAway()) await serverBack();
        const item = batch.items[index];
        if (item.state !== "queued") continue;
        await send(item);
        // Nothing of it was sent: it waits for the server.
        if (item.state === "queued") index -= 1;
    }
    isRunning = false;
    isEnded = true;
    changed();
    tell("onEnd", batch);
}

async function serverBack() {
    isWaiting = true;
    changed();
    await new Promise((resolve) => {
        whenBack = resolve;
    });
    isWaiting = false;
    whenBack = null;
    changed();
}
followServer({ onBack: () => whenBack?.() });

async function send(item) {
    const { size } = item.file;
    Object.assign(item, { state: "sending", sent: 0, startedAt: Date.now() });
    const upload = uploadFile(item.file, (sent, total) => {
        item.state = sent >= total ? "checking" : "sending";
        item.sent = Math.min(sent, size);
        changed();
    });
    current = { item, cancel: upload.cancel };
    changed();
    try {
        item.result = await upload.done;
        item.state = item.result.duplicate ? "duplicate" : "added";
        item.sent = size;
    } catch (error) {
        fail(item, error);
    }
    current = null;
    changed();
}

function fail(item, error) {
    if (error.code === "cancelled") {
        item.state = "cancelled";
    } else if (error.code === "server-unavailable") {
        item.state = "queued";
    } else {
        item.state = error.code === "transfer-broken" ? "cut" : "failed";
        Object.assign(item, { error, job: error.job || undefined });
        failures = [...failures, item];
    }
}

/**
 * @param {Batch} one
 * @returns {{added: number, duplicates: number, failed: number, cancelled: number, skipped: number}}
 */
export function tally({ items, skipped }) {
    const count = (...states) => items.filter(({ state }) => states.includes(state)).length;
    return { added: count("added"), duplicates: count("duplicate"), failed: count("failed", "cut"), cancelled: count("cancelled"), skipped };
}

// The browser asks before it throws uploads away.
addEventListener("beforeunload", (event) => {
    if (isRunning) event.preventDefault();
});
