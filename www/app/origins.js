/** Which of the host's own addresses this page is at, and whether the browser can reach the archives from here. */

const probeSecondsMax = 3;

/** @returns {boolean} whether replay works from this address in every browser */
export function atHome() {
    return location.hostname === "replayhost.localhost";
}

/** @returns {string} this page's address at the origin where it belongs */
export function homeAddress() {
    const { protocol, port, pathname, search, hash } = location;
    return `${protocol}//replayhost.localhost:${port}${pathname}${search}${hash}`;
}

/**
 * Whether this browser finds `*.localhost` names on this computer. Asks the host itself, by such a name.
 *
 * @returns {Promise<boolean>}
 */
export async function resolvesLocalNames() {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), probeSecondsMax * 1000);
    try {
        await fetch(`${location.protocol}//replayhost.localhost:${location.port}/api/health`, {
            mode: "no-cors",
            cache: "no-store",
            credentials: "omit",
            signal: abort.signal,
        });
        return true;
    } catch {
        return false;
    } finally {
        clearTimeout(timer);
    }
}
