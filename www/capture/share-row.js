/** A row of the history for something that this device shared. */
import { copyText } from "../app/components/copy-text.js";
import { announce, make, plain } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { plainURL } from "../app/core/text.js";
import { clock } from "./days.js";
import { serviceIcon } from "./service-icon.js";
import * as shares from "./shares.js";
import { onSwipe } from "./swipe.js";
import { siteOf } from "./urls.js";

const marks = { queued: "⏳", confirmed: "●", failed: "⚠" };

/**
 * @param {import("./shares.js").Entry} first
 * @param {{onShareAgain: (entry: import("./shares.js").Entry) => void, onRemoved: () => void}} host
 */
export function createShareRow(first, { onShareAgain, onRemoved }) {
    let entry = first;
    const name = plainURL(first.url, 120);
    const title = make("h3", { class: "untitled", dir: "ltr", tabindex: "-1", text: name });
    const state = make("p", { class: "state" });
    const note = make("p", { class: "message" });
    const button = (key, act) => make("button", { type: "button", class: "quiet-button", text: message(key),
        "aria-label": message("capture.row.control", { action: message(key), name }), on: { click: act } });
    const retry = button("capture.row.retry", () => onShareAgain(entry));
    const actions = make("div", { class: "actions" }, retry, button("capture.row.copy", () => copyText(entry.url)),
        button("capture.row.share-again", () => onShareAgain(entry)), button("capture.row.delete", remove));
    const element = make("li", { class: "download" }, make("span", { class: "mark" }, serviceIcon({ service: siteOf(first.url).split(".").at(-2), genre: "" })),
        make("div", { class: "about" }, title, state, note), actions);
    element.addEventListener("keydown", ({ key }) => {
        if (key === "Delete") remove();
    });
    onSwipe(element, remove);

    async function remove() {
        await shares.forget(({ id }) => id === entry.id);
        announce(message("capture.row.removed", { name }));
        onRemoved();
    }

    return {
        element,
        /** @param {import("./shares.js").Entry} now */
        update(now) {
            entry = now;
            retry.hidden = now.status !== "failed";
            state.textContent = `${marks[now.status]} ${message(`capture.history.state-${now.status}`)} · ${clock(now.sharedAt)}`;
            state.classList.toggle("error", now.status === "failed");
            note.textContent = now.status === "failed" ? plain(now.message, 500) : "";
        },
        focus: () => title.focus(),
    };
}
