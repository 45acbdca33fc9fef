/** Where an archive is replayed when each has a port of its own: opened for a viewer, and kept open as long as that is there. */
import * as api from "../core/api.js";

const repeatSeconds = 60;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {(origin: string) => void} onMoved the port was lost to another program, and there is a new one
 * @returns {{origin: Promise<string>, close: () => void}} `origin` rejects when there is no port to be had
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

    // A server that is away is said where it is asked for something.
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
