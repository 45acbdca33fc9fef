/** The queue of this device on the page: when it's sent, and what others learn about it. */
import { post } from "./post.js";
import { key } from "./connection.js";
import { preferences } from "./preferences.js";
import { blocking, createSender } from "./sender.js";
import * as shares from "./shares.js";
import { requestSync, showBadge } from "./installation.js";

/**
 * @typedef {{onConfirmed: (share: import("./shares.js").Share) => void, onRefused: (entry: import("./shares.js").Entry) => void,
 *   onChange: (list: import("./shares.js").Share[]) => void}} Host `onConfirmed` and `onRefused`: this tab, another one, or the
 *   service worker has sent the share
 */

/** @param {Host} host */
export function createQueue({ onConfirmed, onRefused, onChange }) {
    let timer = 0;
    let isWaiting = false;
    let changing = Promise.resolve();
    // The shares that weren't confirmed yet when the queue was last read.
    let open = new Set();
    const sendDue = createSender({ shares, post: (share) => post(share, key()), settings: preferences });

    /**
     * Sends what is due.
     *
     * @param {{isReachable?: boolean, isWanted?: boolean}} [reason] `isReachable`: the server has just responded; `isWanted`: a
     *   person asks for it
     */
    async function send({ isReachable = false, isWanted = false } = {}) {
        if (!isWanted && !preferences().autoRetry) return;
        clearTimeout(timer);
        try {
            const { kind, next } = await sendDue(isReachable);
            // Without a page, the browser starts the worker once there is a network.
            if (kind === "waiting") requestSync();
            if (next !== null && kind === "waiting") timer = setTimeout(send, Math.max(0, next - Date.now()));
        } catch {
            // The browser's storage failed. It's asked again after the next change.
        }
        changed();
    }

    /** Reads the queue again. */
    function changed() {
        // Without storage, nothing waits.
        changing = changing.then(look, look).catch(() => {});
        return changing;
    }

    async function look() {
        const list = await shares.all();
        const byID = new Map(list.map((share) => [share.id, share]));
        const before = open;
        isWaiting = list.some(({ status, why }) => status === "pending" && blocking.includes(why));
        open = new Set(list.filter(({ status }) => status !== "confirmed").map(({ id }) => id));
        showBadge(open.size);
        onChange(list);
        for (const id of before) {
            const share = byID.get(id);
            if (share?.status === "confirmed") onConfirmed(share);
            const entry = share ? null : await shares.entry(id);
            if (entry?.status === "failed") onRefused(entry);
        }
    }

    shares.onChange(changed);
    addEventListener("online", () => send());

    return {
        send,
        changed,
        /** Call this when the server has responded. Nothing waits for that any more. */
        serverResponded() {
            if (isWaiting) send({ isReachable: true });
        },
        /**
         * Keeps URLs, and sends them.
         *
         * @param {string[]} urls
         * @param {object} request the options
         * @param {string} sourceApp
         * @throws {import("./database.js").StorageError}
         */
        async add(urls, request, sourceApp) {
            const added = await shares.add(urls, { request, sourceApp });
            for (const { id } of added) open.add(id);
            requestSync();
            send({ isWanted: true });
            return added;
        },
        /** @param {string[]} urls what another page or app opened */
        hold: (urls, sourceApp) => shares.add(urls, { sourceApp, isHeld: true }),
        async release(ids, request) {
            await shares.release(ids, request);
            requestSync();
            send({ isWanted: true });
        },
        /** @param {string} [id] of a share; all without one */
        async retry(id) {
            await shares.retry(id);
            send({ isWanted: true });
        },
        discard: shares.discard,
    };
}
