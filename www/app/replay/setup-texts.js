/**
 * What is said while an archive's origin is set up for replay, and when that fails. The viewer says it, and the page at
 * that origin, of which the server makes this module a part.
 */

const steps = {
    file: "Looking for the file…",
    engine: "Starting the replay engine…",
    collection: "Reading the index of the archive…",
};

/**
 * @param {string} step
 * @param {number} [percent] how far it has come
 * @returns {string} empty for an unknown step
 */
export function stepText(step, percent) {
    if (!Object.hasOwn(steps, step)) return "";
    return steps[step] + (percent > 0 && percent < 100 ? ` ${Math.round(percent)} %` : "");
}

const failures = {
    "engine-missing": {
        what: "The replay engine is missing on this computer",
        hint: "Run `make setup` in the replayhost folder: it fetches the engine. Then load this page again.",
    },
    "workers-missing": {
        what: "This browser offers no service workers here, and replay needs one",
        hint: "Private windows of some browsers, and some privacy settings, turn them off. Open this address in an "
            + "ordinary window, or in another browser. In Firefox `dom.serviceWorkers.enabled` at `about:config` has to "
            + "be true.",
    },
    "workers-refused": {
        what: "The browser refused to start the replay engine",
        hint: "This happens where site data is blocked. Allow it for `SITE` (in Firefox: for `ADDRESS`), and load this "
            + "page again. Some private windows, and a full disk, have the same effect.",
    },
    "worker-silent": {
        what: "The replay engine does not answer",
        hint: "Load this page again. If that does not help, remove the site data of this address in the browser's "
            + "settings: replayhost sets it up anew, and no archive is lost.",
    },
    "file-missing": {
        what: "The file of this archive is not there",
        hint: "It was removed from the library, or the drive it is on is not connected. `replayhost list` says which.",
    },
    "file-unavailable": {
        what: "The file of this archive is not where it was",
        hint: "Attach the volume that holds it, or put the file back, and try again. Nothing else of the archive is "
            + "lost.",
    },
    "file-changed": {
        what: "The file of this archive was changed since it was read",
        hint: "Put it back as it was, or read it anew with `replayhost import --link`.",
    },
    "captures-refused": {
        what: "The server does not look up captures of this collection",
        hint: "Look at what `replayhost serve` printed, and try again.",
    },
    "file-refused": {
        what: "The server did not give out the file of this archive",
        hint: "Look at what `replayhost serve` printed, and run `replayhost doctor`.",
    },
    "server-unavailable": {
        what: "The replayhost server does not answer",
        hint: "It may have been stopped. Start it again, for example with `replayhost serve`.",
    },
    "archive-refused": {
        what: "The replay engine could not open the archive",
        hint: "Run `replayhost info ARCHIVE` to see what is wrong with the file.",
    },
    "no-control": {
        what: "The replay engine is ready, but this page still came from the server and not from the archive",
        hint: "Load the page again without the Shift key. If that does not help, remove the site data of this address in "
            + "the browser's settings.",
    },
};

/**
 * @param {string} code what failed; an unknown code counts as a silent engine
 * @param {string} origin the archive's
 * @param {string} id the archive's, or the collection's
 * @returns {{code: string, what: string, hint: string}} `what`: without a full stop
 */
export function failureText(code, origin, id) {
    const known = Object.hasOwn(failures, code) ? code : "worker-silent";
    const { what, hint } = failures[known];
    // What a person has to allow: Chromium takes a pattern for all names below one, Firefox a URL with its port, which
    // counts for the names below it as well.
    const { protocol, hostname, port } = new URL(origin);
    const home = "replayhost.localhost";
    const [site, address] = hostname.endsWith(`.${home}`)
        ? [`[*.]${home}`, `${protocol}//${home}:${port}`] : [hostname, origin];
    const filled = hint.replace("SITE", site).replace("ADDRESS", address).replace("ARCHIVE", id);
    return { code: known, what, hint: filled };
}
