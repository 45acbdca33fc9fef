/** What this device hasn't sent yet: URLs that wait for the server, and those that another page or app opened. */
import { errorBlock } from "../app/components/messages.js";
import { announce, make, plain } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { plainURL } from "../app/core/text.js";
import { isUnsent } from "./shares.js";
import { duration } from "./state-texts.js";

const shownMax = 20;

/**
 * @param {{retry: (id?: string) => Promise<void>, discard: (ids: string[]) => Promise<void>,
 *   release: (ids: string[]) => Promise<void>}} queue
 * @returns {{show: (list: import("./shares.js").Share[]) => void}}
 */
export function createWaiting({ retry, discard, release }) {
    const unsent = document.getElementById("unsent");
    const held = document.getElementById("held");
    let shownUnsent = "";
    let shownHeld = "";

    const button = (key, act, style = "", values = {}) => make("button", { type: "button", class: style, text: message(key, values), on: { click: act } });

    /** Replaces what a notice shows. The focus stays at the control with the same name. */
    function replace(element, parts) {
        const focused = element.contains(document.activeElement) ? document.activeElement.textContent : null;
        element.replaceChildren(...parts);
        element.hidden = parts.length === 0;
        if (focused === null) return;
        const same = [...element.querySelectorAll("button")].find(({ textContent }) => textContent === focused);
        (same ?? element.querySelector("button") ?? document.getElementById("urls")).focus();
    }

    function stateOf(share) {
        if (share.status === "uploading") return message("capture.queue.sending");
        if (share.status === "failed") return message("capture.queue.failed");
        const seconds = (share.notBefore - Date.now()) / 1000;
        if (share.why === "wait" && seconds > 0) return message("capture.queue.limit", { time: duration(seconds) });
        return message("capture.queue.pending");
    }

    /** What the first URL that is still tried waits for. */
    function reasonOf(list) {
        const tried = list.filter(({ status }) => status !== "failed");
        if (tried.length === 0) return message("capture.queue.gave-up");
        const { why, message: what } = tried.find((share) => share.why) ?? {};
        const reasons = { foreign: "capture.queue.foreign", failed: "capture.queue.server-error", key: "capture.queue.key", forbidden: "capture.queue.forbidden",
            wait: "capture.queue.rate-limit", unreachable: "capture.queue.unreachable" };
        return Object.hasOwn(reasons, why) ? message(reasons[why], { what: plain(what) }) : "";
    }

    function showUnsent(list) {
        // What is being sent just now isn't worth a line.
        const isWorthIt = list.length > 1 || list.some(({ why, status }) => why || status === "failed");
        const state = isWorthIt ? JSON.stringify(list.map((share) => [share.id, share.status, stateOf(share), share.why])) : "";
        if (state === shownUnsent) return;
        const isNew = shownUnsent === "";
        shownUnsent = state;
        if (!isWorthIt) {
            replace(unsent, []);
            return;
        }
        const rows = list.slice(0, shownMax).map((share) => make("li", {},
            make("span", { class: "url", dir: "ltr", text: plainURL(share.url, 200) }), " ",
            make("span", { class: "quiet", text: stateOf(share) }), " ",
            share.status === "failed" && button("capture.queue.retry", () => retry(share.id)),
            share.status !== "uploading" && button("capture.queue.discard", () => discard([share.id]), "quiet-button")));
        const canRetry = list.some(({ why, status }) => status === "failed" || why);
        replace(unsent, [
            make("strong", { text: message("capture.queue.title", { n: list.length }) }),
            make("p", { text: [reasonOf(list), message("capture.queue.safe", { n: list.length })].filter(Boolean).join(" ") }),
            make("ul", {}, ...rows),
            list.length > shownMax && make("p", { text: message("capture.queue.more", { n: list.length - shownMax }) }),
            canRetry && button("capture.queue.retry-all", () => retry()),
        ].filter(Boolean));
        if (isNew) announce(message("capture.queue.announced", { n: list.length }));
    }

    function showHeld(list) {
        const state = JSON.stringify(list.map(({ id }) => id));
        if (state === shownHeld || list.length === 0 && shownHeld === "") return;
        shownHeld = list.length === 0 ? "" : state;
        if (list.length === 0) {
            replace(held, []);
            return;
        }
        const problems = make("div");
        const attempt = async (act) => {
            try {
                await act();
            } catch (error) {
                problems.replaceChildren(errorBlock(error));
            }
        };
        const ids = list.map(({ id }) => id);
        replace(held, [
            make("h2", { id: "held-title", text: message("capture.held.title", { n: list.length }) }),
            make("p", { class: "quiet", text: message("capture.held.text", { n: list.length }) }),
            make("ul", {}, ...list.map(({ url }) => make("li", { class: "url", dir: "ltr", text: plainURL(url, 500) }))),
            problems,
            make("p", { class: "buttons" },
                button("capture.held.save", () => attempt(() => release(ids)), "primary", { n: list.length }),
                button("capture.held.discard", () => attempt(() => discard(ids)))),
        ]);
        announce(message("capture.held.title", { n: list.length }));
    }

    return {
        show(list) {
            showUnsent(list.filter(isUnsent));
            showHeld(list.filter(({ status }) => status === "held"));
        },
    };
}
