/** Settings of this browser. They are kept in its storage, if it allows any. */

const name = "replayhost-settings";
const defaults = { theme: "auto", times: "utc", as: "cards", singleKeys: true, replay: "", liveWeb: false };

/**
 * @typedef {{theme: "auto"|"light"|"dark", times: "utc"|"local", as: "cards"|"list", singleKeys: boolean,
 *   replay: ""|"lookups"|"ranges", liveWeb: boolean}} Settings `singleKeys`: whether shortcuts of one letter work;
 *   `replay`: the replay mode, empty for the archive's own
 */

/** @returns {Settings} */
export function settings() {
    try {
        const kept = JSON.parse(localStorage.getItem(name) ?? "{}");
        return Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, typeof kept[key] === typeof value ? kept[key] : value]));
    } catch {
        return { ...defaults };
    }
}

/**
 * @param {Partial<Settings>} changes
 * @returns {boolean} whether they could be kept
 */
export function changeSettings(changes) {
    const now = { ...settings(), ...changes };
    if (now.theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now.theme;
    try {
        localStorage.setItem(name, JSON.stringify(now));
        return true;
    } catch {
        return false;
    }
}
