/**
 * What this device shares: the queue, and the permanent history.
 *
 * A share is in the database before the first request. Its ID is its `Idempotency-Key`, so that the server downloads it once,
 * however often it's sent.
 */
import { readAll, transact } from "./database.js";
import { randomID } from "./random.js";

/**
 * @typedef {"held"|"pending"|"uploading"|"confirmed"|"failed"} Status `held`: another page or app opened it, and you
 *   haven't confirmed it yet
 * @typedef {{order: number, id: string, url: string, request: object, sourceApp: string, cachedAt: number, status: Status,
 *   serverDownloadId: string|null, lastAttempt: number|null, attemptCount: number, notBefore: number, why: string, isSavedBefore?: boolean,
 *   message: string}} Share `request`: the body of the request without the URL; `cachedAt`, `lastAttempt` and `notBefore` in
 *   milliseconds since 1970; `why`: the code of the last failure; `message`: the server's words
 * @typedef {{id: string, url: string, sharedAt: number, serverDownloadId: string|null, status: "queued"|"confirmed"|"failed",
 *   sourceApp: string, message: string}} Entry of the history
 */

// Other sites can open the page with URLs, and must not fill the database.
const heldMax = 100;
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("replayhost-capture");
const listeners = new Set();

if (channel) channel.onmessage = () => listeners.forEach((listener) => listener());

/** @param {() => void} listener called after each change, also of other tabs and of the service worker */
export const onChange = (listener) => void listeners.add(listener);

function changed() {
    listeners.forEach((listener) => listener());
    channel?.postMessage("changed");
}

/**
 * @param {Share} share
 * @returns {boolean} whether it's to be sent, and isn't confirmed
 */
export const isUnsent = ({ status }) => status !== "held" && status !== "confirmed";

/** The entry of the history for a share. */
const entryOf = ({ id, url, cachedAt, serverDownloadId, status, sourceApp, message }) => ({
    id, url, sharedAt: cachedAt, serverDownloadId, sourceApp, message,
    status: status === "confirmed" || status === "failed" ? status : "queued",
});

/**
 * Keeps URLs. They are on disk when the promise is fulfilled.
 *
 * @param {string[]} urls
 * @param {{request?: object, sourceApp: string, isHeld?: boolean, now?: number}} options
 * @returns {Promise<Share[]>} the shares of these URLs. A URL that is held already isn't added again; too many aren't held
 * @throws {import("./database.js").StorageError}
 */
export async function add(urls, { request = {}, sourceApp, isHeld = false, now = Date.now() }) {
    const held = isHeld ? (await readAll("shares")).filter(({ status }) => status === "held") : [];
    const added = urls.filter((url) => !held.some((share) => share.url === url)).slice(0, isHeld ? heldMax - held.length : urls.length)
        .map((url) => ({
            id: randomID(), url, request, sourceApp, cachedAt: now, status: isHeld ? "held" : "pending", serverDownloadId: null,
            lastAttempt: null, attemptCount: 0, notBefore: 0, why: "", message: "",
        }));
    await transact(["shares", "history"], "readwrite", (shares, history) => {
        for (const share of added) {
            shares.add(share).onsuccess = ({ target }) => {
                share.order = target.result;
            };
            if (!isHeld) history.put(entryOf(share));
        }
    });
    changed();
    return [...added, ...held.filter(({ url }) => urls.includes(url))];
}

/** @returns {Promise<Share[]>} the queue, in its order */
export const all = () => readAll("shares");

/**
 * Changes shares of the queue, and their entries in the history.
 *
 * @param {(share: Share) => Partial<Share>|null} change returns what changes; `null` to remove the share from the queue
 */
async function changeAll(change) {
    const isChanged = await transact(["shares", "history"], "readwrite", (shares, history) => {
        let count = 0;
        shares.openCursor().onsuccess = ({ target: { result: cursor } }) => {
            if (!cursor) return;
            const changes = change(cursor.value);
            if (changes === null) {
                cursor.delete();
                count += 1;
            } else if (changes) {
                const share = { ...cursor.value, ...changes };
                cursor.update(share);
                if (share.status !== "held") history.put(entryOf(share));
                count += 1;
            }
            cursor.continue();
        };
        return () => count > 0;
    });
    if (isChanged) changed();
}

