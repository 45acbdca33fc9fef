/** The client of the capture server's JSON API. */
import { message as textOf } from "/app/core/i18n.js";
import { HostError } from "/app/core/request.js";
import { key } from "./connection.js";
import { duration } from "./state-texts.js";

/**
 * @typedef {{percent: number|null, bytes: number|null, total: number|null, speed: number|null, eta: number|null}} Progress
 *   `speed` in bytes a second, `eta` in seconds
 * @typedef {{download_id: string, url: string, username: string, genre: string, submitted_at: string, completed_at: string|null,
 *   file_path: string|null, file_size: number|null, error_message: string|null, error_code: string|null,
 *   state: "queued"|"started"|"downloading"|"completed"|"failed"|"cancelled"|"aborted_by_system",
 *   stage: "analysing"|"fetching"|"merging"|"checking"|"storing"|null, title: string|null, service: string|null,
 *   progress: Progress|null, attempt: number, not_before: string|null, waiting_for: "tool"|"disk"|"retry"|"site"|"paused"|null,
 *   archive: string|null, replay_url: string|null, quality_fallback: boolean, incomplete: string|null,
 *   replay_check: string|null, options?: {mode?: "media"|"page"}}} Download `incomplete`: what is missing; `replay_check`: what was seen when the archive was replayed
 * @typedef {{name: string, version: string|null, path: string|null}} Tool `path`: `null` if it isn't installed
 * @typedef {{software?: string, library?: string|null, tools?: Tool[],
 *   queue?: {queued: number, running: number, waiting_for: "tool"|"disk"|"paused"|null}}} Health
 * @typedef {{url: string, username?: string, options?: {mode?: "media"|"page", form?: "audio", height?: number, container?: string,
 *   audio_quality?: string}}} Order
 */

// The server's limit for one request.
const listMax = 100;
const secondsMax = 10;

const unreachable = () => new HostError({
    code: "server-unavailable",
    what: textOf("capture.page.stopped"),
    hint: textOf("capture.request.stopped-hint"),
});

/**
 * @param {unknown} error
 * @returns {boolean} whether the server didn't respond
 */
export const isUnreachable = (error) => error instanceof HostError && error.code === "server-unavailable";

/**
 * @param {unknown} error
 * @returns {boolean} whether the server wants a key, or another one
 */
export const isKeyNeeded = (error) => error instanceof HostError && error.status === 401;

/** Reads the error object in the body of a response. */
function errorFrom(body, { status, headers }) {
    const later = status === 429 ? Number(headers.get("Retry-After")) : 0;
    const hint = later > 0 ? textOf("capture.request.later", { time: duration(later) }) : "";
    try {
        const { error, message, detail } = JSON.parse(body);
        const what = message || [detail].flat().map((part) => part?.msg ?? part).filter(Boolean).join("; ");
        if (what) return new HostError({ code: String(error ?? ""), what: String(what), hint }, status);
    } catch {
        // Not the API's JSON: the status is all that's known.
    }
    return new HostError({ code: "unexpected-answer", what: textOf("capture.request.status", { status: String(status) }), hint }, status);
}

/**
 * @param {() => string} keyOf the key to send; empty for none
 * @returns {(method: string, path: string, options?: {body?: unknown, headers?: Object<string, string>, seconds?: number}) =>
 *   Promise<{value: any, headers: Headers}>} sends a request
 */
export const createRequest = (keyOf) => async function send(method, path, { body, headers = {}, seconds = secondsMax } = {}) {
    let answer;
    let text;
    const fields = { ...headers };
    if (keyOf()) fields.Authorization = `Bearer ${keyOf()}`;
    if (body !== undefined) fields["Content-Type"] = "application/json";
    try {
        answer = await fetch(path, {
            method,
            headers: fields,
            body: body === undefined ? undefined : JSON.stringify(body),
            cache: "no-store",
            signal: AbortSignal.timeout(seconds * 1000),
        });
        text = await answer.text();
    } catch {
        throw unreachable();
    }
    if (!answer.ok) throw errorFrom(text, answer);
    try {
        return { value: JSON.parse(text), headers: answer.headers };
    } catch {
        throw new HostError({ code: "unexpected-answer", what: textOf("capture.request.invalid") }, answer.status);
    }
};

const request = createRequest(key);
const valueOf = async (...call) => (await request(...call)).value;
const pathOf = (id) => `/download/${encodeURIComponent(id)}`;

/** @returns {Promise<Health>} */
export const health = () => valueOf("GET", "/health");

/**
 * @param {number} count
 * @returns {Promise<{downloads: Download[], total: number}>} the newest first
 */
export async function history(count) {
    const downloads = new Map();
    let total = 0;
    for (let offset = 0; offset < count; offset += listMax) {
        const limit = Math.min(listMax, count - offset);
        const { value, headers } = await request("GET", `/history?limit=${limit}&offset=${offset}`);
        for (const download of value) downloads.set(download.download_id, download);
        total = Number(headers.get("X-Total-Count")) || downloads.size;
        if (value.length < limit) break;
    }
    return { downloads: [...downloads.values()], total };
}

/**
 * @param {string} id
 * @returns {Promise<Download|null>} `null` when it was removed
 */
export async function status(id) {
    try {
        return await valueOf("GET", `/status/${encodeURIComponent(id)}`);
    } catch (error) {
        if (error.status === 404) return null;
        throw error;
    }
}

/**
 * @param {Order} order
 * @param {string} key the server answers a repeated request with the same key with the same download
 * @returns {Promise<{download_id: string}>}
 */
export const save = (order, key) => valueOf("POST", "/download", { body: order, headers: { "Idempotency-Key": key } });

/**
 * @param {string} id
 * @returns {Promise<Download>}
 */
export const cancel = (id) => valueOf("POST", `${pathOf(id)}/cancel`, { body: {} });

/**
 * @param {string} id
 * @returns {Promise<Download>}
 */
export const retry = (id) => valueOf("POST", `${pathOf(id)}/retry`, { body: {} });

/**
 * Removes a download from the list.
 *
 * @param {string} id
 * @param {{archive: boolean, file: boolean}} also what to delete with it
 */
export function remove(id, { archive, file }) {
    return valueOf("DELETE", `/history/${encodeURIComponent(id)}?archive=${archive}&file=${file}`);
}

/**
 * @param {string} id
 * @param {number} offset
 * @param {number} limit
 * @returns {Promise<{total: number, offset: number, lines: string[]}>}
 */
export const log = (id, offset, limit) => valueOf("GET", `${pathOf(id)}/log?offset=${offset}&limit=${limit}`);

/**
 * @param {string} id
 * @returns {string} the path of the file
 */
export const filePath = (id) => `${pathOf(id)}/file`;

/**
 * @param {string} id
 * @returns {Promise<string>} a URL of the file that works without the key, for players
 */
export const fileTicket = async (id) => (await valueOf("POST", `${pathOf(id)}/ticket`, { body: {} })).url;
