/**
 * Handles requests of archived pages: to print, to add history entries, and what keys do in the viewer. Dialogs and
 * links to other programs aren't opened, but shown as hints.
 *
 * Any archived script can send these requests.
 */
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { exactURL, plainURL } from "../core/text.js";

const frameName = "___replayhost_print";
const pageFrameName = "___wb_replay_top_frame";

/** The hint for each dialog, which `page.js` has answered already. */
const dialogs = {
    alert: (text) => message("viewer.page-alert", { text }),
    confirm: (text) => message("viewer.page-confirm", { text }),
    prompt: (text) => message("viewer.page-prompt", { text }),
};

/** The hint for a link that another program would open, by its scheme (RFC 6068, RFC 3966). The receiver follows. */
const links = { mailto: "viewer.link-email", tel: "viewer.link-call" };

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/**
 * @param {string} origin the replay origin
 * @param {HTMLElement} stage the element around the archived page
 * @param {{isShown: () => boolean, copyPage: () => Promise<{html?: string}>,
 *   showHint: (text: string, copied?: string) => void, onStep: () => void, onHistory: (count: number, length: number) => void,
 *   onToolbar: () => void, onCapture: (count: number) => void, onWords: () => void, onEscape: () => void}} viewer `isShown`: whether the page is visible; `copyPage`: copies it, for printing; `onStep`:
 *   the page navigates by itself; `onHistory`: the page moves in the browser's history, in which it saw
 *   `length` entries; `onToolbar` and
 *   `onWords`: the focus should move to the toolbar, or to the marked words; `onCapture`: the previous or the next capture; `onEscape`: the user pressed Escape
 */
export function createPageRequests(origin, stage, { isShown, copyPage, showHint, onStep, onHistory, onToolbar, onCapture, onWords, onEscape }) {
    const keys = { toolbar: onToolbar, words: onWords, escape: onEscape, earlier: () => onCapture(-1), later: () => onCapture(1) };
    const port = location.port ? `:${location.port}` : "";
    let frame = null;
    let printCount = 0;

    function endPrinting() {
        printCount += 1;
        frame?.remove();
        frame = null;
    }

    /**
     * Prints a copy of the whole page. Only the copy's frame may open dialogs. No archived script runs in it or reaches it:
     * the server's policy allows only our script there, and its sandbox gives it an origin of its own.
     */
    async function print() {
        if (!isShown()) {
            showHint(message("viewer.nothing-to-print"));
            return;
        }
        endPrinting();
        const current = printCount;
        const { html } = await copyPage();
        if (current !== printCount) return;
        if (typeof html !== "string") {
            showHint(message("viewer.cant-print"));
            return;
        }
        let isLoaded = false;
        const fill = () => {
            // It never leaves its page.
            if (isLoaded) endPrinting();
            else frame.contentWindow.postMessage({ html }, "*");
            isLoaded = true;
        };
        frame = make("iframe", { name: frameName, class: "print-frame", title: message("viewer.print-copy"), tabindex: "-1",
            "aria-hidden": "true", inert: true, sandbox: "allow-scripts allow-modals", referrerpolicy: "no-referrer",
            src: `http://127.0.0.1${port}/print`, on: { load: fill } });
        stage.append(frame);
    }

    function showLink(url) {
        const [, scheme, receiver] = /^([a-z]+):([^?]*)/i.exec(url) ?? ["", "", ""];
        if (Object.hasOwn(links, scheme) && receiver) showHint(message(links[scheme]), plainURL(decoded(receiver)));
        else showHint(message("viewer.link-other-app"), exactURL(url));
    }

    function receiveFromPage({ kind, text }) {
        if (Object.hasOwn(dialogs, kind)) {
            showHint(dialogs[kind](plain(text, 200)));
        } else if (kind === "step") {
            onStep();
        } else if (kind === "history" && /^-?[1-9]\d{0,3} \d{1,4}$/.test(text)) {
            onHistory(...text.split(" ").map(Number));
        } else if (kind === "link") {
            showLink(String(text));
        } else if (Object.hasOwn(keys, kind) && isShown() && document.activeElement?.name === pageFrameName) {
            keys[kind]();
        } else if (kind === "print" && isShown()) {
            // Without a recent click or key press, the user didn't ask to print.
            if (navigator.userActivation?.isActive) print();
            else showHint(message("viewer.page-prints"));
        }
    }

    function receive({ data, origin: from, source }) {
        if (frame && source === frame.contentWindow) {
            if (data?.replayhost === "printed") endPrinting();
        } else if (from === origin && data?.replayhost === "page") {
            receiveFromPage(data);
        }
    }

    function handleKey(event) {
        const isPrint = event.key.toLowerCase() === "p" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
        if (!isPrint || !isShown()) return;
        event.preventDefault();
        print();
    }

    window.addEventListener("message", receive);
    window.addEventListener("keydown", handleKey);

    return {
        print,

        close() {
            endPrinting();
            window.removeEventListener("message", receive);
            window.removeEventListener("keydown", handleKey);
        },
    };
}
