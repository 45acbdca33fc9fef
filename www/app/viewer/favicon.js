/** The favicon of the page that is shown, which the agent reads from the archive. */
import { newestOnly } from "../core/newest.js";
import { parseReplayURL } from "../replay/replay-frame.js";

// No SVG: it can contain scripts, and its `blob:` URL has the viewer's origin.
const types = new Set(["image/png", "image/x-icon", "image/vnd.microsoft.icon", "image/gif", "image/jpeg",
    "image/webp"]);
const bytesMax = 256 * 1024;
const triesMax = 3;
const readMilliseconds = 2000;

/**
 * @param {ReturnType<typeof import("../replay/agent-frame.js").createAgentFrame>} agent
 * @param {import("../core/api.js").Archive} archive
 * @param {string[]} candidates URLs from the page; untrusted
 * @param {string} timestamp
 * @param {() => boolean} isWanted whether no other icon was requested meanwhile
 * @returns {Promise<string>} a `blob:` URL, or empty without an icon
 */
async function findIcon(agent, archive, candidates, timestamp, isWanted) {
    for (const href of candidates.slice(0, triesMax)) {
        if (!isWanted()) break;
        const address = parseReplayURL(href, archive);
        if (!address || !/^https?:/.test(address.url)) continue;
        const { type, bytes } = await agent.ask("icon", { url: address.url, timestamp });
        if (types.has(type) && bytes instanceof ArrayBuffer && bytes.byteLength <= bytesMax) {
            return URL.createObjectURL(new Blob([bytes], { type }));
        }
    }
    return "";
}

/**
 * The icon of the page that is shown: in the toolbar, and in the browser's tab while the viewer is visible.
 *
 * @param {ReturnType<typeof import("../replay/agent-frame.js").createAgentFrame>} agent
 * @param {import("../core/api.js").Archive} archive
 * @param {(address: string) => void} show shows it in the toolbar
 */
export function createIcons(agent, archive, show) {
    let current = "";
    let iconsWanted = "";
    let visible = true;

    const icons = newestOnly(async ({ wanted, candidates, timestamp }) => {
        const isWanted = () => wanted === iconsWanted;
        const address = await findIcon(agent, archive, candidates, timestamp, isWanted);
        if (!isWanted()) {
            if (address) URL.revokeObjectURL(address);
            return;
        }
        const previous = current;
        current = address;
        show(address);
        if (visible) setTabIcon(address);
        // The browser may still be reading the previous icon.
        if (previous) setTimeout(() => URL.revokeObjectURL(previous), readMilliseconds);
    });

    return {
        /**
         * @param {string[]} candidates URLs from the page; untrusted
         * @param {string} timestamp
         */
        set(candidates, timestamp) {
            const wanted = candidates.join(" ");
            if (wanted === iconsWanted) return;
            iconsWanted = wanted;
            icons.add({ wanted, candidates, timestamp });
        },

        /** @param {boolean} now */
        setVisible(now) {
            visible = now;
            setTabIcon(now ? current : "");
        },

        close() {
            icons.drop();
            setTabIcon("");
            // The browser may still be reading it.
            if (current) setTimeout(() => URL.revokeObjectURL(current), readMilliseconds);
        },
    };
}

/**
 * Sets the icon of the browser's tab.
 *
 * @param {string} address empty for the app's icon
 */
function setTabIcon(address) {
    const link = document.querySelector('link[rel="icon"]');
    link.type = address ? "" : "image/svg+xml";
    link.href = address || "/app/icon.svg";
}
