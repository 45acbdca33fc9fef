/** Watches whether the server responds, while this page is visible. */

const askSeconds = 5;
const retrySeconds = 2;

const listeners = new Set();
let state = "responds";
let timer = 0;
let isAsking = false;

/** @returns {Promise<boolean>} whether the server responds now */
export const responds = () => fetch("/api/health", { cache: "no-store" }).then(() => true, () => false);

/** @returns {boolean} whether the last request had no response */
export const isServerAway = () => state !== "responds";

/**
 * Call this after a response of the server. If a request had failed, the server is asked at once: a view may not have noted yet what it
 * has to repeat, since the response can be of a request that was on its way at the same time.
 */
export function serverResponded() {
    if (state !== "responds") askIn(0);
}

/** Call this when the server didn't respond. It's asked again, and after another failure counts as stopped. */
export function serverFailed() {
    if (state !== "responds") return;
    state = "failed";
    askIn(retrySeconds);
}

async function ask() {
    if (isAsking || document.visibilityState !== "visible") return;
    isAsking = true;
    const isBack = await responds();
    isAsking = false;
    if (isBack) {
        const hadFailed = state !== "responds";
        state = "responds";
        if (hadFailed) [...listeners].forEach(({ onBack }) => onBack());
    } else if (state === "responds") {
        state = "failed";
    } else if (state === "failed") {
        state = "stopped";
        [...listeners].forEach(({ onStopped }) => onStopped?.());
    }
    askIn(state === "responds" ? askSeconds : retrySeconds);
}

function askIn(seconds) {
    clearTimeout(timer);
    timer = setTimeout(ask, seconds * 1000);
}

/**
 * @param {{onStopped?: () => void, onBack: () => void}} listener `onBack`: the server responds again, after one failure or
 *   many; requests that failed can be repeated
 * @returns {{close: () => void}}
 */
export function followServer(listener) {
    if (listeners.size === 0) {
        document.addEventListener("visibilitychange", ask);
        askIn(askSeconds);
    }
    listeners.add(listener);
    return { close: () => listeners.delete(listener) };
}
