/** The settings of this device. The service worker has a copy. */
import { writeState } from "./database.js";

const name = "replayhost-capture-settings";

/**
 * @typedef {{language: "auto"|"en"|"ja", isVibrationOn: boolean, vibration: "light"|"medium"|"heavy", isProgressShown: boolean,
 *   areToastsOn: boolean, toastMinutes: string, height: number, form: "video"|"audio", container: string, audioContainer: string,
 *   audioQuality: string, user: string, autoRetry: boolean, maxRetries: number, clearConfirmedAfter: number,
 *   backgroundSync: boolean, allowedDomains: string}} Preferences `height`: of videos, in pixels, at most; 0 for the best;
 *   `clearConfirmedAfter` in seconds; `toastMinutes` and `allowedDomains`: lists with commas
 */

/** As published. @type {Preferences} */
export const defaults = {
    language: "auto", isVibrationOn: true, vibration: "light", isProgressShown: false, areToastsOn: true, toastMinutes: "5,8",
    height: 1080, form: "video", container: "mp4", audioContainer: "m4a", audioQuality: "44.1k", user: "", autoRetry: true, maxRetries: 10,
    clearConfirmedAfter: 86_400, backgroundSync: true, allowedDomains: "",
};
let kept = null;

/**
 * @param {unknown} stored
 * @returns {Preferences} with the default for each value that is missing or of another type
 */
export const withDefaults = (stored) => Object.fromEntries(Object.entries(defaults)
    .map(([key, value]) => [key, typeof stored?.[key] === typeof value ? stored[key] : value]));

function read() {
    try {
        return withDefaults(JSON.parse(localStorage.getItem(name) ?? "{}"));
    } catch {
        return { ...defaults };
    }
}

/** @returns {Preferences} */
export function preferences() {
    kept ??= read();
    return kept;
}

/** @param {Partial<Preferences>} changes */
export function changePreferences(changes) {
    kept = { ...preferences(), ...changes };
    try {
        localStorage.setItem(name, JSON.stringify(kept));
    } catch {
        // They are kept until the page closes.
    }
    shareWithWorker();
}

/** Gives the service worker, which can't read this storage, its copy. */
export function shareWithWorker() {
    // Without a database, the worker has nothing to send.
    writeState("preferences", preferences()).catch(() => {});
}

/** Deletes them. */
export function forgetPreferences() {
    kept = { ...defaults };
    try {
        localStorage.removeItem(name);
    } catch {
        // Nothing was kept.
    }
}

addEventListener("storage", ({ key }) => {
    if (key === name || key === null) kept = null;
});

/**
 * @param {string} list numbers with commas
 * @returns {number[]} the positive ones, in ascending order
 */
export const minutesOf = (list) => [...new Set(list.split(",").map(Number).filter((minutes) => minutes > 0))].sort((one, other) => one - other);
