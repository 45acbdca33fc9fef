/** The state and the progress of a download as text. */
import { plain } from "../app/core/dom.js";
import { day, size } from "../app/core/format.js";
import { language, message } from "../app/core/i18n.js";
import { siteOf } from "./urls.js";

const stages = ["analysing", "fetching", "merging", "checking", "storing"];
const endings = { failed: "capture.state.failed", cancelled: "capture.state.cancelled", aborted_by_system: "capture.state.aborted" };
const running = ["started", "downloading"];
const secondTryCodes = ["tool_failed", "no_file", "damaged"];
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
 * @param {Download} download
 * @returns {boolean} whether it failed in a way in which the default quality may work, and the person chose another one. The
 *   server itself tries that if a site doesn't have the quality
 */
export function deservesSecondTry({ state, error_code: code, options, quality_fallback: isFallback }) {
    const isLimited = Boolean(options?.height || options?.container || options?.audio_quality);
    return state === "failed" && secondTryCodes.includes(code) && isLimited && !isFallback;
}

/**
 * @param {Download & {isSecondTry: boolean}} download
 * @returns {string} that this is the second try; empty for another download, and for one that ended otherwise than by failing
 */
export function secondTryText(download) {
    if (!download.isSecondTry) return "";
    if (download.state === "failed") return message("capture.row.second-try-failed");
    return isOpen(download) ? message("capture.row.second-try") : "";
}

/**
 * @param {import("./database.js").StorageError} error
 * @returns {string} why this device can't keep a URL
 */
export const unkeptText = ({ code }) => message(code === "full" ? "capture.share.storage-full" : "capture.share.not-kept");

/**
 * @param {number} seconds
 * @returns {string} for example `45 s`, `2 min` or `1 h 5 min`
 */
export function duration(seconds) {
    if (seconds < 59.5) return message("capture.duration.seconds", { n: Math.max(1, Math.round(seconds)) });
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return message("capture.duration.minutes", { n: minutes });
    const rest = minutes % 60;
    return rest > 0 ? message("capture.duration.hours-minutes", { hours: Math.floor(minutes / 60), minutes: rest })
        : message("capture.duration.hours", { n: minutes / 60 });
}

/**
 * @param {string} time RFC 3339
 * @returns {string} for example `3 min ago`, or the day if it's more than a day ago
 */
export function ago(time) {
    const seconds = (Date.now() - Date.parse(time)) / 1000;
    if (Number.isNaN(seconds)) return "";
    if (seconds < 60) return message("capture.ago.now");
    if (seconds < 3600) return message("capture.ago.minutes", { n: Math.floor(seconds / 60) });
    return seconds < 86_400 ? message("capture.ago.hours", { n: Math.floor(seconds / 3600) }) : day(time);
}

/**
 * @param {Download} download
 * @param {import("./api.js").Tool[]} missing the tools that aren't installed or don't start
 * @returns {{text: string, kind: ""|"warning"|"error"}} `text` with commands in backticks
 */
export function stateText(download, missing) {
    const { state, stage, waiting_for: reason } = download;
    if (state === "queued") return reason ? waitingText(download, missing) : { text: message("capture.state.queued"), kind: "" };
    if (state === "started") return { text: message("capture.state.started"), kind: "" };
    if (state === "downloading") return { text: message(`capture.stage.${stages.includes(stage) ? stage : "other"}`), kind: "" };
    if (state === "preview_ready") return { text: message("capture.state.preview"), kind: "" };
    if (state === "completed") return { text: completedText(download), kind: isDoubtful(download) ? "warning" : "" };
    return { text: Object.hasOwn(endings, state) ? message(endings[state]) : plain(state, 40), kind: state === "cancelled" ? "" : "error" };
}

/** Whether a completed download isn't what a person expects. */
const isDoubtful = ({ incomplete, replay_check: check }) => Boolean(incomplete) || String(check ?? "").startsWith("Differs");

function completedText({ file_size: bytes, quality_fallback: isFallback, incomplete }) {
    const saved = message(incomplete ? "capture.state.partly" : "capture.state.completed");
    const state = bytes > 0 ? message("capture.state.size", { state: saved, size: size(bytes) }) : saved;
    return isFallback ? message("capture.state.fallback", { state }) : state;
}

function waitingText({ waiting_for: reason, not_before: time, url, genre, options }, missing) {
    const seconds = (Date.parse(time ?? "") - Date.now()) / 1000;
    const later = seconds > 0 ? message("capture.waiting.later", { time: duration(seconds) }) : message("capture.waiting.soon");
    if (reason === "tool") return { text: toolText(missing, genre, options?.mode), kind: "warning" };
    if (reason === "paused") return { text: message("capture.waiting.paused"), kind: "warning" };
    if (reason === "disk") return { text: message("capture.waiting.disk"), kind: "warning" };
    if (reason === "limit" && seconds > 0) return { text: message("capture.waiting.limit", { time: duration(seconds) }), kind: "warning" };
    if (reason === "site") {
        const site = siteOf(url);
        return { text: message("capture.waiting.site", { known: site ? "yes" : "no", site, later }), kind: "warning" };
    }
    return { text: later, kind: "warning" };
}

function toolText(missing, genre, mode) {
    const names = mode === "page" ? ["curl", "chromium"] : fileGenres.includes(genre) ? ["curl"]
        : ["yt-dlp", "ffmpeg", "ffprobe", "curl"];
    const needed = missing.filter(({ name }) => names.includes(name));
    return needed.length === 0 ? message("capture.waiting.tool") : message("capture.waiting.tools", { n: needed.length, missing: missingText(needed) });
}

/**
 * @param {import("./api.js").Tool[]} tools that aren't installed or don't start
 * @returns {string} for example `yt-dlp and ffmpeg aren't installed`
 */
export function missingText(tools) {
    const list = new Intl.ListFormat(language).format(tools.map(({ name }) => plain(name, 40)));
    const isInstalled = tools.some(({ path }) => path !== null);
    return message(isInstalled ? "capture.tools.broken" : "capture.tools.missing", { n: tools.length, tools: list });
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
        percent !== null && message("capture.progress.percent", { n: Math.floor(percent) }),
        bytes > 0 && (total > 0 ? message("capture.progress.part", { done: size(bytes), total: size(total) }) : size(bytes)),
        speed > 0 && message("capture.progress.speed", { size: size(speed) }),
        eta > 0 && message("capture.progress.left", { time: duration(eta) }),
    ].filter(Boolean).join(" · ");
}

/**
 * @param {Download} download
 * @returns {string} what to do about a failure, with commands in backticks; empty when there's no advice
 */
export function adviceText({ error_code: code, error_message: cause, username }) {
    if (code !== "login_required" || cause?.includes("cookies set")) return "";
    return message("capture.advice.cookies", { user: plain(username, 100) });
}

/**
 * @param {Download} download
 * @returns {string} the form and the quality that were chosen, for example `Video · 1080p · MP4`; empty for pages and documents
 */
export function choicesText({ genre, options = {}, file_path: file }) {
    const { mode, form, height, container, audio_quality: quality } = options ?? {};
    if (mode === "page" || fileGenres.includes(genre)) return "";
    const isAudio = form === "audio";
    const ending = container ?? /\.([a-z0-9]{2,4})$/i.exec(file ?? "")?.[1] ?? "";
    return [(form || height || container) && message(isAudio ? "capture.options.form-audio" : "capture.options.form-video"),
        !isAudio && height && `${height}p`, ending.toUpperCase(), isAudio && quality && quality.replace("k", " kHz")].filter(Boolean).join(" · ");
}
