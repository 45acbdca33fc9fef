/**
 * Keeps what is typed in the app from archived pages.
 *
 * Browsers let a page in a frame take the keyboard focus at any time, also in a frame that is inert or hidden. `page.js` makes the
 * ordinary calls wait until the page has the focus. A page that gets around it loses the focus again at once, and is closed if it
 * repeats this. The frame isn't inert, since screen readers couldn't read it then.
 */
import { make } from "../core/dom.js";

const takenMax = 3;
const takenMilliseconds = 3000;
const fields = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog *, [popover] *";

/**
 * @param {HTMLElement} element around the frame with the archived page
 * @param {{give: () => void, isPageFrame: (frame: Element) => boolean, isAgentFrame: (frame: Element) => boolean,
 *   onRepeated: () => void}} viewer `give`: gives the page the focus; `onRepeated`: a page keeps taking the focus
 */
export function createFocusGuard(element, { give, isPageFrame, isAgentFrame, onRepeated }) {
    // While it is over the frame, presses arrive here and not in the page. Without it, the page gets them as always.
    const shield = make("div", { class: "focus-shield", "aria-hidden": "true", hidden: true });
    const isOver = new AbortController();
    // What has the focus in the app.
    let holder = null;
    let isTabPressed = false;
    // Where the pointer was seen last; empty while it is in the frame. Browsers also report a move when the shield appears.
    let place = "";
    let taken = [];

    function hold(target) {
        holder = target;
        isTabPressed = false;
        if (holder.matches(fields)) shield.hidden = false;
    }

    function release() {
        holder = null;
        shield.hidden = true;
    }

    /** Whether the user may have moved the focus to a frame, which isn't known yet in every browser. */
    function isByUser(frame) {
        if (frame && isAgentFrame(frame)) return false;
        if (isTabPressed || (frame ?? document.querySelector(".pdf-panel"))?.closest(".pdf-panel")) return true;
        return shield.hidden && element.checkVisibility({ visibilityProperty: true });
    }

    /** Firefox takes the focus from the document before the frame has it, and can be stopped here. Others can be only afterwards. */
    function lose() {
        if (holder && document.activeElement === document.body && !isByUser()) takeBack();
        else setTimeout(check);
    }

    function check() {
        const { activeElement: frame } = document;
        if (!isPageFrame(frame) && !isAgentFrame(frame) && !frame?.closest(".pdf-panel")) return;
        if (isByUser(frame)) release();
        else takeBack();
    }

    function takeBack() {
        const now = performance.now();
        taken = [...taken.filter((time) => now - time < takenMilliseconds), now];
        if (holder?.isConnected) {
            const { selectionStart: start, selectionEnd: end, selectionDirection: direction } = holder;
            // In Chromium, only this makes the keys come here.
            window.focus();
            holder.focus({ preventScroll: true });
            if (typeof start === "number") holder.setSelectionRange(start, end, direction);
        } else {
            document.activeElement?.blur();
        }
        if (taken.length < takenMax) return;
        taken = [];
        onRepeated();
    }

    function followPointer({ target, screenX, screenY }) {
        const now = `${screenX} ${screenY}`;
        if (target === shield && place && now !== place) shield.hidden = true;
        else if (target !== shield && holder?.matches(fields)) shield.hidden = false;
        place = now;
    }

    const listen = (target, handlers, options) => {
        for (const [kind, handler] of Object.entries(handlers)) target.addEventListener(kind, handler, { ...options, signal: isOver.signal });
    };
    listen(window, { blur: ({ target }) => target === window && lose() });
    listen(document, {
        focusin: ({ target }) => isPageFrame(target) || hold(target),
        focusout: () => setTimeout(() => {
            if (document.activeElement === document.body && document.hasFocus()) release();
        }),
        keydown: ({ key }) => {
            isTabPressed = key === "Tab";
            if (holder) shield.hidden = isTabPressed;
        },
        pointermove: followPointer,
        pointerover: ({ target }) => {
            if (isPageFrame(target)) place = "";
        },
    }, { capture: true });
    listen(shield, { mousedown: (event) => event.preventDefault(), pointerup: give, pointercancel: give });
    listen(shield, { wheel: () => { shield.hidden = true; } }, { passive: true });
    const { activeElement } = document;
    if (activeElement && activeElement !== document.body && !isPageFrame(activeElement)) hold(activeElement);

    return {
        shield,

        /** Call this before the app itself gives the focus to the page. */
        release,

        close: () => isOver.abort(),
    };
}
