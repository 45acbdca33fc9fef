/** The replay mode of a viewer. */
import "../messages/en/viewer.js";
import { message } from "../core/i18n.js";

const obstacles = ["warc-deflated", "data-folder"];

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosen empty for the default
 * @returns {{mode: ""|"lookups"|"ranges", hint: string}} the mode that is possible, and why it isn't the chosen one
 */
export function replayMode(archive, chosen) {
    if (archive.kind === "collection") return { mode: "", hint: chosen === "ranges" ? message("viewer.mode-collection") : "" };
    const obstacle = archive.findings?.find(({ code }) => obstacles.includes(code));
    return chosen === "ranges" && obstacle ? { mode: "", hint: message(`viewer.mode-${obstacle.code}`) } : { mode: chosen, hint: "" };
}
