/** The client of the server's JSON API, which `docs/json.md` describes. */
import { change } from "./change.js";
import { withoutFragment } from "./fragments.js";
import { errorFrom, ofKind, path, read, request, serverUnavailable } from "./request.js";
import { capturesPath, isTooLong } from "./library-api.js";
import { encoded, encodedAll } from "./routes.js";

export { renewToken, token } from "./change.js";
export { HostError, errorFrom, serverUnavailable, startCommand } from "./request.js";
export * from "./library-api.js";

/**
 * @typedef {{url: string, request?: string, timestamp: string, capturedAt: string, status?: number, mime?: string,
 *   archive?: string, verification?: Code, uncovered?: boolean, contentArchive?: string,
 *   recorded?: {url?: string, status?: number, mime?: string}}} Capture `verification` and what follows: of a capture whose record was
 *   read. `uncovered`: the signature doesn't cover it; `recorded`: what the record says, where the index says something else
 * @typedef {{captures: Capture[], total: number, position: number, closest?: Capture}} CaptureList `position`: the
 *   number of captures before the listed ones; `closest`: the capture that replay shows for the requested time
 * @typedef {{position: number, list: "pages"|"extraPages"|"detected", url: string, timestamp?: string, capturedAt?: string,
 *   title?: string, archive?: string, copies?: number}} Page `copies`: pages with this URL, of which this is the newest
 * @typedef {{severity: "notice"|"warning"|"error", code: string, what: string, location?: string,
 *   consequence?: string, urls?: string[], urlCount?: number, total?: number}} Finding `urls`: the first captures or pages that it is
 *   about; `urlCount`: their number, if it's more; `total`: how many findings with its code there are, if it stands for others
 * @typedef {{kind: "archive", id: string, title: string, tags?: string[], notes?: string, size: number,
 *   availability?: "available"|"unavailable"|"changed"|"missing", linkedPath?: string, collections?: string[], pageCount?: number, pagesDetected?: boolean,
 *   captureCount?: number, replayCollection: string, file: string, replayOrigin?: string,
 *   mainPage?: {url: string, timestamp?: string}, thumbnail?: string, picturedPage?: string, findings?: Finding[],
 *   findingCounts?: {notice: number, warning: number, error: number}, verification?: Code, verificationSummary?: Summary,
 *   verificationReport?: Report, showsUncovered?: boolean,
 *   sources?: {title?: string, path?: string, sha256?: string, archive?: string}[], savedFrom?: string, savedTimes?: number,
 *   saved?: {url: string, user: string, incomplete?: string, replayCheck?: string}}} Archive `saved`: the URL that the capture server saved, what is missing, and what was seen when the archive was replayed
 * @typedef {{checked: number, failed: number, without: number}} Tally
 * @typedef {"signed"|"signed-anonymously"|"hashes-agree"|"partly"|"uncovered"|"signer-not-proven"|"records-differ"|"suspicious"|"unreplayable"
 *   |"invalid-signature"|"damaged"|"changed"|"not-verified"} Code what a verification found
 * @typedef {{code: Code, contents: Code, signer?: string, verifiedAt: string}} Summary `contents`: without the signature
 * @typedef {{summary: Summary, previous?: Summary,
 *   newFindings: string[], result: {files: Tally, dataPackage: Tally, records: Tally, captures: Tally,
 *   revisits: Tally, pages: Tally, unreadableRecords?: number, payloadDigests?: Object<string, number>}, signature?: Object<string, any>}} Report
 * @typedef {{kind: "collection", id: string, title: string, tags?: string[], notes?: string, size: number,
 *   members: (string|Archive)[], availability?: "available"|"partly"|"unavailable", pageCount?: number, captureCount?: number,
 *   replayCollection: string, replayOrigin?: string, mainPage?: {url: string, timestamp?: string},
 *   createdAt?: string}} Collection `members` are IDs in a list of collections
 * @typedef {{code: string, url: string, missing?: string, reasons: Object<string, any>[],
 *   offers: (Capture & {why: string})[], closest: Capture[]}} Explanation `docs/json.md` describes each reason
 * @typedef {{archive: string, archiveTitle: string, url: string, timestamp: string, title: string, type: string,
 *   snippet: {text: string, match?: boolean}[], language?: string, captures: number, years: number[],
 *   verification?: Code, verificationSummary?: Summary, originalName: string,
 *   otherArchives?: {id: string, title: string, originalName: string, verification?: Code, verificationSummary?: Summary}[]}} Hit
 * @typedef {{value: string, count: number, title?: string}} FacetCount
 * @typedef {{hits: Hit[], total: number, totalIsMinimum: boolean, next?: string, unknown: string[], invalidFilters: string[],
 *   coverage: {complete: number, pending: number, rebuildReason?: string}, facets?: {archives: FacetCount[],
 *   sites: FacetCount[], years: FacetCount[], types: FacetCount[], languages: FacetCount[], isPartial: boolean}}} Results
 * @typedef {{kind: "page"|"site"|"url"|"archive", text: string, url?: string, archive?: string,
 *   timestamp?: string}} Suggestion
 * @typedef {{url: string, timestamp: string, status?: number, type: string, mime?: string, method?: string,
 *   length?: number, archive?: string, captures?: number}} ListedURL
 * @typedef {"agrees"|"differs"|"without-digest"|"unreadable"} Comparison of a record with the digests in its header
 * @typedef {{url: string, timestamp: string, mime?: string, status?: number, digest?: string, file?: string, offset: number, length: number,
 *   isCompressed?: boolean, record?: [string, string][], http?: [string, string][], sha256?: string, digests?: Comparison,
 *   title?: string, problem?: string}} WARCRecord `file`:
 *   its WARC file in the ZIP; `problem`: why the record can't be read
 * @typedef {Capture & {asked?: string, match?: "other-form"|"similar", content?: Capture}} Part `asked`: the requested URL, if it differs;
 *   `match`: how; `content`: for a revisit, the capture whose content is shown
 * @typedef {{url: string, timestamp: string, source: string}} FoundCapture `source`: the ID of its archive
 * @typedef {{id: number, kind: "import"|"hash"|"text"|"verify", subject: string, archive?: string, reason?: string, done?: number,
 *   state: "waiting"|"running"|"paused"|"done"|"failed"|"cancelled", total?: number, attempt?: number,
 *   repeatable?: boolean, errorCode?: string, createdAt?: string}} Job
 * @typedef {{kind: Job["kind"], waiting: number, running: number, paused: number, failed: number, done: number,
 *   bytesDone: number, bytesTotal: number}} KindSummary `done`: since there was last nothing to do
 * @typedef {{title?: string, tags?: string[], notes?: string, showsUncovered?: boolean, members?: string[]}} Change
 * @typedef {{total: number, bytes: number, freeBytes?: number, tags: FacetCount[], sites: FacetCount[], years: FacetCount[],
 *   states: Record<string, number>,
 *   library: {archives: number, collections: number, bytes: number}}} Facets of the archives that a filter leaves
 */

