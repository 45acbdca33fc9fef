/** The app: shows the view for the current URL, and implements `window.setArchiveURL`. */
import "./messages/en/shell.js";
import { errorBlock } from "./components/messages.js";
import { pageHeader, showBanners } from "./components/page-header.js";
import { followServer, responds, serverFailed } from "./core/connection.js";
import { loadStyles, make } from "./core/dom.js";
import { message } from "./core/i18n.js";
import { details } from "./core/library-api.js";
import { followLinks, whenNavigated } from "./core/navigation.js";
import { endOpening } from "./core/opening.js";
import { serverUnavailable } from "./core/request.js";
import { archiveName, mainURL, readRoute } from "./core/routes.js";

const firstViewSecondsMax = 2;
const root = document.getElementById("app");
/** The views, each with its style sheets and its module, which load when it's first shown, and the function that shows it. */
const views = {
    library: [["library/library.css", "library/archives.css"], () => import("./library/library.js"), "showLibrary"],
    search: [["search/search.css"], () => import("./search/search.js"), "showSearch"],
    activity: [["activity/activity.css"], () => import("./activity/activity-view.js"), "showActivity"],
    settings: [["settings/settings.css"], () => import("./settings/settings-view.js"), "showSettings"],
    archive: [[], async (route) => (await import("./archive/parts.js")).loadView(route), "showArchive"],
};
views.collection = views.archive;
let view = null;
// A view failed to load. It loads when the server is back.
let isMissing = false;
// Numbers the views, since a later one can load before an earlier one.
let newest = 0;
let moving = false;
let staysHere = false;
let hasShell = false;

async function show(route, traversed = false) {
    const isFirst = newest === 0;
    const number = ++newest;
    if (view?.kind === route.kind && view.name === route.name) {
        view.update?.(route, traversed);
        return;
    }
    view?.close();
    view = null;
    isMissing = false;
    if (route.kind === "unknown") {
        showProblem(message("archive.cant-open"), new Error(route.reason));
        return;
    }
    const [styles, load, name] = views[route.kind];
    try {
        const [module] = await Promise.all([load(route), ...styles.map(loadStyles)]);
        if (number !== newest) return;
        view = module[name](root, route);
        showBanners();
        // A click or a key removed what had the focus.
        if (!isFirst) Promise.resolve(view.shown).then(() => number === newest && keepFocus(), () => {});
    } catch (error) {
        if (number !== newest) return;
        isMissing = true;
        showProblem(message("view.cant-load"), await responds() ? error : serverUnavailable());
    }
}

function keepFocus() {
    if (document.activeElement === document.body) root.querySelector("main h1")?.focus({ preventScroll: true });
}

function showProblem(title, error) {
    document.body.dataset.view = "pages";
    root.replaceChildren(pageHeader([]), make("main", { class: "column" }, make("h1", { text: title }), errorBlock(error),
        make("p", {}, make("a", { class: "button", href: "/", text: message("library.open") }))));
    showBanners();
}

async function setArchive(path) {
    const archive = { kind: "archive", id: archiveName(path, location) };
    staysHere = true;
    if (moving) {
        // If the page moved on, the caller's promise would never settle.
        moving = false;
        window.stop();
    }
    await details(archive);
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
    if (location.hostname !== "replayhost.localhost" && await movesHome()) return;
    // The views restore the scroll position themselves, once their lists have loaded.
    history.scrollRestoration = "manual";
    window.addEventListener("popstate", (event) => show(readRoute(location), event.state !== null));
    whenNavigated(() => {
        window.scrollTo(0, 0);
        show(readRoute(location));
    });
    followLinks();
    followServer({ onBack: () => {
        if (isMissing) show(readRoute(location));
        startShell();
    } });
    const route = readRoute(location);
    const first = !view && newest === 0 ? show(route) : null;
    // The first rows, or the page, come before everything else.
    const isReady = Promise.resolve(first).then(() => view?.ready).then(endOpening);
    await Promise.race([isReady, new Promise((done) => setTimeout(done, firstViewSecondsMax * 1000))]);
    startShell();
}

/** Moves to `replayhost.localhost`, where every browser that finds it can replay. */
async function movesHome() {
    const { canonicalURL, noteUnresolved, originsMode, resolvesLocalNames } = await import("./core/origins.js");
    if (originsMode() === "ports") return false;
    const resolvable = await resolvesLocalNames();
    moving = resolvable && !staysHere && window.replayhostCalls.count === 0;
    if (moving) location.replace(canonicalURL());
    if (!resolvable && originsMode() === "names") noteUnresolved();
    return moving;
}

/** Loads what is around the views. */
async function startShell() {
    try {
        const shell = await import("./components/shell.js");
        if (!hasShell) shell.startShell();
        hasShell = true;
    } catch {
        serverFailed();
    }
}

start();
