/** Sends the queue: in its order, one share at a time. */
import { secondsAfter } from "./waits.js";

const millisecondsBetween = 1000;
/** The outcomes after which no other share can be sent either, until the server responds. */
export const blocking = ["unreachable", "foreign"];
/** Those after which a person has to act. */
const stopping = ["key", "forbidden"];

/**
 * @typedef {{tidy: (now: number, clearConfirmedAfter: number) => Promise<void>, all: () => Promise<import("./shares.js").Share[]>,
 *   change: (id: string, changes: object) => Promise<void>, refuse: (share: object, message: string) => Promise<void>}} Shares
 * @typedef {{kind: "empty"|"waiting"|"stopped", next: number|null, why: string}} Result `next`: when the next share is due, in
 *   milliseconds since 1970; `stopped`: a person has to act
 */

/**
 * @param {object} host
 * @param {Shares} host.shares
 * @param {(share: import("./shares.js").Share) => Promise<import("./post.js").Outcome>} host.post
 * @param {() => {maxRetries: number, clearConfirmedAfter: number}} host.settings
 * @param {() => number} [host.now] milliseconds since 1970
 * @param {(milliseconds: number) => Promise<void>} [host.pause]
 * @returns {(isReachable?: boolean) => Promise<Result>} sends what is due. `isReachable`: the server responds again, so nothing
 *   waits for that any more
 */
export function createSender({ shares, post, settings, now = Date.now,
    pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds)) }) {
    let running = null;
    let again = null;

    /** Only one page or worker sends at a time. Without locks, the ID of each share prevents a second download. */
    const exclusive = (work) => (navigator.locks ? navigator.locks.request("replayhost-capture-queue", work) : work());

    const due = (share, isReachable) => share.notBefore <= now() || isReachable && blocking.includes(share.why);

    /** Returns the first pending share that is due; `null` if the first ones wait for the server. */
    function firstDue(pending, isReachable) {
        for (const share of pending) {
            if (due(share, isReachable)) return share;
            // The others couldn't be sent either, or must not overtake it.
            if (share.why !== "failed") return null;
        }
        return null;
    }

    async function sendDue(isReachable) {
        await shares.tidy(now(), settings().clearConfirmedAfter);
        let isFirst = true;
        for (;;) {
            const pending = (await shares.all()).filter(({ status }) => status === "pending");
            if (stopping.includes(pending[0]?.why)) return { kind: "stopped", next: null, why: pending[0].why };
            const share = firstDue(pending, isReachable);
            if (!share) {
                const times = pending.map(({ notBefore }) => notBefore);
                return { kind: pending.length > 0 ? "waiting" : "empty", next: times.length > 0 ? Math.min(...times) : null, why: pending[0]?.why ?? "" };
            }
            if (!isFirst) await pause(millisecondsBetween);
            isFirst = false;
            await shares.change(share.id, { status: "uploading", attemptCount: share.attemptCount + 1, lastAttempt: now() });
            const outcome = await post(share);
            await note(share, outcome);
            if (blocking.includes(outcome.kind)) isReachable = false;
        }
    }

    /** Keeps what became of an attempt. */
    async function note(share, outcome) {
        const attempts = share.attemptCount + 1;
        // What is no attempt to reach the server costs none.
        const unchanged = { status: "pending", attemptCount: share.attemptCount, why: outcome.kind, message: outcome.message ?? "" };
        switch (outcome.kind) {
            case "confirmed":
                return shares.change(share.id, {
                    status: "confirmed", serverDownloadId: outcome.downloadID, isSavedBefore: outcome.isSavedBefore, why: "", message: "",
                    lastAttempt: now(),
                });
            case "refused":
                return shares.refuse(share, outcome.message);
            case "wait":
                return shares.change(share.id, { ...unchanged, notBefore: now() + outcome.seconds * 1000 });
            case "key":
            case "forbidden":
                return shares.change(share.id, { ...unchanged, notBefore: 0 });
            default: {
                const seconds = Math.max(outcome.seconds ?? 0, secondsAfter(attempts));
                return shares.change(share.id, {
                    status: attempts >= settings().maxRetries ? "failed" : "pending", why: outcome.kind, message: outcome.message ?? "",
                    notBefore: now() + seconds * 1000,
                });
            }
        }
    }

    return function send(isReachable = false) {
        // A share that was added while the last one was being sent isn't forgotten.
        if (running) again = { isReachable: isReachable || again?.isReachable === true };
        running ??= exclusive(() => sendDue(isReachable)).finally(() => {
            running = null;
        }).then((result) => {
            if (!again) return result;
            const next = again;
            again = null;
            return send(next.isReachable);
        });
        return running;
    };
}
