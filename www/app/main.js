/** The app: shows the view for the current URL, and implements `window.setArchiveURL`. */
import { showArchive } from "./archive/archive-view.js";
import { errorBlock } from "./components/messages.js";
import { loadHealth, pageHeader, showNamesUnresolved, showBanners } from "./components/shell.js";
import * as api from "./core/api.js";
import { make } from "./core/dom.js";
import { isAtCanonicalHost, canonicalURL, originsMode, resolvesLocalNames } from "./core/origins.js";
import { archiveName, mainURL, readRoute } from "./core/routes.js";
import { showLibrary } from "./library/library.js";
import { showSearch } from "./search/search.js";

const root = document.getElementById("app");
let view = null;
let moving = false;
let staysHere = false;

function show(route, traversed = false) {
    if (view?.kind === route.kind && view.name === route.name) {
        view.update(route, traversed);
        return;
    }
    view?.close();
    if (route.kind === "library") {
        view = showLibrary(root, route, { navigate: (address) => location.assign(address) });
        showBanners();
    } else if (route.kind === "search") {
        view = showSearch(root, route);
    } else if (route.kind === "archive" || route.kind === "collection") {
        view = showArchive(root, route, { onRefused });
    } else {
        view = null;
        document.body.dataset.view = "pages";
        root.replaceChildren(pageHeader([]), make("main", { class: "column" },
            make("h1", { text: "This archive can't be opened" }), errorBlock(new Error(route.reason)),
            make("p", {}, make("a", { class: "button", href: "/", text: "Open the library" }))));
    }
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
    show(readRoute(location));
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
    window.addEventListener("popstate", (event) => show(readRoute(location), event.state !== null));
    loadHealth();
    if (!view) show(readRoute(location));
}

start();
