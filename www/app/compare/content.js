/** Reads what two captures have: their bytes, and these as text. */
import * as api from "../core/api.js";

/** Pages are compared up to this size. */
export const bytesMax = 5_000_000;
const declarationBytes = 4096;

/**
 * @typedef {object} Content of a capture
 * @property {"html"|"text"|"picture"|"other"} kind
 * @property {string} type the media type; empty if unknown
 * @property {number} status
 * @property {string} target where a redirect leads; else empty
 * @property {Uint8Array} bytes
 * @property {""|"large"|"missing"|"unreadable"} problem why there are none
 */

/**
 * @param {import("../core/route-types.js").Target} target
 * @param {import("../core/api.js").Capture} capture
 * @param {AbortSignal} signal
 * @returns {Promise<Content>}
 */
export async function readContent(target, capture, signal) {
    const path = contentPath(target, capture);
    const none = { kind: "other", type: "", status: capture.status ?? 200, target: "", bytes: new Uint8Array() };
    if (!path) return { ...none, problem: "unreadable" };
    let answer;
    try {
        answer = await fetch(path, { signal });
    } catch (error) {
        signal.throwIfAborted();
        throw error instanceof TypeError ? api.serverUnavailable() : error;
    }
    if (!answer.ok) return { ...none, problem: answer.status === 404 ? "missing" : "unreadable" };
    // Of a capture that can't be shown, the server sends another one.
    const time = /^\/c\/[^/]+\/(\d+)ir_\//.exec(answer.headers.get("Content-Location") ?? "")?.[1];
    if (time !== capture.timestamp) return { ...none, problem: "missing" };
    const type = (answer.headers.get("Content-Type") ?? "").toLowerCase();
    const bytes = await readBytes(answer, signal);
    return {
        kind: kindOf(type.split(";", 1)[0].trim()),
        type,
        status: Number(answer.headers.get("X-Redirect-Status") ?? answer.status),
        target: answer.headers.get("X-Orig-Location") ?? "",
        bytes: bytes ?? none.bytes,
        problem: bytes ? "" : "large",
    };
}

/** @returns {string} the path of the archived body; empty if the URL has none */
export const contentPath = (target, { url, request, timestamp }) => api.originalFile(target, { url: request ?? url, timestamp }, "ir_");

/** Reads a body; returns `null` if it's larger than `bytesMax`. */
async function readBytes(answer, signal) {
    const parts = [];
    let size = 0;
    const reader = answer.body.getReader();
    for (;;) {
        const { value, done } = await reader.read();
        signal.throwIfAborted();
        if (done) break;
        size += value.length;
        if (size > bytesMax) {
            reader.cancel().catch(() => {});
            return null;
        }
        parts.push(value);
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}

function kindOf(type) {
    if (["text/html", "application/xhtml+xml", ""].includes(type)) return "html";
    if (type.startsWith("image/")) return "picture";
    return /^text\/|[/+](?:json|xml)$|\/(?:x-)?(?:java|ecma)script$/.test(type) ? "text" : "other";
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export const areEqual = (one, other) => one.length === other.length && one.every((byte, index) => byte === other[index]);

/**
 * Decodes a content with the encoding that it declares, else as UTF-8 if it's valid, else as Windows-1252.
 *
 * @param {Content} content
 * @returns {{text: string, encoding: string, unknown: string, isDamaged: boolean}} `text`: with line feeds only; `unknown`: the encoding
 *   that is declared, if it isn't known; `isDamaged`: whether some bytes aren't valid in the encoding
 */
export function decode({ kind, type, bytes }) {
    const declared = markedEncoding(bytes) || declaredEncoding(kind, type, bytes);
    const encoding = declared && knownEncoding(declared);
    const unknown = declared && !encoding ? declared : "";
    const all = encoding ? [encoding] : ["utf-8", "windows-1252"];
    for (const each of all) {
        try {
            return { text: withLineFeeds(new TextDecoder(each, { fatal: true }).decode(bytes)), encoding: each, unknown, isDamaged: false };
        } catch {
            // The next one may fit.
        }
    }
    return { text: withLineFeeds(new TextDecoder(all[0]).decode(bytes)), encoding: all[0], unknown, isDamaged: true };
}

const withLineFeeds = (text) => text.replace(/\r\n?/g, "\n");

const markedEncoding = ([first, second, third]) => first === 0xef && second === 0xbb && third === 0xbf ? "utf-8"
    : first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "";

/** The encoding in the header, or at the start of the document. */
function declaredEncoding(kind, type, bytes) {
    const [, inHeader] = /;\s*charset\s*=\s*["']?([^"';\s]+)/.exec(type) ?? [];
    if (inHeader) return inHeader;
    const start = new TextDecoder("windows-1252").decode(bytes.subarray(0, declarationBytes)).replace(/<!--[^]*?-->/g, "");
    const [, inXML] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(start) ?? [];
    const [, inMeta] = kind === "html" && /<meta\s[^>]*charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) || [];
    const found = (inMeta ?? inXML ?? "").toLowerCase();
    // Such a declaration couldn't be read in that encoding.
    return found.startsWith("utf-16") ? "utf-8" : found;
}

function knownEncoding(label) {
    try {
        return new TextDecoder(label).encoding;
    } catch {
        return "";
    }
}