/**
 * @returns {Promise<{version: string, engine: {name: string, version: string}|null, capture?: string|null}>} `capture`: the
 *   URL of the capture server, while it runs
 */
export const health = () => read("/api/health");

/** @returns {Promise<Archive[]>} */
export const archives = async () => (await read("/api/archives")).archives.map(ofKind("archive"));

/**
 * @param {string} title
 * @returns {Promise<{id: string, title: string, originalName?: string}[]>} the archives with exactly this title, as far as the first
 *   200 that have its words
 */
export const archivesTitled = async (title) =>
    (await read(`/api/archives?q=${encodeURIComponent(title)}&limit=200`)).archives.filter((one) => one.title === title);

/**
 * Opens the replay port of an archive or a collection, and keeps it open for some minutes.
 *
 * @param {import("./route-types.js").Target} target
 * @returns {Promise<string>} the replay origin
 */
export const openOrigin = async (target) => (await (await change("POST", `${path(target)}/origin`)).json()).replayOrigin;

/**
 * @param {import("./route-types.js").Target} target
 * @param {import("./route-types.js").PageFilter} [filter]
 * @param {{offset?: number, limit?: number, signal?: AbortSignal}} [part]
 * @returns {Promise<{total: number, pages: Page[]}>}
 */
export const pages = (target, filter = {}, { offset = 0, limit = 100, signal } = {}) =>
    read(`${path(target)}/pages?${encoded([...Object.entries(filter), ["offset", String(offset)], ["limit", String(limit)]])}`, { signal });

