/** The library: lists all archives and collections, and adds new ones. */
import { errorBlock } from "../components/messages.js";
import { confirmRemoval } from "../components/removal.js";
import { captureLink, loadHealth, pageHeader } from "../components/shell.js";
import * as api from "../core/api.js";
import { announce, arrange, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { counted, size } from "../core/format.js";
import { tabURL, searchURL } from "../core/routes.js";
import { createSearchBox } from "../search/search-box.js";
import { createCollectionForm } from "./collection-form.js";
import { acceptDrops, createImports } from "./imports.js";
import { selectableRow, libraryRow } from "./library-rows.js";
import { createActivity } from "./activity.js";

const filterFrom = 10;

/**
 * @param {HTMLElement} root
 * @param {import("../core/routes.js").LibraryRoute} firstRoute
 * @param {{navigate: (address: string) => void}} host
 */
export function showLibrary(root, firstRoute, { navigate }) {
    document.title = "replayhost";
    document.body.dataset.view = "library";
    let known = { archives: [], collections: [] };
    let { tag } = firstRoute;
    let open = true;
    let reading = null;
    let readAgain = false;
    const rows = new Map();

    const imports = createImports({ onImported: refresh, openArchive: (address) => open && navigate(address) });
    // Uploads from this page show their progress in the list of imports.
    const activity = createActivity({ isShownElsewhere: ({ kind, subject }) => kind === "import" && imports.has(subject) });
    const picker = make("input", { type: "file", multiple: true, accept: ".wacz,.warc,.arc,.gz,application/wacz", class: "visually-hidden",
        tabindex: "-1", "aria-hidden": "true",
        on: {
            change: () => {
                imports.add(picker.files);
                picker.value = "";
            },
        } });
    const pick = () => make("button", { type: "button", class: "primary", text: "Add files…",
        on: { click: () => picker.click() } });
    const filter = make("input", { type: "search", placeholder: "Filter by title, tags or notes",
        "aria-label": "Filter by title, tags or notes", on: { input: () => list(true) } });
    const tagNote = make("p", { class: "tag-note", hidden: true });
    const filterBox = make("div", { class: "filter", hidden: true }, filter);
    const summary = make("p", { class: "quiet" });
    // Hidden until the list is loaded: an empty library has its own button, and hiding a focused one loses the focus.
    const headPick = pick();
    headPick.hidden = true;
    const headCapture = make("span", { hidden: true }, captureLink());
    const collectionForm = createCollectionForm({
        onCreated: (collection) => navigate(tabURL(collection)),
        onEnd: () => {
            list();
            collectionButton.focus();
        },
    });
    const collectionButton = make("button", { type: "button", text: "New collection…", hidden: true, on: {
        click: () => {
            collectionForm.begin();
            list();
        },
    } });
    const items = make("ul", { class: "archives" });
    const body = make("div", { class: "library-body", "aria-busy": "true" });
    const problems = make("div");
    root.replaceChildren(
        pageHeader([], createSearchBox().element),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {},
                    make("div", { class: "heading" }, make("h1", { text: "Library", tabindex: "-1" }), activity.link), summary),
                make("div", { class: "head-actions" }, headPick, headCapture, collectionButton), picker),
            imports.element, problems, collectionForm.element, filterBox, tagNote, body, activity.element));

    /** Reads the library again. A call during a read causes one more read. */
    function refresh() {
        readAgain = reading !== null;
        reading ??= read().finally(() => {
            reading = null;
            if (readAgain) refresh();
        });
        return reading;
    }

    async function read() {
        try {
            const [archives, collections] = await Promise.all([api.archives(), api.collections()]);
            const byID = new Map(archives.map((archive) => [archive.id, archive]));
            const withMembers = collections.map((collection) =>
                ({ ...collection, members: collection.members.map((id) => byID.get(id)).filter(Boolean) }));
            known = { archives, collections: withMembers };
            problems.replaceChildren();
            if (open) list();
        } catch (error) {
            problems.replaceChildren(errorBlock(error, "Can't read the library"));
        }
        body.removeAttribute("aria-busy");
    }

    function list(isAnnounced = false) {
        const all = collectionForm.isOpen ? known.archives : newestFirst(known);
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        const shown = all.filter((item) => (!tag || item.tags?.includes(tag)) && hasWords(item, words));
        showHead(all, words);
        if (all.length === 0) body.replaceChildren(emptyState(pick()));
        else if (shown.length === 0) body.replaceChildren(...noneFound());
        else if (items.parentNode !== body) body.replaceChildren(items);
        arrange(items, shown.map(row));
        if (isAnnounced) announce(counted(shown.length, "result"));
    }

    function showHead(all, words) {
        const { archives, collections } = known;
        const hasTagsOrNotes = all.some((item) => item.tags?.length || item.notes);
        filterBox.hidden = words.length === 0 && (all.length < 2 || all.length <= filterFrom && !hasTagsOrNotes);
        headPick.hidden = headCapture.hidden = archives.length === 0 || collectionForm.isOpen;
        collectionButton.hidden = archives.length < 2 || collectionForm.isOpen;
        const bytes = archives.reduce((sum, archive) => sum + archive.size, 0);
        const count = [counted(archives.length, "archive"), collections.length > 0 && counted(collections.length, "collection"),
            size(bytes)].filter(Boolean).join(", ");
        summary.textContent = archives.length + collections.length > 0 ? count : "";
        tagNote.hidden = !tag;
        const former = tagNote.dataset.tag;
        if (tag && former !== tag) {
            tagNote.replaceChildren("Tagged ", make("strong", { text: plain(tag, 60) }), " · ",
                make("a", { href: "/#", text: "Show all" }));
        }
        tagNote.dataset.tag = tag;
    }

    function noneFound() {
        const typed = filter.value.trim();
        const tagged = tag ? ` tagged “${plain(tag, 60)}”` : "";
        const text = typed ? `No archives${tagged} match “${plain(typed, 60)}”.` : `No archives are${tagged}.`;
        return [make("p", { class: "quiet", text }),
            typed && make("p", {}, make("a", { href: searchURL({ words: typed }), text: "Search inside archives instead" }))]
            .filter(Boolean);
    }

    /** Reuses a row that hasn't changed. The focus stays on a button whose row has. */
    function row(item) {
        const state = JSON.stringify([collectionForm.isOpen, tag, item]);
        const key = `${item.kind} ${item.id}`;
        if (rows.get(key)?.state !== state) {
            const former = rows.get(key)?.element;
            const focused = controls(former).indexOf(document.activeElement);
            const element = updated(former, collectionForm.isOpen
                ? selectableRow(item, collectionForm.selected, collectionForm.update) : libraryRow(item, tag, removeItem));
            rows.set(key, { state, element });
            // Once the row is in the list.
            if (focused >= 0) queueMicrotask(() => controls(element)[focused]?.focus());
        }
        return rows.get(key).element;
    }

    /** Replaces the parts of a row that differ. A click on another part isn't lost. */
    function updated(row, next) {
        if (row?.className !== next.className) return next;
        for (const [number, part] of [...next.children].entries()) {
            if (!row.children[number].isEqualNode(part)) row.children[number].replaceWith(part);
        }
        return row;
    }

    const controls = (element) => [...element?.querySelectorAll("a[href], button, input") ?? []];

    async function removeItem(item) {
        if (!await confirmRemoval(item)) return;
        try {
            await api.remove(item);
            announce(`Removed ${plain(item.title)}.`);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, `Couldn't remove “${plain(item.title)}”`));
            return;
        }
        await refresh();
        root.querySelector("h1")?.focus();
    }

    const whenVisible = () => {
        if (document.visibilityState !== "visible") return;
        loadHealth();
        if (!imports.busy()) refresh();
    };
    document.addEventListener("visibilitychange", whenVisible);
    const endDrops = acceptDrops((files) => imports.add(files));
    const warnBeforeLeaving = (event) => {
        if (imports.busy()) event.preventDefault();
    };
    window.addEventListener("beforeunload", warnBeforeLeaving);
    refresh();
    const events = followEvents({
        onConnected: () => {
            activity.load();
            refresh();
        },
        onArchives: refresh,
        onJob: activity.update,
    });

    return {
        kind: "library",

        /** @param {import("../core/routes.js").LibraryRoute} route */
        update(route) {
            ({ tag } = route);
            list(true);
        },

        close() {
            open = false;
            events.close();
            document.removeEventListener("visibilitychange", whenVisible);
            window.removeEventListener("beforeunload", warnBeforeLeaving);
            endDrops();
        },
    };
}

/** Sorts archives by import time and collections by creation time. */
function newestFirst({ archives, collections }) {
    const time = (item) => Date.parse((item.kind === "collection" ? item.createdAt : item.importedAt) ?? "") || 0;
    // Both lists are newest first. Within one second, the collection is newer.
    return [...collections, ...archives].sort((one, other) => time(other) - time(one));
}

function hasWords({ title, tags, notes }, words) {
    const text = [title, ...tags ?? [], notes ?? ""].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
}

function emptyState(button) {
    return make("section", { class: "empty" },
        make("h2", { text: "No archives yet" }),
        make("p", {}, "Web archives come as ", make("code", { text: ".wacz" }),
            " files, for example from ArchiveWeb.page, Browsertrix or Scoop, or as ", make("code", { text: ".warc.gz" }),
            ", for example from wget. Drop files anywhere on this page, or choose "
            + "them. Copies in the library open without an internet connection."),
        button,
        captureLink(),
        make("p", { class: "quiet" }, "From a terminal: ", make("code", { text: "replayhost import crawl.wacz" })));
}
