/** From which archives an archive was made, as its file says, and whether its records are the same as there. */
import { errorBlock } from "../components/messages.js";
import { trustMark } from "../components/trust-mark.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";
import { openWACZ } from "../core/wacz-file.js";

const datapackageBytesMax = 16 << 20;
const sourcesMax = 5;
const pagesMax = 20;
const candidatesMax = 50;

/**
 * @param {import("../core/api.js").Archive} archive
 * @returns {{element: HTMLElement, close: () => void}} empty until sources are known
 */
export function sourceSection(archive) {
    const element = make("div");
    let isOpen = true;
    // Repeats what failed because the server had stopped.
    let retry = null;
    const server = followServer({ onBack: () => retry?.() });

    async function load() {
        retry = null;
        try {
            const sources = await sourcesOf(archive);
            const rows = await Promise.all(sources.slice(0, sourcesMax).map((source) => sourceRow(archive, source)));
            if (!isOpen || rows.length === 0) return;
            element.replaceChildren(make("section", { class: "sources", "aria-labelledby": "sources-title" },
                make("h2", { id: "sources-title", text: message("sources.title") }), ...rows));
        } catch (error) {
            // A file that can't be read has an issue that says so.
            if (error.status === 0) retry = load;
        }
    }
    load();
    return { element, close() {
        isOpen = false;
        server.close();
    } };
}

async function sourcesOf(archive) {
    const { sources } = JSON.parse(await (await openWACZ(archive)).text("datapackage.json", datapackageBytesMax));
    return Array.isArray(sources) ? sources.filter((source) => source !== null && typeof source === "object") : [];
}

async function sourceRow(archive, { title, path, hash }) {
    const sha256 = /^sha-?256:([0-9a-f]{64})$/i.exec(hash ?? "")?.[1].toLowerCase();
    const original = sha256 ? await inLibrary(plain(path, 255), sha256) : null;
    const result = make("span", { role: "status" });
    const button = make("button", { type: "button", text: message("sources.check"), on: { click: check } });

    async function check() {
        button.disabled = true;
        result.replaceChildren(message("sources.checking"));
        try {
            const { same, total, isAll } = await compare(archive, original);
            result.replaceChildren(message(isAll ? "sources.compared" : "sources.compared-first", { same, total }));
        } catch (error) {
            result.replaceChildren(errorBlock(error, message("sources.failed")));
        } finally {
            button.disabled = false;
        }
    }

    const name = plain(title, 200) || plain(path, 200);
    return make("div", { class: "source" },
        make("p", {}, original ? make("a", { href: tabURL(original), dir: "auto", text: name }) : make("span", { dir: "auto", text: name }),
            " ", original ? trustMark(original) : message("sources.absent")),
        sha256 && make("p", { class: "quiet" }, "SHA-256 ", make("code", { text: sha256 })),
        original && make("p", {}, button, " ", result));
}

/** The archive in the library that is exactly this file. */
async function inLibrary(fileName, sha256) {
    const { items } = await api.filteredArchives({ q: fileName, tag: [] }, { offset: 0, limit: candidatesMax });
    // A list has only the start of the hash.
    for (const item of items.filter(({ replayCollection }) => replayCollection.endsWith(`-${sha256.slice(0, 12)}`))) {
        const found = await api.details(item);
        if (found.sha256 === sha256) return found;
    }
    return null;
}

/** Compares the bytes of the records, of up to 2,000 captures. */
async function compare(archive, original) {
    const files = [archive, original].map((item) => ({ item, wacz: openWACZ(item) }));
    let [same, total, cursor] = [0, 0, undefined];
    for (let page = 0; page < pagesMax && (page === 0 || cursor); page += 1) {
        const list = await api.urls(archive, { cursor });
        for (const { url, timestamp } of list.urls) {
            total += 1;
            const [own, others] = await Promise.all(files.map((file) => recordHashes(file, url, timestamp)));
            if (own.length > 0 && own.every((hash) => others.includes(hash))) same += 1;
        }
        cursor = list.next;
    }
    return { same, total, isAll: !cursor };
}

async function recordHashes({ item, wacz }, url, timestamp) {
    const entries = (await api.indexEntries(item.id, url, timestamp)).filter((entry) => entry.url === url && entry.timestamp === timestamp);
    const file = await wacz;
    return Promise.all(entries.map(async ({ filename, offset, length }) => {
        const entry = file.entry(`archive/${filename}`);
        const bytes = await new Response(await file.stream(entry, Number(offset), Number(length))).arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }));
}
