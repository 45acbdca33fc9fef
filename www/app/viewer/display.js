/** Shows the viewer's state: the panel, the toolbar, the title, and the entry of the browser's history. */
import { decodeName } from "../core/captures.js";
import { announce, plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";
import { pageURL } from "../core/routes.js";
import { addressOf, initialState, next, timeOf } from "./navigation.js";
import { lateError } from "./panels.js";

const arrivalSecondsMax = 30;

/** @param {import("./viewer.js").Viewer} viewer */
export function createDisplay(viewer) {
    const { archive, frame, icons, marks, onShown, stage, steps, title: archiveTitle, toolbar } = viewer;
    let state = initialState;
    let visible = true;
    let pageTitle = "";
    let lateTimer = 0;
    // The page that was announced last.
    let announced = {};

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
        if (visible && state.url) steps.make(marks.withWords(pageURL(archive, addressOf(state), timeOf(state))), made);
    }

    /** Nothing of the previous page stays: the icon, what screen readers were told, and the focus. */
    function introduce(panel) {
        icons.set([], "");
        if (!visible) return;
        announcePage();
        const hasFocus = document.activeElement === document.body || frame.element.contains(document.activeElement);
        if (hasFocus) panel.querySelector('h1[tabindex="-1"]')?.focus({ preventScroll: true });
    }

    /** Tells screen readers the title, and the time if another capture of the same URL was announced before. */
    function announcePage({ url, timestamp, capturedAt } = {}) {
        // A page can arrive in several reports.
        const isOtherTime = url !== undefined && url === announced.url && (timestamp !== announced.timestamp || announced.isOtherTime);
        announce(isOtherTime ? message("viewer.title-captured", { title: pageTitle, time: moment(capturedAt) }) : pageTitle);
        announced = { url, timestamp, isOtherTime };
    }

    /** Starts the time limit while a page is opening. */
    function restartTimer() {
        clearTimeout(lateTimer);
        if (state.name === "opening") lateTimer = setTimeout(() => viewer.fallbacks.fail(lateError(arrivalSecondsMax)), arrivalSecondsMax * 1000);
    }

    function showTitle() {
        const name = decodeName(state.url);
        const title = { absent: message("viewer.not-captured"), failed: "Can't show page", file: name,
            page: viewer.pageReports.title || name }[state.name];
        if (title !== undefined) setTitle(title);
    }

    function setTitle(title) {
        pageTitle = plain(title, 160);
        if (visible) document.title = pageTitle ? `${pageTitle} – ${archiveTitle}` : archiveTitle;
    }

    return {
        go,
        showTitle,
        setTitle,

        get state() {
            return state;
        },

        get visible() {
            return visible;
        },

        setVisible(now) {
            visible = now;
            icons.setVisible(now);
            if (now) setTitle(pageTitle);
        },

        showProgress(text) {
            const step = state.panel?.querySelector(".step");
            if (step) step.textContent = text;
            if (state.panel) announce(text);
            restartTimer();
        },

        focusPage() {
            if (visible) announcePage(state.page?.capture);
            if (visible && document.activeElement === document.body) frame.focus();
            onShown();
        },

        keepPosition(position) {
            if (visible && state.name === "page") steps.keepPosition(position);
        },

        /** @returns {boolean} whether this page is shown now */
        shows: (url, timestamp) => state.name === "page" && addressOf(state) === url && (!timestamp || timeOf(state) === timestamp),

        close: () => clearTimeout(lateTimer),
    };
}
