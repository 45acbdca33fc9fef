/**
 * The viewer of one archive or group: toolbar, agent and replay frame together.
 *
 * What an archived page says of itself is untrusted. A URL is shown only when the index holds a capture of it, and then
 * as the index spells it.
 */
import * as api from "./api.js";
import { createAgent } from "./agent.js";
import { awayWords, isAway } from "./availability.js";
import {
    closestCapture, completeAddress, decodeName, encodedAddress, fragmentOf, isPDF, sameDocument, withoutFragment,
} from "./captures.js";
import { announce, make, plain } from "./dom.js";
import { findIcon, setTabIcon } from "./favicon.js";
import { createMemory, newestOnly } from "./newest.js";
import { absencePanel, documentPanel, failurePanel, progressPanel } from "./panels.js";
import { archivedAddress, createReplayFrame } from "./replay-frame.js";
import { pageAddress } from "./routes.js";
import { createToolbar } from "./viewer-toolbar.js";

const knownAddressesMax = 50;
const settleMilliseconds = 250;
const restoredSecondsMin = 8;

const unconfirmed = "This page changed its URL to one that wasn't captured. The last confirmed URL is shown.";
const neverConfirmed = (kind) => `The URL of this page isn't in the index of this ${kind}, so it isn't shown.`;
const lookupsOnly = "A group is replayed by lookups only: “replay=ranges” in the address has no effect here.";
// What the server calls the documents that it sends in place of a capture that is not there, or cannot be read.
const serverTitles = ["Not in this archive", "This capture cannot be read"];
// What the server calls it when the files that hold a capture are not at hand.
const awayCodes = ["archive-offline", "archive-changed"];
const restored = "The browser had cleared what replay needs; it was set up again.";

/**
 * @param {import("./api.js").Archive|import("./api.js").Group} archive
 * @param {""|"lookups"|"ranges"} chosenWay to replay; empty for the host's own choice
 * @param {{onShown: () => void, onFailed: (error: Error) => void}} listener
 */
