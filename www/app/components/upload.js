/** Uploads one file to the server, with XMLHttpRequest, since `fetch` doesn't report the progress of uploads. */
import "../messages/en/around.js";
import { HostError, errorFrom, renewToken, serverUnavailable, token } from "../core/api.js";
import { responds } from "../core/connection.js";
import { message } from "../core/i18n.js";
import { size } from "../core/format.js";

/**
 * @param {File} file
 * @param {(sent: number, total: number) => void} onProgress
 * @returns {{done: Promise<{archive: import("../core/api.js").Archive, duplicate: boolean}>, cancel: () => void}}
 *   `done` rejects with a {@link HostError}. Its `job` is the number of the failed job, if the server has one. Its code is
 *   `cancelled` after `cancel()`, `transfer-broken` when a part was sent, and `server-unavailable` when nothing was
 */
export function uploadFile(file, onProgress) {
    let request = null;
    let isCancelled = false;
    const send = () => new Promise((resolve, reject) => {
        if (isCancelled) {
            reject(cancelled());
            return;
        }
        request = new XMLHttpRequest();
        start(request, file, onProgress, resolve, reject);
    });
    const done = send().catch(async (error) => {
        if (error.status !== 403 || !await renewToken()) throw error;
        return send();
    });
    return { done, cancel: () => {
        isCancelled = true;
        request.abort();
    } };
}

const cancelled = () => new HostError({ code: "cancelled", what: message("import.cancelled") });

function start(request, file, onProgress, resolve, reject) {
    let sent = 0;
    request.upload.addEventListener("progress", (event) => {
        sent = event.loaded;
        onProgress(sent, event.lengthComputable ? event.total : file.size);
    });
    request.addEventListener("load", () => {
        if (request.status === 200 || request.status === 201) {
            try {
                resolve(JSON.parse(request.responseText));
                return;
            } catch {
                // Falls through to the error below.
            }
        }
        const error = errorFrom(request.responseText, request.status);
        error.job = Number(request.getResponseHeader("Replayhost-Job"));
        reject(error);
    });
    request.addEventListener("error", async () => reject(await uploadError(file, sent)));
    request.addEventListener("abort", () => reject(cancelled()));
    request.open("POST", `/api/archives?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/wacz");
    request.setRequestHeader("Replayhost-Token", token());
    request.send(file);
}

/**
 * @param {File} file
 * @returns {Promise<boolean>} whether the browser can read it: it may have been moved or changed, or it's a folder
 */
export const isReadable = (file) => file.slice(0, 1).arrayBuffer().then(() => true, () => false);

/** Returns why an upload failed: the file can't be read, the server has stopped, or the connection broke. */
async function uploadError(file, sent) {
    if (!await isReadable(file)) return fileUnreadable();
    const unavailable = await responds() ? null : serverUnavailable();
    if (unavailable && sent === 0) return unavailable;
    return new HostError({
        code: "transfer-broken",
        what: message("import.cut", { sent: size(sent), total: size(file.size) }),
        hint: message("import.cut-hint"),
    });
}

/** @returns {HostError} */
export function fileUnreadable() {
    return new HostError({ code: "file-unreadable", what: message("import.unreadable"), hint: message("import.unreadable-hint") });
}
