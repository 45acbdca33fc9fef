/** The client of the capture server's JSON API. */
import { message as textOf } from "../app/core/i18n.js";
import { HostError } from "../app/core/request.js";
import { key } from "./connection.js";
import { saveFile } from "./save-file.js";
import { duration } from "./state-texts.js";

/**
 * @typedef {{percent: number|null, bytes: number|null, total: number|null, speed: number|null, eta: number|null}} Progress
 *   `speed` in bytes a second, `eta` in seconds
 * @typedef {{download_id: string, url: string, username: string, genre: string, submitted_at: string, completed_at: string|null,
 *   file_path: string|null, file_size: number|null, error_message: string|null, error_code: string|null,
 *   started_at: string|null,
 *   state: "queued"|"started"|"downloading"|"preview_ready"|"completed"|"failed"|"cancelled"|"aborted_by_system",
 *   stage: "analysing"|"fetching"|"merging"|"checking"|"storing"|null, title: string|null, service: string|null,
 *   progress: Progress|null, attempt: number, not_before: string|null, waiting_for: "tool"|"disk"|"retry"|"site"|"paused"|"limit"|null,
 *   archive: string|null, replay_url: string|null, quality_fallback: boolean, incomplete: string|null,
 *   replay_check: string|null, options?: Options}} Download `incomplete`: what is missing; `replay_check`: what was seen when the archive was replayed
 * @typedef {{name: string, version: string|null, path: string|null}} Tool `path`: `null` if it isn't installed
 * @typedef {{software?: string, library?: string|null, tools?: Tool[],
 *   queue?: {queued: number, running: number, waiting_for: "tool"|"disk"|"paused"|null}}} Health
 * @typedef {{mode?: "media"|"page", form?: "audio"|"video", height?: number, container?: string, audio_quality?: string,
 *   disposition?: "preview"}} Options
 * @typedef {{url: string, username?: string, options?: Options}} Order
 * @typedef {{server_name: string, lan: {url: string|null}, wan: {url: string|null}, fingerprint?: string|null}} Connection
 * @typedef {{q?: string, domain?: string, status?: string, since?: string, until?: string}} Filter of the history
 */

// The server's limit for one request.
const listMax = 100;
const secondsMax = 10;
const foreign = (status = 0) => new HostError({
    code: "foreign", what: textOf("capture.request.foreign"), hint: textOf("capture.request.foreign-hint"),
}, status);

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
export const isKeyNeeded = (error) => error instanceof HostError && error.status === 401 && error.code !== "foreign";

/** Reads the error object in the body of a response. */
function errorFrom(body, { status, headers }) {
    const later = status === 429 ? Number(headers.get("Retry-After")) : 0;
    const hint = later > 0 ? textOf("capture.request.later", { time: duration(later) }) : "";
    try {
        const { error, message, detail } = JSON.parse(body);
        const what = message || [detail].flat().map((part) => part?.msg ?? part).filter(Boolean).join("; ");
        if (what) return new HostError({ code: String(error ?? ""), what: String(what), hint }, status);
    } catch {
        // Not the API's JSON.
    }
    return foreign(status);
}

/**
 * @param {() => string} keyOf the key to send; empty for none
 * @returns {(method: string, path: string, options?: {body?: unknown, headers?: Object<string, string>, seconds?: number,
 *   isLeaving?: boolean}) => Promise<{value: any, headers: Headers}>} sends a request
 */
export const createRequest = (keyOf) => async function send(method, path, { body, headers = {}, seconds = secondsMax, isLeaving = false } = {}) {
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
            keepalive: isLeaving,
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
        throw foreign();
    }
};

const request = createRequest(key);
const valueOf = async (...call) => (await request(...call)).value;
const pathOf = (id) => `/download/${encodeURIComponent(id)}`;

/**
 * @returns {Promise<Health>}
 * @throws {HostError} with the code `foreign` if another program answers
 */
