/** Sends requests to the server, and reads its errors. */
import { serverFailed } from "./connection.js";
import { takeAnswer } from "./opening.js";

/** An error of the server: what failed, where, and what to do. */
export class HostError extends Error {
    /**
     * @param {{code?: string, what?: string, where?: string, hint?: string}} error
     * @param {number} [status] the HTTP status; 0 without a response
     */
    constructor({ code = "", what = "", where = "", hint = "" }, status = 0) {
        super(what);
        this.name = "HostError";
        this.code = code;
        this.what = what;
        this.where = where;
        this.hint = hint;
        this.status = status;
    }
}

/** @returns {string} the command that starts this server again; the server hands it to the page if it needs options */
export function startCommand() {
    const command = document.querySelector('meta[name="replayhost-start"]')?.content;
    // Between backticks, text is code.
    return command && !command.includes("`") ? command : "replayhost serve";
}

/** @returns {HostError} the error for a server that doesn't respond; it's asked until it does */
export function serverUnavailable() {
    serverFailed();
    return new HostError({
        code: "server-unavailable",
        what: "replayhost has stopped",
        hint: `start it again, for example with \`${startCommand()}\`; this page will reconnect`,
    });
}

/**
 * Reads the error object in the body of a response.
 *
 * @param {string} body
 * @param {number} status
 * @returns {HostError}
 */
export function errorFrom(body, status) {
    try {
        const { error } = JSON.parse(body);
        if (error?.what) return new HostError(error, status);
    } catch {
        // Not the API's JSON: the status is all that's known.
    }
    return new HostError({
        code: "unexpected-answer",
        what: `the server returned the unexpected status ${status}`,
        hint: "check the output of `replayhost serve`",
    }, status);
}

/** @throws {HostError} for an answer that isn't a success */
export async function request(address, options = {}) {
    let answer;
    try {
        answer = await (takeAnswer(address) ?? fetch(address, options));
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw serverUnavailable();
    }
    if (!answer.ok) throw errorFrom(await answer.text(), answer.status);
    return answer;
}

/** Reads an answer of the API. */
export const read = async (address, options) => (await request(address, options)).json();

/**
 * @param {import("./route-types.js").Target} target
 * @returns {string} its path in the API
 */
export const path = ({ kind, id }) => `/api/${kind === "collection" ? "collections" : "archives"}/${encodeURIComponent(id)}`;

/** Notes what an item of the API is. */
export const ofKind = (kind) => (item) => ({ ...item, kind });
