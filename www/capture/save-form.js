/** The box for URLs and its options. */
import { messageParts, withCode } from "../app/components/messages.js";
import { copyText } from "../app/components/copy-text.js";
import { announce, make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { plainURL } from "../app/core/text.js";
import { key } from "./connection.js";
import { StorageError } from "./database.js";
import { createOptions } from "./options.js";
import { post } from "./post.js";
import { preferences } from "./preferences.js";
import { randomID } from "./random.js";
import { unkeptText } from "./state-texts.js";
import { problemOf, urlsIn } from "./urls.js";

/**
 * @param {{listed: () => string[], add: (urls: string[], request: object) => Promise<{id: string}[]>, onSaved: () => void}} host
 *   `listed`: the IDs of the downloads that are listed; `add` keeps URLs and sends them
 * @returns {{focus: () => void, noteConfirmed: (share: import("./shares.js").Share) => void,
 *   noteRefused: (entry: import("./shares.js").Entry) => boolean, options: ReturnType<typeof createOptions>,
 *   refuse: (text: string, what: string) => void}} `noteRefused` returns whether the URL was of this box; `refuse` puts a text in
 *   the box that can't be saved
 */
export function createSaveForm({ listed, add, onSaved }) {
    const form = document.getElementById("save");
    const box = document.getElementById("urls");
    const problems = document.getElementById("problems");
    const result = document.getElementById("result");
    const options = createOptions();
    // Shares of this box since it was last empty, and what became of them.
    const own = new Set();
    let known = new Set();
    let sent = { added: 0, listed: 0, before: 0 };

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

    async function submit() {
        problems.replaceChildren();
        result.hidden = true;
        const text = box.value;
        const urls = urlsIn(text);
        if (urls.length === 0) {
            complain([{ what: message(text.trim() ? "capture.save.no-url" : "capture.save.nothing") }]);
            return;
        }
        const request = options.read();
        if (request === null) return;
        const bad = urls.map((url) => ({ url, problem: problemOf(url, preferences().allowedDomains) })).filter(({ problem }) => problem);
        const good = urls.filter((url) => !bad.some((one) => one.url === url));
        if (own.size === 0) {
            known = new Set(listed());
            sent = { added: 0, listed: 0, before: 0 };
        }
        // What can't be sent stays in the box.
        box.value = bad.map(({ url }) => url).join("\n");
        box.focus();
        if (bad.length > 0) complain(bad.map(({ url, problem }) => ({ url, what: message(`capture.share.problem-${problem}`) })));
        if (good.length > 0) await keep(good, request);
    }

    async function keep(urls, request) {
        try {
            for (const { id } of await add(urls, request)) own.add(id);
        } catch (error) {
            if (!(error instanceof StorageError)) throw error;
            await sendUnkept(urls, request, error);
        }
    }

    /** Sends URLs that the browser can't keep. Those that don't arrive return to the box. */
    async function sendUnkept(urls, request, error) {
        const left = [];
        for (const url of urls) {
            const outcome = await post({ id: randomID(), url, request }, key());
            if (outcome.kind === "confirmed") count(outcome.downloadID, outcome.isSavedBefore);
            else left.push(url);
        }
        if (left.length === 0) return;
        putBack(left);
        complain([{ what: unkeptText(error) }],
            make("button", { type: "button", text: message("capture.share.copy", { n: left.length }), on: { click: () => copyText(left.join("\n")) } }));
    }

    function noteConfirmed({ id, serverDownloadId, isSavedBefore }) {
        if (own.delete(id)) count(serverDownloadId, isSavedBefore);
    }

    function noteRefused({ id, url, message: what }) {
        if (!own.delete(id)) return false;
        putBack([url]);
        complain([{ url, ...messageParts(new Error(what)) }]);
        return true;
    }

    function count(id, isSavedBefore) {
        if (known.has(id)) sent.listed += 1;
        else sent.added += 1;
        if (!known.has(id) && isSavedBefore) sent.before += 1;
        known.add(id);
        const { added, listed, before } = sent;
        const texts = [added > 0 && message("capture.save.added", { n: added }),
            listed > 0 && message(added + listed === 1 ? "capture.save.listed-one" : "capture.save.listed", { n: listed }),
            before > 0 && message(added + listed === 1 ? "capture.save.before-one" : "capture.save.before", { n: before })];
        result.textContent = texts.filter(Boolean).join(" ");
        result.hidden = false;
        announce(result.textContent);
        onSaved();
    }

    function complain(causes, ...controls) {
        box.setAttribute("aria-invalid", "true");
        problems.replaceChildren(make("div", { class: "notice error", role: "alert" },
            ...causes.map(({ url, what, hint }) => make("p", {},
                url && make("strong", { dir: "ltr", text: plainURL(url, 120) }), url && ": ",
                ...withCode(what), hint && " ", ...withCode(hint ?? ""))), ...controls));
        box.focus();
    }

    function putBack(urls) {
        box.value = [box.value, ...urls].filter(Boolean).join("\n");
    }

    return {
        focus: () => box.focus(),
        noteConfirmed,
        noteRefused,
        options,
        refuse(text, what) {
            putBack([text].filter(Boolean));
            complain([{ what }]);
        },
    };
}