export async function health() {
    let value = null;
    try {
        value = await valueOf("GET", "/health");
    } catch (error) {
        if (isUnreachable(error) || error.status === 401 || error.status >= 500) throw error;
    }
    if (value?.status !== "healthy") throw foreign();
    return value;
}

/**
 * @param {number} count
 * @param {Filter} [filter]
 * @returns {Promise<{downloads: Download[], total: number}>} the newest first
 */
export async function history(count, filter = {}) {
    const downloads = new Map();
    let total = 0;
    for (let offset = 0; offset < count; offset += listMax) {
        const limit = Math.min(listMax, count - offset);
        const page = await historyPage(offset, limit, filter);
        for (const download of page.downloads) downloads.set(download.download_id, download);
        total = page.total;
        if (page.downloads.length < limit) break;
    }
    return { downloads: [...downloads.values()], total };
}

/**
 * @param {number} offset
 * @param {number} limit at most 100
 * @param {Filter} [filter]
 * @returns {Promise<{downloads: Download[], total: number}>} the newest first
 */
export async function historyPage(offset, limit, filter = {}) {
    const { value, headers } = await request("GET", `/history?${new URLSearchParams({ limit, offset, ...filter })}`);
    if (!Array.isArray(value)) throw foreign();
    return { downloads: value, total: Number(headers.get("X-Total-Count")) || offset + value.length };
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
 * @param {string} id
 * @returns {Promise<Download>}
 */
export const cancel = (id) => valueOf("POST", `${pathOf(id)}/cancel`, { body: {} });

/**
 * @param {string} id
 * @param {Options} [options] instead of those of the download
 * @returns {Promise<Download>}
 */
export const retry = (id, options) => valueOf("POST", `${pathOf(id)}/retry`, { body: options ? { options } : {} });

/**
 * Ends a preview. The server deletes its file.
 *
 * @param {string} id
 * @param {boolean} [isLeaving] whether the page is being closed
 */
export function closePreview(id, isLeaving = false) {
    return valueOf("POST", `${pathOf(id)}/preview/close`, { body: {}, isLeaving });
}

/** @returns {Promise<Connection>} */
export const connection = () => valueOf("GET", "/config/connection");

/**
 * Removes the downloads of a time from the list.
 *
 * @param {string} since RFC 3339
 * @param {string} until RFC 3339
 */
export const removeRange = (since, until) => valueOf("DELETE", `/history?${new URLSearchParams({ since, until })}`);

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
 * @returns {string} the path of the archive
 */
export const archivePath = (id) => `${pathOf(id)}/archive`;

/**
 * @param {string} id
 * @returns {Promise<string>} a URL of the file that works without the key, for players
 */
export const fileTicket = async (id) => (await valueOf("POST", `${pathOf(id)}/ticket`, { body: {} })).url;

/**
 * @param {string} id
 * @returns {Promise<{url: string, title: string|null, captured_at: string, text: string|null}>} what was saved of a page
 */
export const savedPage = (id) => valueOf("GET", `${pathOf(id)}/page`);

/**
 * @param {string} id
 * @returns {Promise<string>} the image of a saved page, as a `data:` URL
 */
export async function screenshot(id) {
    const reader = new FileReader();
    reader.readAsDataURL(await blob(`${pathOf(id)}/screenshot`));
    await new Promise((resolve) => reader.addEventListener("loadend", resolve));
    return reader.result;
}

/**
 * Saves a file that only a key opens. The browser collects it before it asks where to put it.
 *
 * @param {string} path
 * @param {string} name
 */
export const saveWithKey = async (path, name) => saveFile(await blob(path), name);

async function blob(path) {
    const headers = key() ? { Authorization: `Bearer ${key()}` } : {};
    const answer = await fetch(path, { headers, cache: "no-store" }).catch(() => {
        throw unreachable();
    });
    if (!answer.ok) throw errorFrom(await answer.text(), answer);
    return answer.blob();
}
