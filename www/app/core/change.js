/** Sends requests that change something, which the server accepts only with its token. */
import { request } from "./request.js";

/** @returns {string} the token that authorizes changes */
export function token() {
    return document.querySelector('meta[name="replayhost-token"]').content;
}

/** Sends a request that changes something. Renews an outdated token once. */
export async function change(method, address, body, options = {}) {
    const send = () => {
        const headers = { "Replayhost-Token": token() };
        if (body !== undefined) headers["Content-Type"] = "application/json";
        return request(address, { ...options, method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    };
    try {
        return await send();
    } catch (error) {
        if (error.status !== 403 || !await renewToken()) throw error;
        return send();
    }
}

/**
 * Reads the token of a server that was restarted.
 *
 * @returns {Promise<boolean>} whether the token changed
 */
export async function renewToken() {
    const page = await (await request("/", { cache: "no-store" })).text();
    const now = /<meta name="replayhost-token" content="([0-9a-f]+)">/.exec(page)?.[1] ?? token();
    const hasChanged = now !== token();
    document.querySelector('meta[name="replayhost-token"]').content = now;
    return hasChanged;
}
