/** Settings of this browser. They are kept in its storage, if it allows any. */

const name = "replayhost-settings";
const defaults = { theme: "auto", times: "utc", as: "", singleKeys: true, replay: "", liveWeb: false };
let kept = null;

/**
 * @typedef {{theme: "auto"|"light"|"dark", times: "utc"|"local", as: ""|"cards"|"list", singleKeys: boolean,
 *   replay: ""|"lookups"|"ranges", liveWeb: boolean}} Settings `as`: empty for cards up to a hundred archives; `singleKeys`: whether shortcuts of one letter work;
 *   `replay`: the replay mode, empty for the archive's own
 */

/** @returns {Settings} */
export function settings() {
    kept ??= read();
    return kept;
}

function read() {
    try {
        const stored = JSON.parse(localStorage.getItem(name) ?? "{}");
        return Object.fromEntries(Object.entries(defaults)
            .map(([key, value]) => [key, typeof stored[key] === typeof value ? stored[key] : value]));
    } catch {
        return { ...defaults };
    }
}

/**
 * @param {Partial<Settings>} changes
 * @returns {boolean} whether they could be kept
 */
export function changeSettings(changes) {
    kept = { ...settings(), ...changes };
    showTheme();
    try {
        localStorage.setItem(name, JSON.stringify(kept));
        return true;
    } catch {
        return false;
    }
}

function showTheme() {
    const { theme } = settings();
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
}

// Another tab has changed them.
addEventListener("storage", ({ key }) => {
    if (key !== name && key !== null) return;
    kept = null;
    showTheme();
});
