/** Clears data that something else left at an archive's origin. */
import { loadHidden, makeEmpty } from "../core/element.js";
import { isAtCanonicalHost } from "../core/origins.js";

const key = "replayhost-origins";
const originsMax = 1000;
const markSecondsMax = 5;

/**
 * @returns {[string, string, string, string?][]} origins, the engine's collections that were opened there, marks, and how the engine was set
 *   up there; the latest last
 */
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

const isChromium = navigator.userAgentData?.brands.some(({ brand }) => brand === "Chromium") === true;

/** Makes the browser clear an origin's data, except cookies. */
async function requestClearing(origin) {
    const src = `${origin}/clear`;
    await Promise.all([loadHidden("img", { alt: "", src }), !isChromium && loadHidden("iframe", { title: "", sandbox: "", src })]);
}

/**
 * Returns the mark that an origin has.
 *
 * A service worker that another archive left there can answer instead, but doesn't know the mark.
 *
 * @param {string} origin
 * @param {string} [mark] to be kept there from now on
 * @returns {Promise<string>} empty if there is none
 */
function markAt(origin, mark = "") {
    return new Promise((done) => {
        const frame = makeEmpty("iframe", { title: "", sandbox: "allow-scripts allow-same-origin", hidden: "", src: `${origin}/mark` });
        frame.addEventListener("load", () => frame.contentWindow.postMessage({ mark }, origin));
        const end = (found) => {
            window.removeEventListener("message", receive);
            clearTimeout(timer);
            frame.remove();
            done(found);
        };
        const receive = ({ data, origin: sender, source }) => {
            if (sender === origin && source === frame.contentWindow) end(String(data?.mark ?? ""));
        };
        const timer = setTimeout(() => end(""), markSecondsMax * 1000);
        window.addEventListener("message", receive);
        document.body.append(frame);
    });
}

/** Whether other programs on this computer can have the origin: a port of `localhost`, which a library of its own can give away. */
const isShared = (origin) => new URL(origin).hostname === "localhost";

/**
 * Clears an origin before an archive is opened there for the first time, or after another server was there. An earlier version
 * of replayhost, an archive with the same ID, or another program on the same port may have left a service worker there.
 *
 * No service worker of that origin intercepts these requests: the frame is sandboxed and has an opaque origin, and the image
 * belongs to this page. Firefox clears nothing for such a frame, and WebKit nothing for an image. Chromium clears for both, so that the
 * image is enough.
 *
 * @param {string} origin
 * @param {string} collection
 */
export async function clearOrigin(origin, collection) {
    const clear = async () => {
        const last = known().find(([one, opened]) => one === origin && opened === collection);
        if (last && (!isShared(origin) || (last[2] && last[2] === await markAt(origin)))) return;
        await requestClearing(origin);
        const mark = isShared(origin) ? await markAt(origin, crypto.randomUUID()) : "";
        remember(origin, [origin, collection, mark]);
    };
    // Without site data, browsers have no locks either.
    await Promise.resolve(navigator.locks?.request(`clear ${origin}`, clear) ?? clear()).catch(clear);
}

/** Deletes the cookies that archived pages set for all of `replayhost.localhost`, as far as this page sees them. */
function deleteSharedCookies() {
    const names = document.cookie.split("; ").filter(Boolean).map((cookie) => (cookie.includes("=") ? cookie.split("=", 1)[0] : ""));
    for (const name of names) {
        for (const kind of ["", "; secure", "; secure; partitioned"]) {
            document.cookie = `${name}=0; domain=${location.hostname}; path=/; max-age=0${kind}`;
        }
    }
}

/**
 * Clears all origins at which archives were opened.
 *
 * @returns {Promise<void>}
 */
export async function clearAllOrigins() {
    if (isAtCanonicalHost()) deleteSharedCookies();
    for (const [origin] of known()) {
        await requestClearing(origin);
        remember(origin);
    }
}

/** What the engine's setup depends on: the server's files for it, and the replay mode. */
const setupOf = (mode) => `${document.querySelector('meta[name="replayhost-setup"]')?.content} ${mode || "lookups"}`;

/**
 * Notes that the engine is set up at an archive's origin.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} mode empty for the default
 */
export function noteSetup({ replayOrigin, replayCollection }, mode) {
    const { origin } = new URL(replayOrigin);
    const [, opened, mark, setup] = known().find(([one]) => one === origin) ?? [];
    if (opened === replayCollection && setup !== setupOf(mode)) remember(origin, [origin, opened, mark, setupOf(mode)]);
}

/**
 * Whether the engine was set up at an archive's origin, by the same files and for the same mode. If the browser has deleted it since, a page
 * of that origin sets it up again.
 *
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} mode empty for the default
 */
export function wasSetUp({ replayOrigin, replayCollection }, mode) {
    const { origin } = new URL(replayOrigin);
    return known().some(([one, opened, , setup]) => one === origin && opened === replayCollection && setup === setupOf(mode));
}

/**
 * Marks an origin to be cleared before the archive is opened again, since something there prevents replay.
 *
 * @param {string} origin
 */
export function forgetOrigin(origin) {
    remember(origin);
}
