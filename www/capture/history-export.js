/** Saves the history as a file: the downloads of the server, or what this device shared. */
import * as api from "./api.js";
import { saveFile } from "./save-file.js";
import * as shares from "./shares.js";

/**
 * @param {import("./api.js").Filter} filter
 * @param {((entry: import("./shares.js").Entry) => boolean)|null} matches for what this device shared; `null` for the server's downloads
 */
export async function saveList(filter, matches) {
    const items = matches ? (await shares.history({ limit: Infinity, matches })).entries : await downloads(filter);
    saveFile(new Blob([`${JSON.stringify(items, null, 1)}\n`], { type: "application/json" }), `history-${new Date().toISOString().slice(0, 10)}.json`);
}

async function downloads(filter) {
    const { total } = await api.history(1, filter);
    return (await api.history(total, filter)).downloads;
}