/**
 * @param {import("./route-types.js").Target} target
 * @param {"pages"|"urls"|"issues"} list
 * @param {Object<string, string|undefined>} filter as for the list
 * @param {"csv"|"json"} format
 * @returns {string} the URL of the whole list as a file
 */
export const listFile = (target, list, filter, format) => `${path(target)}/${list}?${encoded([...Object.entries(filter), ["format", format]])}`;

/**
 * @param {import("./route-types.js").Search} search
 * @param {"csv"|"json"} format
 * @returns {string} the URL of all hits as a file
 */
export const searchFile = ({ words, ...filters }, format) => `/api/search?${encoded([["q", words], ...Object.entries(filters), ["format", format]])}`;

/**
 * @param {import("./route-types.js").Target} target
 * @param {import("./route-types.js").URLFilter & {cursor?: string, collapse?: "url", limit?: number}} filter
 * @param {AbortSignal} [signal]
 * @returns {Promise<{urls: ListedURL[], next?: string}>} an empty list can have a `next`
 */
export const urls = (target, { limit = 100, ...filter }, signal) =>
    read(`${path(target)}/urls?${encoded(Object.entries({ ...filter, limit: String(limit) }))}`, { signal });

/**
 * @param {import("./route-types.js").Target} target
 * @param {{url: string, timestamp: string}} capture
 * @param {"id_"|"dl_"|"ir_"} [form] `dl_`: as a download; `ir_`: of redirects and errors, too
 * @returns {string} the path of the archived body, without changes; empty if the URL has no such path
 */
export function originalFile({ id }, { url, timestamp }, form = "id_") {
    const start = `/c/${encodeURIComponent(id)}/${timestamp}${form}/`;
    const address = start + url.replaceAll("#", "%23");
    // Dots at the start would resolve to another path.
    return URL.canParse(address, location.href) && new URL(address, location.href).pathname.startsWith(start) ? address : "";
}

/**
 * @param {string} id of an archive
 * @returns {Promise<import("../archive/counts.js").Counts>}
 */
export const counts = (id) => read(`${path({ kind: "archive", id })}/counts`);

/**
 * @param {import("./route-types.js").Search} search
 * @param {{limit?: number, cursor?: string, facets?: boolean, signal?: AbortSignal}} [part]
 * @returns {Promise<Results>}
 */
export function search({ words, ...filters }, { limit = 20, cursor, facets = false, signal } = {}) {
    const parameters = encoded(Object.entries({ ...filters, limit, cursor, facets }));
    return read(`/api/search?q=${encodeURIComponent(words)}&${parameters}`, { signal });
}

/**
 * @param {string} url can be a pattern, such as `example.org/*`, of which each URL is listed once
 * @param {number} limit
 * @param {AbortSignal} [signal]
 * @returns {Promise<FoundCapture[]>} in all archives, the latest first
 */
export async function capturesInLibrary(url, limit, signal) {
    const order = url.includes("*") ? { collapse: "urlkey" } : { sort: "reverse" };
    return indexLines("all", { url, limit, fields: "url,timestamp,source", ...order }, signal);
}

/**
 * @param {string} id of an archive
 * @param {{url: string, timestamp: string}} capture exactly as in the index
 * @param {("hashes"|"digests"|"title")[]} wanted extra fields: the SHA-256 of each record, whether it matches its digests, a document's title
 * @returns {Promise<WARCRecord[]>} without their bodies
 */
