/**
 * What archived pages ask the viewer for: printing; dialogs and links to other programs, which are not opened but
 * mentioned; steps of the browser's history; and the way out of the page by keyboard.
 *
 * Any script of the archive can send these requests.
 */
import { make, plain } from "../core/dom.js";

const frameName = "___replayhost_print";
const pageFrameName = "___wb_replay_top_frame";

/** What is said of each dialog. `page.js` has answered it already. */
const dialogs = {
    alert: (text) => `Message from the page: “${text}”`,
    confirm: (text) => `The page asked: “${text}” Answered with OK.`,
    prompt: (text) => `The page asked for text: “${text}” Answered with its own suggestion.`,
};

/** What is said of a link that another program would open, by the scheme of its URL (RFC 6068, RFC 3966). */
const links = {
    mailto: (rest) => `This link opens an email to ${rest}`,
    tel: (rest) => `This link calls the number ${rest}`,
};

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/**
 * @param {string} origin the archive's
 * @param {HTMLElement} stage where the archived page is
 * @param {{isShown: () => boolean, say: (text: string, copied?: string) => void, onStep: () => void,
 *   onTraverse: () => void, onToolbar: () => void}} viewer `isShown`: whether the page is what is looked at; `onStep`: the
 *   page goes somewhere by itself; `onTraverse`: Back or Forward of the browser moves the frame; `onToolbar`: the keyboard
 *   should leave the page
 */
export function createPageRequests(origin, stage, { isShown, say, onStep, onTraverse, onToolbar }) {
    let frame = null;

    function endPrinting() {
        frame?.remove();
        frame = null;
    }

    /** Prints a copy of the whole page. Only the copy's frame may open the browser's dialog. */
    function print() {
        if (!isShown()) {
            say("There is no page to print here. To print a PDF, use the button in its own toolbar.");
            return;
        }
        endPrinting();
        frame = make("iframe", { name: frameName, class: "print-frame", title: "Copy for printing", tabindex: "-1",
            "aria-hidden": "true", sandbox: "allow-scripts allow-same-origin allow-modals", referrerpolicy: "no-referrer",
            src: `${origin}/print` });
        stage.append(frame);
    }

    function sayLink(url) {
        const [, scheme, receiver] = /^([a-z]+):([^?]*)/i.exec(url) ?? ["", "", ""];
        const address = plain(decoded(receiver), 200);
        if (Object.hasOwn(links, scheme) && address) say(links[scheme](address), address);
        else say(`This link opens in another app: ${plain(url, 200)}`, plain(url, 1000));
    }

    function hearPage({ kind, text }) {
        if (Object.hasOwn(dialogs, kind)) {
            say(dialogs[kind](plain(text, 200)));
        } else if (kind === "step") {
            onStep();
        } else if (kind === "traverse") {
            onTraverse();
        } else if (kind === "link") {
            sayLink(String(text));
        } else if (kind === "toolbar" && isShown() && document.activeElement?.name === pageFrameName) {
            onToolbar();
        } else if (kind === "print" && isShown()) {
            // Only somebody who has just clicked or pressed a key in the page wants it printed.
            if (navigator.userActivation?.isActive) print();
            else say("This page tried to print. To print it, use the Print button above.");
        }
    }

    function hear({ data, origin: from, source }) {
        if (from !== origin) return;
        if (data?.replayhost === "page") hearPage(data);
        else if (data?.replayhost === "printed" && source === frame?.contentWindow) endPrinting();
    }

    function hearKey(event) {
        const isPrint = event.key.toLowerCase() === "p" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
        if (!isPrint || !isShown()) return;
        event.preventDefault();
        print();
    }

    window.addEventListener("message", hear);
    window.addEventListener("keydown", hearKey);

    return {
        print,

        close() {
            endPrinting();
            window.removeEventListener("message", hear);
            window.removeEventListener("keydown", hearKey);
        },
    };
}
