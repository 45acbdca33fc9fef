/** Keeps an archive's replay port open while its viewer is open, when each archive has its own port. */
import * as api from "../core/api.js";

const repeatSeconds = 60;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {(origin: string) => void} onMoved another program has the port now, and a new one is open
 * @returns {{origin: Promise<string>, close: () => void}} `origin` rejects when no port is free
 */
export function openReplayPort(archive, onMoved) {
    let ended = false;
    let origin = "";

    async function open() {
        const now = await api.openOrigin(archive);
        const isMoved = origin !== "" && now !== origin;
        origin = now;
        if (isMoved && !ended) onMoved(now);
        return now;
    }

    // A stopped server is reported elsewhere.
    const again = () => {
        if (document.visibilityState === "visible") open().catch(() => {});
    };
    const timer = setInterval(() => open().catch(() => {}), repeatSeconds * 1000);
    document.addEventListener("visibilitychange", again);

    return {
        origin: open(),
        close() {
            ended = true;
            clearInterval(timer);
            document.removeEventListener("visibilitychange", again);
        },
    };
}
