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

const request = (tag, properties) => new Promise((done) => {
    const end = () => done(element.remove());
    const element = make(tag, { ...properties, hidden: true, on: { load: end, error: end } });
    document.body.append(element);
});

/**
 * Clears an origin before an archive is opened there for the first time. An earlier version of replayhost, an archive with
 * the same ID, or another program on the same port may have left a service worker there.
 *
 * No service worker of that origin intercepts these requests: the frame is sandboxed and has an opaque origin, and the image
 * belongs to this page. Firefox clears nothing for such a frame, and WebKit nothing for an image. Chromium clears for both.
 *
 * @param {string} origin
 * @param {string} collection
 */
export async function clearOrigin(origin, collection) {
    const clear = async () => {
        if (known().some(([one, opened]) => one === origin && opened === collection)) return;
        const src = `${origin}/clear`;
        await Promise.all([request("iframe", { title: "", sandbox: "", src }), request("img", { alt: "", src })]);
        remember(origin, [origin, collection]);
    };
    // Without site data, browsers have no locks either.
    await Promise.resolve(navigator.locks?.request(`clear ${origin}`, clear) ?? clear()).catch(clear);
}

/**
 * Clears all origins at which archives were opened.
 *
 * @returns {Promise<void>}
 */
export async function clearAllOrigins() {
    for (const [origin] of known()) {
        const src = `${origin}/clear`;
        await Promise.all([request("iframe", { title: "", sandbox: "", src }), request("img", { alt: "", src })]);
        remember(origin);
    }
}

/**
 * Marks an origin to be cleared before the archive is opened again, since something there prevents replay.
 *
 * @param {string} origin
 */
export function forgetOrigin(origin) {
    remember(origin);
}
