/** The replay mode of a viewer. */

const hints = {
    collection: "Collections always replay by lookups. “replay=ranges” in the URL has no effect.",
    "warc-deflated": "This archive replays by lookups: the ZIP compresses its WARC files, so “replay=ranges” has no effect.",
    "data-folder": "This archive replays by lookups: its captures are in the folder data/, so “replay=ranges” has no effect.",
};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosen empty for the default
 * @returns {{mode: ""|"lookups"|"ranges", hint: string}} the mode that is possible, and why it isn't the chosen one
 */
export function replayMode(archive, chosen) {
    if (archive.kind === "collection") return { mode: "", hint: chosen === "ranges" ? hints.collection : "" };
    const obstacle = archive.findings?.find(({ code }) => Object.hasOwn(hints, code));
    return chosen === "ranges" && obstacle ? { mode: "", hint: hints[obstacle.code] } : { mode: chosen, hint: "" };
}
