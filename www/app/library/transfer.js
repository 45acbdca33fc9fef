/** Sends one file to the host. XMLHttpRequest, since `fetch` does not tell how far an upload has come. */
import { HostError, errorFrom, serverAway, token } from "../core/api.js";

/**
 * @typedef {{sent: number, total: number, bytesPerSecond: number}} Progress
 */

/**
 * @param {File} file
 * @param {(progress: Progress) => void} onProgress
 * @returns {{done: Promise<{archive: import("../core/api.js").Archive, duplicate: boolean}>, cancel: () => void}}
 *   `done` rejects with a {@link HostError}, its `job` the number of the host's job that failed, if it has one; with the
 *   code `cancelled` after `cancel()`
 */
export function sendFile(file, onProgress) {
    const request = new XMLHttpRequest();
    const started = performance.now();
    const done = new Promise((resolve, reject) => {
        request.upload.addEventListener("progress", (event) => {
            const seconds = (performance.now() - started) / 1000;
            onProgress({
                sent: event.loaded,
                total: event.lengthComputable ? event.total : file.size,
                bytesPerSecond: seconds > 0.5 ? event.loaded / seconds : 0,
            });
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
        request.addEventListener("error", async () => {
            reject(await whyBroken(file));
        });
        request.addEventListener("abort", () => {
            reject(new HostError({ code: "cancelled", what: "the import was cancelled; nothing was kept" }));
        });
    });
    request.open("POST", `/api/archives?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/wacz");
    request.setRequestHeader("Replayhost-Token", token());
    request.send(file);
    return { done, cancel: () => request.abort() };
}

/** A broken transfer has two ends: the file may have become unreadable, or the server gone. */
async function whyBroken(file) {
    try {
        await file.slice(0, 1).arrayBuffer();
    } catch {
        return new HostError({
            code: "file-unreadable",
            what: "the browser cannot read this file any more",
            hint: "it may have been moved or changed, or it is a folder; choose it again",
        });
    }
    const alive = await fetch("/api/health").then((answer) => answer.ok, () => false);
    if (!alive) return serverAway();
    return new HostError({
        code: "transfer-broken",
        what: "the transfer ended before the whole file was through",
        hint: "try again; if the disk of the store is full, `replayhost serve` has said so",
    });
}
