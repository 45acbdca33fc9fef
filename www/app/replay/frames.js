/** The two frames at an archive's origin. `opening.js` can open them before the viewer has loaded, which then adopts them. */
import { answerOf } from "../core/answer.js";
import { makeEmpty } from "../core/element.js";

// Scripts and forms work as on the live web, but a page can't open windows or navigate the viewer.
const sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads allow-pointer-lock";
// Findings of archives that the engine can't read by ranges.
const obstacles = ["warc-deflated", "data-folder"];

/** @returns {HTMLIFrameElement} the hidden frame of the agent, without an address */
export const agentFrame = () => makeEmpty("iframe", { name: "___replayhost_agent", hidden: "", tabindex: "-1", "aria-hidden": "true",
    sandbox: "allow-scripts allow-same-origin", referrerpolicy: "origin" });

/** @returns {HTMLIFrameElement} the frame of the archived page */
export const pageFrame = (src) => makeEmpty("iframe", { name: "___wb_replay_top_frame", sandbox, "aria-description": "F6 leaves the page",
    allow: "autoplay; fullscreen", src });

/** @returns {HTMLIFrameElement} a frame in which an archived page is shown without its scripts */
export const stillFrame = (name, src) => makeEmpty("iframe", { name, sandbox: "allow-same-origin", src });

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} mode the replay mode; empty for the default
 * @returns {string} the URL of the agent
 */
export const agentURL = (archive, mode) => `${new URL(archive.replayOrigin).origin}/${mode ? `?replay=${mode}` : ""}`;

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {string} url as captured
 * @param {string} timestamp
 * @returns {string} the URL at which it is replayed
 */
export const replayURL = (archive, url, timestamp) =>
    `${new URL(archive.replayOrigin).origin}/${archive.replayCollection}/${timestamp}mp_/${url}`;

/**
 * @param {import("../core/api.js").Capture|undefined} capture
 * @returns {boolean} whether a frame can load it before the agent listens, which hears of documents that never arrive
 */
export function opensAtOnce(capture) {
    const { status, mime } = answerOf(capture);
    return capture !== undefined && !capture.request && /^text\/html\b/.test(mime) && ![204, 205].includes(status);
}

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosen empty for the default
 * @returns {{mode: ""|"lookups"|"ranges", obstacle: string}} the mode that is possible, and why it isn't the chosen one: `collection`,
 *   or the code of a finding
 */
export function possibleMode(archive, chosen) {
    const isCollection = archive.kind === "collection";
    const obstacle = isCollection ? "collection" : archive.findings?.find(({ code }) => obstacles.includes(code))?.code ?? "";
    if (chosen === "ranges" && obstacle) return { mode: "", obstacle };
    return { mode: isCollection ? "" : chosen, obstacle: "" };
}
