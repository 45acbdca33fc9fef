/** The app: shows the view for the current URL, and implements `window.setArchiveURL`. */
import { errorBlock } from "./components/messages.js";
import { loadHealth, pageHeader, showNamesUnresolved, showBanners } from "./components/shell.js";
import * as api from "./core/api.js";
import { make } from "./core/dom.js";
import { message } from "./core/i18n.js";
import { isAtCanonicalHost, canonicalURL, originsMode, resolvesLocalNames } from "./core/origins.js";
import { archiveName, go, mainURL, readRoute } from "./core/routes.js";

const root = document.getElementById("app");
/** The views, each with its module and style sheets. They load when they are first shown. */
const views = {
    library: [["library/library.css"], async (route) => (await import("./library/library.js")).showLibrary(root, route)],
    search: [["search/search.css"], async (route) => (await import("./search/search.js")).showSearch(root, route)],
    archive: [["archive/archive-page.css", "archive/archive-lists.css", "archive/report.css", "viewer/viewer.css"], showTarget],
};
views.collection = views.archive;
let view = null;
// Numbers the views, since a later one can load before an earlier one.
let newest = 0;
let moving = false;
let staysHere = false;

async function show(route, traversed = false) {
    const number = ++newest;
    if (view?.kind === route.kind && view.name === route.name) {
        view.update?.(route, traversed);
        return;
    }
    view?.close();
    view = null;
    if (route.kind === "unknown") {
        showProblem(message("archive.cant-open"), new Error(route.reason));
        return;
    }
    const [styles, open] = views[route.kind];
    try {
        await Promise.all(styles.map(loadStyles));
        const opened = await open(route, () => number === newest);
        if (number === newest) view = opened;
        else opened?.close();
    } catch (error) {
        if (number === newest) showProblem(message("view.cant-load"), error);
    }
}

async function showTarget(route, isCurrent) {
    const { showArchive } = await import("./archive/archive-view.js");
    return isCurrent() ? showArchive(root, route, { onRefused }) : null;
}

function showProblem(title, error) {
    document.body.dataset.view = "pages";
    root.replaceChildren(pageHeader([]), make("main", { class: "column" }, make("h1", { text: title }), errorBlock(error),
        make("p", {}, make("a", { class: "button", href: "/", text: message("library.open") }))));
    showBanners();
}

/** Adds a style sheet of the app, and waits until it applies. */
function loadStyles(path) {
    const href = `/app/${path}`;
    if (document.querySelector(`link[href="${href}"]`)) return null;
    return new Promise((resolve, reject) => {
        document.head.append(make("link", { rel: "stylesheet", href, on: { load: resolve, error: () => reject(api.serverUnavailable()) } }));
    });
}

/** Moves to `replayhost.localhost`, where replay may work if the browser blocks it at `localhost`. */
function onRefused() {
    if (isAtCanonicalHost() || originsMode() === "ports") return false;
    location.replace(canonicalURL());
    return true;
}

async function setArchive(path) {
    const archive = { kind: "archive", id: archiveName(path, location) };
    staysHere = true;
    if (moving) {
        // If the page moved on, the caller's promise would never settle.
        moving = false;
        window.stop();
    }
    await api.details(archive);
    view?.close();
    view = null;
    history.pushState(null, "", mainURL(archive));
    await show(readRoute(location));
    if (!view) throw new Error("another view was opened before this one loaded");
    await view.shown;
}

async function start() {
    if (window.replayhostCalls.moving) return;
    window.replayhostCalls.connect(setArchive);
    if (!isAtCanonicalHost() && originsMode() !== "ports") {
        const resolvable = await resolvesLocalNames();
        if (resolvable && !staysHere && window.replayhostCalls.count === 0) {
            moving = true;
            location.replace(canonicalURL());
            return;
        }
        if (!resolvable && originsMode() === "names") showNamesUnresolved();
    }
    // The views restore the scroll position themselves, once their lists have loaded.
    history.scrollRestoration = "manual";
    window.addEventListener("popstate", (event) => show(readRoute(location), event.state !== null));
    loadHealth();
    if (!view && newest === 0) show(readRoute(location));
}

start();
