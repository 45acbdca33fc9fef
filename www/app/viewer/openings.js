/** Opens the URLs that the user requests, and loads pages again. */
import { completeURL, fragmentOf, isPDF, isWords, namesMethod, similarHint, slashHint, withoutFragment } from "../core/captures.js";
import { message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { searchURL } from "../core/routes.js";
import { opensAtOnce } from "../replay/frames.js";
import { askedTime, captureOfPeriod, closestHint, skippedHint } from "./asked-time.js";
import { pageOf } from "./page-reports.js";
import { progressPanel } from "./panels.js";

/** @param {import("./viewer.js").Viewer} viewer */
export function createOpenings(viewer) {
    const { agent, archive, arrivals, attempts, display, fallbacks, frame, lookups, pageReports, showHint, steps, title, toolbar } = viewer;

    /** Opens a typed URL. Words are searched in the archive, unless a word is a host that was captured. */
    async function openTyped(typed) {
        const url = completeURL(typed);
        if (isWords(typed)) {
            const isCurrent = attempts.track();
            const list = /\s/.test(typed) ? null : await lookups.capturesOf(url, display.state.timestamp).catch(() => null);
            if (!isCurrent()) return;
            if (!list?.closest) {
                navigate(searchURL({ words: typed, [archive.kind === "collection" ? "collection" : "in"]: archive.id }));
                return;
            }
        }
        openURL(url, display.state.timestamp);
    }

    /**
     * @param {string} url
     * @param {string} timestamp the requested time; empty for the latest capture
     * @param {{step?: import("./navigation.js").Step, trust?: boolean, traversed?: boolean, isAsked?: boolean}} [how]
     *   `trust`: try the engine even if the index has no capture of exactly this URL; `traversed`: Back or Forward
     *   requested it; `isAsked`: whether the time is that of a link or the user
     */
    async function openURL(url, timestamp, { step = "push", trust = false, traversed = false, isAsked = true } = {}) {
        const isCurrent = attempts.begin();
        arrivals.begin();
        const before = display.state;
        attempts.retry = () => {
            const { name, step: now } = display.state;
            return openURL(url, timestamp, { step: name === "opening" ? now : "replace", trust, isAsked });
        };
        lookups.forgetNearest();
        showHint("");
        // A frame that Back or Forward removed is replaced soon.
        const isFirst = before.name === "empty" || !frame.exists && !traversed;
        if (isFirst) {
            toolbar.setURL(url);
            display.setTitle("");
        }
        const panel = isFirst ? progressPanel(message("viewer.opening", { title }), message("viewer.looking-up")) : undefined;
        display.go("open", { url, timestamp, step, traversed, panel });
        if (traversed) frame.remove();
        try {
            let list = await lookups.typed(url, timestamp, trust);
            const ofPeriod = captureOfPeriod(timestamp, list);
            if (ofPeriod) list = await lookups.typed(url, ofPeriod.timestamp, trust);
            if (!isCurrent()) return;
            const capture = list?.closest;
            // The answer to a form isn't the page at its URL.
            const isOtherMethod = capture?.request && !namesMethod(url);
            if (!capture && !trust || isOtherMethod) {
                await fallbacks.showAbsence(url, capture, false);
                return;
            }
            const page = capture && { ...pageOf(url, fragmentOf(url), capture, list),
                askedTime: isAsked ? askedTime(timestamp, list) : "" };
            if (isPDF(capture)) {
                await fallbacks.showFile(list, { askedTime: page.askedTime });
                if (isCurrent()) showHint(closestHint(page));
                return;
            }
            const position = traversed ? steps.position : undefined;
            const hint = capture && !list.similarTo ? [skippedHint(list.captures.find((one) => one.timestamp === timestamp), capture), slashHint(url, capture.url)].filter(Boolean).join(" ")
                : similarHint(list);
            arrivals.expect({ url: capture?.url ?? url, page, hint, position });
            const { framePage } = display.state;
            const isSame = page && arrivals.isFramePage(page);
            if (isSame && (before.name !== "page" || page.fragment !== framePage.fragment)) {
                arrivals.uncover(page);
                return;
            }
            if (opensAtOnce(capture) && agent.isExpected) sendAtOnce(isCurrent);
            else if (!await isReady(isCurrent)) return;
            const target = capture && withoutFragment(capture.request ?? capture.url) + fragmentOf(url);
            if (isSame) loadAgain(framePage);
            else frame.navigate(target ?? url, capture?.timestamp ?? timestamp);
        } catch (error) {
            if (isCurrent()) fallbacks.fail(error);
        }
    }

    function reload() {
        const { name, over } = display.state;
        if (over || name === "file" || name === "failed") attempts.retry();
        else reloadPage();
    }

    async function reloadPage() {
        const isCurrent = attempts.begin();
        attempts.retry = reloadPage;
        const { name, url, timestamp, step, framePage } = display.state;
        display.go("open", { url, timestamp, step: name === "opening" ? step : "replace" });
        try {
            if (await isReady(isCurrent)) loadAgain(framePage);
        } catch (error) {
            if (isCurrent()) fallbacks.fail(error);
        }
    }

    /** @returns {Promise<boolean>} whether the engine is ready and no other URL was requested */
    async function isReady(isCurrent) {
        await agent.check();
        if (!isCurrent()) return false;
        send();
        return true;
    }

    function send() {
        pageReports.expect();
        display.go("send");
    }

    /** The engine was set up before, and is checked meanwhile. If anything had changed, the page loads again. */
    function sendAtOnce(isCurrent) {
        agent.ready().then((isKept) => {
            if (!isKept && isCurrent()) attempts.retry();
        }, (error) => isCurrent() && fallbacks.fail(error));
        send();
    }

    /** Loads the page again, if possible without a reload: Firefox can add a history entry for a reload. */
    function loadAgain(framePage) {
        if (!framePage || framePage.fragment || framePage.capture.request) agent.tell("reload");
        else frame.navigate(framePage.reportedURL, framePage.capture.timestamp);
    }

    return {
        openTyped,
        openURL,
        reload,

        /** The browser refused to reload the document in the frame. */
        navigateAgain() {
            const { name, framePage, url, timestamp } = display.state;
            if (name !== "opening") return;
            frame.navigate(framePage?.reportedURL ?? url, framePage?.capture.timestamp ?? timestamp);
        },
    };
}
