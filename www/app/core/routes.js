/**
 * The addresses of the application, all of them on `/`:
 *
 *     /                                              the library
 *     /#tag=TAG                                      what has that tag in it
 *     /?archive=/archives/NAME.wacz                  an archive at its main page
 *     /?archive=/archives/NAME.wacz#view=pages       what is in the archive
 *     /?archive=/archives/NAME.wacz#url=URL&ts=TIME  the viewer at that page
 *     /?collection=ID                                     a collection, with the same three views: it has no file of its own
 *
 * `&replay=ranges` or `&replay=lookups` behind the archive chooses the way to replay, and stays on the addresses that
 * are made while it is there. A collection is replayed by lookups only.
 */

/**
 * @typedef {{kind: "archive"|"collection", id: string}} Place what is replayed on one origin
 * @typedef {{kind: "library", tag: string}} LibraryRoute
 * @typedef {{kind: "archive"|"collection", name: string, view: "main"|"pages"|"page", url?: string,
 *   timestamp?: string}} PlaceRoute
 * @typedef {{kind: "unknown", reason: string}} UnknownRoute
 */

/**
 * The archive's name in a path or an address of this host.
 *
 * @param {string} address `/archives/NAME.wacz`, or an absolute URL of this host
 * @param {Location|URL} here
 * @returns {string}
 * @throws {Error} that says what is wrong with the address
 */
export function archiveName(address, here) {
    if (typeof address !== "string" || address === "") {
        throw new Error("no archive given; needed is a path such as /archives/NAME.wacz");
    }
    let url;
    try {
        url = new URL(address, here.href);
    } catch {
        throw new Error(`"${address}" is not an address; needed is a path such as /archives/NAME.wacz`);
    }
    if (url.protocol !== here.protocol || url.port !== here.port || !isControlHost(url.hostname)) {
        throw new Error(`"${address}" is on another host; only archives of this library (${here.host}) can be opened`);
    }
    const match = /^\/archives\/([^/]+)\.wacz$/.exec(url.pathname);
    if (!match) {
        throw new Error(`"${address}" names no archive; needed is a path such as /archives/NAME.wacz`);
    }
    try {
        return decodeURIComponent(match[1]);
    } catch {
        throw new Error(`"${address}" has a percent sign that is followed by no two hexadecimal digits`);
    }
}

function isControlHost(name) {
    return ["localhost", "replayhost.localhost", "127.0.0.1", "[::1]"].includes(name);
}

/**
 * @param {Location} here
 * @returns {LibraryRoute|PlaceRoute|UnknownRoute}
 */
export function readRoute(here) {
    const query = new URLSearchParams(here.search);
    const fragment = new URLSearchParams(here.hash.slice(1));
    // Links of version 0.1.0 say `group`.
    const [archive, collection] = [query.get("archive"), query.get("collection") ?? query.get("group")];
    if (archive === null && collection === null) return { kind: "library", tag: fragment.get("tag") ?? "" };
    const kind = archive === null ? "collection" : "archive";
    let name;
    try {
        name = archive === null ? collectionName(collection) : archiveName(archive, here);
    } catch (error) {
        return { kind: "unknown", reason: error.message };
    }
    const url = fragment.get("url");
    if (url) {
        const timestamp = (fragment.get("ts") ?? "").replace(/\D/g, "").slice(0, 17);
        return { kind, name, view: "page", url, timestamp };
    }
    return { kind, name, view: fragment.get("view") === "pages" ? "pages" : "main" };
}

function collectionName(id) {
    if (/^[a-z0-9-]{1,63}$/.test(id)) return id;
    throw new Error(`"${id}" is no id of a collection; needed are characters a to z, 0 to 9 and hyphens`);
}

/**
 * @param {Location} here
 * @returns {""|"lookups"|"ranges"} the way to replay that the address chooses
 */
export function chosenWay(here) {
    const way = new URLSearchParams(here.search).get("replay");
    return way === "lookups" || way === "ranges" ? way : "";
}

/**
 * @param {Place} place
 * @returns {string}
 */
export function mainAddress({ kind, id }) {
    const way = chosenWay(location);
    const name = encodeURIComponent(id);
    return `/?${kind === "collection" ? `collection=${name}` : `archive=/archives/${name}.wacz`}${way ? `&replay=${way}` : ""}`;
}

/**
 * @param {Place} place
 * @returns {string}
 */
export function pagesAddress(place) {
    return `${mainAddress(place)}#view=pages`;
}

/**
 * @param {Place} place
 * @param {string} url as captured
 * @param {string} [timestamp]
 * @returns {string}
 */
export function pageAddress(place, url, timestamp = "") {
    return `${mainAddress(place)}#url=${encodeURIComponent(url)}&ts=${timestamp}`;
}

/**
 * @param {string} tag
 * @returns {string} the library, of which only what has this tag is shown
 */
export function tagAddress(tag) {
    return `/#tag=${encodeURIComponent(tag)}`;
}
