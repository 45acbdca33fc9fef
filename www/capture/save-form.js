/** The box for URLs and its options. */
import { messageParts, withCode } from "/app/components/messages.js";
import { announce, make } from "/app/core/dom.js";
import { message } from "/app/core/i18n.js";
import { plainURL } from "/app/core/text.js";
import * as api from "./api.js";
import { createOptions } from "./options.js";
import { urlsIn } from "./urls.js";

/**
 * @param {{has: (id: string) => boolean, onSaved: () => void, onUnreachable: () => void}} host `has`: whether a download is listed
 * @returns {{focus: () => void, sendAgain: () => void}} `sendAgain` sends what couldn't be sent while the server was stopped
 */
export function createSaveForm({ has, onSaved, onUnreachable }) {
    const form = document.getElementById("save");
    const box = document.getElementById("urls");
    const problems = document.getElementById("problems");
    const result = document.getElementById("result");
    const unsentNotice = document.getElementById("unsent");
    const options = createOptions();
    // Orders that aren't confirmed yet. A repeated order has the same key, so it's downloaded once.
    const keys = new Map();
    let queue = [];
    let isSending = false;

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        submit();
    });
    box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        submit();
    });
    box.addEventListener("input", () => {
        box.removeAttribute("aria-invalid");
        if (!box.value.trim()) problems.replaceChildren();
    });
    window.addEventListener("beforeunload", (event) => {
        if (queue.length > 0) event.preventDefault();
    });

    function submit() {
        problems.replaceChildren();
        result.hidden = true;
        const urls = urlsIn(box.value);
        if (urls.length === 0) {
            refuse([{ what: message(box.value.trim() ? "capture.save.no-url" : "capture.save.nothing") }]);
            return;
        }
        const chosen = options.read();
        if (chosen === null) return;
        box.value = "";
        queue.push(...urls.map((url) => ({ url, ...chosen })));
        box.focus();
        send();
    }

    /** Sends the queue one by one. Refused URLs return to the box. */
    async function send() {
        if (isSending) return;
        isSending = true;
        const refused = [];
        const sent = { added: 0, listed: 0 };
        const ids = new Set();
        while (queue.length > 0) {
            const [order] = queue;
            const text = JSON.stringify(order);
            if (!keys.has(text)) keys.set(text, crypto.randomUUID());
            try {
                const { download_id: id } = await api.save(order, keys.get(text));
                keys.delete(text);
                if (has(id) || ids.has(id)) sent.listed += 1;
                else sent.added += 1;
                ids.add(id);
            } catch (error) {
                if (api.isUnreachable(error)) break;
                // No other URL is accepted for a while.
                const count = error.status === 429 ? queue.length : 1;
                refused.push({ urls: queue.splice(0, count).map(({ url }) => url), error });
                continue;
            }
            queue.shift();
        }
        isSending = false;
        showUnsent();
        showResult(sent);
        if (refused.length > 0) {
            putBack(refused.flatMap(({ urls }) => urls));
            refuse(refused.map(({ urls, error }) =>
                ({ url: urls.length === 1 ? urls[0] : message("capture.save.urls", { n: urls.length }), ...messageParts(error) })));
        }
        if (queue.length > 0) onUnreachable();
        if (ids.size > 0) onSaved();
    }

    function showResult({ added, listed }) {
        if (added + listed === 0) return;
        const texts = [added > 0 && message("capture.save.added", { n: added }),
            listed > 0 && message(added + listed === 1 ? "capture.save.listed-one" : "capture.save.listed", { n: listed })];
        result.textContent = texts.filter(Boolean).join(" ");
        result.hidden = false;
        announce(result.textContent);
    }

    function refuse(causes) {
        box.setAttribute("aria-invalid", "true");
        problems.replaceChildren(make("div", { class: "notice error", role: "alert" },
            ...causes.map(({ url, what, hint }) => make("p", {},
                url && make("strong", { dir: "ltr", text: plainURL(url, 120) }), url && ": ",
                ...withCode(what), hint && " ", ...withCode(hint ?? "")))));
        box.focus();
    }

    function showUnsent() {
        const hadFocus = unsentNotice.contains(document.activeElement);
        unsentNotice.hidden = queue.length === 0;
        if (queue.length === 0) {
            unsentNotice.replaceChildren();
            if (hadFocus) box.focus();
            return;
        }
        const edit = make("button", { type: "button", text: message("capture.save.edit", { n: queue.length }),
            on: { click: takeBack } });
        unsentNotice.replaceChildren(
            make("strong", { text: message("capture.save.unsent", { n: queue.length }) }),
            make("p", { text: message("capture.save.unsent-text") }),
            make("ul", {}, ...queue.map(({ url }) => make("li", { dir: "ltr", text: plainURL(url, 200) }))), edit);
        if (hadFocus) edit.focus();
        announce(message("capture.save.unsent-announced", { n: queue.length }));
    }

    /** Moves what isn't sent back into the box. Its keys stay: the server may have received it. */
    function takeBack() {
        if (isSending) return;
        putBack(queue.map(({ url }) => url));
        queue = [];
        showUnsent();
        box.focus();
    }

    function putBack(urls) {
        box.value = [box.value, ...urls].filter(Boolean).join("\n");
    }

    return {
        focus: () => box.focus(),
        sendAgain() {
            if (queue.length > 0) send();
        },
    };
}
