/**
 * The viewer of one archive or collection: toolbar, agent and replay frame together.
 *
 * `navigation.js` decides where it is; here that is shown, and what happens is told to it.
 */
import { unavailabilityText, isUnavailable } from "../components/availability.js";
import * as api from "../core/api.js";
import { completeAddress, decodeName, fragmentOf, isPDF, sameDocument, slashHint, withoutFragment } from "../core/captures.js";
import { announce, make, plain } from "../core/dom.js";
import { pageAddress } from "../core/routes.js";
import { createAgent } from "../replay/agent.js";
import { createPageRequests } from "../replay/page-requests.js";
import { createReplayFrame } from "../replay/replay-frame.js";
import { createClaims, pageOf } from "./claims.js";
import { documentPanel } from "./documents.js";
import { createIcons } from "./favicon.js";
import { createLookups } from "./lookups.js";
import { next, nowhere } from "./navigation.js";
import { absencePanel, failurePanel, progressPanel } from "./panels.js";
import { createSteps } from "./steps.js";
import { createToolbar } from "./viewer-toolbar.js";

const restoredSecondsMin = 8;
const arrivalSecondsMax = 30;
const traversalSecondsMax = 3;
const serverSeconds = 3;

const unconfirmed = "This page changed its URL to one that wasn't captured. The last confirmed URL is shown.";
const neverConfirmed = (kind) => `The URL of this page isn't in the index of this ${kind}, so it isn't shown.`;
const lookupsOnly = "A collection is replayed by lookups only: “replay=ranges” in the address has no effect here.";
const restored = "The browser had cleared what replay needs; it was set up again.";
const late = () => Object.assign(new Error(`The page didn't load within ${arrivalSecondsMax} seconds.`), {
    hint: "Your computer may be busy, or the page may be too large for the browser. If it loads later, it appears here.",
    isOfPage: true,
});

/**
 * What the frame was sent to; what to say, and how far to scroll, once it is there; and how to send it there once more.
 *
 * @type {{url: string, page: import("./navigation.js").Page|null, hint: string, position?: {x: number, y: number},
 *   again?: () => void}}
 */
const nothing = Object.freeze({ url: "", page: null, hint: "" });

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {""|"lookups"|"ranges"} chosenWay to replay; empty for the host's own choice
 * @param {{onShown: () => void, onFailed: (error: Error) => void}} listener
 */
