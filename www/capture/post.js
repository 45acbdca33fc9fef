/** Sends one share, and tells apart what can come back. */
import { retryAfter } from "./waits.js";

const secondsMax = 10;

/**
 * @typedef {{kind: "confirmed", downloadID: string, isSavedBefore: boolean}
 *   |{kind: "refused"|"key"|"forbidden", message: string}
 *   |{kind: "wait"|"failed", seconds: number, message: string}
 *   |{kind: "unreachable"|"foreign"}} Outcome `refused`: it can never be accepted; `key`: the server wants another key; `wait`: too many
 *   downloads, try again in `seconds`; `failed`: the server has a problem; `foreign`: something else answered
 */

/** Whether an answer is an error of the capture server, and not of another program. */
const isError = (value) => value?.success === false && typeof value.error === "string";

/**
 * @param {import("./shares.js").Share} share
 * @param {string} key of this device; empty for none
 * @returns {Promise<Outcome>}
 */
export async function post(share, key) {
    let answer;
    let value = null;
    const headers = { "Content-Type": "application/json", "Idempotency-Key": share.id };
    if (key) headers.Authorization = `Bearer ${key}`;
    try {
        answer = await fetch("/download", {
            method: "POST", headers, body: JSON.stringify({ url: share.url, ...share.request }), cache: "no-store",
            signal: AbortSignal.timeout(secondsMax * 1000),
        });
        const text = await answer.text();
        try {
            value = JSON.parse(text);
        } catch {
            // A page of another program, or half an answer.
        }
    } catch {
        return { kind: "unreachable" };
    }
    if (answer.ok && typeof value?.download_id === "string") {
        return { kind: "confirmed", downloadID: value.download_id, isSavedBefore: Boolean(value.saved_before) };
    }
    if (answer.ok || !isError(value)) return { kind: "foreign" };
    const message = String(value.message ?? value.error);
    const seconds = retryAfter(answer.headers.get("Retry-After"), Date.now());
    if (answer.status === 401) return { kind: "key", message };
    if (answer.status === 403) return { kind: "forbidden", message };
    if (answer.status === 429) return { kind: "wait", seconds: seconds || 60, message };
    return answer.status >= 500 ? { kind: "failed", seconds, message } : { kind: "refused", message };
}

/** @returns {Promise<boolean>} whether a capture server answers at this address */
export async function responds() {
    try {
        const answer = await fetch("/health", { cache: "no-store", signal: AbortSignal.timeout(secondsMax * 1000) });
        return answer.ok && (await answer.json()).status === "healthy";
    } catch {
        return false;
    }
}
