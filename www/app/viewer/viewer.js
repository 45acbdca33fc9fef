/**
 * The viewer of one archive or collection, with toolbar, agent and replay frame.
 *
 * The parts send events to `display.js`, which gets the next state from `navigation.js` and shows it.
 */
import "../messages/en/viewer.js";
import { viewerBanner } from "../components/shell.js";
import { make, plain } from "../core/dom.js";
import { takeOpening } from "../core/opening.js";
import { createAgentFrame } from "../replay/agent-frame.js";
import { agentURL } from "../replay/frames.js";
import { createPageRequests } from "../replay/page-requests.js";
import { createReplayFrame } from "../replay/replay-frame.js";
import { createArrivals } from "./arrivals.js";
import { createAttempts } from "./attempts.js";
import { createDisplay } from "./display.js";
import { createFallbacks } from "./fallbacks.js";
import { createIcons } from "./favicon.js";
import { createHintBar } from "./hint-bar.js";
import { createLookups } from "./lookups.js";
import { createMarkedWords } from "./marked-words.js";
import { createOpenings } from "./openings.js";
import { createPageReports } from "./page-reports.js";
import { replayMode } from "./replay-mode.js";
import { createSteps } from "./steps.js";
import { followToolbarKey } from "./toolbar-key.js";
import { createToolbar } from "./viewer-toolbar.js";

const copySecondsMax = 20;

/**
 * @typedef {Object<string, any>} Viewer what the parts share: the archive and its title, the listener's functions, `showHint`,
 *   and each part under its name
 */

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosenMode the replay mode; empty for the default
 * @param {{onShown: () => void, onFailed: (error: Error) => void, onExport: () => void}} listener `onExport`: the user asked for a
 *   copy of the page
 */
export function createViewer(archive, chosenMode, listener) {
    const { mode, hint } = replayMode(archive, chosenMode);
    const hintBar = createHintBar(hint);
    const opening = takeOpening(archive.replayCollection, agentURL(archive, mode));
    /** @type {Viewer} */
    const viewer = { ...listener, archive, showHint: hintBar.show, title: plain(archive.title) || archive.id };
    viewer.attempts = createAttempts();
    viewer.lookups = createLookups(archive);
    viewer.steps = createSteps(opening?.historyLength);
    viewer.toolbar = createToolbar(archive, {
        onOpen: (typed) => viewer.openings.openTyped(typed),
        onLeave: () => viewer.display.state.panel || viewer.frame.focus(),
        onReload: () => viewer.openings.reload(),
        onPrint: () => requests.print(),
        onExport: listener.onExport,
        onTime: (timestamp, url = viewer.display.state.page.url) => viewer.openings.openURL(url, timestamp),
    });
    viewer.agent = createAgentFrame(archive, mode, {
        onProgress: (text) => viewer.display.showProgress(text),
        onRestored: () => viewer.arrivals.showRestored(),
        onFile: (href) => viewer.pageReports.checkFile(href),
        onTitle: (title) => viewer.pageReports.receive({ kind: "title", title }),
        onScroll: (position) => viewer.display.keepPosition(position),
        onSimilar: (documentURL) => viewer.arrivals.noteSimilarAnswer(documentURL),
        onReloadRefused: () => viewer.openings.navigateAgain(),
    }, opening);
    viewer.frame = createReplayFrame(archive, viewer.agent.element, {
        onReport: (report) => viewer.pageReports.receive(report),
        onDocument: () => viewer.pageReports.checkDocument(),
        onFocusTaken: () => viewer.fallbacks.closePage(),
        onAdopted: () => viewer.pageReports.checkEarlyFile(),
    }, opening);
    viewer.stage = opening?.stage ?? make("main", { class: "stage" }, viewer.frame.element);
    viewer.marks = createMarkedWords(viewer.agent, viewer.stage, () => viewer.frame.focus());
    viewer.icons = createIcons(viewer.agent, archive, viewer.toolbar.setIcon);
    viewer.display = createDisplay(viewer);
    viewer.pageReports = createPageReports(viewer);
    viewer.arrivals = createArrivals(viewer);
    viewer.fallbacks = createFallbacks(viewer);
    viewer.openings = createOpenings(viewer);
    const { agent, arrivals, attempts, display, fallbacks, frame, icons, marks, openings, pageReports, stage, toolbar } = viewer;
    const requests = createPageRequests(new URL(archive.replayOrigin).origin, stage, {
        isShown: () => display.visible && !display.state.panel && frame.exists,
        copyPage: () => agent.ask("copy", {}, copySecondsMax),
        showHint: arrivals.showHint,
        onStep: arrivals.leave,
        onHistory: arrivals.move,
        onToolbar: () => toolbar.focus(),
        onCapture: toolbar.stepCapture,
        onWords: () => marks.focus() || toolbar.focus(), onEscape: () => marks.off(),
    });
    const element = opening?.element ?? make("div", { class: "viewer" }, stage, agent.element);
    stage.before(toolbar.element, viewerBanner(), hintBar.element, marks.bar);
    const toolbarKey = followToolbarKey(element, toolbar, () => display.state.panel?.querySelector("button, a[href]") ?? frame);

    function whenVisible() {
        if (document.visibilityState === "visible" && display.visible && frame.exists) agent.check().catch(() => {});
    }
    document.addEventListener("visibilitychange", whenVisible);

    return {
        element,

        /**
         * Opens the URL from the app's address.
         *
         * @param {string} url
         * @param {string} timestamp
         * @param {{trust: boolean, traversed: boolean}} how as for `openURL` in `openings.js`
         */
        open: (url, timestamp, how) => openings.openURL(url, timestamp, { step: "replace", ...how }),

        /** @param {boolean} now whether the viewer is visible */
        setVisible(now) {
            element.hidden = !now;
            display.setVisible(now);
            if (!now) agent.tell("pause");
        },

        /** Marks words in the page: a search, and whether to scroll to the first one. */
        mark: marks.mark,

        shows: display.shows,

        /** @returns {import("../core/api.js").Capture|null} the capture that is shown; `null` if none is */
        get capture() {
            const { name, page } = display.state;
            return ["page", "file"].includes(name) && page ? page.capture : null;
        },

        close() {
            attempts.begin();
            document.removeEventListener("visibilitychange", whenVisible);
            for (const part of [display, fallbacks, pageReports, toolbar, toolbarKey, icons, requests, marks, agent, frame]) part.close();
            element.remove();
        },
    };
}
