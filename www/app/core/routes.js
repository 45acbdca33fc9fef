/**
 * The URLs of the app, all with the path `/`:
 *
 *     /                                              the library
 *     /#tag=TAG                                      the library, filtered by a tag
 *     /#search=WORDS&in=ID&site=HOST&type=pdf        search results; also collection, lang, after and before
 *     /?archive=/archives/NAME.wacz                  an archive's main page in the viewer
 *     /?archive=/archives/NAME.wacz#view=pages       an archive's own page
 *     /?archive=/archives/NAME.wacz#view=urls&q=TEXT its list of URLs; also match, type, status, method, after and before
 *     /?archive=/archives/NAME.wacz#url=URL&ts=TIME  a capture in the viewer
 *     /?collection=ID                                a collection, with the same views
 *
 * `&replay=ranges` or `&replay=lookups` after the archive sets the replay mode. It's kept in the URLs that are made from
 * there. A collection always replays by lookups.
 */

/**
 * @typedef {{kind: "archive"|"collection", id: string}} Target an archive or a collection, which replays on its own origin
 * @typedef {{kind: "library", tag: string}} LibraryRoute
 * @typedef {{words: string, in?: string, collection?: string, site?: string, type?: string, lang?: string,
 *   after?: string, before?: string}} Search values with commas are lists of alternatives
 * @typedef {{kind: "search", search: Search}} SearchRoute
 * @typedef {{q?: string, match?: string, type?: string, status?: string, method?: string, after?: string,
 *   before?: string}} URLFilter
 * @typedef {{kind: "archive"|"collection", name: string, view: "main"|"pages"|"urls"|"page", url?: string,
 *   timestamp?: string, filter?: URLFilter}} TargetRoute
 * @typedef {{kind: "unknown", reason: string}} UnknownRoute
 */

/** The filters of a search, in the order in which they're shown. */
export const searchFilters = ["in", "collection", "site", "type", "lang", "after", "before"];
const urlFilters = ["q", "match", "type", "status", "method", "after", "before"];

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
        throw new Error("no archive given; use a path such as /archives/NAME.wacz");
    }
    let url;
    try {
        url = new URL(address, base.href);
    } catch {
        throw new Error(`"${address}" isn't a valid URL; use a path such as /archives/NAME.wacz`);
    }
    if (url.protocol !== base.protocol || url.port !== base.port || !isControlHost(url.hostname)) {
        throw new Error(`"${address}" is on another host; only archives in this library (${base.host}) can be opened`);
    }
    const match = /^\/archives\/([^/]+)\.wacz$/.exec(url.pathname);
    if (!match) {
        throw new Error(`"${address}" isn't the path of an archive; use a path such as /archives/NAME.wacz`);
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
 * @returns {LibraryRoute|SearchRoute|TargetRoute|UnknownRoute}
 */
export function readRoute(page) {
    const query = new URLSearchParams(page.search);
    const fragment = new URLSearchParams(page.hash.slice(1));
    // Version 0.1.0 called collections groups.
    const [archive, collection] = [query.get("archive"), query.get("collection") ?? query.get("group")];
    if (archive === null && collection === null) {
        return fragment.has("search")
            ? { kind: "search", search: { words: fragment.get("search"), ...chosen(fragment, searchFilters) } }
            : { kind: "library", tag: fragment.get("tag") ?? "" };
    }
    const kind = archive === null ? "collection" : "archive";
    let name;
    try {
        name = archive === null ? collectionName(collection) : archiveName(archive, page);
    } catch (error) {
        return { kind: "unknown", reason: error.message };
    }
    const url = fragment.get("url");
    if (url) {
        const timestamp = (fragment.get("ts") ?? "").replace(/\D/g, "").slice(0, 17);
        return { kind, name, view: "page", url, timestamp };
    }
    if (fragment.get("view") === "urls") return { kind, name, view: "urls", filter: chosen(fragment, urlFilters) };
    return { kind, name, view: fragment.get("view") === "pages" ? "pages" : "main" };
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
 * @param {Target} target
 * @returns {string}
 */
export function mainURL({ kind, id }) {
    const mode = chosenMode(location);
    const name = encodeURIComponent(id);
    return `/?${kind === "collection" ? `collection=${name}` : `archive=/archives/${name}.wacz`}${mode ? `&replay=${mode}` : ""}`;
}

/**
 * @param {Target} target
 * @returns {string}
 */
export function pagesURL(target) {
    return `${mainURL(target)}#view=pages`;
}

/**
 * @param {Target} target
 * @param {URLFilter} [filter]
 * @returns {string}
 */
export function urlsURL(target, filter = {}) {
    const parameters = encoded(Object.entries(filter));
    return `${mainURL(target)}#view=urls${parameters && `&${parameters}`}`;
}

/**
 * @param {Search} search
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
export function encoded(parameters) {
    // The API doesn't read a plus sign as a space.
    return new URLSearchParams(parameters.filter(([, value]) => value)).toString().replaceAll("+", "%20");
}

/**
 * @param {Target} target
 * @param {string} url as captured
 * @param {string} [timestamp]
 * @returns {string}
 */
export function pageURL(target, url, timestamp = "") {
    return `${mainURL(target)}#url=${encodeURIComponent(url)}&ts=${timestamp}`;
}

/**
 * @param {string} tag
 * @returns {string} the library, filtered by this tag
 */
export function tagURL(tag) {
    return `/#tag=${encodeURIComponent(tag)}`;
}
