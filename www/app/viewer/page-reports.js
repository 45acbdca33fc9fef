/**
 * Checks the reports of archived pages against the index.
 *
 * A page can report anything, any number of times. A reported URL is used only if the index has a capture of it, and is
 * shown as the index spells it.
 */
import { fragmentOf, isPDF, sameDocument, withoutFragment } from "../core/captures.js";
import { message } from "../core/i18n.js";
import { newestOnly } from "../core/newest.js";
import { parseReplayURL } from "../replay/replay-frame.js";

const settleMilliseconds = 250;

// Titles of the documents that the server, or the engine by ranges, sends instead of a missing or unreadable capture.
const serverTitles = ["viewer.server-missing", "viewer.server-unreadable"];
const engineTitle = "Archived Page Not Found";
const isServerTitle = (title) => title === engineTitle || serverTitles.some((key) => message(key) === title);
// The server's error codes for unavailable files.
const unavailableCodes = ["archive-unavailable", "archive-changed"];

/** @param {import("./viewer.js").Viewer} viewer */
export function createPageReports(viewer) {
    const { agent, archive, attempts, display, lookups } = viewer;
    // The page's own URL and title; unconfirmed.
    let reportedURL = "";
    let title = "";
    // The page's load report. The engine's script can send it twice.
    let loaded = "";
    // The last report of a capture with unavailable files.
    let unavailable = null;
    // What the agent said of a page that was opened before the viewer expects it.
    let earlyFile = "";
    // Whether a document arrived since the frame was navigated.
    let hasArrived = false;
    const arrivals = newestOnly(check);
    const titles = newestOnly(() => {
        if (!arrivals.waiting) display.showTitle();
    });
    const fragments = newestOnly(() => {
        const { name, page } = display.state;
        if (name === "page" && page && sameDocument(page.reportedURL, reportedURL)) viewer.arrivals.changeFragment(fragmentOf(reportedURL));
    });

    function receive(report) {
        switch (report.kind) {
        case "load":
            if (JSON.stringify(report) === loaded) break;
            loaded = JSON.stringify(report);
            arrive(report);
            break;
        case "move":
        case "not-found":
            loaded = "";
            arrive(report);
            break;
        case "title":
            title = report.title;
            titles.add();
            break;
        case "hash":
            reportedURL = withoutFragment(reportedURL) + fragmentOf(report.hash);
            fragments.add();
            break;
        }
    }

    function arrive(report) {
        reportedURL = report.url;
        hasArrived = true;
        if (report.kind === "load" || report.title) title = report.title;
        const { waiting } = arrivals;
        const isMoved = report.kind === "move" && waiting?.kind === "load";
        // A page that changed its URL while its load report waits still counts as loaded.
        const moved = { ...waiting, url: report.url, timestamp: report.timestamp || waiting?.timestamp, isSeen: false };
        // A report from before the next request is outdated.
        arrivals.add({ ...isMoved ? moved : report, isCurrent: attempts.track() });
    }

    async function check(report) {
        if (!report.isCurrent()) return;
        try {
            await (report.kind === "not-found" ? checkAbsence(report) : confirm(report));
        } catch (error) {
            if (unavailableCodes.includes(error.code)) reportUnavailable(report, error);
            else viewer.arrivals.doubt(error);
        }
    }

    function reportUnavailable(report, error) {
        unavailable = report;
        viewer.fallbacks.showUnavailable(report.url, report.timestamp, error);
    }

    /** Whether the user was told already that this URL's files are unavailable. */
    const isKnownUnavailable = ({ url }) => unavailable !== null && unavailable.isCurrent() && sameDocument(unavailable.url, url);

    async function confirm(report) {
        const { url } = report;
        // What is shown instead of a capture has no time of its own.
        const opened = report.title === message("viewer.server-missing") ? await openedPage() : null;
        const timestamp = opened && sameDocument(opened.url, url) ? opened.timestamp : report.timestamp;
        let list = await lookups.capturesOf(url, timestamp);
        if (isServerTitle(report.title) && isKnownUnavailable(report)) return;
        // A URL may have been captured only with a request body, which its captures don't list. If nothing was captured, a
        // document that the agent saw in the frame comes from the engine or the server.
        if ((!list.closest || isServerTitle(report.title)) && /^https?:/i.test(url)) {
            const found = await lookups.nearest(url, timestamp);
            if (!found.capture?.isReadable && report.kind === "load" && (report.isSeen || await isAbsence({ url, timestamp }))) {
                if (report.isCurrent() && sameDocument(url, reportedURL)) await viewer.fallbacks.showAbsence(url, list.closest, true);
                return;
            }
            if (!list.closest) list = await wasLoadedFrom(report) ? lookups.standIn(found.list, url) : found.list;
        }
        // A newer report is checked next, unless reports arrive too fast.
        if (arrivals.waiting && arrivals.waiting.kind !== "move" && !arrivals.isSlow) return;
        if (!report.isCurrent()) return;
        const capture = list?.closest;
        if (!capture) {
            viewer.arrivals.arriveUnconfirmed();
            return;
        }
        const fragment = fragmentOf(sameDocument(url, reportedURL) ? reportedURL : url);
        viewer.arrivals.arrive(pageOf(url, fragment, capture, list), report);
    }

    /**
     * Whether the document is an error page of the server, which only lookups show. A captured page may have changed its
     * own URL while it loaded.
     */
    async function isAbsence({ url, timestamp }) {
        await agent.ready().catch(() => {});
        if (agent.mode !== "lookups") return false;
        const opened = await openedURL();
        if (!opened || sameDocument(opened, url)) return true;
        return !(await lookups.nearest(opened, timestamp)).capture?.isReadable;
    }

    /** Returns the URL and the time from which the document in the frame was loaded; nothing if that is unknown. */
    const openedPage = async () => parseReplayURL((await agent.ask("look")).opened, archive);
    const openedURL = async () => (await openedPage())?.url;

    /** Whether the document was loaded from the URL, and didn't only change its own URL to it. */
    async function wasLoadedFrom({ kind, url }) {
        return kind === "load" && sameDocument(await openedURL() ?? url, url);
    }

    /** Finds out why the engine shows nothing: no capture, an unreadable one, or no server. */
    async function checkAbsence(report) {
        const { url, timestamp, isCurrent } = report;
        let list;
        try {
            list = await lookups.capturesOf(url, timestamp);
            await lookups.nearest(url, timestamp);
        } catch (error) {
            reportUnavailable(report, error);
            return;
        }
        if (isKnownUnavailable(report)) return;
        if (isCurrent() && sameDocument(url, reportedURL)) await viewer.fallbacks.showAbsence(url, list.closest, true);
    }

    /** Asks the agent which document is in the frame. Images and text files don't report themselves. */
    async function checkDocument() {
        const isCurrent = attempts.track();
        await new Promise((done) => setTimeout(done, settleMilliseconds));
        const { href, isSetup, clicked, title: seen } = await agent.ask("look");
        if (!isCurrent()) return;
        if (href === "") await checkRefusal(clicked);
        else if (href) hasArrived = !isSetup;
        const address = parseReplayURL(href, archive);
        if (address && isSetup) viewer.fallbacks.awaitEngine(address);
        if (!address || isSetup || sameDocument(address.url, reportedURL)) return;
        arrive({ kind: "load", ...address, title: String(seen ?? ""), icons: [], isSeen: true });
    }

    /** The frame can't be read: the browser refused to show a document, for example a PDF, or received none. */
    async function checkRefusal(clicked) {
        const isCurrent = attempts.track();
        const { url: requested, timestamp } = display.state;
        const url = (parseReplayURL(clicked, archive)?.url ?? clicked) || (isAwaited() ? requested : "");
        if (typeof url !== "string" || url === "") return;
        const list = await lookups.capturesOf(url, timestamp).catch(() => undefined);
        if (!isCurrent()) return;
        if (isPDF(list?.closest)) viewer.fallbacks.showFile(list, { inFrame: true, over: false });
        else if (list?.closest) arrive({ kind: "not-found", url, timestamp });
    }

    /** Shows a panel if the browser saves the file, or receives nothing, so that no document arrives. */
    async function checkFile(href) {
        if (viewer.frame.isEarly) earlyFile = href;
        const address = parseReplayURL(href, archive);
        if (!address || !isAwaited()) return;
        await new Promise((done) => setTimeout(done, settleMilliseconds * 4));
        if (!isAwaited()) return;
        const list = await lookups.capturesOf(address.url, address.timestamp).catch(() => undefined);
        if (list?.closest && isAwaited()) viewer.fallbacks.showFile(list, { over: true });
    }

    /** Whether the frame was navigated and nothing has arrived yet. */
    function isAwaited() {
        const { name, over } = display.state;
        return name === "opening" && !over && !hasArrived;
    }

    return {
        receive,
        checkDocument,
        checkFile,
        checkEarlyFile: () => earlyFile && checkFile(earlyFile),

        /** Call this when the viewer or the page navigates the frame. */
        expect() {
            hasArrived = false;
            loaded = "";
        },

        /** The title that the page reported. */
        get title() {
            return title;
        },

        /** The URL that the page reported. */
        get url() {
            return reportedURL;
        },

        close() {
            for (const reports of [arrivals, titles, fragments]) reports.drop();
        },
    };
}

/** @returns {import("./navigation.js").Page} */
export function pageOf(reportedURL, fragment, capture, list) {
    return { reportedURL, fragment, capture, list, url: withoutFragment(capture.url) + fragment };
}
