/**
 * What an archived page says of itself, checked against the index.
 *
 * A page can say anything, as often as it likes. A URL counts only when the index holds a capture of it, and is shown
 * as the index spells it.
 */
import { fragmentOf, isPDF, sameDocument, withoutFragment } from "../core/captures.js";
import { newestOnly } from "../core/newest.js";
import { archivedAddress } from "../replay/replay-frame.js";

const settleMilliseconds = 250;

// What the server calls the documents that it sends in place of a capture that is not there, or cannot be read.
const serverTitles = ["Not in this archive", "This capture cannot be read"];
// What the server calls it when the files that hold a capture are not at hand.
const unavailableCodes = ["archive-unavailable", "archive-changed"];

/**
 * @typedef {object} Listener
 * @property {() => import("./navigation.js").Place} place where the viewer is
 * @property {() => () => boolean} mark tells later whether the viewer was sent nowhere else meanwhile
 * @property {(page: import("./navigation.js").Page, report: import("../replay/replay-frame.js").Report) => void} onArrive
 * @property {() => void} onUnconfirmed a page is there whose URL isn't in the index
 * @property {(url: string, indexed: import("../core/api.js").Capture|undefined) => Promise<void>} onAbsent
 * @property {(list: import("../core/api.js").CaptureList, inFrame: boolean) => void} onFile a PDF, or what no frame shows
 * @property {(url: string, timestamp: string, error: Error) => void} onUnavailable the files went away meanwhile
 * @property {(error: Error) => void} onDoubt the index couldn't be asked
 * @property {() => void} onTitle
 * @property {(fragment: string) => void} onFragment
 */

/**
 * @param {import("../core/api.js").Archive|import("../core/api.js").Collection} archive
 * @param {ReturnType<typeof import("../replay/agent.js").createAgent>} agent
 * @param {ReturnType<typeof import("./lookups.js").createLookups>} lookups
 * @param {Listener} listener
 */
