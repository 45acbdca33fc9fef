/** The replay mode of a viewer. */
import "../messages/en/viewer.js";
import { message } from "../core/i18n.js";
import { possibleMode } from "../replay/frames.js";

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosen empty for the default
 * @returns {{mode: ""|"lookups"|"ranges", hint: string}} the mode that is possible, and why it isn't the chosen one
 */
export function replayMode(archive, chosen) {
    const { mode, obstacle } = possibleMode(archive, chosen);
    return { mode, hint: obstacle && message(`viewer.mode-${obstacle}`) };
}
