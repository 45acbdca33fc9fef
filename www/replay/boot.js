/**
 * Starts the viewer's agent. If the server received a request for an archived page, it sets up the engine instead and
 * loads the page again.
 */

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

/** Returns the parts of this page's replay URL, or `null` for other URLs. */
function replayURL() {
    const rest = location.href.slice(location.origin.length);
    const match = /^\/([^/?#]+)\/(?::[\w-]+\/)?(\d*)([a-z]+_|\$[a-z0-9:.-]+)?\/([^]+)$/.exec(rest);
    return match && { collection: match[1], timestamp: match[2], modifier: match[3] ?? "", url: match[4] };
}

function viewerURL(address) {
    const fragment = address ? `#url=${encodeURIComponent(address.url)}&ts=${address.timestamp}` : "";
    const target = isCollection ? `collection=${boot.id}` : `archive=/archives/${boot.id}.wacz`;
    return `${viewerOrigin}/?${target}${fragment}`;
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

/** Resets the count for a new viewer: after a reload, Firefox requests the first page from the server each time. */
function resetTries() {
    try {
        sessionStorage.removeItem(triesKey);
    } catch {
        // Without storage, tries aren't counted.
    }
}

function showError(error) {
    const { what, hint } = failureText(error.code, location.origin, boot.id);
    show(`“${boot.title}” can't be opened`, `${what}.`, { hint, detail: error.detail ? `Details: ${error.detail}` : "" });
}

/** Loads the page again with this origin as its referrer. A reload would keep the earlier one. */
function loadAgain() {
    const { href } = location;
    // A URL that differs only by its fragment would not be loaded.
    history.replaceState(null, "", "/");
    location.replace(href);
}

async function openThroughEngine() {
    try {
        // The worker leaves requests without a referrer to the server.
        const isSetUp = navigator.serviceWorker?.controller?.scriptURL === workerURL;
        if (!isSetUp || document.referrer) {
            await setUp((step, percent) => show(`Opening “${boot.title}”`, stepText(step, percent)));
            if (countTry() > triesMax) throw new SetupError("no-control");
        }
        loadAgain();
    } catch (error) {
        showError(error);
    }
}

function showOutdated(address, atTop) {
    const path = `/${boot.collection}/${address.timestamp}${address.modifier || "mp_"}/${address.url}`;
    const change = isCollection ? `The archives in “${boot.title}” have changed` : `“${boot.title}” has been replaced`;
    show("This URL is from an earlier version", `${change} since this URL was made. The page may differ.`, {
        href: atTop ? viewerURL(address) : location.origin + path,
        label: `Open this URL in the current ${isCollection ? "collection" : "archive"}`,
    });
}

const address = replayURL();
const atTop = window.parent === window;
const controlOrigin = framingControlOrigin();
if (address && address.collection !== boot.collection) {
    showOutdated(address, atTop);
} else if (atTop) {
    location.replace(viewerURL(address));
} else if (address) {
    openThroughEngine();
} else if (controlOrigin && location.pathname === "/") {
    resetTries();
    runAgent(controlOrigin);
} else {
    show("This page is part of the viewer", "Open the archive in the viewer instead.", {
        href: viewerURL(null),
        label: `Open “${boot.title}” in the viewer`,
    });
}
