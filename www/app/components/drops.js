/** Accepts files and folders that are dropped anywhere in the app. */
import "../messages/en/around.js";
import { make } from "../core/dom.js";
import { message } from "../core/i18n.js";

const filesMax = 10_000;
const canBeArchive = (name) => /\.(wacz|warc|arc)(\.gz|\.zst)?$/i.test(name);

/**
 * @param {(files: File[], skipped: number) => void} onFiles `skipped`: files in folders that can't be archives
 */
export function acceptDrops(onFiles) {
    const overlay = make("div", { class: "drop-overlay", hidden: true, "aria-hidden": "true" },
        make("p", { text: message("import.drop") }));
    document.body.append(overlay);
    const carriesFiles = (event) => event.dataTransfer?.types?.includes("Files");
    document.addEventListener("dragover", (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        overlay.hidden = false;
    });
    document.addEventListener("dragleave", (event) => {
        if (!event.relatedTarget) overlay.hidden = true;
    });
    document.addEventListener("drop", async (event) => {
        overlay.hidden = true;
        if (!carriesFiles(event)) return;
        event.preventDefault();
        const { files, skipped } = await read([...event.dataTransfer.items]);
        onFiles(files, skipped);
    });
}

/** Reads dropped items. The browser lists them only until the event ends. */
async function read(items) {
    const found = { files: [], skipped: 0 };
    const dropped = items.filter(({ kind }) => kind === "file").map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]);
    for (const [entry, file] of dropped) {
        if (entry?.isDirectory) await walk(entry, found);
        // What was dropped itself is always tried, so that the server can say what is wrong with it.
        else if (file) found.files.push(file);
    }
    return found;
}

async function walk(folder, found) {
    const reader = folder.createReader();
    for (;;) {
        // Browsers list a part of a folder at a time.
        const entries = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
        if (entries.length === 0) return;
        for (const entry of entries) {
            if (entry.isDirectory) await walk(entry, found);
            else await take(entry, found);
        }
    }
}

async function take(entry, found) {
    const file = canBeArchive(entry.name) && found.files.length < filesMax
        && await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
    if (file) found.files.push(file);
    else found.skipped += 1;
}
