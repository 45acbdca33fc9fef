/** What goes with a running download: vibration, a screen that stays on, and toasts after some minutes. */
import { toast } from "../app/components/toast.js";
import { message } from "../app/core/i18n.js";
import { minutesOf, preferences } from "./preferences.js";
import { isRunning, percentOf } from "./state-texts.js";

const percentStep = 2;
const milliseconds = { light: 10, medium: 25, heavy: 50 };
const secondsPerMinute = 60;

/**
 * @param {number|null} before percent at the last vibration; `null` at first
 * @param {number|null} now percent
 * @returns {number|null} the new value of `before`: the last step of 2 % that was reached
 */
export const stepReached = (before, now) => (now === null ? before : Math.max(before ?? 0, Math.floor(now / percentStep) * percentStep));

/** Follows downloads, and accompanies those that run. */
export function createCompanions() {
    const followed = new Map();
    let lock = null;
    let isAsking = false;

    async function keepScreenOn(isWanted) {
        if (isAsking) return;
        isAsking = true;
        try {
            if (isWanted && !lock && document.visibilityState === "visible") {
                lock = await navigator.wakeLock?.request("screen") ?? null;
                // The browser releases it when the page is hidden.
                lock?.addEventListener("release", () => {
                    lock = null;
                });
            } else if (!isWanted) {
                await lock?.release();
            }
        } catch {
            // The battery is low, or the browser doesn't allow it. The screen turns off as always.
        }
        isAsking = false;
    }

    function vibrate(state, download) {
        const percent = download.state === "completed" ? 100 : percentOf(download);
        const step = stepReached(state.step, percent);
        const isNew = state.step !== null && step > state.step;
        state.step = step;
        // Before the first tap on a page, browsers refuse to vibrate, and report an error.
        if (isNew && preferences().isVibrationOn && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(milliseconds[preferences().vibration]);
    }

    function remind(state, download) {
        if (!preferences().areToastsOn || !download.started_at) return;
        const minutes = (Date.now() - Date.parse(download.started_at)) / 1000 / secondsPerMinute;
        const due = minutesOf(preferences().toastMinutes).filter((each) => each <= minutes && !state.reminded.has(each));
        if (due.length === 0) return;
        for (const each of due) state.reminded.add(each);
        const isLast = due.at(-1) !== minutesOf(preferences().toastMinutes)[0];
        const isPreview = download.options?.disposition === "preview";
        toast(message(isPreview ? "capture.toast.long-preview" : isLast ? "capture.toast.still" : "capture.toast.long"));
    }

    return {
        /** @param {import("./api.js").Download[]} downloads as they are now */
        follow(downloads) {
            for (const download of downloads) {
                const id = download.download_id;
                const state = followed.get(id) ?? { step: null, reminded: new Set(), wasRunning: false };
                followed.set(id, state);
                if (isRunning(download)) {
                    state.step ??= 0;
                    state.wasRunning = true;
                    vibrate(state, download);
                    remind(state, download);
                } else if (state.wasRunning) {
                    state.wasRunning = false;
                    if (download.state === "completed") vibrate(state, download);
                    if (download.state === "failed" && preferences().areToastsOn) toast(message("capture.toast.failed"));
                }
            }
            keepScreenOn(downloads.some(isRunning));
        },
    };
}
