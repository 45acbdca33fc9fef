/**
 * Marks words in the page, with a bar that leads from one to the next.
 *
 * The page can read everything at its own origin: what the agent receives, and each highlight that is registered there. So the
 * words stay in this window. The agent sends the text of the page and the places of its visible words, this module finds
 * the words and draws the marks over the frame. The page learns only to which part of its text it is scrolled.
 */
import { announce, make, plain } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";
import { icon } from "../core/icons.js";
import { termsOf, withWords } from "../core/search-words.js";
import { isSingleKey } from "../components/shortcuts.js";
import { drawMarks, readPlaces } from "./mark-layer.js";
import { createMatcher } from "./word-matcher.js";

const marksMax = 1000;
const textMax = 1 << 26;
// The agent is told only in which part of this length a mark is.
const partCharacters = 256;

/**
 * @param {ReturnType<typeof import("../replay/agent-frame.js").createAgentFrame>} agent
 * @param {HTMLElement} stage the element around the page
 * @param {() => void} focusPage
 */
export function createMarkedWords(agent, stage, focusPage) {
    const layer = make("div", { class: "word-marks", "aria-hidden": "true" });
    const label = make("span", { class: "marked-words", dir: "auto" });
    const status = make("span", { class: "marks-status" });
    const tool = (shape, key, action) => make("button", { type: "button", class: "tool", "aria-label": message(key), title: message(key),
        on: { click: action } }, icon(shape));
    const previous = tool("back", "viewer.words-previous", () => step(-1));
    const next = tool("forward", "viewer.words-next", () => step(1));
    const bar = make("section", { class: "marks-bar", "aria-label": message("viewer.words-label"), hidden: true },
        label, status, previous, next, tool("close", "viewer.words-off", off));
    stage.append(layer);

    let words = "";
    let terms = [];
    // Whether a page is shown, rather than a panel.
    let isPage = false;
    // The text that the marks are in, and one that arrives.
    let shown = null;
    let arriving = null;
    let current = -1;
    let places = null;
    let visible = new Set();
    // Whether the first mark should be scrolled to.
    let leadsToFirst = false;
    // Whether this is the page that was opened for the words. On others, the bar is hidden if they have none of them.
    let isFirstPage = false;

    function reset() {
        shown = null;
        arriving = null;
        current = -1;
        draw(null);
        showStatus();
    }

    function draw(now) {
        places = now;
        visible = drawMarks(layer, places, shown?.matcher.marks ?? [], current);
    }

    function showStatus() {
        const isOn = terms.length > 0 && isPage;
        layer.hidden = !isOn;
        const count = shown?.matcher.marks.length ?? 0;
        const hasMarks = count > 0;
        // While the words of another page are looked for, it stays as it is.
        if (isOn && (hasMarks || isFirstPage)) bar.hidden = false;
        else if (!isOn || shown?.isComplete) hideBar();
        for (const button of [previous, next]) {
            button.disabled = !hasMarks;
            button.hidden = !hasMarks && shown?.isComplete === true;
        }
        status.textContent = statusText(count);
    }

    function hideBar() {
        const hadFocus = bar.contains(document.activeElement);
        bar.hidden = true;
        if (hadFocus) focusPage();
    }

    function statusText(count) {
        if (count === 0) return message(shown?.isComplete ? "viewer.words-none" : "viewer.words-looking");
        const { isFull } = shown.matcher;
        if (current < 0) return message(isFull ? "viewer.words-count-more" : "viewer.words-count", { n: count });
        return message(isFull ? "viewer.words-position-more" : "viewer.words-position", { position: current + 1, n: count });
    }

    function step(by) {
        const count = shown?.matcher.marks.length ?? 0;
        if (count === 0) return;
        leadsToFirst = false;
        if (current < 0) current = by > 0 ? firstVisible() : count - 1;
        else current = (current + by + count) % count;
        lead();
        showStatus();
        announce(status.textContent);
    }

    const firstVisible = () => (visible.size > 0 ? Math.min(...visible) : 0);

    /** Shows the current mark. Nothing is scrolled for one that is visible. */
    function lead() {
        draw(places);
        if (visible.has(current)) return;
        const start = Math.floor(shown.matcher.marks[current].start / partCharacters) * partCharacters;
        agent.tell("reveal", { version: shown.version, start, end: start + partCharacters });
    }

    /** A text replaces the one before it once it's complete, unless it's that of another page. */
    function receiveText({ version, from, text, isLast, isNew }) {
        if (terms.length === 0 || !Number.isSafeInteger(version) || typeof text !== "string") return;
        if (arriving?.version !== version) {
            if (from !== 0) return;
            arriving = { version, length: 0, matcher: createMatcher(terms, marksMax), isComplete: false };
            if (isNew === true || !shown) {
                // Another page isn't scrolled by itself.
                leadsToFirst &&= !shown;
                isFirstPage &&= !shown;
                const first = arriving;
                reset();
                arriving = shown = first;
            }
        }
        if (from !== arriving.length || arriving.isComplete) return;
        arriving.length += text.length;
        const isEnd = isLast === true || arriving.length > textMax;
        arriving.matcher.add(text, isEnd);
        if (isEnd) complete();
        showStatus();
    }

    function complete() {
        const before = shown.matcher.marks[current];
        const isFirst = shown === arriving;
        shown = arriving;
        shown.isComplete = true;
        const { marks } = shown.matcher;
        if (!isFirst && before) current = nearest(marks, before.start);
        showStatus();
        if (isFirst && !bar.hidden && (!leadsToFirst || marks.length === 0)) announce(status.textContent);
    }

    function nearest(marks, start) {
        let best = -1;
        for (const [index, mark] of marks.entries()) {
            if (best < 0 || Math.abs(mark.start - start) < Math.abs(marks[best].start - start)) best = index;
        }
        return best;
    }

    function receivePlaces(data) {
        if (!shown || data.version !== shown.version) return;
        draw(readPlaces(data));
        if (!leadsToFirst || shown.matcher.marks.length === 0) return;
        leadsToFirst = false;
        current = 0;
        lead();
        showStatus();
        announce(status.textContent);
    }

    /** While the page scrolls, the marks move with it until their places are known again. */
    function receiveMove({ x, y, isPart }) {
        if (!places) return;
        if (isPart !== true && Number.isFinite(x) && Number.isFinite(y)) {
            layer.firstElementChild?.firstElementChild?.setAttribute("transform", `translate(${places.x - x} ${places.y - y})`);
        } else {
            layer.replaceChildren();
        }
    }

    function off() {
        mark("", false);
        history.replaceState(history.state, "", location.hash.replace(/&words=[^&]*/, "") || location.href);
        announce(message("viewer.words-are-off"));
    }

    function mark(search, leads) {
        leadsToFirst = leads;
        isFirstPage = leads;
        if (search === words) return;
        words = search;
        terms = termsOf(words);
        label.replaceChildren(...messageParts("viewer.words", { words: plain(terms.map(({ text, isPrefix }) => text + (isPrefix ? "*" : "")).join(", "), 300) }));
        if (shown) agent.tell("stop");
        reset();
        if (isPage && terms.length > 0) agent.tell("read");
    }

    function focusBar() {
        if (!bar.hidden) (next.disabled ? bar.lastElementChild : next).focus();
        return !bar.hidden;
    }

    function pressed(event) {
        const { key, ctrlKey, altKey, metaKey, shiftKey, defaultPrevented, target } = event;
        if (bar.offsetParent === null || defaultPrevented || ctrlKey || altKey || metaKey) return;
        const isBusy = document.querySelector("dialog[open], :popover-open") || target.closest?.("input, select, textarea");
        if (key === "F6" && shiftKey) {
            event.preventDefault();
            if (bar.contains(target)) focusPage();
            else focusBar();
        } else if (key === "Escape" && !isBusy) {
            off();
        } else if (key.toLowerCase() === "n" && isSingleKey(event)) {
            event.preventDefault();
            step(shiftKey ? -1 : 1);
        }
    }

    agent.handle({ text: receiveText, places: receivePlaces, moved: receiveMove });
    document.addEventListener("keydown", pressed);

    return {
        bar,
        mark,
        focus: focusBar,

        /**
         * @param {string} address the URL of a page in the viewer
         * @returns {string} with the words that are marked
         */
        withWords: (address) => withWords(address, words),

        off: () => !bar.hidden && off(),

        /** @param {boolean} now whether the page in the frame is shown */
        setPage(now) {
            isPage = now;
            if (now && terms.length > 0) agent.tell("read");
            showStatus();
        },

        close: () => document.removeEventListener("keydown", pressed),
    };
}
