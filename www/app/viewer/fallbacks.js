/** Shows panels in place of pages: for errors, URLs without a capture, and files. */
import { isUnavailable } from "../components/availability.js";
import { unavailabilityText } from "../components/unavailability-text.js";
import * as api from "../core/api.js";
import { sameDocument } from "../core/captures.js";
import { followServer, serverFailed } from "../core/connection.js";
import { message } from "../core/i18n.js";
import { documentPanel } from "./documents.js";
import { pageOf } from "./page-reports.js";
import { absencePanel, failurePanel } from "./panels.js";

/** @param {import("./viewer.js").Viewer} viewer */
export function createFallbacks(viewer) {
    const { agent, archive, attempts, display, frame, onFailed, onShown, pageReports, title } = viewer;
    let needsServer = false;
    const openAgain = (url, timestamp) => viewer.openings.openURL(url, timestamp, { step: "replace", isAsked: false });
    const server = followServer({ onBack: () => {
        if (needsServer && display.state.name === "failed") attempts.retry();
    } });

    /** @param {{url: string, timestamp: string}} [frameTarget] where the page navigated by itself, if that failed */
    function fail(error, frameTarget) {
        const { panel: before } = display.state;
        needsServer = error.code === "server-unavailable";
        const heading = error.isOfPage ? message("viewer.cant-show-page") : message("viewer.cant-open", { title });
        const panel = failurePanel(heading, error, () => attempts.retry(), archive);
        // The same failure can be reported several times. Its panel stays, so that buttons keep the focus.
        const isSame = before?.isEqualNode(panel) === true;
        display.go("fail", { panel: isSame ? before : panel, inFrame: frameTarget !== undefined, ...frameTarget });
        // The engine noticed it, so `connection.js` doesn't know of it yet.
        if (needsServer) serverFailed();
        // A page that timed out may still arrive.
        if (!error.isOfPage) onFailed(error);
    }

    return {
        fail,

        /** Closes a page that keeps taking the focus, with everything that its scripts may have left at its origin's frames. */
        closePage() {
            const { url, timestamp } = display.state;
            attempts.begin();
            attempts.retry = () => openAgain(url, timestamp);
            // As if it had been left, so that it isn't expected in the frame.
            display.go("open", { url, timestamp, step: "replace", traversed: true });
            frame.remove();
            agent.stop();
            fail(Object.assign(new Error(message("viewer.focus-taken")), { hint: message("viewer.focus-taken-hint"), isOfPage: true }));
        },

        /** The server answered the frame's request, with the page that sets up the engine. That one loads the requested page. */
        awaitEngine({ url, timestamp }) {
            const { name, over, step } = display.state;
            // A page that is opening has its own errors and its time limit.
            if (name !== "page" || over) return;
            const isCurrent = attempts.begin();
            attempts.retry = () => openAgain(url, timestamp);
            display.go("open", { url, timestamp, step });
            pageReports.expect();
            display.go("send");
            // The agent may still use a worker that the browser has deleted. A new agent doesn't.
            agent.stop();
            agent.check().catch((error) => isCurrent() && fail(error));
        },

        /** Files became unavailable. */
        showUnavailable(url, timestamp, error) {
            attempts.retry = () => openAgain(url, timestamp);
            fail(error, { url, timestamp });
        },

        /**
         * Shows that a URL has no capture or can't be shown. If files are unavailable, it shows that instead.
         *
         * @param {string} url
         * @param {import("../core/api.js").Capture|undefined} indexed its capture in the index
         * @param {boolean} inFrame whether the page navigated there by itself
         */
        async showAbsence(url, indexed, inFrame) {
            const isCurrent = attempts.track();
            const now = await api.details(archive).catch(() => archive);
            if (!isCurrent() || inFrame && !sameDocument(url, pageReports.url)) return;
            const { name, over, url: requested, timestamp } = display.state;
            attempts.retry = () => openAgain(url, timestamp);
            if (isUnavailable(now)) {
                fail(new Error(unavailabilityText(now)), inFrame ? { url, timestamp } : undefined);
                return;
            }
            const isSame = sameDocument(requested, url);
            if (name === "absent" && !over && isSame) return;
            // A page of a captured redirect arrives under the URL that it leads to.
            const asked = inFrame && name === "opening" && !isSame ? requested : "";
            // Captures of other request methods are listed, but they aren't this page.
            const shown = indexed?.request ? undefined : indexed;
            const panel = absencePanel(now, shown?.url ?? url, { indexed: shown !== undefined, asked, timestamp });
            display.go("miss", { url, timestamp, panel, inFrame });
            onFailed(new Error(`"${url}" wasn't captured`));
        },

        /**
         * @param {import("../core/api.js").CaptureList} list of a PDF, or of a file that the browser saves
         * @param {{inFrame?: boolean, over?: boolean, askedTime?: string}} how `inFrame`, `over`: as for `navigation.js`; `askedTime`:
         *   as of a page
         */
        async showFile(list, { inFrame = false, over, askedTime }) {
            const isCurrent = attempts.track();
            const panel = await documentPanel(archive, list.closest);
            if (!isCurrent()) return;
            const page = { ...pageOf(list.closest.url, "", list.closest, list), askedTime };
            attempts.retry = () => openAgain(page.url, page.capture.timestamp);
            display.go("showFile", { page, panel, inFrame, over });
            onShown();
        },

        close: server.close,
    };
}
