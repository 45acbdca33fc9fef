/** The host's JSON interface, as `docs/json.md` lists it. */

/**
 * @typedef {{url: string, timestamp: string, capturedAt: string, status?: number, mime?: string}} Capture
 * @typedef {{position: number, list: string, url: string, timestamp?: string, capturedAt?: string,
 *   title?: string}} Page
 * @typedef {{severity: "notice"|"warning"|"error", code: string, what: string, location?: string,
 *   consequence?: string}} Finding
 * @typedef {{id: string, title: string, size: number, pageCount?: number, captureCount?: number, collection: string,
 *   file: string, replayOrigin: string, mainPage?: {url: string, timestamp?: string}, findings?: Finding[],
 *   findingCounts?: {notice: number, warning: number, error: number}, verification?: string}} Archive
 */

/** What the host refused or could not do, in its own words. */
export class HostError extends Error {
    /**
     * @param {{code?: string, what?: string, where?: string, hint?: string}} error
     * @param {number} [status] of the answer; 0 when there was none
     */
    constructor({ code = "", what = "", where = "", hint = "" }, status = 0) {
        super(what);
        this.name = "HostError";
        this.code = code;
        this.what = what;
        this.where = where;
        this.hint = hint;
        this.status = status;
    }
}

export const serverAway = () => new HostError({
    code: "server-away",
    what: "the replayhost server does not answer",
    hint: "start it with `replayhost serve` and load this page again",
});

/**
 * Reads the host's error object out of an answer's body, if it is one.
 *
 * @param {string} body
 * @param {number} status
 * @returns {HostError}
 */
export function errorFrom(body, status) {
    try {
        const { error } = JSON.parse(body);
        if (error?.what) return new HostError(error, status);
    } catch {
        // Not our JSON: say what is known.
    }
    return new HostError({
        code: "unexpected-answer",
        what: `the server answered with status ${status}`,
        hint: "look at what `replayhost serve` printed",
    }, status);
}

/** @returns {string} the token that the host asks for with every change */
export function token() {
    return document.querySelector('meta[name="replayhost-token"]').content;
}

async function request(path, options = {}) {
    let answer;
    try {
        answer = await fetch(path, options);
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw serverAway();
    }
    if (!answer.ok) throw errorFrom(await answer.text(), answer.status);
    return answer;
}

const read = async (path, options) => (await request(path, options)).json();
const archivePath = (name) => `/api/archives/${encodeURIComponent(name)}`;

/** @returns {Promise<{version: string, engine: {name: string, version: string}|null}>} */
export const health = () => read("/api/health");

/** @returns {Promise<Archive[]>} */
export const archives = async () => (await read("/api/archives")).archives;

/**
 * @param {string} name an id, or an original file name without `.wacz`
 * @returns {Promise<Archive>}
 */
export const archive = (name) => read(archivePath(name));

/**
 * @param {string} id
 * @param {{offset?: number, limit?: number, words?: string, signal?: AbortSignal}} [choice]
 * @returns {Promise<{total: number, pages: Page[]}>}
 */
export function pages(id, { offset = 0, limit = 100, words = "", signal } = {}) {
    const query = `offset=${offset}&limit=${limit}&q=${encodeURIComponent(words)}`;
    return read(`${archivePath(id)}/pages?${query}`, { signal });
}

/**
 * @param {string} id
 * @param {string} url
 * @returns {Promise<Capture[]>} earliest first; empty when it was not captured
 */
export async function captures(id, url) {
    const query = `url=${encodeURIComponent(url.replace(/#.*$/s, ""))}&limit=100`;
    return (await read(`${archivePath(id)}/captures?${query}`)).captures;
}

/**
 * The capture that replay by lookups shows for an address: of another address too, where they differ in nothing that
 * matters.
 *
 * @param {string} id
 * @param {string} url
 * @param {string} timestamp the time wanted; empty for the latest
 * @returns {Promise<{url: string, timestamp: string, isReadable: boolean}|null>} nothing when it was not captured
 */
export async function nearestCapture(id, url, timestamp) {
    const start = `/c/${id}/${timestamp}ir_/`;
    const path = start + url.replace(/#.*$/s, "");
    // An address of dots leads elsewhere; none such is captured.
    if (!new URL(path, location.href).pathname.startsWith(start)) return null;
    let answer;
    try {
        answer = await fetch(path, { method: "HEAD", cache: "no-store" });
    } catch {
        throw serverAway();
    }
    if (answer.status === 404) return null;
    if (!answer.ok) throw errorFrom("", answer.status);
    // A capture that cannot be read has no place to name.
    const found = /^\/c\/[^/]+\/(\d{4,17})ir_\/(.+)$/s.exec(answer.headers.get("Content-Location") ?? "");
    return { timestamp: found?.[1] ?? timestamp, url: found?.[2] ?? url, isReadable: found !== null };
}

/**
 * @param {string} id
 * @returns {Promise<Response>}
 */
export function remove(id) {
    return request(archivePath(id), { method: "DELETE", headers: { "Replayhost-Token": token() } });
}