export const records = async (id, { url, timestamp }, ...wanted) =>
    (await read(`${path({ kind: "archive", id })}/records?${encoded([["url", url], ["ts", timestamp],
        ...wanted.map((name) => [name, "true"])])}`)).records;

/**
 * @param {string} typed
 * @param {AbortSignal} [signal]
 * @returns {Promise<Suggestion[]>}
 */
export const suggestions = async (typed, signal) =>
    (await read(`/api/suggest?${encoded([["q", typed], ["limit", "8"]])}`, { signal })).suggestions;

/**
 * @param {import("./route-types.js").Target} target
 * @param {string} url
 * @param {{closest?: string, before?: string, after?: string, limit?: number}} [part] timestamps: the captures
 *   around the closest one (the latest when empty), the last before, or the first after; without one, the first captures
 * @returns {Promise<CaptureList>} earliest first; empty when the URL wasn't captured
 */
export async function captures(target, url, part = {}) {
    if (isTooLong(url)) return { captures: [], total: 0, position: 0 };
    return read(capturesPath(target, url, part));
}

/**
 * @param {import("./route-types.js").Target} target
 * @param {string} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<{total: number, counts: {period: string, captures: number}[]}>} the days with captures of the URL, such as
 *   `2024-05-03`, in order
 */
export const capturesByDay = (target, url, signal) =>
    read(`${path(target)}/captures/histogram?${encoded([["url", withoutFragment(url)], ["by", "day"]])}`, { signal });

/**
 * @param {string} id of an archive or a collection, or `all`
 * @param {Object<string, string|number>} parameters of an index query, `docs/cdx.md`
 * @param {AbortSignal} [signal]
 * @returns {Promise<Object<string, string>[]>} the lines of the index
 */
