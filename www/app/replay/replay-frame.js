/**
 * The frame that shows an archived page, and the page's reports. The engine's script in the page posts `wb_type` messages
 * to this window. Any archived script can do the same, so all reports are checked.
 */
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { createFocusGuard } from "./focus-guard.js";
import { pageFrame, replayURL } from "./frames.js";

const urlCharactersMax = 8192;
const titleCharactersMax = 1000;

/**
 * @typedef {object} Report
 * @property {"load"|"move"|"not-found"|"title"|"hash"} kind `not-found`: the engine has nothing to show
 * @property {string} [url] untrusted
 * @property {string} [timestamp] untrusted, digits only
 * @property {string} [title] untrusted
 * @property {string[]} [icons] untrusted URLs at the replay origin
 * @property {string} [hash] untrusted
 */

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {Element} agentFrame the agent's frame, which archived scripts can reach
 * @param {{onReport: (report: Report) => void, onDocument: () => void, onFocusTaken: () => void, onAdopted: () => void}} listener
 *   `onDocument`: a document arrived; `onFocusTaken`: the page keeps taking the focus from the app; `onAdopted`: the viewer expects the
 *   page that was opened before
 * @param {import("../core/opening.js").Opening|null} opening has the frame, if it was opened before
 */
export function createReplayFrame(archive, agentFrame, { onReport, onDocument, onFocusTaken, onAdopted }, opening) {
    const origin = new URL(archive.replayOrigin).origin;
    let frame = opening?.page ?? null;
    // Its messages wait until the viewer expects its page.
    let waiting = opening;
    const element = opening?.place ?? make("div", { class: "replay-frame" });
    const guard = createFocusGuard(element, { give, isPageFrame: (one) => frame !== null && one === frame,
        isAgentFrame: (one) => one === agentFrame, onRepeated: onFocusTaken });

    function give() {
        if (!frame) return;
        guard.release();
        frame.focus();
    }

    function receive(event) {
        if (!frame || event.source !== frame.contentWindow || event.origin !== origin) return;
        const report = read(event.data);
        if (report) onReport(report);
    }
    window.addEventListener("message", receive);

    function prepare(one) {
        one.title = message("viewer.page-frame");
        one.addEventListener("load", onDocument);
        return one;
    }
    if (frame) {
        prepare(frame);
        element.append(guard.shield);
    } else {
        opening?.releasePage(false);
    }

    /** Ends the waiting; returns whether the frame shows this already. */
    function adopt(target) {
        const isWanted = frame !== null && waiting?.page === frame && waiting.pageURL === target;
        if (waiting?.releasePage(isWanted)) onDocument();
        waiting = null;
        if (isWanted) onAdopted();
        return isWanted;
    }

    return {
        element,

        /** @returns {boolean} */
        get exists() {
            return frame !== null;
        },

        /** @returns {boolean} whether it has a page that was opened before, and that the viewer doesn't expect yet */
        get isEarly() {
            return frame !== null && waiting !== null;
        },

        /**
         * Removes the frame, so that the browser's history can't navigate it. {@link navigate} adds another one.
         */
        remove() {
            adopt("");
            frame?.remove();
            frame = null;
        },

        /**
         * @param {string} url as captured
         * @param {string} timestamp
         */
        navigate(url, timestamp) {
            const target = replayURL(archive, url, timestamp);
            if (adopt(target)) return;
            if (!frame) {
                frame = prepare(pageFrame(target));
                element.replaceChildren(frame, guard.shield);
            } else {
                // The viewer adds the history entries.
                frame.contentWindow.location.replace(target);
            }
        },

        focus() {
            // Firefox ignores this while a key is handled.
            if (frame) setTimeout(give);
        },

        close() {
            adopt("");
            guard.close();
            window.removeEventListener("message", receive);
            element.remove();
        },
    };
}

/** Replaces lone surrogates, which can't be part of a URL. */
const wellFormed = (text) => text.replace(/[\ud800-\udfff]/gu, "\ufffd");

function read(data) {
    if (typeof data !== "object" || data === null) return null;
    const url = typeof data.url === "string" && data.url.length <= urlCharactersMax ? wellFormed(data.url) : "";
    const timestamp = typeof data.ts === "string" && /^\d{4,17}$/.test(data.ts) ? data.ts : "";
    const title = typeof data.title === "string" ? data.title.slice(0, titleCharactersMax) : "";
    switch (data.wb_type) {
    case "load":
        return url ? { kind: "load", url, timestamp, title, icons: readIcons(data.icons) } : null;
    case "replace-url":
        return url ? { kind: "move", url, timestamp, title } : null;
    case "archive-not-found":
    case "live-proxy-url-error":
        return url ? { kind: "not-found", url, timestamp } : null;
    case "title":
        return { kind: "title", title };
    case "hashchange":
        return typeof data.hash === "string"
            ? { kind: "hash", hash: wellFormed(data.hash.slice(0, urlCharactersMax)) } : null;
    default:
        return null;
    }
}

function readIcons(icons) {
    if (!Array.isArray(icons)) return [];
    return icons.slice(0, 20).map((entry) => entry?.href)
        .filter((href) => typeof href === "string" && href.length <= urlCharactersMax);
}

/**
 * Returns the archived URL and time in a replay URL.
 *
 * @param {string} href
 * @param {import("../core/api.js").Archive} archive
 * @returns {{url: string, timestamp: string}|null} `null` for other URLs
 */
export function parseReplayURL(href, archive) {
    if (typeof href !== "string" || href.length > urlCharactersMax) return null;
    const origin = new URL(archive.replayOrigin).origin;
    const path = href.startsWith(`${origin}/`) ? href.slice(origin.length) : href;
    const start = `/${archive.replayCollection}/`;
    if (!path.startsWith(start)) return null;
    const match = /^(?::[\w-]+\/)?(\d*)(?:[a-z]+_)?\/(.+)$/s.exec(path.slice(start.length));
    return match && { timestamp: match[1], url: wellFormed(match[2]) };
}
