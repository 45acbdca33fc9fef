/** How the server's jobs ended. */
import { plain } from "../core/dom.js";
import { sentence } from "./messages.js";

const endStates = new Set(["done", "failed", "cancelled"]);

/** @param {import("../core/api.js").Job} job */
export const hasEnded = ({ state }) => endStates.has(state);

/**
 * @param {import("../core/api.js").Job} job
 * @returns {boolean} whether it imported a file that was in the library already, which only its reason says
 */
export const isDuplicate = ({ kind, state, reason }) => kind === "import" && state === "done" && /^already in your library\b/.test(reason ?? "");

/**
 * @param {import("../core/api.js").Job} job
 * @returns {string} the name of its file, without the folder
 */
export const fileOf = ({ subject }) => plain(subject.slice(subject.lastIndexOf("/") + 1) || subject, 200);

/**
 * @param {import("../core/api.js").Job} job that failed
 * @returns {string} why, without the name of its file, which is shown beside it
 */
export function failureOf(job) {
    const start = `${fileOf(job)}: `;
    const reason = plain(job.reason, 1000);
    return sentence(reason.startsWith(start) ? reason.slice(start.length) : reason);
}

/**
 * @param {unknown} error of an upload
 * @returns {string} the same as for the job that the server has of it
 */
export const uploadFailure = ({ what, message = "", hint }) => sentence([what || message, hint].filter(Boolean).join("; "));
