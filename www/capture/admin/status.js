/** What is wrong and what repairs it, the queue, and the disks. */
import { sentence, withCode } from "../../app/components/messages.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { size } from "../../app/core/format.js";
import { message } from "../../app/core/i18n.js";
import * as api from "./api.js";
import { createList, makeRow, runChange, showValue } from "./parts.js";

/** @returns {{show: (state: import("./api.js").State) => void}} */
export function createStatus() {
    const body = document.getElementById("status-body");
    let count = null;

    function show({ problems }) {
        showValue(body, problems, () => [problems.length === 0
            ? make("p", { class: "fine", text: message("admin.status.fine") })
            : make("ul", { class: "problems" }, ...problems.map(({ what, repair }) => make("li", { class: "notice warning" },
                make("p", {}, make("strong", { dir: "auto" }, ...withCode(sentence(plain(what, 1000))))),
                repair && make("p", { class: "hint", dir: "auto" }, ...withCode(sentence(plain(repair, 1000)))))))]);
        if (count !== null && problems.length !== count) announce(message("admin.status.count", { n: problems.length }));
        count = problems.length;
    }

    return { show };
}

/**
 * @param {{onChanged: () => void}} host
 * @returns {{show: (state: import("./api.js").State) => void}}
 */
export function createQueue({ onChanged }) {
    const text = document.getElementById("queue-state");
    const note = document.getElementById("queue-note");
    const button = document.getElementById("queue-switch");
    const problems = document.getElementById("queue-problems");
    let isPaused = false;

    button.addEventListener("click", () => runChange(button, problems, message("admin.queue.failed"), async () => {
        isPaused = (await api.setPaused(!isPaused)).paused;
        announce(message(isPaused ? "admin.queue.paused-announced" : "admin.queue.resumed-announced"));
        onChanged();
    }));

    function noteText({ waiting_for: reason }) {
        if (isPaused) return message("admin.queue.paused-note");
        if (reason === "tool") return message("admin.queue.waits-tool");
        return reason === "disk" ? message("admin.queue.waits-disk") : "";
    }

    function show({ queue }) {
        isPaused = queue.paused;
        setText(text, message("admin.queue.state", { state: isPaused ? "paused" : "on", running: queue.running, queued: queue.queued }));
        setText(note, noteText(queue));
        note.hidden = !note.textContent;
        setText(button, message(isPaused ? "admin.queue.resume" : "admin.queue.pause"));
        button.classList.toggle("primary", isPaused);
    }

    return { show };
}

/** @returns {{show: (state: import("./api.js").State) => void}} */
export function createDisks() {
    const list = createList({
        container: document.getElementById("disks-list"), label: message("admin.disks.title"), none: message("admin.disks.none"),
        idOf: ({ what, path }) => `${what} ${path}`, create: createDisk,
    });
    return { show: ({ disks }) => list.show(disks) };
}

function createDisk({ what, path }) {
    const name = make("strong", { text: message("admin.disks.name", { what }) });
    const amount = make("p", { class: "numbers" });
    const bar = make("progress", { max: 1 });
    const element = makeRow(name, [make("p", { class: "quiet" }, make("code", { text: plain(path, 1000) })), amount, bar]);

    function update({ free, total }) {
        const isKnown = total > 0;
        const used = Math.max(0, total - free);
        setText(amount, message(isKnown ? "admin.disks.free-of" : "admin.disks.free", { free: size(free), total: size(total) }));
        bar.hidden = !isKnown;
        bar.value = isKnown ? used / total : 0;
        bar.setAttribute("aria-label", message("admin.disks.used", { what }));
        bar.setAttribute("aria-valuetext", message("admin.disks.used-of", { used: size(used), total: size(total) }));
    }

    return { element, update };
}
