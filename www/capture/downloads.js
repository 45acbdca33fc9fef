/** The newest downloads, below the form. */
import { announce, arrange, make, setText } from "../app/core/dom.js";
import { message, messageParts } from "../app/core/i18n.js";
import * as api from "./api.js";
import { createRow, nameOf } from "./download-row.js";
import { isActive, isOpen, missingText } from "./state-texts.js";

const shownMax = 20;

/**
 * @param {{onChanged: () => void, onEmptied: () => void, onShareAgain: (download: import("./api.js").Download) => void}} host
 *   `onChanged`: the list should be read again; `onEmptied`: the last row, which had the focus, was removed
 */
export function createDownloads({ onChanged, onEmptied, onShareAgain }) {
    const container = document.getElementById("downloads");
    const count = document.getElementById("count");
    const more = document.getElementById("more");
    const list = make("ul", { class: "downloads" });
    const rows = new Map();
    let isFirst = true;

    /** Reads the list. Rows in use that newer ones have pushed out of it are read one by one. */
    async function read() {
        const { downloads, total } = await api.history(shownMax);
        const listed = new Set(downloads.map(({ download_id: id }) => id));
        const inUse = [...rows.entries()].filter(([id, row]) => row.isInUse && !listed.has(id));
        const kept = await Promise.all(inUse.map(([id]) => api.status(id)));
        return { downloads: [...downloads, ...kept.filter(Boolean)], total };
    }

    /**
     * @param {{downloads: import("./api.js").Download[], total: number}} answer of `read`
     * @param {import("./api.js").Health|null} health
     */
    function show({ downloads, total }, health) {
        const missing = (health?.tools ?? []).filter(({ version }) => version === null);
        const ended = [];
        const listed = new Set();
        for (const download of downloads) {
            const { download_id: id } = download;
            listed.add(id);
            const row = rows.get(id) ?? createRow(download, { onChanged, onShareAgain, onRemoved: () => removeRow(id) });
            if (rows.has(id) && isOpen(row.download) && !isOpen(download)) ended.push(download);
            rows.set(id, row);
            row.update(download, missing);
        }
        for (const id of [...rows.keys()]) {
            if (!listed.has(id)) rows.delete(id);
        }
        arrange(list, downloads.map(({ download_id: id }) => rows.get(id).element));
        showAround(total, health, missing);
        announceEnded(ended);
        container.removeAttribute("aria-busy");
        isFirst = false;
    }

    function showAround(total, health, missing) {
        more.hidden = total <= list.children.length;
        const running = health?.queue?.running ?? 0;
        const queued = health?.queue?.queued ?? 0;
        setText(count, [total > 0 && message("capture.downloads.count", { n: total }), running > 0 && message("capture.downloads.running", { n: running }),
            queued > 0 && message("capture.downloads.queued", { n: queued })].filter(Boolean).join(" · "));
        const isEmpty = list.children.length === 0;
        const key = isEmpty ? `empty ${missingText(missing)}` : "list";
        if (container.dataset.shown === key) return;
        container.dataset.shown = key;
        container.replaceChildren(isEmpty ? emptyState(missing) : list);
    }

    function announceEnded(ended) {
        if (isFirst || ended.length === 0) return;
        const completed = ended.filter(({ state }) => state === "completed");
        const failed = ended.filter(({ state }) => state === "failed" || state === "aborted_by_system");
        const words = (some, name) => message(`capture.downloads.ended-${name}`, { n: some.length, name: nameOf(some[0]) });
        announce([completed.length > 0 && words(completed, "completed"), failed.length > 0 && words(failed, "failed"),
            ended.length === 1 && ended[0].state === "cancelled" && words(ended, "cancelled")].filter(Boolean).join(". "));
    }

    /** Removes a row, and moves the focus to the one after it. */
    function removeRow(id) {
        const element = rows.get(id)?.element;
        const next = element?.nextElementSibling ?? element?.previousElementSibling;
        const nextRow = [...rows.values()].find((row) => row.element === next);
        rows.delete(id);
        element?.remove();
        if (nextRow) nextRow.focus();
        else onEmptied();
    }

    return {
        read,
        show,
        ids: () => [...rows.keys()],
        /** Whether a download runs or will run next. */
        get isActive() {
            return [...rows.values()].some(({ download }) => isActive(download));
        },
    };
}

function emptyState(missing) {
    return make("div", { class: "nothing" },
        make("h3", { text: message("capture.downloads.none") }),
        make("p", { text: message("capture.downloads.none-text") }),
        missing.length > 0 && make("p", { class: "warning" },
            ...messageParts("capture.downloads.tools-missing", { tools: missingText(missing) })));
}
