/** The application: decides from the address what to show, and answers `window.setArchiveURL`. */
import { showArchive } from "./archive/archive-view.js";
import { errorBlock } from "./components/messages.js";
import { loadHealth, pageHeader, sayNamesUnresolved, showBanners } from "./components/shell.js";
import * as api from "./core/api.js";
import { make } from "./core/dom.js";
import { atHome, homeAddress, originsMode, resolvesLocalNames } from "./core/origins.js";
import { archiveName, mainAddress, readRoute } from "./core/routes.js";
import { showLibrary } from "./library/library.js";

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
    } else if (route.kind === "archive" || route.kind === "collection") {
        view = showArchive(root, route, { onRefused });
    } else {
        view = null;
        document.body.dataset.view = "pages";
        root.replaceChildren(pageHeader([]), make("main", { class: "column" },
            make("h1", { text: "This archive cannot be opened" }), errorBlock(new Error(route.reason)),
            make("p", {}, make("a", { class: "button", href: "/", text: "Go to the library" }))));
    }
}

/** Where the browser keeps an archive's origin from working at `localhost`, it may work at home. */
function onRefused() {
    if (atHome() || originsMode() === "ports") return false;
    location.replace(homeAddress());
    return true;
}

async function setArchive(path) {
    const archive = { kind: "archive", id: archiveName(path, location) };
    staysHere = true;
    if (moving) {
        // The caller waits for an answer, which a page that is left cannot give.
        moving = false;
        window.stop();
    }
    await api.details(archive);
    view?.close();
    view = null;
    history.pushState(null, "", mainAddress(archive));
    show(readRoute(location));
    await view.shown;
}

async function begin() {
    if (window.replayhostCalls.moving) return;
    window.replayhostCalls.connect(setArchive);
    if (!atHome() && originsMode() !== "ports") {
        const resolvable = await resolvesLocalNames();
        if (resolvable && !staysHere && window.replayhostCalls.count === 0) {
            moving = true;
            location.replace(homeAddress());
            return;
        }
        if (!resolvable && originsMode() === "names") sayNamesUnresolved();
    }
    window.addEventListener("popstate", (event) => show(readRoute(location), event.state !== null));
    loadHealth();
    if (!view) show(readRoute(location));
}

begin();
