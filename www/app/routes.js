/**
 * The addresses of the application, all of them on `/`:
 *
 *     /                                              the library
 *     /?archive=/archives/NAME.wacz                  an archive at its main page
 *     /?archive=/archives/NAME.wacz#view=pages       what is in the archive
 *     /?archive=/archives/NAME.wacz#url=URL&ts=TIME  the viewer at that page
 *
 * `&replay=ranges` or `&replay=lookups` behind the archive chooses the way to replay, and stays on the addresses that
 * are made while it is there.
 */

/**
 * @typedef {{kind: "library"}} LibraryRoute
 * @typedef {{kind: "archive", name: string, view: "main"|"pages"|"page", url?: string,
 *   timestamp?: string}} ArchiveRoute
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
 * @returns {LibraryRoute|ArchiveRoute|UnknownRoute}
 */
export function readRoute(here) {
    const archive = new URLSearchParams(here.search).get("archive");
    if (archive === null) return { kind: "library" };
    let name;
    try {
        name = archiveName(archive, here);
    } catch (error) {
        return { kind: "unknown", reason: error.message };
    }
    const fragment = new URLSearchParams(here.hash.slice(1));
    const url = fragment.get("url");
    if (url) {
        const timestamp = (fragment.get("ts") ?? "").replace(/\D/g, "").slice(0, 17);
        return { kind: "archive", name, view: "page", url, timestamp };
    }
    return { kind: "archive", name, view: fragment.get("view") === "pages" ? "pages" : "main" };
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
 * @param {string} name of the archive
 * @returns {string}
 */
export function mainAddress(name) {
    const way = chosenWay(location);
    return `/?archive=/archives/${encodeURIComponent(name)}.wacz${way ? `&replay=${way}` : ""}`;
}

/**
 * @param {string} name of the archive
 * @returns {string}
 */
export function pagesAddress(name) {
    return `${mainAddress(name)}#view=pages`;
}

/**
 * @param {string} name of the archive
 * @param {string} url as captured
 * @param {string} [timestamp]
 * @returns {string}
 */
export function pageAddress(name, url, timestamp = "") {
    return `${mainAddress(name)}#url=${encodeURIComponent(url)}&ts=${timestamp}`;
}
