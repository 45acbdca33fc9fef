/**
 * Begins what this page is there for: the agent of the viewer, or, in place of an archived page that reached the server,
 * the set-up that brings it back through the engine.
 */
import { failureText, stepText } from "../app/replay/setup-texts.js";
import { runAgent } from "./agent.js";
import { Problem, boot, isCollection, setUp } from "./setup.js";

const viewerOrigin = boot.controlOrigins[0];
const triesMax = 2;
const triesKey = "replayhost-tries";

const part = (id) => document.getElementById(id);

function show(heading, status, { hint = "", href = "", label = "", detail = "" } = {}) {
    part("heading").textContent = heading;
    document.title = heading;
    part("status").textContent = status;
    part("hint").textContent = hint;
    part("hint").hidden = !hint;
    part("link").textContent = label;
    if (href) part("link").href = href;
    part("next").hidden = !href;
    part("detail").textContent = detail;
    part("detail").hidden = !detail;
}

/** The replay address in this page's own URL, or nothing when it is not one. */
function replayAddress() {
    const rest = location.href.slice(location.origin.length);
    const match = /^\/([^/?#]+)\/(?::[\w-]+\/)?(\d*)([a-z]+_|\$[a-z0-9:.-]+)?\/([^]+)$/.exec(rest);
    return match && { collection: match[1], timestamp: match[2], modifier: match[3] ?? "", url: match[4] };
}

function viewerURL(address) {
    const fragment = address ? `#url=${encodeURIComponent(address.url)}&ts=${address.timestamp}` : "";
    const place = isCollection ? `collection=${boot.id}` : `archive=/archives/${boot.id}.wacz`;
    return `${viewerOrigin}/?${place}${fragment}`;
}

function framingControlOrigin() {
    if (window.parent === window) return "";
    let origin = "";
    if (location.ancestorOrigins?.length) {
        origin = location.ancestorOrigins[0];
    } else if (document.referrer) {
        origin = new URL(document.referrer).origin;
    }
    return boot.controlOrigins.includes(origin) ? origin : "";
}

function countTry() {
    try {
        const last = JSON.parse(sessionStorage.getItem(triesKey) ?? "{}");
        const fresh = last.href === location.href && Date.now() - last.time < 30_000;
        const count = fresh ? last.count + 1 : 1;
        sessionStorage.setItem(triesKey, JSON.stringify({ href: location.href, count, time: Date.now() }));
        return count;
    } catch {
        return 1;
    }
}

/** A viewer that is opened anew may try anew: Firefox takes the first page after a reload from the server each time. */
function forgetTries() {
    try {
        sessionStorage.removeItem(triesKey);
    } catch {
        // Without a storage no tries are counted.
    }
}

function showProblem(error) {
    const { what, hint } = failureText(error.code, location.origin, boot.id);
    show(`“${boot.title}” cannot be opened`, `${what}.`, { hint, detail: error.detail ? `Detail: ${error.detail}` : "" });
}

async function openThroughEngine() {
    try {
        await setUp((step, percent) => show(`Opening “${boot.title}”`, stepText(step, percent)));
        if (countTry() > triesMax) throw new Problem("no-control");
        location.reload();
    } catch (error) {
        showProblem(error);
    }
}

function showEarlier(address, atTop) {
    const path = `/${boot.collection}/${address.timestamp}${address.modifier || "mp_"}/${address.url}`;
    const change = isCollection ? "has other archives, or other files, than when this address was made. What it holds"
        : "was replaced since this address was made. What the file holds";
    show("This address belongs to an earlier file", `“${boot.title}” ${change} now may differ.`, {
        href: atTop ? viewerURL(address) : location.origin + path,
        label: `Open the same address in the ${isCollection ? "collection" : "archive"} as it is now`,
    });
}

const address = replayAddress();
const atTop = window.parent === window;
const controlOrigin = framingControlOrigin();
if (address && address.collection !== boot.collection) {
    showEarlier(address, atTop);
} else if (atTop) {
    location.replace(viewerURL(address));
} else if (address) {
    openThroughEngine();
} else if (controlOrigin && location.pathname === "/") {
    forgetTries();
    runAgent(controlOrigin);
} else {
    show("This page shows nothing by itself", "It belongs to the viewer of replayhost.", {
        href: viewerURL(null),
        label: `Open “${boot.title}” in the viewer`,
    });
}
