/** The end of the server's log, which can be followed. */
import { errorBlock } from "../../app/components/messages.js";
import { copyText } from "../../app/components/copy-text.js";
import { make, plain } from "../../app/core/dom.js";
import { message } from "../../app/core/i18n.js";
import { isKeyNeeded, isUnreachable } from "../api.js";
import * as api from "./api.js";

const linesMax = 2000;
// A server that writes faster than this page reads doesn't keep it busy.
const partsMax = 8;

/** @returns {{read: () => Promise<void>}} `read` adds what is new, if the log is followed */
export function createServerLog() {
    const [lines, follow, copy, problems, empty] = ["lines", "follow", "copy", "problems", "empty"].map((name) => document.getElementById(`log-${name}`));
    let next = null;

    copy.addEventListener("click", () => copyText([...lines.children].map(({ textContent }) => textContent).join("\n")));
    follow.addEventListener("change", () => {
        if (follow.checked) read();
    });

    async function read() {
        if (!follow.checked && next !== null) return;
        try {
            for (let part = 0; part < partsMax; part += 1) {
                const asked = next;
                const answer = await api.log(asked);
                // The log was emptied, and begins again.
                if (asked !== null && answer.offset !== asked) lines.replaceChildren();
                next = answer.next;
                add(answer.lines);
                if (asked === null || next === asked) break;
            }
            problems.replaceChildren();
        } catch (error) {
            if (isUnreachable(error) || isKeyNeeded(error)) throw error;
            problems.replaceChildren(errorBlock(error, message("admin.log.cant-read")));
        }
        empty.hidden = lines.children.length > 0;
        lines.hidden = copy.hidden = !empty.hidden;
    }

    function add(texts) {
        if (texts.length === 0) return;
        // Someone who scrolled back reads on there.
        const isAtEnd = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 8;
        lines.append(...texts.slice(-linesMax).map((text) => make("div", { text: plain(text, 4000) })));
        while (lines.children.length > linesMax) lines.firstChild.remove();
        lines.hidden = false;
        if (isAtEnd) lines.scrollTop = lines.scrollHeight;
    }

    return { read };
}
