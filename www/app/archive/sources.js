/** From which archives an archive was made, as its file says, and whether its records are the same as there. */
import { errorBlock } from "../components/messages.js";
import { trustMark } from "../components/trust-mark.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make, plain } from "../core/dom.js";
import { message } from "../core/i18n.js";
import { tabURL } from "../core/routes.js";

const sourcesMax = 5;
const pagesMax = 20;

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
            const { sources = [] } = archive;
            const rows = await Promise.all(sources.slice(0, sourcesMax).map((source) => sourceRow(archive, source)));
            if (!isOpen || rows.length === 0) return;
            element.replaceChildren(make("section", { class: "sources", "aria-labelledby": "sources-title" },
                make("h2", { id: "sources-title", text: message("sources.title") }),
                make("p", { class: "quiet", text: message("sources.as-stated") }), ...rows));
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

async function sourceRow(archive, { title, path, sha256, archive: id }) {
    const original = id ? await api.details({ kind: "archive", id }).catch(ifRemoved) : null;
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
        sha256 && make("p", { class: "quiet" }, "SHA-256 ", make("code", { text: plain(sha256, 64) })),
        original && make("p", {}, button, " ", result));
}

/** It was in the library a moment ago. */
function ifRemoved(error) {
    if (error.status === 404) return null;
    throw error;
}

/** Compares the bytes of the records, of up to 2,000 captures. */
async function compare(archive, original) {
    let [same, total, cursor] = [0, 0, undefined];
    for (let page = 0; page < pagesMax && (page === 0 || cursor); page += 1) {
        const list = await api.urls(archive, { cursor });
        for (const { url, timestamp } of list.urls) {
            total += 1;
            const [own, others] = await Promise.all([archive, original].map((item) => recordHashes(item, url, timestamp)));
            if (own.length > 0 && own.every((hash) => others.includes(hash))) same += 1;
        }
        cursor = list.next;
    }
    return { same, total, isAll: !cursor };
}

async function recordHashes({ id }, url, timestamp) {
    const records = await api.records(id, { url, timestamp }, "hashes");
    return records.map(({ sha256 }) => sha256).filter(Boolean);
}
