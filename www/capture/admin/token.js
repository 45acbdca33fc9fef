/** What this tab proves to be the administrator's with. */

const storageName = "capture.admin";

// For browsers that keep nothing for this site.
let inMemory = "";

/** @returns {string} the session's token, or an administrator's key; empty without one */
export function token() {
    try {
        return sessionStorage.getItem(storageName) ?? inMemory;
    } catch {
        return inMemory;
    }
}

/** @param {string} text empty to forget it */
export function setToken(text) {
    inMemory = text;
    try {
        if (text) sessionStorage.setItem(storageName, text);
        else sessionStorage.removeItem(storageName);
    } catch {
        // It is kept until the page closes.
    }
}