/**
 * @param {string} id
 * @param {Partial<Share>} changes
 */
export const change = (id, changes) => changeAll((share) => (share.id === id ? changes : undefined));

/** Deletes a share, if the queue still has it. */
function deleteFromQueue(id, shares) {
    shares.index("id").getKey(id).onsuccess = ({ target: { result: order } }) => {
        if (order !== undefined) shares.delete(order);
    };
}

/**
 * Deletes shares that a person doesn't want to send any more.
 *
 * @param {string[]} ids
 */
export async function discard(ids) {
    await transact(["shares", "history"], "readwrite", (shares, history) => {
        for (const id of ids) {
            history.delete(id);
            deleteFromQueue(id, shares);
        }
    });
    changed();
}

/**
 * @param {string} id
 * @returns {Promise<Entry|undefined>} its entry in the history
 */
export const entry = (id) => transact(["history"], "readonly", (history) => {
    const request = history.get(id);
    return () => request.result;
});

/**
 * Takes a share that the server refuses out of the queue: it can never be sent. The history keeps it, with the reason.
 *
 * @param {Share} share
 * @param {string} message
 */
export async function refuse(share, message) {
    await transact(["shares", "history"], "readwrite", (shares, history) => {
        shares.delete(share.order);
        history.put(entryOf({ ...share, status: "failed", message }));
    });
    changed();
}

/**
 * Lets held shares be sent.
 *
 * @param {string[]} ids
 * @param {object} request the options that the person chose
 */
export const release = (ids, request) => changeAll((share) => (share.status === "held" && ids.includes(share.id)
    ? { status: "pending", request } : undefined));

/**
 * Starts again from the first attempt: with one share, or with all that aren't confirmed.
 *
 * @param {string} [id]
 */
export const retry = (id) => changeAll((share) => (isUnsent(share) && (!id || share.id === id)
    ? { status: "pending", attemptCount: 0, notBefore: 0, why: "", message: "" } : undefined));

/**
 * Puts the queue in order: what was being sent when its page or the browser ended is pending again, and old confirmed shares are
 * removed.
 *
 * @param {number} now milliseconds since 1970
 * @param {number} clearConfirmedAfter seconds
 */
export const tidy = (now, clearConfirmedAfter) => changeAll((share) => {
    if (share.status === "uploading") return { status: "pending" };
    return share.status === "confirmed" && now - share.lastAttempt >= clearConfirmedAfter * 1000 ? null : undefined;
});

/**
 * Reads the history, the newest entries first.
 *
 * @param {{limit: number, matches?: (entry: Entry) => boolean}} page
 * @returns {Promise<{entries: Entry[], isLast: boolean}>}
 */
export const history = ({ limit, matches }) => transact(["history"], "readonly", (store) => {
    const entries = [];
    let isLast = true;
    store.index("sharedAt").openCursor(null, "prev").onsuccess = ({ target: { result: cursor } }) => {
        if (!cursor) return;
        if (!matches || matches(cursor.value)) {
            if (entries.length === limit) {
                isLast = false;
                return;
            }
            entries.push(cursor.value);
        }
        cursor.continue();
    };
    return () => ({ entries, isLast });
});

/**
 * Deletes entries of the history, and what the queue still has of them.
 *
 * @param {(entry: Entry) => boolean} matches
 * @returns {Promise<number>} how many
 */
export async function forget(matches) {
    const count = await transact(["shares", "history"], "readwrite", (shares, store) => {
        let deleted = 0;
        store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
            if (!cursor) return;
            if (matches(cursor.value)) {
                deleted += 1;
                deleteFromQueue(cursor.value.id, shares);
                cursor.delete();
            }
            cursor.continue();
        };
        return () => deleted;
    });
    if (count > 0) changed();
    return count;
}
