/** The state and the progress of a download as text. */
import { plain } from "/app/core/dom.js";
import { day, size } from "/app/core/format.js";
import { siteOf } from "./urls.js";

const stages = {
    analysing: "Analysing…", fetching: "Fetching…", merging: "Merging…", checking: "Checking…", storing: "Storing…",
};
const endings = { failed: "Failed", cancelled: "Cancelled", aborted_by_system: "Stopped unexpectedly" };
const running = ["started", "downloading"];
const fileGenres = ["pdf", "ebook"];

/** @typedef {import("./api.js").Download} Download */

/** @param {Download} download */
export const isRunning = ({ state }) => running.includes(state);

/** @param {Download} download */
export const isOpen = (download) => isRunning(download) || download.state === "queued";

/**
 * @param {Download} download
 * @returns {boolean} whether it runs, or will run as soon as others have ended
 */
export const isActive = (download) => isRunning(download) || download.state === "queued" && !download.waiting_for;

/**
 * @param {Download} download
 * @returns {boolean} whether a retry is possible
 */
export const canRetry = ({ state }) => Object.hasOwn(endings, state);

/**
 * @param {number} seconds
 * @returns {string} for example `45 s`, `2 min` or `1 h 5 min`
 */
export function duration(seconds) {
    if (seconds < 59.5) return `${Math.max(1, Math.round(seconds))} s`;
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return `${minutes} min`;
    const rest = minutes % 60;
    return rest > 0 ? `${Math.floor(minutes / 60)} h ${rest} min` : `${minutes / 60} h`;
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `3 min ago`, or the day if it's more than a day ago
 */
export function ago(time) {
    const seconds = (Date.now() - Date.parse(time)) / 1000;
    if (Number.isNaN(seconds)) return "";
    if (seconds < 60) return "just now";
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : day(time);
}

/**
 * @param {Download} download
 * @param {import("./api.js").Tool[]} missing the tools that aren't installed or don't start
 * @returns {{text: string, kind: ""|"warning"|"error"}} `text` with commands in backticks
 */
export function stateText(download, missing) {
    const { state, stage, waiting_for: reason } = download;
    if (state === "queued") return reason ? waitingText(download, missing) : { text: "Queued", kind: "" };
    if (state === "started") return { text: "Starting…", kind: "" };
    if (state === "downloading") return { text: stages[stage] ?? "Downloading…", kind: "" };
    if (state === "completed") return { text: completedText(download), kind: isDoubtful(download) ? "warning" : "" };
    return { text: endings[state] ?? plain(state, 40), kind: state === "cancelled" ? "" : "error" };
}

/** Whether a completed download isn't what a person expects. */
const isDoubtful = ({ incomplete, replay_check: check }) => Boolean(incomplete) || String(check ?? "").startsWith("Differs");

function completedText({ file_size: bytes, quality_fallback: isFallback, incomplete }) {
    const amount = bytes > 0 ? ` · ${size(bytes)}` : "";
    return `${incomplete ? "Partly saved" : "Completed"}${amount}${isFallback ? " · in default quality, because the one you chose isn't available" : ""}`;
}

function waitingText({ waiting_for: reason, not_before: time, url, genre, options }, missing) {
    const seconds = (Date.parse(time ?? "") - Date.now()) / 1000;
    const later = seconds > 0 ? `Tries again in ${duration(seconds)}.` : "Tries again soon.";
    if (reason === "tool") return { text: toolText(missing, genre, options?.mode), kind: "warning" };
    if (reason === "disk") return { text: "Waits: the disk is full. Free some space, and it continues by itself.", kind: "warning" };
    if (reason === "site") {
        return { text: `Waits: ${siteOf(url) || "the site"} limits how much you can download. ${later}`, kind: "warning" };
    }
    return { text: later, kind: "warning" };
}

function toolText(missing, genre, mode) {
    const names = mode === "page" ? ["curl", "chromium"] : fileGenres.includes(genre) ? ["curl"]
        : ["yt-dlp", "ffmpeg", "ffprobe", "curl"];
    const needed = missing.filter(({ name }) => names.includes(name));
    const cause = needed.length === 0 ? "Waits for a tool"
        : `Waits for ${needed.length === 1 ? "a tool" : "tools"}: ${missingText(needed)}`;
    return `${cause}. Run \`make setup-capture\`.`;
}

/**
 * @param {import("./api.js").Tool[]} tools that aren't installed or don't start
 * @returns {string} for example `yt-dlp and ffmpeg aren't installed`
 */
export function missingText(tools) {
    const list = new Intl.ListFormat("en").format(tools.map(({ name }) => plain(name, 40)));
    const isInstalled = tools.some(({ path }) => path !== null);
    if (tools.length === 1) return `${list} ${isInstalled ? "doesn't start" : "isn't installed"}`;
    return `${list} ${isInstalled ? "don't start" : "aren't installed"}`;
}

/**
 * @param {Download} download
 * @returns {number|null} from 0 to 100; `null` when unknown
 */
export function percentOf({ stage, progress }) {
    // The numbers are those of the transfer.
    return stage === "fetching" && Number.isFinite(progress?.percent) ? Math.min(100, Math.max(0, progress.percent)) : null;
}

/**
 * @param {Download} download
 * @returns {string} for example `42 % · 20 MB of 48 MB · 3.1 MB/s · 9 s left`; empty when unknown
 */
export function progressText(download) {
    if (download.stage !== "fetching" || !download.progress) return "";
    const { bytes, total, speed, eta } = download.progress;
    const percent = percentOf(download);
    return [
        percent !== null && `${Math.floor(percent)} %`,
        bytes > 0 && (total > 0 ? `${size(bytes)} of ${size(total)}` : size(bytes)),
        speed > 0 && `${size(speed)}/s`,
        eta > 0 && `${duration(eta)} left`,
    ].filter(Boolean).join(" · ");
}

/**
 * @param {Download} download
 * @returns {string} what to do about a failure, with commands in backticks; empty when there's no advice
 */
export function adviceText({ error_code: code, error_message: message, username }) {
    if (code !== "login_required" || message?.includes("cookies set")) return "";
    return `Give your cookies for this site: \`replayhost-capture cookies set --user ${plain(username, 100)} cookies.txt\`. Then retry.`;
}