export async function indexLines(id, parameters, signal) {
    const query = encodedAll(Object.entries({ ...parameters, output: "json" }));
    const lines = await (await request(`/c/${id}/cdx?${query}`, { signal })).text();
    return lines.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/**
 * @param {import("./route-types.js").Target} target
 * @param {Capture} page
 * @returns {string} the path of the captures that make up the page
 */
export const partsPath = (target, { url, timestamp }) => `${path(target)}/parts?${encoded([["url", url], ["ts", timestamp]])}`;

/**
 * @param {import("./route-types.js").Target} target
 * @param {Capture} page
 * @returns {Promise<{parts: Part[], missing: string[], isComplete: boolean}>} the captures that make up the page, earliest first, and
 *   requested URLs without a capture; `isComplete`: whether these are all requests of the page
 */
export const parts = (target, page) => read(partsPath(target, page));

/**
 * Returns why a URL can't be shown, and what can be opened instead.
 *
 * @param {import("./route-types.js").Target} target
 * @param {string} url
 * @param {string} timestamp the time wanted; empty for the latest
 * @returns {Promise<Explanation|null>} `null` for a URL that is too long to have been captured
 */
export async function explanation(target, url, timestamp) {
    if (isTooLong(url)) return null;
    return read(`${path(target)}/explain?url=${encodeURIComponent(url.replace(/#.*$/s, ""))}&ts=${timestamp}`);
}

/**
 * Returns the capture that replay by lookups shows for a URL, which can be a fuzzy match.
 *
 * @param {string} id
 * @param {string} url
 * @param {string} timestamp the time wanted; empty for the latest
 * @returns {Promise<{url: string, timestamp: string, isReadable: boolean, status: number}|null>} `status`: as in the record, if it's
 *   readable; `null` when nothing was captured
 */
export async function nearestCapture(id, url, timestamp) {
    const start = `/c/${id}/${timestamp}ir_/`;
    const address = start + url.replace(/#.*$/s, "");
    if (isTooLong(url)) return null;
    // Dots at the start would resolve to another path.
    if (!new URL(address, location.href).pathname.startsWith(start)) return null;
    let answer;
    try {
        answer = await fetch(address, { method: "HEAD", cache: "no-store" });
    } catch {
        throw serverUnavailable();
    }
    if (answer.status === 404) return null;
    if (!answer.ok) throw errorFrom("", answer.status);
    // The server sends no Content-Location for a capture that it can't read.
    const found = /^\/c\/[^/]+\/(\d{4,17})ir_\/(.+)$/s.exec(answer.headers.get("Content-Location") ?? "");
    // The server sends archived errors and redirects as 200 with this field.
    const status = Number(answer.headers.get("X-Redirect-Status") ?? answer.status);
    return { timestamp: found?.[1] ?? timestamp, url: found?.[2] ?? url, isReadable: found !== null, status };
}

/**
 * @param {import("./route-types.js").Target} target when it's a collection, its archives stay in the library
 * @param {{isLeaving?: boolean}} [choice] whether the request outlives this page
 * @returns {Promise<Response>}
 */
export const remove = (target, { isLeaving = false } = {}) => change("DELETE", path(target), undefined, { keepalive: isLeaving });

/**
 * @param {import("./route-types.js").Target} target
 * @param {Change} changes absent fields don't change; `members` only for a collection
 * @returns {Promise<Archive|Collection>} the result of the change
 */
export const edit = async (target, changes) =>
    ofKind(target.kind)(await (await change("PATCH", path(target), changes)).json());

/**
 * @param {{title: string, members: string[]}} wanted
 * @returns {Promise<Collection>}
 */
export const createCollection = async (wanted) => ofKind("collection")(await (await change("POST", "/api/collections", wanted)).json());

/**
 * @param {string[]} [states] all by default
 * @returns {Promise<Job[]>} at most 1,000
 */
export const jobs = async (states = []) =>
    (await read(`/api/jobs${states.length > 0 ? `?state=${states.join(",")}` : ""}`)).jobs;

/**
 * @param {number} id
 * @returns {Promise<Job>}
 */
export const job = (id) => read(`/api/jobs/${id}`);

/** @returns {Promise<KindSummary[]>} the jobs of each kind that has any to do, or failed ones */
export const jobSummary = async () => (await read("/api/jobs/summary")).kinds;

/**
 * @param {Job["kind"]} kind
 * @param {"pause"|"resume"|"cancel"} command
 * @returns {Promise<Response>}
 */
export const controlJobs = (kind, command) => change("POST", `/api/jobs/all/${command}?kind=${kind}`);

/**
 * Removes all failed jobs from the server's list.
 *
 * @returns {Promise<Response>}
 */
export const dismissFailures = () => change("DELETE", "/api/jobs?state=failed");

/**
 * Imports files and folders of the server's computer.
 *
 * @param {{paths: string[], link: boolean}} order absolute paths; `link`: leave the files where they are
 * @returns {Promise<Job[]>}
 */
export const importPaths = async (order) => (await (await change("POST", "/api/imports", order)).json()).jobs;

/**
 * @param {number} id
 * @param {"pause"|"resume"|"cancel"|"retry"} command
 * @returns {Promise<Response>}
 */
export const controlJob = (id, command) => change("POST", `/api/jobs/${id}/${command}`);

/**
 * Queues a verification.
 *
 * @param {Archive} archive
 * @returns {Promise<Response>} with the job
 */
export const verify = ({ id }) => change("POST", `${path({ kind: "archive", id })}/verify`);

/**
 * Prepares a file for download. The server stops if the signal is aborted.
 *
 * @param {Archive|Collection} item
 * @param {{kind?: "repaired"|"page"|"files", url?: string, timestamp?: string, type?: string, urls?: string[]}} order empty for a collection
 * @param {AbortSignal} signal
 * @returns {Promise<{url: string, name: string, size: number, result: {page?: {url: string, timestamp: string, capturedAt?: string}, captureCount?: number, pageCount?: number, fileCount?: number,
 *   changes: string[], missing: string[], findings: Finding[]}}>}
 */
export const prepareExport = async (item, order, signal) => (await change("POST", `${path(item)}/exports`, order, { signal })).json();

/**
 * Removes a finished job from the server's list.
 *
 * @param {number} id
 * @returns {Promise<Response>}
 */
export const dismissJob = (id) => change("DELETE", `/api/jobs/${id}`);
