/** An open archive or collection: its page and its viewer, one of which is visible. */
import "../messages/en/archive.js";
import { errorBlock } from "../components/messages.js";
import { pageHeader, showBanners } from "../components/page-header.js";
import { followServer, serverFailed } from "../core/connection.js";
import { arrange, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { details } from "../core/library-api.js";
import { navigate } from "../core/navigation.js";
import { endOpening, keptElements } from "../core/opening.js";
import { canonicalURL, canReplay, isAtCanonicalHost, originsMode, replaysOnPorts } from "../core/origins.js";
import { serverUnavailable } from "../core/request.js";
import { chosenMode, tabURL, readRoute } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { load, loaded, partOf } from "./parts.js";

const canMove = () => !isAtCanonicalHost() && originsMode() !== "ports";

/**
 * @param {HTMLElement} root
 * @param {import("../core/route-types.js").TargetRoute} firstRoute its name is an ID, or an archive's file name without `.wacz`
 * @param {Promise<import("../core/api.js").Archive|import("../core/api.js").Collection>} found its details
 */
export function showArchive(root, firstRoute, found) {
    const { kind, name } = firstRoute;
    let archive = null;
    let viewer = null;
    let page = null;
    let report = null;
    let comparison = null;
    // Whether the dialog for saving the page that the viewer shows opens next.
    let isExporting = false;
    let open = true;
    // The replay port, when each archive has its own, and its origin.
    let replayPort = null;
    let portOrigin = "";
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });
    const shown = Promise.withResolvers();
    // The first rows of a tab come before everything else.
    const ready = Promise.withResolvers();
    shown.promise.then(ready.resolve, ready.resolve);

    async function start() {
        try {
            archive = await found;
        } catch (error) {
            if (error.status === 0) retry = again;
            if (open) showUnknown(error);
            shown.reject(error);
            return;
        }
        if (!open) return;
        arrange(root, keptElements(firstRoute));
        update(readRoute(location));
    }

    function again() {
        retry = null;
        found = details({ kind, id: name });
        start();
    }

    function showUnknown(error) {
        endOpening();
        document.title = message("view.title", { title: message("archive.cant-open-kind", { kind }) });
        document.body.dataset.view = "pages";
        root.replaceChildren(pageHeader([]), make("main", { class: "column" },
            make("h1", { text: message("archive.cant-open-kind", { kind }) }), errorBlock(error),
            make("p", {}, make("a", { class: "button", href: "/", text: message("library.open") }))));
        showBanners();
    }

    /**
     * @param {import("../core/route-types.js").TargetRoute} route
     * @param {boolean} [traversed] whether Back or Forward opened this route
     */
    function update(route, traversed = false) {
        if (!archive) return;
        const view = route.view === "main" && !archive.mainPage ? "overview" : route.view;
        const part = partOf(view) === "viewer" && !canReplay() ? "page" : partOf(view);
        if (!loaded[part]) {
            load(part).then(() => open && update(readRoute(location), traversed), showMissing);
            return;
        }
        if (view === "report") {
            showReport(route);
        } else if (view === "compare") {
            showComparison(route);
        } else if (view !== "main" && view !== "page") {
            showPage({ ...route, view }, traversed);
        } else if (canReplay()) {
            showViewer(route, traversed);
        } else {
            shown.reject(new Error("this browser can't find names such as name.replayhost.localhost, so it "
                + "can't open archives"));
            showPage({ ...route, view: "overview" }, traversed);
        }
    }

    /** A part failed to load. It loads when the server is back. */
    function showMissing() {
        const error = serverUnavailable();
        const isEmpty = !page && !viewer;
        retry = isEmpty ? again : () => update(readRoute(location));
        if (!open || !isEmpty) return;
        showUnknown(error);
        shown.reject(error);
    }

    function showPage(route, traversed) {
        endOpening();
        viewer?.setVisible(false);
        closeReport();
        if (!page) {
            page = loaded.page.createArchivePage(archive, change, () => viewer?.capture);
            root.append(page.element);
        }
        const wasHidden = page.element.hidden || document.body.dataset.view === "viewer";
        page.element.hidden = false;
        document.body.dataset.view = "pages";
        document.title = message("view.title", { title: plain(archive.title) || archive.id });
        if (readRoute(location).view === "main") history.replaceState(history.state, "", tabURL(archive));
        // A list restores its own position, which is kept with the entry of the history.
        if (wasHidden && !traversed || !(history.state?.top > 0)) window.scrollTo(0, 0);
        const listed = page.show(route);
        // The viewer then opens at once, and also while the server is stopped.
        listed.then(() => load("viewer")).catch(serverFailed);
        ready.resolve(listed.catch(() => {}));
        // A hidden element keeps the focus until the next frame.
        if (document.activeElement === document.body || viewer?.element.contains(document.activeElement)) page.element.querySelector("h1")?.focus({ preventScroll: true });
        showBanners();
        shown.resolve();
        if (isExporting) page.exportPage();
        isExporting = false;
    }

    /** Asks on the page of the archive, which then shows what was saved. */
    function exportShownPage() {
        isExporting = true;
        navigate(tabURL(archive, "pages"));
    }

    function showReport(route) {
        endOpening();
        viewer?.setVisible(false);
        if (page) page.element.hidden = true;
        closeReport();
        report = loaded.report.createReport(archive, route.filter);
        root.append(report.element);
        document.body.dataset.view = "report";
        document.title = report.title;
        window.scrollTo(0, 0);
        showBanners();
        shown.resolve();
    }

    /** Two captures. No script of an archived page runs meanwhile, so that none can change what is shown. */
    function showComparison(route) {
        if (comparison) {
            comparison.show(route);
            return;
        }
        endOpening();
        closeReport();
        viewer?.close();
        viewer = null;
        if (page) page.element.hidden = true;
        comparison = loaded.compare.createComparison(archive);
        root.append(comparison.element);
        document.body.dataset.view = "pages";
        document.title = comparison.title;
        window.scrollTo(0, 0);
        comparison.show(route);
        showBanners();
        shown.resolve();
    }

    /** Closes the report or the comparison, which aren't kept. */
    function closeReport() {
        report?.close();
        comparison?.close();
        report = null;
        comparison = null;
    }

    /** Shows the archive or collection after a change. A new title or new members need a new viewer. */
    function change(now) {
        if (!open) return;
        if (now.title !== archive.title || now.replayCollection !== archive.replayCollection) {
            viewer?.close();
            viewer = null;
        }
        archive = now;
        page.close();
        const next = loaded.page.createArchivePage(archive, change, () => viewer?.capture);
        history.replaceState({ ...history.state, top: window.scrollY }, "");
        next.show(readRoute(location));
        page.element.replaceWith(next.element);
        page = next;
        document.title = message("view.title", { title: plain(archive.title) || archive.id });
        showBanners();
        page.element.querySelector("h1").focus({ preventScroll: true });
    }

    function showViewer(route, traversed) {
        if (replaysOnPorts() && portOrigin === "") {
            openPort();
            return;
        }
        closeReport();
        if (page) page.element.hidden = true;
        document.body.dataset.view = "viewer";
        if (!viewer) {
            const target = portOrigin ? { ...archive, replayOrigin: portOrigin } : archive;
            // A setting has no effect on archives that can't replay this way. They say so only if the URL asks for it.
            const mode = chosenMode(location) || loaded.viewer.replayMode(archive, settings().replay).mode;
            viewer = loaded.viewer.createViewer(target, mode, { onShown: shown.resolve, onFailed, onExport: exportShownPage });
            if (!viewer.element.isConnected) root.append(viewer.element);
        }
        const url = route.view === "main" ? archive.mainPage.url : route.url;
        const timestamp = (route.view === "main" ? archive.mainPage.timestamp : route.timestamp) ?? "";
        const isShown = viewer.shows(url, timestamp);
        viewer.setVisible(true);
        viewer.mark(route.words ?? "", !traversed);
        if (isShown) return;
        viewer.open(url, timestamp, { trust: route.view === "main", traversed });
    }

    async function openPort() {
        if (replayPort) return;
        retry = null;
        replayPort = loaded.viewer.openReplayPort(archive, move);
        try {
            const origin = await replayPort.origin;
            if (open) move(origin);
        } catch (error) {
            replayPort.close();
            replayPort = null;
            page?.close();
            page = null;
            if (error.status === 0) {
                retry = () => {
                    root.replaceChildren();
                    update(readRoute(location));
                };
            }
            if (open) showUnknown(error);
            shown.reject(error);
        }
    }

    /** Replaces the viewer by one at this origin. */
    function move(origin) {
        portOrigin = origin;
        viewer?.close();
        viewer = null;
        const route = readRoute(location);
        if (route.view === "main" || route.view === "page") update(route);
    }

    function onFailed(error) {
        if (error.code === "workers-refused" && canMove()) {
            // Replay may work there if the browser blocks it at `localhost`.
            location.replace(canonicalURL());
            return;
        }
        shown.reject(error);
    }

    arrange(root, keptElements(firstRoute));
    start();

    return {
        kind,
        name,
        update,
        shown: shown.promise,
        ready: ready.promise,
        close() {
            open = false;
            server.close();
            shown.reject(new Error("another archive or view was opened before this one loaded"));
            viewer?.close();
            page?.close();
            closeReport();
            replayPort?.close();
            root.replaceChildren();
        },
    };
}