export function createViewer(archive, chosenWay, { onShown, onFailed }) {
    const archiveTitle = plain(archive.title) || archive.id;
    const toolbar = createToolbar(archive, {
        onVisit: (typed) => visit(completeAddress(typed), current?.capture?.timestamp ?? ""),
        onReload: reload,
        onTime: (timestamp) => visit(current.url, timestamp),
    });
    const isGroup = archive.kind === "group";
    const agent = createAgent(archive, isGroup ? "" : chosenWay, { onProgress: showProgress, onRestored: sayRestored });
    const frame = createReplayFrame(archive, { onReport: hear, onDocument: lookAtDocument });
    const hint = make("p", { class: "hint-bar", role: "status", hidden: true });
    const stage = make("main", { class: "stage" }, frame.element);
    const element = make("div", { class: "viewer" }, toolbar.element, hint, stage, agent.element);

    /** The page that is shown, as far as the index confirms it. */
    let current = null;
    let panel = null;
    let visible = true;
    let turns = 0;
    let pageTitle = "";
    let wasRestored = false;
    let iconAddress = "";
    let lastAttempt = () => {};
    const knownCaptures = createMemory(knownAddressesMax);
    const knownNearest = createMemory(knownAddressesMax);

    // Panels and hints ---------------------------------------------------------------------------------------------

    function showPanel(next, overPage = false) {
        if (panel?.element !== next) {
            panel?.element.remove();
            if (next) stage.append(next);
        }
        panel = next && { element: next, overPage, pageURL: claimed };
        frame.element.classList.toggle("covered", next !== null);
    }

    function showProgress(text) {
        const step = panel?.element.querySelector(".step");
        if (step) step.textContent = text;
        if (panel) announce(text);
    }

    function showHint(text) {
        hint.textContent = text || (isGroup && chosenWay === "ranges" ? lookupsOnly : "");
        hint.hidden = !hint.textContent;
    }

    function sayRestored() {
        wasRestored = true;
        showHint(restored);
        setTimeout(() => {
            wasRestored = false;
        }, restoredSecondsMin * 1000);
    }

    function showFailure(error, overPage = true) {
        toolbar.setBusy(false);
        const next = failurePanel(`“${archiveTitle}” cannot be opened`, error, () => lastAttempt(), archive);
        // One failure is reported several times; its panel, which somebody may be about to click, stays.
        const isShown = panel?.element.isEqualNode(next) === true;
        showPanel(isShown ? panel.element : next, overPage);
        onFailed(error);
    }

    /**
     * Says that an address is not there, or cannot be shown, unless the files are away: then that is what is said.
     *
     * @param {string} url
     * @param {import("./api.js").Capture[]} list the captures of it that the index lists
     * @param {boolean} inFrame whether the frame went there
     */
    async function showAbsence(url, list, inFrame) {
        const turn = turns;
        const now = await api.details(archive).catch(() => archive);
        if (turn !== turns || inFrame && !sameDocument(url, claimed)) return;
        if (isAway(now)) {
            const timestamp = current?.capture?.timestamp ?? "";
            lastAttempt = () => visit(url, timestamp);
            showFailure(new Error(awayWords(now)), !inFrame);
            return;
        }
        const before = { ...current, title: pageTitle };
        const back = inFrame || !current ? () => history.back() : () => {
            turns += 1;
            setTitle(before.title);
            showPanel(null);
            if (isPDF(before.capture)) showDocument(before.capture, before.list, true);
            else showCurrent();
        };
        const indexed = closestCapture(list, current?.capture?.timestamp ?? "", url);
        showPanel(absencePanel(now, indexed?.url ?? url, indexed !== undefined, back), !inFrame);
        toolbar.setBusy(false);
        toolbar.setTime(undefined, []);
        setTitle("Not captured");
        onFailed(new Error(`"${url}" was not captured`));
    }

    // Going somewhere ----------------------------------------------------------------------------------------------

    function capturesOf(url) {
        const key = withoutFragment(url);
        return knownCaptures.get(key, () => api.captures(archive, key));
    }

    /** What stands for a URL that has no capture of its own: a capture of another one, and all those of that. */
    async function nearest(url, timestamp) {
        const key = `${timestamp} ${withoutFragment(url)}`;
        const capture = await knownNearest.get(key, () => api.nearestCapture(archive.id, url, timestamp));
        return { capture, list: capture ? await capturesOf(capture.url) : [] };
    }

    /**
     * @param {string} url
     * @param {string} timestamp the time wanted; empty for the latest capture
     * @param {{replace?: boolean, trust?: boolean}} [how] `replace`: no step of its own in the browser's history;
     *   `trust`: try the engine even when the index has no capture of exactly this address
     */
    async function visit(url, timestamp, how = {}) {
        turns += 1;
        const turn = turns;
        lastAttempt = () => visit(url, timestamp, how);
        knownNearest.clear();
        showHint("");
        toolbar.setBusy(true);
        if (!frame.exists) {
            toolbar.setAddress(url);
            setTitle("");
            showPanel(progressPanel(`Opening “${archiveTitle}”`, "Looking up the address…"));
        }
        try {
            let list = await capturesOf(url);
            if (list.length === 0) list = await capturesOf(encodedAddress(url));
            if (list.length === 0 && !how.trust) list = (await nearest(url, timestamp)).list;
            if (turn !== turns) return;
            if (list.length === 0 && !how.trust) {
                await showAbsence(url, [], false);
                return;
            }
            const capture = closestCapture(list, timestamp);
            if (isPDF(capture)) {
                showDocument(capture, list, true);
                return;
            }
            await agent.check();
            if (turn !== turns) return;
            sent = url;
            sentTo = capture && { claim: url, fragment: fragmentOf(url), capture, list };
            // From now on a document is to come, which a panel that was shown before does not cover.
            if (panel) panel.overPage = false;
            frame.visit(capture ? withoutFragment(capture.url) + fragmentOf(url) : url, capture?.timestamp ?? timestamp,
                how.replace === true);
        } catch (error) {
            if (turn === turns) showFailure(error);
        }
    }

    function showDocument(capture, list, overPage) {
        setCurrent({ claim: capture.url, fragment: "", capture, list });
        setTitle(decodeName(capture.url));
        setIcons([], "");
        showPanel(documentPanel(archive, capture), overPage);
        toolbar.setBusy(false);
        onShown();
    }

    async function reload() {
        if (panel?.overPage || !frame.exists) {
            lastAttempt();
            return;
        }
        toolbar.setBusy(true);
        lastAttempt = reload;
        try {
            await agent.check();
            agent.tell("reload");
        } catch (error) {
            showFailure(error);
        }
    }

    // What the page says of itself ---------------------------------------------------------------------------------

    function hear(report) {
        switch (report.kind) {
        case "load":
        case "move":
        case "not-found":
            arrive(report);
            break;
        case "title":
            saidTitle = report.title;
            titles.add();
            break;
        case "hash":
            if (panel?.overPage) return;
            claimed = withoutFragment(claimed) + fragmentOf(report.hash);
            fragments.add();
            break;
        }
    }

    /** A document without the engine's script in it (an image, a text) sends no message: the agent looks for us. */
    async function lookAtDocument() {
        const turn = turns;
        await new Promise((done) => setTimeout(done, settleMilliseconds));
        const { href, clicked } = await agent.ask("look");
        if (turn !== turns || panel?.overPage) return;
        if (href === "") lookAtRefusal(clicked);
        if (!href) return;
        sent = "";
        const address = archivedAddress(href, archive);
        if (!address || sameDocument(address.url, claimed)) return;
        arrive({ kind: "load", ...address, title: "", icons: [], isSeen: true });
    }

    /** Nobody can see into the frame: the browser refused to show a document there, for example a PDF, or got none. */
    async function lookAtRefusal(clicked) {
        const turn = turns;
        const url = (archivedAddress(clicked, archive)?.url ?? clicked) || sent;
        if (typeof url !== "string" || url === "") return;
        const timestamp = current?.capture?.timestamp ?? "";
        const list = await capturesOf(url).catch(() => []);
        const capture = closestCapture(list, timestamp);
        if (turn !== turns) return;
        if (isPDF(capture)) showDocument(capture, list, false);
        else if (list.length > 0) arrive({ kind: "not-found", url, timestamp });
    }

    // Where the frame was sent last, until a document arrives there; and as what the index confirms of it.
    let sent = "";
    let sentTo = null;
    // What the page says of itself now; nothing of it is confirmed.
    let claimed = "";
    let saidTitle = "";
    const claims = newestOnly(check);
    const titles = newestOnly(() => {
        if (!panel && !claims.waiting) setTitle(saidTitle);
    });
    const fragments = newestOnly(() => {
        if (!panel && current && sameDocument(current.claim, claimed)) {
            setCurrent({ ...current, fragment: fragmentOf(claimed) });
        }
    });

    function arrive(report) {
        claimed = report.url;
        if (report.kind === "load" || report.title) saidTitle = report.title;
        if (panel?.overPage && report.url === panel.pageURL) return;
        const { waiting } = claims;
        const isMoved = report.kind === "move" && waiting?.kind === "load";
        // A page that moved on while its load waits is still one that was loaded.
        claims.add(isMoved ? {
            ...waiting, url: report.url, timestamp: report.timestamp || waiting.timestamp, isSeen: false,
        } : report);
    }

    async function check(report) {
        try {
            await (report.kind === "not-found" ? reportAbsence(report) : confirm(report));
        } catch (error) {
            if (awayCodes.includes(error.code)) sayAway(report, error);
            else showHint(`${unconfirmed} (${plain(error.message)})`);
        }
    }

    /** The files went away while a page was asked for. */
    function sayAway({ url, timestamp }, error) {
        lastAttempt = () => visit(url, timestamp);
        showFailure(error, false);
    }

    async function confirm(report) {
        const { url } = report;
        let list = await capturesOf(url);
        // A request with a body may have been captured at an address, and none without. A document that was seen in the
        // frame, and did not only claim to be there, is the engine's or the server's word when nothing was captured.
        if ((list.length === 0 || serverTitles.includes(report.title)) && /^https?:/i.test(url)) {
            const found = await nearest(url, report.timestamp);
            if (!found.capture?.isReadable && report.kind === "load"
                && (report.isSeen || await isAbsence(report))) {
                if (sameDocument(url, claimed)) await sayAbsence(url, list);
                return;
            }
            if (list.length === 0) list = found.list;
        }
        // Another page is there meanwhile. It is the next to be checked, unless there are too many to do so at once.
        const isOver = claims.waiting && claims.waiting.kind !== "move" && !claims.isSlow;
        if (isOver) return;
        if (list.length === 0) {
            showUnconfirmed();
            return;
        }
        showPanel(null);
        toolbar.setBusy(false);
        if (!wasRestored) showHint("");
        const capture = closestCapture(list, report.timestamp, url);
        sentTo = null;
        setCurrent({ claim: url, fragment: fragmentOf(sameDocument(url, claimed) ? claimed : url), capture, list });
        showArrival();
        if (report.kind === "load") setIcons(report.icons, report.timestamp);
    }

    /** The page is there, but its URL is none that the archive has; one that a person chose to leave stays covered. */
    function showUnconfirmed() {
        if (panel?.overPage) return;
        showPanel(null);
        toolbar.setBusy(false);
        if (sentTo) setCurrent(sentTo);
        else if (current) showCurrent();
        else toolbar.setAddress("");
        sentTo = null;
        showHint(current ? unconfirmed : neverConfirmed(archive.kind));
        showArrival();
    }

    function showArrival() {
        setTitle(saidTitle || decodeName(current?.url ?? ""));
        if (visible) announce(pageTitle);
        if (visible && document.activeElement === document.body) frame.focus();
        onShown();
    }

    /**
     * Whether the document is the server's word that there is nothing to show, which only lookups bring. A page that
     * was captured may have given itself another address while it loaded.
     */
    async function isAbsence({ url, timestamp }) {
        if (agent.way !== "lookups") return false;
        const opened = archivedAddress((await agent.ask("look")).opened, archive);
        return !opened || sameDocument(opened.url, url) || !(await nearest(opened.url, timestamp)).capture?.isReadable;
    }

    /** The engine got nothing to show: there is no capture, or no reading of it, or no server. */
    async function reportAbsence({ url, timestamp }) {
        let list;
        try {
            list = await capturesOf(url);
            await api.nearestCapture(archive.id, url, timestamp);
        } catch (error) {
            sayAway({ url, timestamp }, error);
            return;
        }
        if (sameDocument(url, claimed)) await sayAbsence(url, list);
    }

    async function sayAbsence(url, list) {
        if (panel?.pageURL === url && panel.element.classList.contains("absence-panel")) return;
        await showAbsence(url, list, true);
    }

    // Showing where one is -----------------------------------------------------------------------------------------

    /**
     * @param {{claim: string, fragment: string, capture: import("./api.js").Capture,
     *   list: import("./api.js").Capture[]}} confirmed `claim`: what the page said, which is compared and never shown
     */
    function setCurrent(confirmed) {
        current = { ...confirmed, url: withoutFragment(confirmed.capture.url) + confirmed.fragment };
        showCurrent();
    }

    function showCurrent() {
        if (!current) return;
        toolbar.setAddress(current.url);
        toolbar.setTime(current.capture, current.list);
        if (visible) {
            setTitle(pageTitle);
            const address = pageAddress(archive, current.url, current.capture.timestamp);
            history.replaceState({ replayhost: "page" }, "", address);
        }
    }

    function setTitle(title) {
        pageTitle = plain(title, 160);
        if (visible) document.title = pageTitle ? `${pageTitle} – ${archiveTitle}` : archiveTitle;
    }

    let iconsWanted = "";
    const icons = newestOnly(fetchIcon);

    function setIcons(candidates, timestamp) {
        const wanted = candidates.join(" ");
        if (wanted === iconsWanted) return;
        iconsWanted = wanted;
        icons.add({ wanted, candidates, timestamp });
    }

    async function fetchIcon({ wanted, candidates, timestamp }) {
        const isWanted = () => wanted === iconsWanted;
        const address = await findIcon(agent, archive, candidates, timestamp, isWanted);
        if (!isWanted()) {
            if (address) URL.revokeObjectURL(address);
            return;
        }
        const former = iconAddress;
        iconAddress = address;
        toolbar.setIcon(address);
        if (visible) setTabIcon(address);
        // The browser may still be reading the former one.
        if (former) setTimeout(() => URL.revokeObjectURL(former), settleMilliseconds * 8);
    }

    async function whenVisible() {
        if (document.visibilityState !== "visible" || !visible || !frame.exists) return;
        await agent.check().catch(() => {});
    }
    document.addEventListener("visibilitychange", whenVisible);

    return {
        element,
        visit,

        /** After a step in the browser's history: the frame has made its own step; correct it where it has not. */
        async follow(url, timestamp) {
            if (!frame.exists) {
                visit(url, timestamp);
                return;
            }
            const turn = turns;
            await new Promise((done) => setTimeout(done, settleMilliseconds * 3));
            const isThere = sameDocument(url, claimed) || !panel && current && sameDocument(url, current.url);
            if (turn === turns && !isThere) visit(url, timestamp, { replace: true });
        },

        /** @param {boolean} now whether the viewer or another view is in front */
        setVisible(now) {
            visible = now;
            element.hidden = !now;
            if (now) {
                setTitle(pageTitle);
                setTabIcon(iconAddress);
            } else {
                agent.tell("pause");
                setTabIcon("");
            }
        },

        /** @returns {boolean} whether this page is the one shown now */
        shows: (url, timestamp) => Boolean(current) && !panel && current.url === url
            && (!timestamp || current.capture.timestamp === timestamp),

        close() {
            turns += 1;
            for (const reports of [claims, titles, fragments, icons]) reports.drop();
            document.removeEventListener("visibilitychange", whenVisible);
            setTabIcon("");
            if (iconAddress) URL.revokeObjectURL(iconAddress);
            agent.close();
            frame.close();
            element.remove();
        },
    };
}
