/**
 * Texts for the setup of an archive's origin, and for its errors. The viewer shows them, and so does the page at that
 * origin, into which the server copies this module. So it imports nothing.
 */

const steps = {
    file: "Checking the file…",
    engine: "Starting the replay engine…",
    collection: "Reading the archive's index…",
};

/**
 * @param {string} step
 * @param {number} [percent] the progress of the step
 * @returns {string} empty for an unknown step
 */
export function stepText(step, percent) {
    if (!Object.hasOwn(steps, step)) return "";
    return steps[step] + (percent > 0 && percent < 100 ? ` ${Math.round(percent)} %` : "");
}

const failures = {
    "engine-missing": {
        what: "The replay engine is missing",
        hint: "Run `make setup` in the replayhost folder to download the engine, then reload this page.",
    },
    "workers-missing": {
        what: "Replay needs service workers, which are turned off in this browser",
        hint: "Some private windows and privacy settings turn them off. Use an ordinary window or another browser. In "
            + "Firefox, set `dom.serviceWorkers.enabled` at `about:config` to true.",
    },
    "workers-refused": {
        what: "The browser blocked the replay engine",
        hint: "Site data may be blocked. Allow it for `SITE` (in Firefox: for `ADDRESS`), then reload this page. Some "
            + "private windows, or a full disk, can also be the cause.",
    },
    unreachable: {
        what: "The browser can't load anything from this archive's address",
        hint: "It must resolve `HOST` and send the header `Referer` there. A setting or an extension may prevent this. Use another browser, or "
            + "start the server with `replayhost serve --origins ports`.",
    },
    "worker-silent": {
        what: "The replay engine isn't responding",
        hint: "Reload this page. If that doesn't help, clear this site's data in the browser's settings. Your archives are "
            + "safe.",
    },
    "file-missing": {
        what: "This archive's file is missing",
        hint: "It was removed from the library, or its drive isn't connected. To check, run `replayhost list`.",
    },
    "file-replaced": {
        what: "This archive's file was replaced",
        hint: "Reload this page to see the new file.",
    },
    "file-unavailable": {
        what: "Can't find this archive's file",
        hint: "Connect the drive it's on, or move the file back, then try again. Your notes and tags are safe.",
    },
    "file-changed": {
        what: "This file has changed since you added it",
        hint: "Add the new version, or restore the old file.",
    },
    "captures-refused": {
        what: "The server can't look up captures of this collection",
        hint: "Check the output of `replayhost serve`, then try again.",
    },
    "file-refused": {
        what: "The server didn't send this archive's file",
        hint: "Check the output of `replayhost serve`, and run `replayhost doctor`.",
    },
    "server-unavailable": {
        what: "replayhost has stopped",
        hint: "Start it again, for example with `replayhost serve`.",
    },
    "archive-refused": {
        what: "The replay engine can't open this archive",
        hint: "To see what's wrong with the file, run `replayhost info ARCHIVE`.",
    },
    "no-control": {
        what: "The browser bypassed the replay engine",
        hint: "Reload this page without the Shift key. If that doesn't help, clear this site's data in the browser's "
            + "settings.",
    },
};

/**
 * @param {string} code the failure; unknown codes mean that the engine isn't responding
 * @param {string} origin the replay origin
 * @param {string} id of the archive or the collection
 * @returns {{code: string, what: string, hint: string}} `what`: without a full stop
 */
export function failureText(code, origin, id) {
    const known = Object.hasOwn(failures, code) ? code : "worker-silent";
    const { what, hint } = failures[known];
    // The sites to allow: Chromium uses a pattern for all subdomains; Firefox uses a URL with its port, which includes
    // subdomains.
    const { protocol, hostname, port } = new URL(origin);
    const home = "replayhost.localhost";
    const [site, address] = hostname.endsWith(`.${home}`)
        ? [`[*.]${home}`, `${protocol}//${home}:${port}`] : [hostname, origin];
    const filled = hint.replace("SITE", site).replace("ADDRESS", address).replace("ARCHIVE", id).replace("HOST", hostname);
    return { code: known, what, hint: filled };
}
