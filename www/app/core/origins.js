/** The origin of this page, and how the origins of archives are separated. */

const probeSecondsMax = 3;

let canResolve = true;

/** @returns {"auto"|"names"|"ports"} the origin mode of the server */
export function originsMode() {
    const mode = document.querySelector('meta[name="replayhost-origins"]')?.content;
    return mode === "names" || mode === "ports" ? mode : "auto";
}

/**
 * Whether each archive replays on its own port at `localhost`, and not under its own name: when the server's origin mode
 * is `ports`, or when it is `auto` and this page couldn't move to `replayhost.localhost`.
 *
 * @returns {boolean}
 */
export function replaysOnPorts() {
    return originsMode() === "ports" || originsMode() === "auto" && !isAtCanonicalHost();
}

/** @returns {boolean} whether this page is at `replayhost.localhost`, where replay works in every browser */
export function isAtCanonicalHost() {
    return location.hostname === "replayhost.localhost";
}

/** @returns {boolean} whether this page can open archives, as far as it knows */
export const canReplay = () => canResolve;

/** Call this when this browser doesn't resolve the names that archives replay under. */
export function noteUnresolved() {
    canResolve = false;
}

/** @returns {string} the URL of this page at `replayhost.localhost` */
export function canonicalURL() {
    const { protocol, port, pathname, search, hash } = location;
    return `${protocol}//replayhost.localhost:${port}${pathname}${search}${hash}`;
}

/**
 * Whether this browser resolves `*.localhost` names. Sends a request to the server by such a name.
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