export function createViewer(archive, chosenWay, { onShown, onFailed }) {
    const archiveTitle = plain(archive.title) || archive.id;
    const isCollection = archive.kind === "collection";
    const lookups = createLookups(archive);
    const steps = createSteps();
    const toolbar = createToolbar(archive, {
        onVisit: (typed) => visit(completeAddress(typed), place.timestamp),
        onReload: reload,
        onPrint: () => requests.print(),
        onTime: (timestamp) => visit(place.page.url, timestamp),
        list: (part) => api.captures(archive, place.page.url, part),
    });
    const agent = createAgent(archive, isCollection ? "" : chosenWay, {
        onProgress: showProgress,
        onRestored: sayRestored,
        onFile: (href) => claims.lookAtFile(href),
        onTitle: (title) => claims.hear({ kind: "title", title }),
        onScroll: (position) => {
            if (place.name === "page" && visible) steps.keepPosition(position);
        },
    });
    const claims = createClaims(archive, agent, lookups, {
        place: () => place,
        mark,
        onArrive: arrive,
        onUnconfirmed: showUnconfirmed,
        onAbsent: (url, indexed) => showAbsence(url, indexed, true),
        onFile: (list, inFrame) => showFile(list, inFrame, !inFrame),
        onUnavailable: (url, timestamp, error) => fail(error, () => visit(url, timestamp, { step: "replace" }), { url, timestamp }),
        onDoubt: (error) => showHint(`${unconfirmed} (${plain(error.message)})`),
        onTitle: showTitle,
        onFragment: (fragment) => {
            const { claim, capture, list } = place.page;
            go("arrive", { page: pageOf(claim, fragment, capture, list) });
        },
    });
    const frame = createReplayFrame(archive, { onReport: claims.hear, onDocument: claims.lookAtDocument });
    const hint = make("p", { class: "hint-bar", role: "status", hidden: true });
    const stage = make("main", { class: "stage" }, frame.element);
    const requests = createPageRequests(new URL(archive.replayOrigin).origin, stage, {
        isShown: () => visible && !place.panel && frame.exists,
        say: sayForPage,
        onStep: () => {
            if (place.name !== "opening") expected = nothing;
            go("leave");
        },
        onTraverse: () => { isTraversing = true; },
        onToolbar: () => toolbar.focus(),
    });
    const element = make("div", { class: "viewer" }, toolbar.element, hint, stage, agent.element);
    const icons = createIcons(agent, archive, toolbar.setIcon);

    let place = nowhere;
    let visible = true;
    let visits = 0;
    let pageTitle = "";
    let wasRestored = false;
    let lateTimer = 0;
    let serverTimer = 0;
    let retry = () => {};
    // Whether the browser's history moves the frame by itself: Chromium's does so now and then.
    let isTraversing = false;
    let expected = nothing;

    // Where the viewer is ------------------------------------------------------------------------------------------

    /** @param {string} event that `navigation.js` knows */
    function go(event, details) {
        const before = place;
        place = next(before, event, details);
        if (place !== before) show(before);
    }

    function show(before) {
        const { name, panel, made, page } = place;
        const isOpening = name === "opening";
        toolbar.setBusy(isOpening);
        waitForPage();
        if (panel !== before.panel) {
            before.panel?.remove();
            if (panel) stage.append(panel);
            frame.element.classList.toggle("covered", panel !== null);
        }
        if (!made) return;
        if (page && (name === "page" || name === "file")) toolbar.setTime(page.capture, page.list);
        else toolbar.setTime();
        toolbar.setAddress(place.url);
        showTitle();
        if (visible && place.url) steps.make(pageAddress(archive, place.url, place.timestamp), made);
    }

    /** Whatever is opened comes, fails, or is said to take too long. */
    function waitForPage() {
        clearTimeout(lateTimer);
        if (place.name === "opening") lateTimer = setTimeout(() => fail(late(), retry), arrivalSecondsMax * 1000);
    }

    /** @returns {() => boolean} whether the viewer was sent nowhere else since */
    function mark() {
        const count = visits;
        return () => count === visits;
    }

    // Panels, hints, titles ----------------------------------------------------------------------------------------

    function showProgress(text) {
        const step = place.panel?.querySelector(".step");
        if (step) step.textContent = text;
        if (place.panel) announce(text);
        waitForPage();
    }

    /** @param {string} [copied] what a button beside it copies */
    function showHint(text, copied = "") {
        hint.textContent = text || (isCollection && chosenWay === "ranges" ? lookupsOnly : "");
        hint.hidden = !hint.textContent;
        if (copied && navigator.clipboard) {
            hint.append(" ", make("button", { type: "button", class: "quiet-button", text: "Copy",
                on: { click: () => navigator.clipboard.writeText(copied) } }));
        }
    }

    /** Of a page that isn't confirmed yet, it is said once it is. */
    function sayForPage(text, copied = "") {
        const isConfirmed = place.name === "page" && sameDocument(claims.url, place.page?.claim ?? "");
        if (!isConfirmed) expected = { ...expected, url: claims.url, hint: text };
        if (!place.panel) showHint(text, copied);
    }

    function sayRestored() {
        wasRestored = true;
        showHint(restored);
        setTimeout(() => { wasRestored = false; }, restoredSecondsMin * 1000);
    }

    function showTitle() {
        if (place.name === "absent") setTitle("Not captured");
        else if (place.name === "failed") setTitle("Not shown");
        else if (place.name === "file") setTitle(decodeName(place.url));
        else if (place.name === "page") setTitle(claims.title || decodeName(place.url));
    }

    function setTitle(title) {
        pageTitle = plain(title, 160);
        if (visible) document.title = pageTitle ? `${pageTitle} – ${archiveTitle}` : archiveTitle;
    }

    /** @param {{url: string, timestamp: string}} [went] where the frame went by itself, if it is about that */
    function fail(error, again, went) {
        retry = again;
        const title = error.isOfPage ? "This page can't be shown" : `“${archiveTitle}” cannot be opened`;
        const panel = failurePanel(title, error, () => retry(), archive);
        // One failure is reported several times; its panel, which somebody may be about to click, stays.
        const isSame = place.panel?.isEqualNode(panel) === true;
        go("fail", { panel: isSame ? place.panel : panel, inFrame: went !== undefined, ...went });
        if (error.code === "server-unavailable") retryWhenServerIsBack();
        // What is late may come all the same.
        if (!error.isOfPage) onFailed(error);
    }

    function retryWhenServerIsBack() {
        const isStill = mark();
        clearTimeout(serverTimer);
        serverTimer = setTimeout(async () => {
            const isBack = await api.health().then(() => true, () => false);
            if (!isStill() || place.name !== "failed") return;
            if (isBack) retry();
            else retryWhenServerIsBack();
        }, serverSeconds * 1000);
    }

    /**
     * Says that an address is not there, or cannot be shown, unless the files are away: then that is what is said.
     *
     * @param {string} url
     * @param {import("../core/api.js").Capture|undefined} indexed a capture of it that the index lists
     * @param {boolean} inFrame whether the frame went there by itself
     */
    async function showAbsence(url, indexed, inFrame) {
        const isStill = mark();
        const now = await api.details(archive).catch(() => archive);
        if (!isStill() || inFrame && !sameDocument(url, claims.url)) return;
        if (inFrame && !sameDocument(url, expected.url) && repair()) return;
        const { timestamp } = place;
        retry = () => visit(url, timestamp, { step: "replace" });
        if (isUnavailable(now)) {
            fail(new Error(unavailabilityText(now)), retry, inFrame ? { url, timestamp } : undefined);
            return;
        }
        const isShown = place.name === "absent" && !place.over && sameDocument(place.url, url);
        if (isShown) return;
        const panel = absencePanel(now, indexed?.url ?? url, indexed !== undefined);
        go("miss", { url, timestamp, panel, inFrame });
        onFailed(new Error(`"${url}" was not captured`));
    }

    /** @param {import("../core/api.js").CaptureList} list of a PDF, or of what the browser saves */
    async function showFile(list, inFrame, over) {
        const isStill = mark();
        const panel = await documentPanel(archive, list.closest);
        if (!isStill()) return;
        const page = pageOf(list.closest.url, "", list.closest, list);
        retry = () => visit(page.url, page.capture.timestamp, { step: "replace" });
        icons.set([], "");
        go("showFile", { page, panel, inFrame, over });
        onShown();
    }

    // Going somewhere ----------------------------------------------------------------------------------------------

    /**
     * @param {string} url
     * @param {string} timestamp the time wanted; empty for the latest capture
     * @param {{step?: import("./navigation.js").Step, trust?: boolean, traversed?: boolean}} [how]
     *   `trust`: try the engine even when the index has no capture of exactly this address; `traversed`: Back or Forward
     *   led there
     */
    async function visit(url, timestamp, { step = "push", trust = false, traversed = false } = {}) {
        visits += 1;
        const isStill = mark();
        const before = place;
        retry = () => visit(url, timestamp, { step: place.name === "opening" ? place.step : "replace", trust });
        lookups.forgetNearest();
        showHint("");
        if (!frame.exists) {
            toolbar.setAddress(url);
            setTitle("");
        }
        const progress = () => progressPanel(`Opening “${archiveTitle}”`, "Looking up the address…");
        go("visit", { url, timestamp, step, traversed, panel: frame.exists ? undefined : progress() });
        try {
            const list = await lookups.typed(url, timestamp, trust);
            if (!isStill()) return;
            const capture = list?.closest;
            if (!capture && !trust) {
                await showAbsence(url, undefined, false);
                return;
            }
            if (isPDF(capture)) {
                await showFile(list, false);
                return;
            }
            const page = capture && pageOf(url, fragmentOf(url), capture, list);
            const wanted = capture?.url ?? url;
            expected = { url: wanted, page, hint: capture ? slashHint(url, capture.url) : "" };
            const isSame = page && isHeld(page);
            if (isSame && (before.name !== "page" || page.fragment !== place.held.fragment)) {
                uncover(page);
                return;
            }
            const { held } = place;
            if (!await isReady(isStill)) return;
            const target = capture && withoutFragment(capture.request ?? capture.url) + fragmentOf(url);
            const leave = () => frame.visit(target ?? url, capture?.timestamp ?? timestamp);
            if (isSame) loadAgain(held);
            else if (traversed) traverse(leave);
            else leave();
        } catch (error) {
            if (isStill()) fail(error, retry);
        }
    }

    const isHeld = ({ capture }) => place.held?.capture.url === capture.url
        && place.held.capture.timestamp === capture.timestamp;

    /** Shows what the frame holds already, or another part of it. */
    function uncover({ fragment }) {
        const { claim, capture, list, fragment: before } = place.held;
        go("uncover", { page: pageOf(claim, fragment, capture, list) });
        // Without a number sign the page would be loaded again.
        if (fragment !== before) frame.visit(withoutFragment(claim) + (fragment || "#"), capture.timestamp);
        greet();
    }

    /** Where the browser moves the frame as well, it is waited for, and corrected where it led elsewhere. */
    function traverse(leave) {
        expected = { ...expected, position: steps.position, again: leave };
        if (!isTraversing) leave();
        else setTimeout(repair, traversalSecondsMax * 1000, expected);
        isTraversing = false;
    }

    /** @returns {boolean} whether the frame is sent once more to where it was expected */
    function repair(before = expected) {
        const { again } = expected;
        if (before !== expected || !again || place.name !== "opening" || place.over) return false;
        expected = { ...expected, again: undefined };
        again();
        return true;
    }

    async function reload() {
        if (place.over || place.name === "file" || place.name === "failed") {
            retry();
            return;
        }
        visits += 1;
        const isStill = mark();
        retry = reload;
        const { held } = place;
        const step = place.name === "opening" ? place.step : "replace";
        go("visit", { url: place.url, timestamp: place.timestamp, step });
        try {
            if (await isReady(isStill)) loadAgain(held);
        } catch (error) {
            if (isStill()) fail(error, retry);
        }
    }

    /** @returns {Promise<boolean>} whether the frame may be sent somewhere now, and nobody asked for something else */
    async function isReady(isStill) {
        await agent.check();
        if (!isStill()) return false;
        claims.expect();
        go("send");
        return true;
    }

    /** Without a reload where that is possible: Firefox counts it as a step, if the frame was stepped back to. */
    function loadAgain(held) {
        if (!held || held.fragment || held.capture.request) agent.tell("reload");
        else frame.visit(held.claim, held.capture.timestamp);
    }

    // What came of it ----------------------------------------------------------------------------------------------

    function arrive(page, report) {
        const { capture, claim } = page;
        if (place.over) {
            go("arrive", { page });
            return;
        }
        isTraversing = false;
        const isExpected = [claim, capture.url].some((each) => sameDocument(each, expected.url));
        const isOtherTime = expected.page && expected.page.capture.timestamp !== capture.timestamp;
        if ((!isExpected || isOtherTime) && repair()) return;
        if (!wasRestored) showHint(isExpected ? expected.hint : "");
        const position = isExpected ? expected.position : undefined;
        if (isExpected) expected = nothing;
        go("arrive", { page });
        if (position) agent.tell("scroll", position);
        greet();
        if (report.kind === "load") icons.set(report.icons, report.timestamp);
    }

    /** The page is there, but its URL is none that the archive has; one that a person chose to leave stays covered. */
    function showUnconfirmed() {
        if (place.over) return;
        const page = expected.page ?? place.page;
        expected = { ...expected, page: null };
        showHint(page ? unconfirmed : neverConfirmed(archive.kind));
        go("arrive", { page });
        greet();
    }

    function greet() {
        if (visible) announce(pageTitle);
        if (visible && document.activeElement === document.body) frame.focus();
        onShown();
    }

    async function whenVisible() {
        if (document.visibilityState !== "visible" || !visible || !frame.exists) return;
        await agent.check().catch(() => {});
    }
    document.addEventListener("visibilitychange", whenVisible);

    /** From the toolbar to what is below it, and back. Keys that are pressed in the page get to `page.js`. */
    element.addEventListener("keydown", (event) => {
        if (event.key !== "F6" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        if (!toolbar.element.contains(event.target)) toolbar.focus();
        else (place.panel?.querySelector("button, a[href]") ?? frame).focus();
    });

    return {
        element,

        /**
         * Goes where the address says.
         *
         * @param {string} url
         * @param {string} timestamp
         * @param {{trust: boolean, traversed: boolean}} how as `visit` above
         */
        visit: (url, timestamp, how) => visit(url, timestamp, { step: "replace", ...how }),

        /** @param {boolean} now whether the viewer or another view is in front */
        setVisible(now) {
            visible = now;
            element.hidden = !now;
            icons.setVisible(now);
            if (now) setTitle(pageTitle);
            else agent.tell("pause");
        },

        /** @returns {boolean} whether this page is the one shown now */
        shows: (url, timestamp) => place.name === "page" && place.url === url
            && (!timestamp || place.timestamp === timestamp),

        close() {
            visits += 1;
            clearTimeout(lateTimer);
            clearTimeout(serverTimer);
            claims.close();
            document.removeEventListener("visibilitychange", whenVisible);
            icons.close();
            requests.close();
            agent.close();
            frame.close();
            element.remove();
        },
    };
}
