/** The library: every archive and collection of the store, and the way in for new ones. */
import { errorBlock } from "../components/messages.js";
import { confirmRemoval } from "../components/removal.js";
import { pageHeader, sayServerStopped } from "../components/shell.js";
import * as api from "../core/api.js";
import { announce, arrange, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { counted, size } from "../core/format.js";
import { pagesAddress } from "../core/routes.js";
import { createCollectionForm } from "./collection-form.js";
import { acceptDrops, createImports } from "./imports.js";
import { choiceRow, libraryRow } from "./library-rows.js";
import { createWork } from "./work.js";

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
    // What is sent from here has its progress here.
    const work = createWork({ isShownElsewhere: ({ kind, subject }) => kind === "import" && imports.has(subject) });
    const picker = make("input", { type: "file", multiple: true, accept: ".wacz,application/wacz", class: "unseen",
        tabindex: "-1", "aria-hidden": "true",
        on: {
            change: () => {
                imports.add(picker.files);
                picker.value = "";
            },
        } });
    const pick = () => make("button", { type: "button", class: "primary", text: "Import a WACZ file…",
        on: { click: () => picker.click() } });
    const filter = make("input", { type: "search", placeholder: "Filter by title, tags, notes",
        "aria-label": "Filter by title, tags, notes", on: { input: () => list(true) } });
    const tagNote = make("p", { class: "tag-note", hidden: true });
    const filterBox = make("div", { class: "filter", hidden: true }, filter);
    const summary = make("p", { class: "quiet" });
    // Which of the two buttons there is shows once the list is here: one that goes again would take the focus with it.
    const headPick = pick();
    headPick.hidden = true;
    const collectionForm = createCollectionForm({
        onMade: (collection) => navigate(pagesAddress(collection)),
        onEnd: () => {
            list();
            collectionButton.focus();
        },
    });
    const collectionButton = make("button", { type: "button", text: "Make a collection…", hidden: true, on: {
        click: () => {
            collectionForm.begin();
            list();
        },
    } });
    const things = make("ul", { class: "archives" });
    const body = make("div", { class: "library-body", "aria-busy": "true" });
    const problems = make("div");
    root.replaceChildren(
        pageHeader([]),
        make("main", { class: "column" },
            make("div", { class: "title-row" },
                make("div", {}, make("h1", { text: "Library", tabindex: "-1" }), summary),
                make("div", { class: "head-actions" }, headPick, collectionButton), picker),
            imports.element, work.element, problems, collectionForm.element, filterBox, tagNote, body));

    /** Reads the library anew; somebody who asks while it is being read is answered by one more reading. */
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
            problems.replaceChildren(errorBlock(error, "The library could not be read"));
        }
        body.removeAttribute("aria-busy");
    }

    function list(isSpoken = false) {
        const all = collectionForm.isOpen ? known.archives : newestFirst(known);
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        const shown = all.filter((thing) => (!tag || thing.tags?.includes(tag)) && hasWords(thing, words));
        showHead(all, words);
        if (all.length === 0) body.replaceChildren(emptyState(pick()));
        else if (shown.length === 0) body.replaceChildren(make("p", { class: "quiet", text: noneText() }));
        else if (things.parentNode !== body) body.replaceChildren(things);
        arrange(things, shown.map(row));
        if (isSpoken) announce(counted(shown.length, "entry", "entries"));
    }

    function showHead(all, words) {
        const { archives, collections } = known;
        const isSorted = all.some((thing) => thing.tags?.length || thing.notes);
        filterBox.hidden = words.length === 0 && (all.length < 2 || all.length <= filterFrom && !isSorted);
        headPick.hidden = archives.length === 0 || collectionForm.isOpen;
        collectionButton.hidden = archives.length < 2 || collectionForm.isOpen;
        const bytes = archives.reduce((sum, archive) => sum + archive.size, 0);
        const count = [counted(archives.length, "archive"), collections.length > 0 && counted(collections.length, "collection"),
            size(bytes)].filter(Boolean).join(", ");
        summary.textContent = archives.length + collections.length > 0 ? count : "";
        tagNote.hidden = !tag;
        const former = tagNote.dataset.tag;
        if (tag && former !== tag) {
            tagNote.replaceChildren("Tagged ", make("strong", { text: plain(tag, 60) }), " · ",
                make("a", { href: "/#", text: "Show everything" }));
        }
        tagNote.dataset.tag = tag;
    }

    function noneText() {
        const typed = filter.value.trim();
        const tagged = tag ? ` tagged “${plain(tag, 60)}”` : "";
        return `Nothing${tagged}${typed ? ` with “${plain(typed, 60)}” in title, tags or notes` : ""}.`;
    }

    /** A row that would show the same as before stays as it is, and whoever is at one of its buttons stays there. */
    function row(thing) {
        const state = JSON.stringify([collectionForm.isOpen, tag, thing]);
        const key = `${thing.kind} ${thing.id}`;
        if (rows.get(key)?.state !== state) {
            const element = collectionForm.isOpen ? choiceRow(thing, collectionForm.chosen, collectionForm.update)
                : libraryRow(thing, tag, removeThing);
            rows.set(key, { state, element });
        }
        return rows.get(key).element;
    }

    async function removeThing(thing) {
        if (!await confirmRemoval(thing)) return;
        try {
            await api.remove(thing);
            announce(`${plain(thing.title)} was removed.`);
        } catch (error) {
            problems.replaceChildren(errorBlock(error, `“${plain(thing.title)}” was not removed`));
            return;
        }
        await refresh();
        root.querySelector("h1")?.focus();
    }

    const whenVisible = () => {
        if (document.visibilityState === "visible" && !imports.busy()) refresh();
    };
    document.addEventListener("visibilitychange", whenVisible);
    const endDrops = acceptDrops((files) => imports.add(files));
    const warnBeforeLeaving = (event) => {
        if (imports.busy()) event.preventDefault();
    };
    window.addEventListener("beforeunload", warnBeforeLeaving);
    refresh();
    const events = followEvents({
        onLost: () => sayServerStopped(true),
        onConnected: () => {
            sayServerStopped(false);
            work.load();
            refresh();
        },
        onArchives: refresh,
        onJob: work.update,
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

/** Archives by their import, collections by when they were made. */
function newestFirst({ archives, collections }) {
    const time = (thing) => Date.parse((thing.kind === "collection" ? thing.createdAt : thing.importedAt) ?? "") || 0;
    // Both come newest first; of two in the same second the collection is the newer one.
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
            " files, for example from ArchiveWeb.page, Browsertrix or Scoop. Drop one anywhere on this page, or choose "
            + "it. It is copied into the library and opens offline from then on."),
        button,
        make("p", { class: "quiet" }, "From a terminal: ", make("code", { text: "replayhost import crawl.wacz" })));
}
