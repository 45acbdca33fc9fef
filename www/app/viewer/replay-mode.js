/** The replay mode of a viewer. */

const hints = {
    collection: "Collections always replay by lookups. “replay=ranges” in the URL has no effect.",
    deflated: "This archive replays by lookups: the ZIP compresses its WARC files, so the browser can't read them by ranges.",
};

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosen empty for the default
 * @returns {{mode: ""|"lookups"|"ranges", hint: string}} the mode that is possible, and why it isn't the chosen one
 */
export function replayMode(archive, chosen) {
    if (archive.kind === "collection") return { mode: "", hint: chosen === "ranges" ? hints.collection : "" };
    const isDeflated = archive.findings?.some(({ code }) => code === "warc-deflated") ?? false;
    return chosen === "ranges" && isDeflated ? { mode: "", hint: hints.deflated } : { mode: chosen, hint: "" };
}
