/**
 * The viewer of one archive or collection, with toolbar, agent and replay frame.
 *
 * `navigation.js` has its states. This module sends events to it and shows the resulting state.
 */
import "../messages/en/viewer.js";
import { isUnavailable } from "../components/availability.js";
import { viewerBanner } from "../components/shell.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import * as api from "../core/api.js";
import {
    captureNote, completeURL, fragmentOf, isPDF, isWords, namesMethod, sameDocument, slashHint, withoutFragment,
} from "../core/captures.js";
import { followServer, serverFailed } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { pageURL, searchURL } from "../core/routes.js";
import { createAgentFrame } from "../replay/agent-frame.js";
import { createPageRequests } from "../replay/page-requests.js";
import { createReplayFrame } from "../replay/replay-frame.js";
import { createPageReports, pageOf } from "./page-reports.js";
import { documentPanel } from "./documents.js";
import { createIcons } from "./favicon.js";
import { createAnnouncer } from "./announcer.js";
import { createHintBar } from "./hint-bar.js";
import { createLookups } from "./lookups.js";
import { createMarkedWords } from "./marked-words.js";
import { addressOf, next, initialState } from "./navigation.js";
import { absencePanel, failurePanel, lateError, progressPanel } from "./panels.js";
import { replayMode } from "./replay-mode.js";
import { createSteps } from "./steps.js";
import { titleOf } from "./titles.js";
import { followToolbarKey } from "./toolbar-key.js";
import { createToolbar } from "./viewer-toolbar.js";

const restoredSecondsMin = 8;
const arrivalSecondsMax = 30;
const copySecondsMax = 20;

const unconfirmed = message("viewer.url-unconfirmed");
const neverConfirmed = (kind) => message("viewer.url-never-confirmed", { kind });
const restored = message("viewer.restored");

/**
 * The URL that the frame was navigated to, and the hint and scroll position for when its page arrives.
 *
 * @type {{url: string, page: import("./navigation.js").Page|null, hint: string, position?: {x: number, y: number}}}
 */
const noExpectation = Object.freeze({ url: "", page: null, hint: "" });

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosenMode the replay mode; empty for the default
 * @param {{onShown: () => void, onFailed: (error: Error) => void}} listener
 */
