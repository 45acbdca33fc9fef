/**
 * Where the viewer is, and what becomes of it when something happens. Nothing in here touches a document, the network
 * or the browser's history, so that all of it can be tried in a table: Tests/BrowserTests/test_navigation.py.
 *
 * | state    | what is seen                                                              |
 * |----------|---------------------------------------------------------------------------|
 * | empty    | nothing yet                                                               |
 * | opening  | what was seen before, with a busy bar, or how far the first opening is    |
 * | page     | the page in the frame                                                     |
 * | file     | a panel in the page's place, with what no frame shows, such as a PDF      |
 * | absent   | a panel that says why there is no capture                                 |
 * | failed   | a panel that says what went wrong                                         |
 *
 * A panel is either *over* the frame, which still holds the page from before, or in the place of what the frame was
 * sent to.
 */

/**
 * @typedef {object} Page what the index confirms
 * @property {string} claim what the page said its URL is, which is compared and never shown
 * @property {string} fragment
 * @property {import("../core/api.js").Capture} capture
 * @property {import("../core/api.js").CaptureList} list
 * @property {string} url the capture's, with the fragment
 *
 * @typedef {"push"|"replace"} Step what a new place does to the browser's history
 *
 * @typedef {object} Place
 * @property {"empty"|"opening"|"page"|"file"|"absent"|"failed"} name
 * @property {string} url asked for, or shown
 * @property {string} timestamp
 * @property {Step} step for the place that comes next
 * @property {Step|null} made for this one, when something was shown by the last event
 * @property {boolean} over
 * @property {Page|null} held what the frame holds, if the index confirms it
 * @property {Page|null} page what was shown last
 * @property {HTMLElement|null} panel
 */

/** @type {Place} */
export const nowhere = Object.freeze({
    name: "empty", url: "", timestamp: "", step: "replace", made: null, over: true, held: null, page: null, panel: null,
});

/**
 * Somebody asked for a URL; until it is found the frame keeps what it holds. When the browser's history led there, it may
 * move the frame as well.
 */
function visit(place, { url, timestamp, step, panel = place.panel, traversed = false }) {
    const held = traversed ? null : place.held;
    return { ...place, name: "opening", url, timestamp, step, made: null, over: true, held, panel };
}

/** The frame was sent to what was found. What it holds is not known until that arrives. */
function send(place) {
    return { ...place, name: "opening", made: null, over: false, held: null };
}

/** The page goes somewhere by itself, as a step of its own. */
function leave(place) {
    return place.over ? unseen(place, null) : { ...place, step: "push", made: null, held: null };
}

/** The index confirms what is in the frame now. */
function arrive(place, { page }) {
    return place.over ? unseen(place, page) : show(place, "page", { page, held: page });
}

/** What was asked for is what the frame holds under its panel, or another part of it. */
function uncover(place, { page }) {
    return show(place, "page", { page, held: page, over: false });
}

/** What was asked for is no page, or the frame went to what it can't show. */
function showFile(place, { page, panel, inFrame, over = place.over }) {
    return inFrame && place.over ? unseen(place, null) : show(place, "file", { page, panel, over });
}

/** There is no capture: the index says so of what was asked for, or the frame of where it went. */
function miss(place, { url, timestamp, panel, inFrame }) {
    return inFrame && place.over ? unseen(place, null) : show(place, "absent", { url, timestamp, panel });
}

/** Nothing can be shown of what was asked for, or of where the frame went. */
function fail(place, { panel, inFrame, url = place.url, timestamp = place.timestamp }) {
    return inFrame && place.over ? unseen(place, null) : show(place, "failed", { url, timestamp, panel });
}

/** Something happens in the frame, below a panel. */
function unseen(place, held) {
    return { ...place, made: null, held };
}

function show(place, name, changes) {
    const { page } = changes;
    // A page whose URL nothing confirms has none that is shown.
    const address = page !== undefined && { url: page?.url ?? "", timestamp: page?.capture.timestamp ?? "" };
    const after = { ...place, panel: null, made: place.step, step: "replace", ...address, ...changes, name };
    // A page that goes somewhere may still tell of itself: the step is for where it goes.
    const isSame = ["name", "url", "timestamp"].every((key) => after[key] === place[key]);
    return isSame ? { ...after, made: "replace", step: place.step } : after;
}

const shown = { visit, leave, arrive, showFile, miss, fail };

const events = {
    empty: { visit, fail },
    opening: { visit, send, arrive, uncover, showFile, miss, fail },
    page: shown,
    file: shown,
    absent: shown,
    // What takes too long has failed, and may come all the same.
    failed: { ...shown, send, uncover },
};

/**
 * @param {Place} place
 * @param {string} event
 * @param {object} [details]
 * @returns {Place} the same one when the event means nothing there
 */
export function next(place, event, details = {}) {
    const change = events[place.name][event];
    return change ? change(place, details) : place;
}