export function createClaims(archive, agent, lookups, listener) {
    // What the page says of itself now; nothing of it is confirmed.
    let claimed = "";
    let title = "";
    // The last report of a capture whose files were away.
    let unavailable = null;
    // Whether a document came since the frame was sent somewhere.
    let isThere = false;
    const claims = newestOnly(check);
    const titles = newestOnly(() => {
        if (!claims.waiting) listener.onTitle();
    });
    const fragments = newestOnly(() => {
        const { name, page } = listener.place();
        if (name === "page" && page && sameDocument(page.claim, claimed)) listener.onFragment(fragmentOf(claimed));
    });

    function hear(report) {
        switch (report.kind) {
        case "load":
        case "move":
        case "not-found":
            arrive(report);
            break;
        case "title":
            title = report.title;
            titles.add();
            break;
        case "hash":
            claimed = withoutFragment(claimed) + fragmentOf(report.hash);
            fragments.add();
            break;
        }
    }

    function arrive(report) {
        claimed = report.url;
        isThere = true;
        if (report.kind === "load" || report.title) title = report.title;
        const { waiting } = claims;
        const isMoved = report.kind === "move" && waiting?.kind === "load";
        // A page that moved on while its load waits is still one that was loaded.
        const moved = { ...waiting, url: report.url, timestamp: report.timestamp || waiting?.timestamp, isSeen: false };
        // What was said before the viewer was sent somewhere else is over.
        claims.add({ ...isMoved ? moved : report, isStill: listener.mark() });
    }

    async function check(report) {
        if (!report.isStill()) return;
        try {
            await (report.kind === "not-found" ? checkAbsence(report) : confirm(report));
        } catch (error) {
            if (unavailableCodes.includes(error.code)) sayUnavailable(report, error);
            else listener.onDoubt(error);
        }
    }

    function sayUnavailable(report, error) {
        unavailable = report;
        listener.onUnavailable(report.url, report.timestamp, error);
    }

    /** Once it was said that the files are away, somebody tries again: they may be back when the next report is checked. */
    const isSaidUnavailable = ({ url }) => unavailable !== null && unavailable.isStill() && sameDocument(unavailable.url, url);

    async function confirm(report) {
        const { url } = report;
        let list = await lookups.capturesOf(url, report.timestamp);
        if (serverTitles.includes(report.title) && isSaidUnavailable(report)) return;
        // A request with a body may have been captured at an address, and none without. A document that was seen in the
        // frame, and did not only claim to be there, is the engine's or the server's word when nothing was captured.
        if ((!list.closest || serverTitles.includes(report.title)) && /^https?:/i.test(url)) {
            const found = await lookups.nearest(url, report.timestamp);
            if (!found.capture?.isReadable && report.kind === "load" && (report.isSeen || await isAbsence(report))) {
                if (report.isStill() && sameDocument(url, claimed)) await listener.onAbsent(url, list.closest);
                return;
            }
            if (!list.closest) list = found.list;
        }
        // Another page is there meanwhile. It is the next to be checked, unless there are too many to do so at once.
        if (claims.waiting && claims.waiting.kind !== "move" && !claims.isSlow) return;
        if (!report.isStill()) return;
        const capture = list?.closest;
        if (!capture) {
            listener.onUnconfirmed();
            return;
        }
        const fragment = fragmentOf(sameDocument(url, claimed) ? claimed : url);
        listener.onArrive(pageOf(url, fragment, capture, list), report);
    }

    /**
     * Whether the document is the server's word that there is nothing to show, which only lookups bring. A page that
     * was captured may have given itself another address while it loaded.
     */
    async function isAbsence({ url, timestamp }) {
        if (agent.way !== "lookups") return false;
        const opened = archivedAddress((await agent.ask("look")).opened, archive);
        if (!opened || sameDocument(opened.url, url)) return true;
        return !(await lookups.nearest(opened.url, timestamp)).capture?.isReadable;
    }

    /** The engine got nothing to show: there is no capture, or no reading of it, or no server. */
    async function checkAbsence(report) {
        const { url, timestamp, isStill } = report;
        let list;
        try {
            list = await lookups.capturesOf(url, timestamp);
            await lookups.nearest(url, timestamp);
        } catch (error) {
            sayUnavailable(report, error);
            return;
        }
        if (isSaidUnavailable(report)) return;
        if (isStill() && sameDocument(url, claimed)) await listener.onAbsent(url, list.closest);
    }

    /** A document without the engine's script in it (an image, a text) sends no message: the agent looks for us. */
    async function lookAtDocument() {
        const isStill = listener.mark();
        await new Promise((done) => setTimeout(done, settleMilliseconds));
        const { href, clicked, title: seen } = await agent.ask("look");
        if (!isStill()) return;
        if (href === "") await lookAtRefusal(clicked);
        else if (href) isThere = true;
        const address = archivedAddress(href, archive);
        if (!address || sameDocument(address.url, claimed)) return;
        arrive({ kind: "load", ...address, title: String(seen ?? ""), icons: [], isSeen: true });
    }

    /** Nobody can see into the frame: the browser refused to show a document there, for example a PDF, or got none. */
    async function lookAtRefusal(clicked) {
        const isStill = listener.mark();
        const { url: asked, timestamp } = listener.place();
        const url = (archivedAddress(clicked, archive)?.url ?? clicked) || (isAwaited() ? asked : "");
        if (typeof url !== "string" || url === "") return;
        const list = await lookups.capturesOf(url, timestamp).catch(() => undefined);
        if (!isStill()) return;
        if (isPDF(list?.closest)) listener.onFile(list, true);
        else if (list?.closest) arrive({ kind: "not-found", url, timestamp });
    }

    /** The browser saves what the frame was sent to, or got nothing: no document arrives then. */
    async function lookAtFile(href) {
        const address = archivedAddress(href, archive);
        if (!address || !isAwaited()) return;
        await new Promise((done) => setTimeout(done, settleMilliseconds * 4));
        if (!isAwaited()) return;
        const list = await lookups.capturesOf(address.url, address.timestamp).catch(() => undefined);
        if (list?.closest && isAwaited()) listener.onFile(list, false);
    }

    /** Whether the frame was sent somewhere, and nothing arrived yet. */
    function isAwaited() {
        const { name, over } = listener.place();
        return name === "opening" && !over && !isThere;
    }

    return {
        hear,
        lookAtDocument,
        lookAtFile,

        /** The frame was sent somewhere. */
        expect() {
            isThere = false;
        },

        /** What the page calls itself. */
        get title() {
            return title;
        },

        /** Where the page says that it is. */
        get url() {
            return claimed;
        },

        close() {
            for (const reports of [claims, titles, fragments]) reports.drop();
        },
    };
}

/** @returns {import("./navigation.js").Page} */
export function pageOf(claim, fragment, capture, list) {
    return { claim, fragment, capture, list, url: withoutFragment(capture.url) + fragment };
}