export function createViewer(archive, chosenMode, { onShown, onFailed }) {
    const archiveTitle = plain(archive.title) || archive.id;
    const isCollection = archive.kind === "collection";
    const { mode, hint: modeHint } = replayMode(archive, chosenMode);
    const lookups = createLookups(archive);
    const steps = createSteps();
    const announcePage = createAnnouncer();
    const toolbar = createToolbar(archive, {
        onOpen: openTyped,
        onReload: reload,
        onPrint: () => requests.print(),
        onTime: (timestamp) => openURL(state.page.url, timestamp),
        list: (part) => api.captures(archive, state.page.url, part),
    });
    const agent = createAgentFrame(archive, mode, {
        onProgress: showProgress,
        onRestored: showRestored,
        onFile: (href) => pageReports.checkFile(href),
        onTitle: (title) => pageReports.receive({ kind: "title", title }),
        onScroll: (position) => {
            if (state.name === "page" && visible) steps.keepPosition(position);
        },
        onReloadRefused: () => {
            if (state.name === "opening") navigateFrame(state.framePage);
        },
    });
    const pageReports = createPageReports(archive, agent, lookups, {
        state: () => state,
        trackRequest,
        onArrive: arrive,
        onUnconfirmed: showUnconfirmed,
        onAbsent: (url, indexed) => showAbsence(url, indexed, true),
        onFile: (list, inFrame) => showFile(list, inFrame, !inFrame),
        onUnavailable: (url, timestamp, error) => fail(error, () => openURL(url, timestamp, { step: "replace" }), { url, timestamp }),
        onDoubt: (error) => showHint(`${unconfirmed} (${plain(error.message)})`),
        onTitle: showTitle,
        onFragment: (fragment) => {
            const { reportedURL, capture, list } = state.page;
            go("arrive", { page: pageOf(reportedURL, fragment, capture, list) });
        },
    });
    const frame = createReplayFrame(archive, { onReport: pageReports.receive, onDocument: pageReports.checkDocument });
    const { element: hintBar, show: showHint } = createHintBar(modeHint);
    const stage = make("main", { class: "stage" }, frame.element);
    const requests = createPageRequests(new URL(archive.replayOrigin).origin, stage, {
        isShown: () => visible && !state.panel && frame.exists,
        copyPage: () => agent.ask("copy", {}, copySecondsMax),
        showHint: showPageHint,
        onStep: () => {
            if (state.name !== "opening") expected = noExpectation;
            movesLater = 0;
            pageReports.expect();
            go("leave");
        },
        onHistory: (count) => {
            // A page that is still arriving has no entry yet.
            if (state.name === "page" && state.step === "replace") steps.go(count);
            else movesLater = count;
        },
        onToolbar: () => toolbar.focus(),
        onWords: () => marks.focus() || toolbar.focus(), onEscape: () => marks.off(),
    });
    const marks = createMarkedWords(agent, stage, () => frame.focus());
    const element = make("div", { class: "viewer" }, toolbar.element, viewerBanner(), hintBar, marks.bar, stage, agent.element);
    const icons = createIcons(agent, archive, toolbar.setIcon);
    const server = followServer({ onBack: () => {
        if (needsServer && state.name === "failed") retry();
    } });

    let state = initialState;
    let visible = true;
    let openCount = 0;
    let pageTitle = "";
    let wasRestored = false;
    let lateTimer = 0;
    let [retry, needsServer] = [() => {}, false];
    // The last report with icons, from the page in the frame.
    let pageIcons = { icons: [], timestamp: "" };
    let expected = noExpectation;
    // How far the arriving page has moved in the browser's history.
    let movesLater = 0;

    // State --------------------------------------------------------------------------------------------------------

    /** @param {string} event that `navigation.js` knows */
    function go(event, details) {
        const before = state;
        state = next(before, event, details);
        if (state !== before) show(before);
    }

    function show(before) {
        const { name, panel, made, page } = state;
        const isOpening = name === "opening";
        toolbar.setBusy(isOpening);
        restartTimer();
        if (panel !== before.panel) {
            before.panel?.remove();
            if (panel) stage.append(panel);
            frame.element.classList.toggle("covered", panel !== null);
        }
        marks.setPage(name === "page" || isOpening && !panel);
        if (!made) return;
        if (page && (name === "page" || name === "file")) toolbar.setTime(page.capture, page.list);
        else toolbar.setTime();
        toolbar.setURL(state.url);
        showTitle();
        if (panel && panel !== before.panel) introduce(panel);
        if (visible && state.url) steps.make(marks.withWords(pageURL(archive, addressOf(state), state.timestamp)), made);
    }

    /** Nothing of the previous page stays: the icon, what screen readers were told, and the focus. */
    function introduce(panel) {
        icons.set([], "");
        if (!visible) return;
        announcePage(pageTitle);
        const hasFocus = document.activeElement === document.body || frame.element.contains(document.activeElement);
        if (hasFocus) panel.querySelector('h1[tabindex="-1"]')?.focus({ preventScroll: true });
    }

    /** Starts the time limit while a page is opening. */
    function restartTimer() {
        clearTimeout(lateTimer);
        if (state.name === "opening") lateTimer = setTimeout(() => fail(lateError(arrivalSecondsMax), retry), arrivalSecondsMax * 1000);
    }

    /** @returns {() => boolean} whether no other URL was requested since this call */
    function trackRequest() {
        const count = openCount;
        return () => count === openCount;
    }

    // Panels, hints, titles ----------------------------------------------------------------------------------------

    function showProgress(text) {
        const step = state.panel?.querySelector(".step");
        if (step) step.textContent = text;
        if (state.panel) announce(text);
        restartTimer();
    }

    /** Shows a hint of the page. When the page isn't confirmed yet, the hint appears with it. */
    function showPageHint(text, copied = "") {
        const isConfirmed = state.name === "page" && sameDocument(pageReports.url, state.page?.reportedURL ?? "");
        if (!isConfirmed) expected = { ...expected, url: pageReports.url, hint: `${text} ${copied}`.trim() };
        if (!state.panel) showHint(text, copied);
    }

    function showRestored() {
        wasRestored = true;
        showHint(restored);
        setTimeout(() => { wasRestored = false; }, restoredSecondsMin * 1000);
    }

    function showTitle() {
        const title = titleOf(state, pageReports.title);
        if (title !== undefined) setTitle(title);
    }

    function setTitle(title) {
        pageTitle = plain(title, 160);
        if (visible) document.title = pageTitle ? `${pageTitle} – ${archiveTitle}` : archiveTitle;
    }

    /** @param {{url: string, timestamp: string}} [frameTarget] where the page navigated by itself, if that failed */
    function fail(error, again, frameTarget) {
        retry = again;
        needsServer = error.code === "server-unavailable";
        const title = error.isOfPage ? message("viewer.cant-show-page") : message("viewer.cant-open", { title: archiveTitle });
        const panel = failurePanel(title, error, () => retry(), archive);
        // The same failure can be reported several times. Its panel stays, so that buttons keep the focus.
        const isSame = state.panel?.isEqualNode(panel) === true;
        go("fail", { panel: isSame ? state.panel : panel, inFrame: frameTarget !== undefined, ...frameTarget });
        // The engine found it, not this page.
        if (needsServer) serverFailed();
        // A page that timed out may still arrive.
        if (!error.isOfPage) onFailed(error);
    }

    /**
     * Shows that a URL has no capture or can't be shown. If files are unavailable, it shows that instead.
     *
     * @param {string} url
     * @param {import("../core/api.js").Capture|undefined} indexed its capture in the index
     * @param {boolean} inFrame whether the page navigated there by itself
     */
    async function showAbsence(url, indexed, inFrame) {
        const isCurrent = trackRequest();
        const now = await api.details(archive).catch(() => archive);
        if (!isCurrent() || inFrame && !sameDocument(url, pageReports.url)) return;
        const { timestamp } = state;
        retry = () => openURL(url, timestamp, { step: "replace" });
        if (isUnavailable(now)) {
            fail(new Error(unavailabilityText(now)), retry, inFrame ? { url, timestamp } : undefined);
            return;
        }
        const isShown = state.name === "absent" && !state.over && sameDocument(state.url, url);
        if (isShown) return;
        // A page of a captured redirect arrives under the URL that it leads to.
        const asked = inFrame && state.name === "opening" && !sameDocument(state.url, url) ? state.url : "";
        // Captures of other request methods are listed, but they aren't this page.
        const shown = indexed?.request ? undefined : indexed;
        const panel = absencePanel(now, shown?.url ?? url, { indexed: shown !== undefined, asked, timestamp });
        go("miss", { url, timestamp, panel, inFrame });
        onFailed(new Error(`"${url}" wasn't captured`));
    }

    /** @param {import("../core/api.js").CaptureList} list of a PDF, or of a file that the browser saves */
    async function showFile(list, inFrame, over) {
        const isCurrent = trackRequest();
        const panel = await documentPanel(archive, list.closest);
        if (!isCurrent()) return;
        const page = pageOf(list.closest.url, "", list.closest, list);
        retry = () => openURL(page.url, page.capture.timestamp, { step: "replace" });
        go("showFile", { page, panel, inFrame, over });
        onShown();
    }

    // Opening URLs -------------------------------------------------------------------------------------------------

    /** Opens a typed URL. Words are searched in the archive, unless a word is a host that was captured. */
    async function openTyped(typed) {
        const url = completeURL(typed);
        if (isWords(typed)) {
            const isCurrent = trackRequest();
            const list = /\s/.test(typed) ? null : await lookups.capturesOf(url, state.timestamp).catch(() => null);
            if (!isCurrent()) return;
            if (!list?.closest) {
                navigate(searchURL({ words: typed, [isCollection ? "collection" : "in"]: archive.id }));
                return;
            }
        }
        openURL(url, state.timestamp);
    }

    /**
     * @param {string} url
     * @param {string} timestamp the requested time; empty for the latest capture
     * @param {{step?: import("./navigation.js").Step, trust?: boolean, traversed?: boolean}} [how]
     *   `trust`: try the engine even if the index has no capture of exactly this URL; `traversed`: Back or Forward
     *   requested it
     */
    async function openURL(url, timestamp, { step = "push", trust = false, traversed = false } = {}) {
        openCount += 1;
        movesLater = 0;
        const isCurrent = trackRequest();
        const before = state;
        retry = () => openURL(url, timestamp, { step: state.name === "opening" ? state.step : "replace", trust });
        lookups.forgetNearest();
        showHint("");
        // A frame that Back or Forward removed is replaced soon.
        const isFirst = before.name === "empty" || !frame.exists && !traversed;
        if (isFirst) {
            toolbar.setURL(url);
            setTitle("");
        }
        const progress = () => progressPanel(message("viewer.opening", { title: archiveTitle }), message("viewer.looking-up"));
        go("open", { url, timestamp, step, traversed, panel: isFirst ? progress() : undefined });
        if (traversed) frame.remove();
        try {
            const list = await lookups.typed(url, timestamp, trust);
            if (!isCurrent()) return;
            const capture = list?.closest;
            // The answer to a form isn't the page at its URL.
            const isOtherMethod = capture?.request && !namesMethod(url);
            if (!capture && !trust || isOtherMethod) {
                await showAbsence(url, capture, false);
                return;
            }
            if (isPDF(capture)) {
                await showFile(list, false);
                return;
            }
            const page = capture && pageOf(url, fragmentOf(url), capture, list);
            const wanted = capture?.url ?? url;
            const position = traversed ? steps.position : undefined;
            expected = { url: wanted, page, hint: capture ? slashHint(url, capture.url) : "", position };
            const isSame = page && isFramePage(page);
            if (isSame && (before.name !== "page" || page.fragment !== state.framePage.fragment)) {
                uncover(page);
                return;
            }
            const { framePage } = state;
            if (!await isReady(isCurrent)) return;
            const target = capture && withoutFragment(capture.request ?? capture.url) + fragmentOf(url);
            if (isSame) loadAgain(framePage);
            else frame.navigate(target ?? url, capture?.timestamp ?? timestamp);
        } catch (error) {
            if (isCurrent()) fail(error, retry);
        }
    }

    const isFramePage = ({ capture }) => state.framePage?.capture.url === capture.url
        && state.framePage.capture.timestamp === capture.timestamp;

    /** Shows the page that is in the frame already, possibly at another fragment. */
    function uncover({ fragment }) {
        const { reportedURL, capture, list, fragment: before } = state.framePage;
        go("uncover", { page: pageOf(reportedURL, fragment, capture, list) });
        showHint(captureNote(capture));
        icons.set(pageIcons.icons, pageIcons.timestamp);
        // Without the number sign, the browser would reload the page.
        if (fragment !== before) frame.navigate(withoutFragment(reportedURL) + (fragment || "#"), capture.timestamp);
        focusPage();
    }

    function reload() {
        if (state.over || state.name === "file" || state.name === "failed") retry();
        else reloadPage();
    }

    async function reloadPage() {
        openCount += 1;
        const isCurrent = trackRequest();
        retry = reloadPage;
        const { framePage } = state;
        const step = state.name === "opening" ? state.step : "replace";
        go("open", { url: state.url, timestamp: state.timestamp, step });
        try {
            if (await isReady(isCurrent)) loadAgain(framePage);
        } catch (error) {
            if (isCurrent()) fail(error, retry);
        }
    }

    /** @returns {Promise<boolean>} whether the engine is ready and no other URL was requested */
    async function isReady(isCurrent) {
        await agent.check();
        if (!isCurrent()) return false;
        pageReports.expect();
        go("send");
        return true;
    }

    /** Loads the page again, if possible without a reload: Firefox can add a history entry for a reload. */
    function loadAgain(framePage) {
        if (!framePage || framePage.fragment || framePage.capture.request) agent.tell("reload");
        else navigateFrame(framePage);
    }

    function navigateFrame(framePage) {
        if (framePage) frame.navigate(framePage.reportedURL, framePage.capture.timestamp);
        else frame.navigate(state.url, state.timestamp);
    }

    // Arrivals -----------------------------------------------------------------------------------------------------

    function arrive(page, report) {
        const { capture, reportedURL } = page;
        if (report.kind === "load") pageIcons = report;
        if (state.over) {
            go("arrive", { page });
            return;
        }
        const isExpected = [reportedURL, capture.url].some((each) => sameDocument(each, expected.url));
        // A page can report its URL again after it was loaded. The hint stays.
        const isRepeated = report.kind === "move" && state.name === "page" && isFramePage(page);
        if (!wasRestored && (isExpected || !isRepeated)) {
            showHint([captureNote(capture), isExpected && expected.hint].filter(Boolean).join(" "));
        }
        const position = isExpected ? expected.position : undefined;
        if (isExpected) expected = noExpectation;
        go("arrive", { page });
        moveNow();
        if (position) agent.tell("scroll", position);
        focusPage();
        icons.set(pageIcons.icons, pageIcons.timestamp);
    }

    /** Shows a page whose URL isn't in the index, unless a panel covers it. */
    function showUnconfirmed() {
        if (state.over) return;
        const page = expected.page ?? state.page;
        expected = { ...expected, page: null };
        showHint(page ? unconfirmed : neverConfirmed(archive.kind));
        go("arrive", { page });
        moveNow();
        focusPage();
    }

    /** Moves in the browser's history if the page asked for it while it was arriving. */
    function moveNow() {
        if (movesLater) steps.go(movesLater);
        movesLater = 0;
    }

    function focusPage() {
        if (visible) announcePage(pageTitle, state.page?.capture);
        if (visible && document.activeElement === document.body) frame.focus();
        onShown();
    }

    async function whenVisible() {
        if (document.visibilityState !== "visible" || !visible || !frame.exists) return;
        await agent.check().catch(() => {});
    }
    document.addEventListener("visibilitychange", whenVisible);

    const toolbarKey = followToolbarKey(element, toolbar, () => state.panel?.querySelector("button, a[href]") ?? frame);

    return {
        element,

        /**
         * Opens the URL from the app's address.
         *
         * @param {string} url
         * @param {string} timestamp
         * @param {{trust: boolean, traversed: boolean}} how as for `openURL` above
         */
        open: (url, timestamp, how) => openURL(url, timestamp, { step: "replace", ...how }),

        /** @param {boolean} now whether the viewer is visible */
        setVisible(now) {
            visible = now;
            element.hidden = !now;
            icons.setVisible(now);
            if (now) setTitle(pageTitle);
            else agent.tell("pause");
        },

        /** Marks words in the page: a search, and whether to scroll to the first one. */
        mark: marks.mark,

        /** @returns {boolean} whether this page is shown now */
        shows: (url, timestamp) => state.name === "page" && addressOf(state) === url
            && (!timestamp || state.timestamp === timestamp),

        close() {
            openCount += 1;
            clearTimeout(lateTimer);
            server.close();
            pageReports.close();
            document.removeEventListener("visibilitychange", whenVisible);
            toolbarKey.close();
            icons.close();
            requests.close();
            marks.close();
            agent.close();
            frame.close();
            element.remove();
        },
    };
}
