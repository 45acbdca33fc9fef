/**
 * The states of the viewer and the transitions between them. This module uses no document, network or browser history, so
 * that tests can check every transition in a table: Tests/BrowserTests/test_navigation_states.py.
 *
 * | state    | what the user sees                                                        |
 * |----------|---------------------------------------------------------------------------|
 * | empty    | nothing yet                                                               |
 * | opening  | the previous state with a busy bar, or the progress of the first opening  |
 * | page     | the page in the frame                                                     |
 * | file     | a panel with a file that isn't a page, such as a PDF                      |
 * | absent   | a panel: there's no capture                                               |
 * | failed   | a panel with an error                                                     |
 *
 * A panel is either *over* a frame that still shows the previous page, or it replaces what the frame couldn't show.
 */
import { withoutFragment } from "../core/captures.js";

/**
 * @typedef {object} Page a page that the index confirms
 * @property {string} reportedURL the URL that the page reported; compared, but never shown
 * @property {string} fragment
 * @property {import("../core/api.js").Capture} capture
 * @property {import("../core/api.js").CaptureList} list
 * @property {string} url the capture's URL with the fragment
 * @property {string} [askedTime] the requested timestamp, if the capture is the closest to it, but of another day
 *
 * @typedef {"push"|"replace"} Step how a new state changes the browser's history
 *
 * @typedef {object} ViewerState
 * @property {"empty"|"opening"|"page"|"file"|"absent"|"failed"} name
 * @property {string} url requested or shown
 * @property {string} timestamp
 * @property {Step} step for the next state
 * @property {Step|null} made by the last event, if it showed something
 * @property {boolean} over whether the panel covers the previous page
 * @property {Page|null} framePage the page in the frame, if the index confirms it
 * @property {Page|null} page the page shown last
 * @property {HTMLElement|null} panel
 */

/** @type {ViewerState} */
export const initialState = Object.freeze({
    name: "empty", url: "", timestamp: "", step: "replace", made: null, over: true, framePage: null, page: null, panel: null,
});

/**
 * A URL was requested. The frame keeps its page until the URL is found. When Back or Forward requested it, the frame goes at
 * once: the browser may navigate it as well.
 */
function open(state, { url, timestamp, step, panel = state.panel, traversed = false }) {
    const framePage = traversed ? null : state.framePage;
    return { ...state, name: "opening", url, timestamp, step, made: null, over: true, framePage, panel };
}

/** The frame was navigated. Its page is unknown until one arrives. */
function send(state) {
    return { ...state, name: "opening", made: null, over: false, framePage: null };
}

/** The page navigates by itself, which makes a new step. */
function leave(state) {
    return state.over ? behindPanel(state, null) : { ...state, step: "push", made: null, framePage: null };
}

/** The index confirmed the page in the frame. */
function arrive(state, { page }) {
    return state.over ? behindPanel(state, page) : show(state, "page", { page, framePage: page });
}

/** The requested page is in the frame already, below a panel or at another fragment. */
function uncover(state, { page }) {
    return show(state, "page", { page, framePage: page, over: false });
}

/** The requested URL isn't a page, or the frame was navigated to a file that it can't show. */
function showFile(state, { page, panel, inFrame, over = state.over }) {
    return inFrame && state.over ? behindPanel(state, null) : show(state, "file", { page, panel, over });
}

/** There's no capture of the requested URL, or of the URL that the frame was navigated to. */
function miss(state, { url, timestamp, panel, inFrame }) {
    return inFrame && state.over ? behindPanel(state, null) : show(state, "absent", { url, timestamp, panel });
}

/** The requested URL, or the one that the frame was navigated to, can't be shown. */
function fail(state, { panel, inFrame, url = state.url, timestamp = state.timestamp }) {
    return inFrame && state.over ? behindPanel(state, null) : show(state, "failed", { url, timestamp, panel });
}

/** The frame changed below a panel. */
function behindPanel(state, framePage) {
    return { ...state, made: null, framePage };
}

function show(state, name, changes) {
    const { page } = changes;
    // An unconfirmed URL isn't shown.
    const address = page !== undefined && { url: page?.url ?? "", timestamp: page?.capture.timestamp ?? "" };
    const after = { ...state, panel: null, made: state.step, step: "replace", ...address, ...changes, name };
    // A page that is leaving may still report itself. The step belongs to the next page.
    const isSame = ["name", "url", "timestamp"].every((key) => after[key] === state[key]);
    return isSame ? { ...after, made: "replace", step: state.step } : after;
}

const shown = { open, leave, arrive, showFile, miss, fail };

const events = {
    empty: { open, fail },
    opening: { open, send, arrive, uncover, showFile, miss, fail },
    page: shown,
    file: shown,
    absent: shown,
    // A page that timed out may still arrive.
    failed: { ...shown, send, uncover },
};

/**
 * @param {ViewerState} state
 * @param {string} event
 * @param {object} [details]
 * @returns {ViewerState} the same object when the event doesn't apply to the state
 */
export function next(state, event, details = {}) {
    const change = events[state.name][event];
    return change ? change(state, details) : state;
}

/**
 * @param {ViewerState} state
 * @returns {string} the URL that opens the page again: for the answer to a form, with the form's data
 */
export function addressOf({ name, page, url }) {
    const request = name === "page" && page?.capture.request;
    return request ? withoutFragment(request) + page.fragment : url;
}

/**
 * @param {ViewerState} state
 * @returns {string} the timestamp in the address: the requested one, if there is no capture on that day
 */
export function timeOf({ name, page, timestamp }) {
    return ["page", "file"].includes(name) && page?.askedTime || timestamp;
}
