/** Which of the host's own addresses this page is at, and how archives are kept apart from there. */

const probeSecondsMax = 3;

/** @returns {"auto"|"names"|"ports"} what the host was told about the origins of archives */
export function originsMode() {
    const mode = document.querySelector('meta[name="replayhost-origins"]')?.content;
    return mode === "names" || mode === "ports" ? mode : "auto";
}

/**
 * Whether archives are replayed on ports of their own, at `localhost`, and not under names of their own: always, if the
 * host was told so; else when this page could not move to where the names are.
 *
 * @returns {boolean}
 */
export function replaysOnPorts() {
    return originsMode() === "ports" || originsMode() === "auto" && !atHome();
}

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
