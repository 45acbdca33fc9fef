/**
 * Handles requests of archived pages: to print, to add history entries, and to move the focus to the toolbar. Dialogs and
 * links to other programs aren't opened, but shown as hints.
 *
 * Any archived script can send these requests.
 */
import { make, plain, plainURL } from "../core/dom.js";

const frameName = "___replayhost_print";
const pageFrameName = "___wb_replay_top_frame";

/** The hint for each dialog, which `page.js` has answered already. */
const dialogs = {
    alert: (text) => `Message from the page: “${text}”`,
    confirm: (text) => `The page asked “${text}” and received OK.`,
    prompt: (text) => `The page asked “${text}” and received its default answer.`,
};

/** The hint for a link that another program would open, by its scheme (RFC 6068, RFC 3966). The receiver follows. */
const links = { mailto: "This link opens an email to", tel: "This link calls the number" };

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
 * @param {{isShown: () => boolean, showHint: (text: string, copied?: string) => void, onStep: () => void,
 *   onTraverse: () => void, onToolbar: () => void}} viewer `isShown`: whether the page is visible; `onStep`: the
 *   page navigates by itself; `onTraverse`: the browser's history navigates the frame; `onToolbar`: the focus should move
 *   to the toolbar
 */
export function createPageRequests(origin, stage, { isShown, showHint, onStep, onTraverse, onToolbar }) {
    let frame = null;

    function endPrinting() {
        frame?.remove();
        frame = null;
    }

    /** Prints a copy of the whole page. Only the copy's frame may open the print dialog. */
    function print() {
        if (!isShown()) {
            showHint("No page to print here. To print a PDF, use the print button in its toolbar.");
            return;
        }
        endPrinting();
        frame = make("iframe", { name: frameName, class: "print-frame", title: "Copy for printing", tabindex: "-1",
            "aria-hidden": "true", sandbox: "allow-scripts allow-same-origin allow-modals", referrerpolicy: "no-referrer",
            src: `${origin}/print` });
        stage.append(frame);
    }

    function showLink(url) {
        const [, scheme, receiver] = /^([a-z]+):([^?]*)/i.exec(url) ?? ["", "", ""];
        if (Object.hasOwn(links, scheme) && receiver) showHint(links[scheme], plainURL(decoded(receiver)));
        else showHint("This link opens in another app:", plainURL(url));
    }

    function receiveFromPage({ kind, text }) {
        if (Object.hasOwn(dialogs, kind)) {
            showHint(dialogs[kind](plain(text, 200)));
        } else if (kind === "step") {
            onStep();
        } else if (kind === "traverse") {
            onTraverse();
        } else if (kind === "link") {
            showLink(String(text));
        } else if (kind === "toolbar" && isShown() && document.activeElement?.name === pageFrameName) {
            onToolbar();
        } else if (kind === "print" && isShown()) {
            // Without a recent click or key press, the user didn't ask to print.
            if (navigator.userActivation?.isActive) print();
            else showHint("This page tried to print. To print it, use the Print button above.");
        }
    }

    function receive({ data, origin: from, source }) {
        if (from !== origin) return;
        if (data?.replayhost === "page") receiveFromPage(data);
        else if (data?.replayhost === "printed" && source === frame?.contentWindow) endPrinting();
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
