/** The host's JSON interface, as `docs/json.md` lists it. */

/**
 * @typedef {{url: string, request?: string, timestamp: string, capturedAt: string, status?: number, mime?: string,
 *   archive?: string}} Capture
 * @typedef {{captures: Capture[], total: number, position: number, closest?: Capture}} CaptureList `position`: how many
 *   captures are earlier than those listed; `closest`: the one that replay shows for the time that was asked for
 * @typedef {{position: number, list: string, url: string, timestamp?: string, capturedAt?: string,
 *   title?: string, archive?: string}} Page
 * @typedef {{severity: "notice"|"warning"|"error", code: string, what: string, location?: string,
 *   consequence?: string}} Finding
 * @typedef {{kind: "archive", id: string, title: string, tags?: string[], notes?: string, size: number,
 *   availability?: "available"|"unavailable"|"changed"|"missing", linkedPath?: string, collections?: string[], pageCount?: number,
 *   captureCount?: number, replayCollection: string, file: string, replayOrigin?: string,
 *   mainPage?: {url: string, timestamp?: string}, findings?: Finding[],
 *   findingCounts?: {notice: number, warning: number, error: number}, verification?: string}} Archive
 * @typedef {{kind: "collection", id: string, title: string, tags?: string[], notes?: string, size: number,
 *   members: (string|Archive)[], availability?: "available"|"partly"|"unavailable", pageCount?: number, captureCount?: number,
 *   replayCollection: string, replayOrigin?: string, mainPage?: {url: string, timestamp?: string},
 *   createdAt?: string}} Collection members are ids in a list of collections
 * @typedef {{id: number, kind: "import"|"hash", subject: string, archive?: string, reason?: string, done?: number,
 *   state: "waiting"|"running"|"paused"|"done"|"failed"|"cancelled", total?: number, attempt?: number}} Job
 * @typedef {{title?: string, tags?: string[], notes?: string, members?: string[]}} Change
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
    code: "server-unavailable",
    what: "the replayhost server does not answer",
    hint: "start it again, for example with `replayhost serve`, and try again",
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

async function request(address, options = {}) {
    let answer;
    try {
        answer = await fetch(address, options);
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw serverAway();
    }
    if (!answer.ok) throw errorFrom(await answer.text(), answer.status);
    return answer;
}

// The server doesn't look up longer URLs (414).
const urlBytesMax = 16_384;
const isTooLong = (url) => url.length > urlBytesMax || new TextEncoder().encode(url).length > urlBytesMax;

const read = async (address, options) => (await request(address, options)).json();
const path = ({ kind, id }) => `/api/${kind === "collection" ? "collections" : "archives"}/${encodeURIComponent(id)}`;
const ofKind = (kind) => (thing) => ({ ...thing, kind });

/** A request that changes something. */
async function change(method, address, body) {
    const send = () => {
        const headers = { "Replayhost-Token": token() };
        if (body !== undefined) headers["Content-Type"] = "application/json";
        return request(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    };
    try {
        return await send();
    } catch (error) {
        if (error.status !== 403 || !await renewToken()) throw error;
        return send();
    }
}

/** A host that was started again has another token: this page may read it, since it is the host's own. */
async function renewToken() {
    const page = await (await request("/", { cache: "no-store" })).text();
    const now = /<meta name="replayhost-token" content="([0-9a-f]+)">/.exec(page)?.[1] ?? token();
    const isOther = now !== token();
    document.querySelector('meta[name="replayhost-token"]').content = now;
    return isOther;
}

/** @returns {Promise<{version: string, engine: {name: string, version: string}|null}>} */
export const health = () => read("/api/health");

/** @returns {Promise<Archive[]>} */
export const archives = async () => (await read("/api/archives")).archives.map(ofKind("archive"));

/** @returns {Promise<Collection[]>} members as ids */
export const collections = async () => (await read("/api/collections")).collections.map(ofKind("collection"));

/**
 * @param {import("./routes.js").Place} place of an archive, the id or an original file name without `.wacz`
 * @returns {Promise<Archive|Collection>}
 */
export const details = async (place) => ofKind(place.kind)(await read(path(place)));

/**
 * Opens the port on which an archive or a collection is replayed, and keeps it open for some minutes.
 *
 * @param {import("./routes.js").Place} place
 * @returns {Promise<string>} the origin there
 */
export const openOrigin = async (place) => (await (await change("POST", `${path(place)}/origin`)).json()).replayOrigin;

/**
 * @param {import("./routes.js").Place} place
 * @param {{offset?: number, limit?: number, words?: string, signal?: AbortSignal}} [choice]
 * @returns {Promise<{total: number, pages: Page[]}>}
 */
export function pages(place, { offset = 0, limit = 100, words = "", signal } = {}) {
    const query = `offset=${offset}&limit=${limit}&q=${encodeURIComponent(words)}`;
    return read(`${path(place)}/pages?${query}`, { signal });
}

/**
 * @param {import("./routes.js").Place} place
 * @param {string} url
 * @param {{closest?: string, before?: string, after?: string, limit?: number}} [part] timestamps: those around the
 *   closest one (around the latest when empty), the last before, the first after; without any of them the first
 * @returns {Promise<CaptureList>} earliest first; empty when it was not captured
 */
export async function captures(place, url, part = {}) {
    if (isTooLong(url)) return { captures: [], total: 0, position: 0 };
    const query = new URLSearchParams({ url: url.replace(/#.*$/s, ""), limit: 100, ...part });
    return read(`${path(place)}/captures?${query}`);
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
    const address = start + url.replace(/#.*$/s, "");
    if (isTooLong(url)) return null;
    // An address of dots leads elsewhere; none such is captured.
    if (!new URL(address, location.href).pathname.startsWith(start)) return null;
    let answer;
    try {
        answer = await fetch(address, { method: "HEAD", cache: "no-store" });
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
 * @param {import("./routes.js").Place} place an archive, or a collection, whose archives stay
 * @returns {Promise<Response>}
 */
export const remove = (place) => change("DELETE", path(place));

/**
 * @param {import("./routes.js").Place} place
 * @param {Change} changes what is absent stays as it is; `members` only of a collection
 * @returns {Promise<Archive|Collection>} as it is then
 */
export const edit = async (place, changes) =>
    ofKind(place.kind)(await (await change("PATCH", path(place), changes)).json());

/**
 * @param {{title: string, members: string[]}} wanted
 * @returns {Promise<Collection>}
 */
export const makeCollection = async (wanted) => ofKind("collection")(await (await change("POST", "/api/collections", wanted)).json());

/** @returns {Promise<Job[]>} */
export const jobs = async () => (await read("/api/jobs")).jobs;

/**
 * @param {number} id
 * @param {"pause"|"resume"|"cancel"|"retry"} command
 * @returns {Promise<Response>}
 */
export const steerJob = (id, command) => change("POST", `/api/jobs/${id}/${command}`);

/**
 * Has the server forget a job that is over.
 *
 * @param {number} id
 * @returns {Promise<Response>}
 */
export const dismissJob = (id) => change("DELETE", `/api/jobs/${id}`);
