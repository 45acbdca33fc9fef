/** Reads and makes the URLs of the app, which `route-types.js` lists. */

const hint = "use a path such as /archives/NAME.wacz";
/** The filters of a search, in the order in which they're shown. */
export const searchFilters = ["in", "collection", "site", "type", "lang", "after", "before"];
const libraryFilters = ["q", "site", "year", "saved", "state", "sort", "as"];
/** The views of an archive or collection, and what each is filtered by. A report can be that of a page. */
const tabFilters = {
    overview: [],
    pages: ["q", "sort", "after", "before", "collapse"],
    urls: ["q", "match", "type", "status", "method", "after", "before", "sort"],
    files: ["type"],
    timeline: ["after", "before"],
    details: [],
    archives: [],
    report: ["page", "ts"],
};

/**
 * Returns the name of the archive at a path or URL of this server.
 *
 * @param {string} address `/archives/NAME.wacz`, or an absolute URL
 * @param {Location|URL} base
 * @returns {string}
 * @throws {Error} when it isn't the URL of an archive on this server
 */
export function archiveName(address, base) {
    if (typeof address !== "string" || address === "") {
        throw new Error(`no archive given; ${hint}`);
    }
    let url;
    try {
        url = new URL(address, base.href);
    } catch {
        throw new Error(`"${address}" isn't a valid URL; ${hint}`);
    }
    if (url.protocol !== base.protocol || url.port !== base.port || !isControlHost(url.hostname)) {
        throw new Error(`"${address}" is on another host; only archives in this library (${base.host}) can be opened`);
    }
    const match = /^\/archives\/([^/]+)\.wacz$/.exec(url.pathname);
    if (!match) {
        throw new Error(`"${address}" isn't the path of an archive; ${hint}`);
    }
    try {
        return decodeURIComponent(match[1]);
    } catch {
        throw new Error(`"${address}" contains a percent sign without two hexadecimal digits after it`);
    }
}

function isControlHost(name) {
    return ["localhost", "replayhost.localhost", "127.0.0.1", "[::1]"].includes(name);
}

/**
 * @param {Location} page
 * @returns {import("./route-types.js").LibraryRoute|import("./route-types.js").SearchRoute|{kind: "activity"|"settings"}|import("./route-types.js").TargetRoute|import("./route-types.js").UnknownRoute}
 */
export function readRoute(page) {
    const query = new URLSearchParams(page.search);
    const fragment = new URLSearchParams(page.hash.slice(1));
    // Version 0.1.0 called collections groups.
    const [archive, collection] = [query.get("archive"), query.get("collection") ?? query.get("group")];
    if (archive === null && collection === null) {
        const view = ["activity", "settings"].find((name) => fragment.has(name));
        if (view) return { kind: view };
        if (fragment.has("search")) return { kind: "search", search: { words: fragment.get("search"), ...chosen(fragment, searchFilters) } };
        return { kind: "library", filter: { ...chosen(fragment, libraryFilters), tag: fragment.getAll("tag").filter(Boolean) } };
    }
    const kind = archive === null ? "collection" : "archive";
    let name;
    try {
        name = archive === null ? collectionName(collection) : archiveName(archive, page);
    } catch (error) {
        return { kind: "unknown", reason: error.message };
    }
    const time = (parameter) => (fragment.get(parameter) ?? "").replace(/\D/g, "").slice(0, 17);
    const url = fragment.get("url");
    if (url) return { kind, name, view: "page", url, timestamp: time("ts"), ...chosen(fragment, ["words"]) };
    const compared = fragment.get("compare");
    if (compared) {
        const as = ["pages", "source"].find((way) => way === fragment.get("as")) ?? "text";
        return { kind, name, view: "compare", url: compared, a: time("a"), b: time("b"), as };
    }
    const view = fragment.get("view");
    if (!Object.hasOwn(tabFilters, view ?? "")) return { kind, name, view: "main" };
    return { kind, name, view, filter: chosen(fragment, tabFilters[view]) };
}

/** Returns the parameters that have a value. */
function chosen(fragment, names) {
    return Object.fromEntries(names.map((name) => [name, fragment.get(name)]).filter(([, value]) => value));
}

function collectionName(id) {
    if (/^[a-z0-9-]{1,63}$/.test(id)) return id;
    throw new Error(`"${id}" isn't a valid collection ID; use a to z, 0 to 9 and hyphens`);
}

/**
 * @param {Location} page
 * @returns {""|"lookups"|"ranges"} the replay mode in the URL
 */
export function chosenMode(page) {
    const mode = new URLSearchParams(page.search).get("replay");
    return mode === "lookups" || mode === "ranges" ? mode : "";
}

/**
 * @param {import("./route-types.js").Target} target
 * @returns {string}
 */
export function mainURL({ kind, id }) {
    const mode = chosenMode(location);
    const name = encodeURIComponent(id);
    return `/?${kind === "collection" ? `collection=${name}` : `archive=/archives/${name}.wacz`}${mode ? `&replay=${mode}` : ""}`;
}

/**
 * @param {import("./route-types.js").Target} target
 * @param {import("./route-types.js").TargetTab} [tab]
 * @param {Object<string, string|undefined>} [filter]
 * @returns {string} the page of an archive or a collection
 */
export function tabURL(target, tab = "overview", filter = {}) {
    const parameters = encoded(Object.entries(filter));
    return `${mainURL(target)}#view=${tab}${parameters && `&${parameters}`}`;
}

/**
 * @param {import("./route-types.js").LibraryFilter} filter
 * @returns {string} the library
 */
export function libraryURL({ tag = [], ...filter }) {
    const parameters = encoded([...libraryFilters.map((name) => [name, filter[name]]), ...tag.map((one) => ["tag", one])]);
    return `/#${parameters}`;
}

/**
 * @param {import("./route-types.js").Search} search
 * @returns {string}
 */
export function searchURL({ words, ...filters }) {
    const parameters = encoded(searchFilters.map((name) => [name, filters[name]]));
    // An unpaired surrogate can't be encoded.
    const wellFormed = words.replace(/\p{Surrogate}/gu, "\ufffd");
    return `/#search=${encodeURIComponent(wellFormed)}${parameters && `&${parameters}`}`;
}

/**
 * @param {[string, string|undefined][]} parameters
 * @returns {string} those with a value, percent-encoded
 */
export const encoded = (parameters) => encodedAll(parameters.filter(([, value]) => value));

/**
 * @param {[string, string|number][]} parameters
 * @returns {string} also those that are empty, percent-encoded
 */
export function encodedAll(parameters) {
    // The API doesn't read a plus sign as a space.
    return new URLSearchParams(parameters).toString().replaceAll("+", "%20");
}

/**
 * @param {import("./route-types.js").Target} target
 * @param {string} url as captured
 * @param {string} [timestamp]
 * @returns {string}
 */
export function pageURL(target, url, timestamp = "") {
    return `${mainURL(target)}#url=${encodeURIComponent(url)}&ts=${timestamp}`;
}

/**
 * @param {import("./route-types.js").Target} target
 * @param {string} url as captured
 * @param {{a?: string, b?: string, as?: "pages"|"text"|"source"}} choice the times of two captures, and what is compared
 * @returns {string} the comparison of the two captures
 */
export const compareURL = (target, url, { a = "", b = "", as = "text" }) =>
    `${mainURL(target)}#compare=${encodeURIComponent(url)}&a=${a}&b=${b}&as=${as}`;
