/** Uploads one file to the server, with XMLHttpRequest, since `fetch` doesn't report the progress of uploads. */
import { HostError, errorFrom, serverUnavailable, token } from "../core/api.js";
import { size } from "../core/format.js";

/**
 * @typedef {{sent: number, total: number, bytesPerSecond: number}} Progress
 */

/**
 * @param {File} file
 * @param {(progress: Progress) => void} onProgress
 * @returns {{done: Promise<{archive: import("../core/api.js").Archive, duplicate: boolean}>, cancel: () => void}}
 *   `done` rejects with a {@link HostError}. Its `job` is the number of the failed job, if the server has one. Its code
 *   is `cancelled` after `cancel()`
 */
export function uploadFile(file, onProgress) {
    const request = new XMLHttpRequest();
    const started = performance.now();
    let sent = 0;
    const done = new Promise((resolve, reject) => {
        request.upload.addEventListener("progress", (event) => {
            sent = event.loaded;
            const seconds = (performance.now() - started) / 1000;
            onProgress({
                sent,
                total: event.lengthComputable ? event.total : file.size,
                bytesPerSecond: seconds > 0.5 ? sent / seconds : 0,
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
            reject(await uploadError(file, sent));
        });
        request.addEventListener("abort", () => {
            reject(new HostError({ code: "cancelled", what: "cancelled; nothing was added" }));
        });
    });
    request.open("POST", `/api/archives?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/wacz");
    request.setRequestHeader("Replayhost-Token", token());
    request.send(file);
    return { done, cancel: () => request.abort() };
}

/** Returns why an upload failed: the file can't be read, the server has stopped, or the connection broke. */
async function uploadError(file, sent) {
    try {
        await file.slice(0, 1).arrayBuffer();
    } catch {
        return new HostError({
            code: "file-unreadable",
            what: "the browser can't read this file",
            hint: "it may have been moved or changed, or it's a folder; choose it again",
        });
    }
    const alive = await fetch("/api/health").then((answer) => answer.ok, () => false);
    if (!alive) return serverUnavailable();
    return new HostError({
        code: "transfer-broken",
        what: `the upload was interrupted at ${size(sent)} of ${size(file.size)}`,
        hint: "add the file again; if it fails again, check that the disk isn't full",
    });
}
