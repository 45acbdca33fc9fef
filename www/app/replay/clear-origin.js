/** Clears data that something else left at an archive's origin. */
import { make } from "../core/dom.js";

const key = "replayhost-origins";
const originsMax = 1000;

/** @returns {[string, string][]} origins and the engine's collections that were opened there, the latest last */
function known() {
    try {
        const list = JSON.parse(localStorage.getItem(key) ?? "[]");
        return Array.isArray(list) ? list : [];
    } catch {
        return [];
    }
}

function remember(origin, ...opened) {
    const others = known().filter(([one]) => one !== origin).slice(-originsMax);
    try {
        localStorage.setItem(key, JSON.stringify([...others, ...opened]));
    } catch {
        // Without localStorage, the origin is cleared every time.
    }
}

/**
 * Clears an origin before an archive is opened there for the first time. An earlier version of replayhost, an archive with
 * the same ID, or another program on the same port may have left a service worker there.
 *
 * The frame is sandboxed and has an opaque origin, so no service worker intercepts its request.
 *
 * @param {string} origin
 * @param {string} collection
 */
export async function clearOrigin(origin, collection) {
    const clear = async () => {
        if (known().some(([one, opened]) => one === origin && opened === collection)) return;
        await new Promise((done) => {
            const frame = make("iframe", { hidden: true, title: "", sandbox: "", src: `${origin}/clear`,
                on: { load: () => done(frame.remove()) } });
            document.body.append(frame);
        });
        remember(origin, [origin, collection]);
    };
    // Without site data, browsers have no locks either.
    await Promise.resolve(navigator.locks?.request(`clear ${origin}`, clear) ?? clear()).catch(clear);
}

/**
 * Marks an origin to be cleared before the archive is opened again, since something there prevents replay.
 *
 * @param {string} origin
 */
export function forgetOrigin(origin) {
    remember(origin);
}
