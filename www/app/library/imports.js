/** Imports files from the picker and from drag and drop, one after another. Each shows its progress and can be cancelled. */
import { errorBlock } from "../components/messages.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { counted, size } from "../core/format.js";
import { tabURL } from "../core/routes.js";
import { uploadFile } from "./upload.js";

/**
 * @param {{onImported: () => void, openArchive: (address: string) => void}} host
 * @returns {{element: HTMLElement, add: (files: Iterable<File>) => void, busy: () => boolean, has: (name: string) => boolean}}
 */
export function createImports({ onImported, openArchive }) {
    const list = make("ul", { class: "imports", "aria-label": "Imports" });
    const element = make("div", { hidden: true }, list);
    const queue = [];
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
                onCancelQueued: () => {
                    const index = queue.indexOf(row);
                    if (index < 0) return;
                    queue.splice(index, 1);
                    remove(row);
                },
                onDismiss: () => remove(row),
            });
            queue.push(row);
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
        while (queue.length > 0) {
            const result = await queue.shift().send();
            if (result) {
                last = result;
                onImported();
            }
        }
        running = false;
        // A duplicate isn't opened: its row tells the user and links to the archive.
        if (batch === 1 && last && !last.duplicate) openArchive(tabURL(targetOf(last)));
    }

    return { element, add, busy: () => running, has: (name) => names.has(name) };
}

/** Returns the imported archive, or the collection if the file contained several archives. */
function targetOf({ archive, collection }) {
    return archive ? { kind: "archive", id: archive.id } : { kind: "collection", id: collection };
}

function createRow(file, { onCancelQueued, onDismiss }) {
    const name = plain(file.name, 120);
    const bar = make("progress", { max: 1, value: 0, "aria-label": `Importing ${name}` });
    const state = make("span", { class: "quiet", text: `Queued, ${size(file.size)}` });
    const cancel = make("button", { type: "button", class: "plain", text: "Cancel", on: { click: onCancelQueued },
        "aria-label": `Cancel the import of ${name}` });
    const dismiss = make("button", { type: "button", class: "plain", text: "Dismiss", on: { click: onDismiss },
        "aria-label": `Dismiss ${name}` });
    const line = make("div", { class: "line" }, make("span", { class: "name", text: name }), state, cancel);
    const element = make("li", {}, line, bar);

    async function send() {
        const upload = uploadFile(file, ({ sent, total, bytesPerSecond }) => {
            const share = total > 0 ? sent / total : 1;
            bar.value = share;
            if (sent >= total) {
                bar.removeAttribute("value");
                state.textContent = "Checking the file…";
            } else {
                const rate = bytesPerSecond > 0 ? `, ${size(bytesPerSecond)}/s` : "";
                state.textContent = `${Math.floor(share * 100)} %, ${size(sent)} of ${size(total)}${rate}`;
            }
        });
        state.textContent = "Uploading…";
        cancel.addEventListener("click", upload.cancel);
        try {
            const result = await upload.done;
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
        state.textContent = duplicate ? `Already in your library: “${title}”. Nothing was added.` : note;
        cancel.replaceWith(make("a", { href: tabURL(targetOf(result)), text: "Show",
            "aria-label": `Show ${title}` }), dismiss);
        bar.remove();
        announce(duplicate ? `${name} is already in your library.` : `${name} was added.`);
    }

    function fail(error) {
        bar.remove();
        cancel.replaceWith(dismiss);
        if (error.code === "cancelled") {
            state.textContent = "Cancelled. Nothing was added.";
            announce(`The import of ${name} was cancelled.`);
        } else {
            state.textContent = "Failed";
            element.append(errorBlock(error, `Couldn't add “${name}”`));
            // The server keeps failed jobs until they're dismissed.
            if (error.job) dismiss.addEventListener("click", () => api.dismissJob(error.job).catch(() => {}));
        }
    }

    return { element, send };
}

/**
 * Accepts files dropped anywhere on the page.
 *
 * @param {(files: File[]) => void} onFiles
 * @returns {() => void} stops accepting files
 */
export function acceptDrops(onFiles) {
    const overlay = make("div", { class: "drop-overlay", hidden: true, "aria-hidden": "true" },
        make("p", { text: "Drop files to add them to the library" }));
    document.body.append(overlay);
    const carriesFiles = (event) => event.dataTransfer?.types?.includes("Files");
    const over = (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        overlay.hidden = false;
    };
    const leave = (event) => {
        if (!event.relatedTarget) overlay.hidden = true;
    };
    const drop = (event) => {
        overlay.hidden = true;
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
        overlay.remove();
    };
}
