/** Names and states of jobs, and the commands that are possible. */
import { plain } from "../core/dom.js";
import { size } from "../core/format.js";
import { hasMessage, message } from "../core/i18n.js";

/** The commands for each state that isn't finished. A job that can't read its file again can only be cancelled. */
const commands = { waiting: ["pause", "cancel"], running: ["pause", "cancel"], paused: ["resume", "cancel"] };
const rereading = new Set(["pause", "resume"]);
// Errors that a retry can't fix: the file isn't a readable archive.
const permanentErrors = new Set(["archive-refused"]);

/** @param {string} state */
export const isActive = (state) => Object.hasOwn(commands, state);

/**
 * @param {import("../core/api.js").Job} job that is active
 * @returns {string[]}
 */
export const possibleCommands = ({ state, repeatable }) => commands[state].filter((command) => repeatable || !rereading.has(command));

/** @param {import("../core/api.js").Job} job that failed */
export const canRetry = ({ repeatable, errorCode }) => Boolean(repeatable) && !permanentErrors.has(errorCode);

/** @param {import("../core/api.js").Job} job */
export function jobName({ kind, subject }) {
    const key = `activity.kind-${kind}`;
    return message(hasMessage(key) ? key : "activity.kind-other", { name: plain(subject, 200) });
}

/** @param {import("../core/api.js").Job} job that is active */
export function jobState({ state, done, total, attempt }) {
    const amount = total > 0 ? message("activity.state-amount", { percent: Math.floor(Math.min(1, done / total) * 100),
        done: size(done), total: size(total) }) : "";
    if (state === "paused" && amount) return message("activity.state-paused-at", { text: amount });
    const text = state === "running" && amount || message(`activity.state-${state}`);
    return state === "running" && attempt > 1 ? message("activity.state-attempt", { text, n: attempt }) : text;
}
