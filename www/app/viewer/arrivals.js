/** Shows the pages that arrive in the frame, with what is expected of the next one: URL, hint and scroll position. */
import { captureNote, sameDocument, similarHint, withoutFragment } from "../core/captures.js";
import { plain } from "../core/dom.js";
import { loadHidden } from "../core/element.js";
import { message } from "../core/i18n.js";
import { closestHint, skippedHint } from "./asked-time.js";
import { pageOf } from "./page-reports.js";

const restoredSecondsMin = 8;
const entriesMilliseconds = 50;
const entriesTriesMax = 60;
const movesMax = 50;
const checkMilliseconds = 1000;
// What is known of a capture whose file the server refuses to read.
const refusals = { "archive-changed": "changed", "archive-unavailable": "unavailable" };
const noMoves = Object.freeze({ counts: [], length: 0 });

/**
 * The URL that the frame was navigated to, and the hint and scroll position for when its page arrives.
 *
 * @type {{url: string, page: import("./navigation.js").Page|null, hint: string, position?: {x: number, y: number}}}
 */
const noExpectation = Object.freeze({ url: "", page: null, hint: "" });

/** @param {import("./viewer.js").Viewer} viewer */
export function createArrivals({ agent, archive, attempts, display, frame, icons, lookups, pageReports, showHint, steps }) {
    let expected = noExpectation;
    // The last report with icons, from the page in the frame.
    let pageIcons = { icons: [], timestamp: "" };
    // How far the arriving page has moved in the browser's history.
    let movesLater = 0;
    // The moves that wait for entries of the browser's history.
    let asked = noMoves;
    let isCounting = false;
    let wasRestored = false;
    // Whether the next report of a page makes its hint: the frame was navigated, as far as is known, or a doubt is shown.
    let needsHint = true;
    let checkTimer = 0;
    // Whether the arriving page got the captured answer to other data.
    let hasSimilarAnswer = false;
    // The URL of a document that is such an answer itself.
    let similarDocument = "";

    const isSameCapture = (one, other) => one?.url === other.url && one.timestamp === other.timestamp;
    const isFramePage = ({ capture }) => isSameCapture(display.state.framePage?.capture, capture);

    const hintOf = (page, isSimilar, expectedHint) => [closestHint(page), captureNote(page.capture), similarHint(page.list),
        isSimilar && message("viewer.similar-answer"), expectedHint].filter(Boolean).join(" ");

    /** The requested time of the page that is shown, if this is the same capture of the same step. */
    function keptTime({ capture }) {
        const { page, step } = display.state;
        return isSameCapture(page?.capture, capture) && step === "replace" ? page.askedTime : undefined;
    }

    const isSimilarDocument = ({ reportedURL, capture }) => similarDocument !== ""
        && [reportedURL, capture.url].some((each) => sameDocument(each, similarDocument));

    const isConfirmed = ({ name, page }) => name === "page" && sameDocument(pageReports.url, page?.reportedURL ?? "");

    /** Moves in the browser's history if the page asked for it while it was arriving. */
    function moveNow() {
        if (movesLater) steps.go(movesLater);
        movesLater = 0;
    }

    function dropMoves() {
        movesLater = 0;
        asked = noMoves;
    }

    /**
     * Moves in the browser's history as the page asked, when the entries that it saw are known here.
     *
     * They can come later from the page's process. If another frame arrives while a page adds entries, Chromium can leave all frames
     * with the former number, until one more frame arrives: one whose scripts don't run.
     */
    async function moveAsAsked() {
        if (isCounting) return;
        isCounting = true;
        const src = `${new URL(archive.replayOrigin).origin}/mark`;
        for (let tries = 0; history.length < asked.length && tries < entriesTriesMax; tries += 1) {
            await Promise.all([loadHidden("iframe", { title: "", sandbox: "allow-same-origin", src }),
                new Promise((done) => setTimeout(done, entriesMilliseconds))]);
        }
        isCounting = false;
        const { counts } = asked;
        asked = noMoves;
        counts.forEach(move);
    }

    function move(count) {
        const { name, step, over, panel } = display.state;
        if (!display.visible || over) return;
        // A page that is still arriving has no entry yet.
        if (name === "page" && step === "replace") steps.go(count);
        else if (name === "opening" || !panel) movesLater = steps.goEarly(count) ? 0 : count;
    }

    /** Asks what is known of the page after it was read. Its file may have changed since its captures were looked up. */
    function checkAgain({ capture }) {
        const isCurrent = attempts.track();
        const isThere = () => isCurrent() && isFramePage({ capture }) && (display.state.name === "page" || display.state.over);
        clearTimeout(checkTimer);
        checkTimer = setTimeout(async () => {
            if (!isThere()) return;
            const { closest, error } = await lookups.now(capture).catch((reason) => ({ error: reason }));
            // The server has stopped, which says nothing of the file.
            if (!isThere() || error?.status === 0) return;
            const isSame = closest?.archive === capture.archive && closest && isSameCapture(closest, capture);
            const { verification = refusals[error?.code] ?? "not-verified", uncovered } = isSame ? closest : {};
            const { framePage } = display.state;
            if (verification === framePage.capture.verification && uncovered === framePage.capture.uncovered) return;
            display.go("arrive", { page: { ...framePage, capture: { ...framePage.capture, verification, uncovered } } });
        }, checkMilliseconds);
    }

    return {
        isFramePage,

        /** A URL was requested. */
        begin() {
            needsHint = true;
            dropMoves();
            hasSimilarAnswer = false;
            similarDocument = "";
        },

        /** The URL was found, and the frame is navigated next. */
        expect(page) {
            expected = page;
        },

        /** The page navigates by itself. */
        leave() {
            needsHint = true;
            if (display.state.name !== "opening") expected = noExpectation;
            dropMoves();
            hasSimilarAnswer = false;
            // The worker can be heard before the page that it answers leaves.
            if (isConfirmed(display.state) && isSimilarDocument(display.state.page)) similarDocument = "";
            pageReports.expect();
            display.go("leave");
        },

        /** The page moves in the browser's history, in which it saw `length` entries. Its process knows of those that it adds before the viewer's. */
        move(count, length) {
            asked = { counts: [...asked.counts, count].slice(0, movesMax), length };
            moveAsAsked();
        },

        arrive(found, report) {
            const { capture, reportedURL } = found;
            // A redirect can lead to another capture of the same URL, for example from http to https.
            const isOfURL = display.state.name === "opening" && expected.page?.list.captures.some((one) => isSameCapture(one, capture));
            const isExpected = isOfURL || [reportedURL, capture.url].some((each) => sameDocument(each, expected.url));
            const page = { ...found, askedTime: isExpected ? expected.page?.askedTime : keptTime(found) };
            if (report.kind === "load") pageIcons = report;
            if (display.state.over) {
                display.go("arrive", { page });
                return;
            }
            // A page can report its URL again, and the agent can see it before it reports itself. The hint stays.
            const isRepeated = (report.kind === "move" || !needsHint) && display.state.name === "page" && isFramePage(page);
            if (!wasRestored && (isExpected || !isRepeated)) {
                const skipped = isOfURL && skippedHint(expected.page.capture, capture);
                showHint(hintOf(page, hasSimilarAnswer || isSimilarDocument(page), isExpected && (skipped || expected.hint)));
                hasSimilarAnswer = false;
                similarDocument = "";
            }
            const position = isExpected ? expected.position : undefined;
            if (isExpected) expected = noExpectation;
            needsHint = false;
            display.go("arrive", { page });
            moveNow();
            if (position) agent.tell("scroll", position);
            display.focusPage();
            icons.set(pageIcons.icons, pageIcons.timestamp);
            if (report.kind === "load") checkAgain(page);
        },

        /** Shows a page whose URL isn't in the index, unless a panel covers it. */
        arriveUnconfirmed() {
            if (display.state.over) return;
            const page = expected.page ?? display.state.page;
            needsHint = true;
            expected = { ...expected, page: null };
            showHint(page ? message("viewer.url-unconfirmed") : message("viewer.url-never-confirmed", { kind: archive.kind }));
            display.go("arrive", { page });
            moveNow();
            display.focusPage();
        },

        /** The index couldn't be read. */
        doubt(error) {
            needsHint = true;
            showHint(`${message("viewer.url-unconfirmed")} (${plain(error.message)})`);
        },

        changeFragment(fragment) {
            const { reportedURL, capture, list, askedTime } = display.state.page;
            display.go("arrive", { page: { ...pageOf(reportedURL, fragment, capture, list), askedTime } });
        },

        /** Shows the page that is in the frame already, possibly at another fragment. */
        uncover({ fragment, askedTime }) {
            const { reportedURL, capture, list, fragment: before } = display.state.framePage;
            const page = { ...pageOf(reportedURL, fragment, capture, list), askedTime };
            needsHint = false;
            display.go("uncover", { page });
            showHint([closestHint(page), captureNote(capture)].filter(Boolean).join(" "));
            icons.set(pageIcons.icons, pageIcons.timestamp);
            // Without the number sign, the browser would reload the page.
            if (fragment !== before) frame.navigate(withoutFragment(reportedURL) + (fragment || "#"), capture.timestamp);
            display.focusPage();
        },

        /** Shows a hint of the page. When the page isn't confirmed yet, the hint appears with it. */
        showHint(text, copied = "") {
            const { state } = display;
            if (!isConfirmed(state)) expected = { ...expected, url: pageReports.url, hint: `${text} ${copied}`.trim() };
            if (!state.panel) showHint(text, copied);
        },

        /** A request got the captured answer to other data, which arrives as a page, or at one if `documentURL` is empty. */
        noteSimilarAnswer(documentURL) {
            const { state } = display;
            if (documentURL) needsHint = true;
            if (documentURL) similarDocument = documentURL;
            else if (!isConfirmed(state)) hasSimilarAnswer = true;
            const isThere = isConfirmed(state) && (!documentURL || isSimilarDocument(state.page));
            if (isThere && !state.panel) showHint(hintOf(state.page, true));
        },

        /** The engine was set up again. */
        showRestored() {
            wasRestored = true;
            showHint(message("viewer.restored"));
            setTimeout(() => { wasRestored = false; }, restoredSecondsMin * 1000);
        },
    };
}
