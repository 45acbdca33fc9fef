/** The icon of the page that is shown, fetched out of the archive by the agent. */
import { archivedAddress } from "./replay-frame.js";

// No SVG: it is a document with scripts, and the address made from it belongs to the viewer's origin.
const types = new Set(["image/png", "image/x-icon", "image/vnd.microsoft.icon", "image/gif", "image/jpeg",
    "image/webp"]);
const bytesMax = 256 * 1024;
const triesMax = 3;

/**
 * @param {ReturnType<import("./agent.js").createAgent>} agent
 * @param {import("./api.js").Archive} archive
 * @param {string[]} candidates addresses that the page named; untrusted
 * @param {string} timestamp
 * @param {() => boolean} isWanted whether another one is not asked for meanwhile
 * @returns {Promise<string>} a `blob:` URL, or empty when there is none
 */
export async function findIcon(agent, archive, candidates, timestamp, isWanted) {
    for (const href of candidates.slice(0, triesMax)) {
        if (!isWanted()) break;
        const address = archivedAddress(href, archive);
        if (!address || !/^https?:/.test(address.url)) continue;
        const { type, bytes } = await agent.ask("icon", { url: address.url, timestamp });
        if (types.has(type) && bytes instanceof ArrayBuffer && bytes.byteLength <= bytesMax) {
            return URL.createObjectURL(new Blob([bytes], { type }));
        }
    }
    return "";
}

/**
 * Sets the icon of the browser's tab.
 *
 * @param {string} address empty for the host's own
 */
export function setTabIcon(address) {
    const link = document.querySelector('link[rel="icon"]');
    link.type = address ? "" : "image/svg+xml";
    link.href = address || "/app/icon.svg";
}
