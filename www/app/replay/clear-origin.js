/** Clears site data that something else left at an archive's origin. */
import { make } from "../core/dom.js";

const key = "replayhost-origins";
const originsMax = 1000;

/** @returns {[string, string][]} origins and the collections that were opened there, the latest last */
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
 * Clears an archive's origin before the archive is opened there for the first time: an earlier version of replayhost, an archive
 * that had the same id, or another program on the same port may have left a service worker that answers in our place.
 *
 * The frame is sandboxed, with an opaque origin, so no service worker intercepts its request.
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
    // A browser that keeps no site data has no locks either.
    await Promise.resolve(navigator.locks?.request(`clear ${origin}`, clear) ?? clear()).catch(clear);
}

/**
 * Has the origin cleared again before the archive is opened next: something there keeps it from being opened.
 *
 * @param {string} origin
 */
export function forgetOrigin(origin) {
    remember(origin);
}
