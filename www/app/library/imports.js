/** Imports by picker and by drag and drop: one file after another, each with its progress and a way to stop it. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, size } from "../core/format.js";
import { pagesAddress } from "../core/routes.js";
import { sendFile } from "./transfer.js";

/**
 * @param {{onImported: () => void, openArchive: (address: string) => void}} host
 * @returns {{element: HTMLElement, add: (files: Iterable<File>) => void, busy: () => boolean, has: (name: string) => boolean}}
 */
export function createImports({ onImported, openArchive }) {
    const list = make("ul", { class: "imports", "aria-label": "Imports" });
    const element = make("div", { hidden: true }, list);
    const waiting = [];
    const names = new Set();
    let running = false;
    let batch = 0;

    function add(files) {
        const added = Array.from(files);
        if (added.length === 0) return;
        if (!running) {
            batch = 0;
            list.replaceChildren();
        }
        for (const file of added) {
            names.add(file.name);
            const row = createRow(file, {
                onDrop: () => {
                    const place = waiting.indexOf(row);
                    if (place < 0) return;
                    waiting.splice(place, 1);
                    remove(row);
                },
                onDismiss: () => remove(row),
            });
            waiting.push(row);
            list.append(row.element);
        }
        batch += added.length;
        element.hidden = false;
        if (!running) run();
    }

    function remove(row) {
        row.element.remove();
        element.hidden = list.children.length === 0;
    }

    async function run() {
        running = true;
        let last = null;
        while (waiting.length > 0) {
            const result = await waiting.shift().send();
            if (result) {
                last = result;
                onImported();
            }
        }
        running = false;
        // What was there already isn't opened: its row says so, and leads there.
        if (batch === 1 && last && !last.duplicate) openArchive(pagesAddress(placeOf(last)));
    }

    return { element, add, busy: () => running, has: (name) => names.has(name) };
}

/** What an import brought: an archive, or the collection of those that one file held. */
function placeOf({ archive, collection }) {
    return archive ? { kind: "archive", id: archive.id } : { kind: "collection", id: collection };
}

function createRow(file, { onDrop, onDismiss }) {
    const name = plain(file.name, 120);
    const bar = make("progress", { max: 1, value: 0, "aria-label": `Import of ${name}` });
    const state = make("span", { class: "quiet", text: `waiting, ${size(file.size)}` });
    const cancel = make("button", { type: "button", class: "plain", text: "Cancel", on: { click: onDrop },
        "aria-label": `Cancel the import of ${name}` });
    const dismiss = make("button", { type: "button", class: "plain", text: "Dismiss", on: { click: onDismiss },
        "aria-label": `Dismiss ${name}` });
    const line = make("div", { class: "line" }, make("span", { class: "name", text: name }), state, cancel);
    const element = make("li", {}, line, bar);

    async function send() {
        const transfer = sendFile(file, ({ sent, total, bytesPerSecond }) => {
            const share = total > 0 ? sent / total : 1;
            bar.value = share;
            if (sent >= total) {
                bar.removeAttribute("value");
                state.textContent = "checking what is in it…";
            } else {
                const rate = bytesPerSecond > 0 ? `, ${size(bytesPerSecond)}/s` : "";
                state.textContent = `${Math.floor(share * 100)} %, ${size(sent)} of ${size(total)}${rate}`;
            }
        });
        state.textContent = "sending…";
        cancel.addEventListener("click", transfer.cancel);
        try {
            const result = await transfer.done;
            finish(result);
            return result;
        } catch (error) {
            fail(error);
            return null;
        }
    }

    function finish(result) {
        const { archive, archives, duplicate } = result;
        const title = archive ? plain(archive.title) : name;
        const captures = (archives ?? [archive]).reduce((sum, one) => sum + (one.captureCount ?? 0), 0);
        const count = counted(captures, "capture");
        const note = archives ? `${counted(archives.length, "archive")}, ${count}` : count;
        state.textContent = duplicate ? "already in your library" : note;
        cancel.replaceWith(make("a", { href: pagesAddress(placeOf(result)), text: "Show",
            "aria-label": `Show ${title}` }), dismiss);
        bar.remove();
        announce(duplicate ? `${name} is already in your library.` : `${name} was imported.`);
    }

    function fail(error) {
        bar.remove();
        cancel.replaceWith(dismiss);
        if (error.code === "cancelled") {
            state.textContent = "cancelled; nothing was kept";
            announce(`The import of ${name} was cancelled.`);
        } else {
            state.textContent = "failed";
            element.append(errorBlock(error, `${name} was not imported`));
            // The host keeps what failed until somebody dismisses it.
            if (error.job) dismiss.addEventListener("click", () => api.dismissJob(error.job).catch(() => {}));
        }
    }

    return { element, send };
}

/**
 * Lets files be dropped anywhere on the page.
 *
 * @param {(files: File[]) => void} onFiles
 * @returns {() => void} stops it
 */
export function acceptDrops(onFiles) {
    const veil = make("div", { class: "drop-veil", hidden: true, "aria-hidden": "true" },
        make("p", { text: "Drop to import into the library" }));
    document.body.append(veil);
    const carriesFiles = (event) => event.dataTransfer?.types?.includes("Files");
    const over = (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        veil.hidden = false;
    };
    const leave = (event) => {
        if (!event.relatedTarget) veil.hidden = true;
    };
    const drop = (event) => {
        veil.hidden = true;
        if (!carriesFiles(event)) return;
        event.preventDefault();
        onFiles(Array.from(event.dataTransfer.files));
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
        document.removeEventListener("dragover", over);
        document.removeEventListener("dragleave", leave);
        document.removeEventListener("drop", drop);
        veil.remove();
    };
}
