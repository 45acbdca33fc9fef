/** The library: all archives as cards or as a list, with filters, and the collections. */
import { errorBlock } from "../components/messages.js";
import { addFromComputer, pickFiles } from "../components/imports.js";
import { menu } from "../components/popover.js";
import { isBeingRemoved } from "../components/removal.js";
import { captureLink, loadHealth, pageHeader, showBanners } from "../components/shell.js";
import { windowedList } from "../components/windowed-list.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { size } from "../core/format.js";
import { message, messageParts } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { libraryURL, searchURL, tabURL } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { archiveItem } from "./archive-item.js";
import { collectionStrip } from "./collection-strip.js";
import { facetGroups, filterChips, isFiltered } from "./filters.js";
import { createSelection } from "./selection.js";

const typingMilliseconds = 120;
const slowMilliseconds = 150;
const refreshMilliseconds = 1000;
const sorts = ["-added", "added", "title", "-title", "-captured", "captured", "-size", "-pages"];
const archivesPerRequest = 1000;

/**
 * @param {HTMLElement} root
 * @param {import("../core/routes.js").LibraryRoute} firstRoute
 */
export function showLibrary(root, firstRoute) {
    document.title = "replayhost";
    document.body.dataset.view = "library";
    let { filter } = firstRoute;
    let isClosed = false;
    // Whether the library has nothing at all, as its own numbers say.
    let isEmpty = false;
    // Repeats what failed because the server had stopped.
    let retry = null;
    let abort = new AbortController();
    let timers = {};
    const titles = new Map();
    const as = () => (["cards", "list"].includes(filter.as) ? filter.as : settings().as);

    const pick = () => make("button", { type: "button", class: "primary", text: message("library.add-files"), on: { click: pickFiles } });
    const selection = createSelection({
        onChanged: () => list.update(),
        all: readAll,
        onCreated: (collection) => navigate(tabURL({ kind: "collection", id: collection.id })),
    });
    const heading = make("h1", { text: message("library.title"), tabindex: "-1" });
    const summary = make("p", { class: "quiet library-summary" });
    const more = make("button", { type: "button", "aria-label": message("library.other-actions"), text: "⋯" });
    menu(more, () => [
        { text: message("library.add-from-computer"), onChosen: addFromComputer },
        { text: message("library.new-collection"), onChosen: () => selection.begin() },
    ]);
    const sort = make("select", { id: "library-sort", on: { change: () => navigate(libraryURL({ ...filter, sort: sort.value })) } },
        ...sorts.map((value) => make("option", { value, text: message(`library.sort-${value}`) })));
    const layouts = Object.fromEntries(["cards", "list"].map((name) => [name, make("a", { text: message(`library.as-${name}`) })]));
    const select = make("button", { type: "button", text: message("library.select"), on: { click: () => selection.begin() } });
    const words = make("input", { type: "search", placeholder: message("library.filter"), "aria-label": message("library.filter"),
        autocomplete: "off", dir: "auto", on: { input: typed } });
    const chips = make("ul", { class: "tags chips", "aria-label": message("library.active-filters") });
    const groups = make("nav", { class: "facets", "aria-label": message("library.facets") });
    // Wide windows have room for the filters.
    const isWide = matchMedia("(min-width: 56.01rem)");
    const narrow = make("details", { class: "library-facets", open: isWide.matches },
        make("summary", { text: message("library.facets") }), groups);
    const collections = make("div");
    const problems = make("div");
    const listProblems = make("div");
    const none = make("div", { class: "library-none", hidden: true });
    const list = windowedList({
        label: message("library.archives"),
        load: async (offset, limit, signal) => {
            const part = await api.filteredArchives(filter, { offset, limit, signal });
            part.items.forEach(noteTitle);
            return part;
        },
        render: (archive) => archiveItem(archive, choices(), as()),
        keyOf: ({ id }) => id,
        stateOf: ({ id, title }) => [as(), selection.isOpen, selection.isSelected(id), titles.get(title)?.size > 1, isBeingRemoved({ kind: "archive", id })].join(),
        shape: (width) => shapeOf(as(), width),
        onKey,
        onLoad: ({ total, error }) => (error ? showProblem(error) : showTotal(total)),
    });
    const whole = make("button", { type: "button", class: "plain show-all", hidden: true, on: { click: () => list.showAll() } });
    const tools = make("div", { class: "library-tools waiting" },
        make("label", { for: sort.id, text: message("library.sort") }), sort,
        make("nav", { class: "layouts", "aria-label": message("library.layout") }, layouts.cards, layouts.list), select);
    // Invisible until all of it is known, so that nothing moves below the pointer.
    const body = make("div", { class: "library-body waiting", "aria-busy": "true" },
        make("aside", { class: "library-side" }, words, narrow),
        make("div", { class: "library-main" }, chips, collections, none, list.element, whole));
    // An empty library has its own button.
    const head = make("div", { class: "head-actions waiting" }, pick(), captureLink(), more);
    root.replaceChildren(
        pageHeader([]),
        make("main", { class: "column library" },
            make("div", { class: "title-row" },
                make("div", {}, heading, summary), head),
            problems, listProblems, tools, body, selection.element));
    showBanners();

    function choices() {
        return {
            isSelecting: selection.isOpen,
            isSelected: selection.isSelected,
            select: selection.select,
            hasTwin: ({ title }) => titles.get(title)?.size > 1,
            actions: (archive) => ({
                "library.edit-tags": () => selection.editTags([archive]),
                "library.verify": () => verify(archive),
                "library.select": () => selection.select(archive),
                "library.remove": () => selection.remove([archive]),
            }),
        };
    }

    /** Notes which archives have the same title, since only their file names tell them apart. */
    function noteTitle({ id, title }) {
        if (!titles.has(title)) titles.set(title, new Set());
        titles.get(title).add(id);
    }

    async function verify(archive) {
        try {
            await api.verify(archive);
            announce(message("library.verification-queued", { title: plain(archive.title, 100) }));
        } catch (error) {
            problems.replaceChildren(errorBlock(error, message("library.cant-verify", { title: plain(archive.title, 100) })));
        }
    }

    function onKey(event, archive, index, to) {
        if (event.ctrlKey || event.metaKey || event.altKey || !archive) return;
        if (event.shiftKey && to !== undefined) {
            for (let at = Math.min(index, to); at <= Math.max(index, to); at += 1) {
                if (list.item(at)) selection.select(list.item(at));
            }
        } else if (event.key === " " && !event.target.matches("button, input")) {
            event.preventDefault();
            selection.select(archive, !selection.isSelected(archive.id));
        } else if (event.key === "Delete") {
            selection.remove([archive]);
        } else if (event.key === "e" && settings().singleKeys) {
            event.preventDefault();
            selection.editTags([archive]);
        }
    }

    /** Returns the archives that the filter leaves. */
    async function readAll() {
        const all = [];
        for (let total = 1; all.length < total;) {
            const part = await api.filteredArchives(filter, { offset: all.length, limit: archivesPerRequest });
            all.push(...part.items);
            total = part.items.length === 0 ? 0 : part.total;
        }
        return all;
    }

    function typed() {
        clearTimeout(timers.typing);
        timers.typing = setTimeout(() => {
            filter = { ...filter, q: words.value };
            history.replaceState(null, "", libraryURL(filter));
            load();
        }, typingMilliseconds);
    }

    async function load(top = 0) {
        abort.abort();
        abort = new AbortController();
        const { signal } = abort;
        retry = null;
        listProblems.replaceChildren();
        titles.clear();
        showFilter();
        const timer = setTimeout(() => body.setAttribute("aria-busy", "true"), slowMilliseconds);
        await Promise.all([list.load(top), readFacets(signal)]);
        clearTimeout(timer);
        if (!signal.aborted) body.removeAttribute("aria-busy");
    }

    async function readFacets(signal) {
        try {
            const [facets, all] = await Promise.all([api.facets(filter, signal), api.collections()]);
            if (signal.aborted) return;
            showFacets(facets, all);
        } catch (error) {
            if (!signal.aborted) showProblem(error);
        }
    }

    function showFilter() {
        if (document.activeElement !== words) words.value = filter.q ?? "";
        sort.value = sorts.includes(filter.sort) ? filter.sort : sorts[0];
        for (const [name, link] of Object.entries(layouts)) {
            link.href = libraryURL({ ...filter, as: name });
            if (name === as()) link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
        }
        chips.replaceChildren(...filterChips(filter));
        chips.hidden = chips.children.length === 0;
        list.element.classList.toggle("cards", as() === "cards");
    }

    function showFacets(facets, all) {
        for (const part of [head, tools, body]) part.classList.remove("waiting");
        const { library, freeBytes } = facets;
        isEmpty = library.archives + library.collections === 0;
        summary.textContent = isEmpty ? "" : [message("count.archives", { n: library.archives }),
            message("library.used", { size: size(library.bytes) }),
            freeBytes !== undefined && message("library.free", { size: size(freeBytes) })].filter(Boolean).join(" · ");
        head.hidden = isEmpty;
        for (const part of [tools, body.firstChild]) part.hidden = isEmpty;
        groups.replaceChildren(...facetGroups(filter, facets));
        narrow.hidden = groups.children.length === 0;
        collections.replaceChildren(...(filter.site || filter.year || filter.state ? [] : collectionStrip(all, filter)));
        if (isEmpty) {
            none.replaceChildren(emptyState(pick()));
            none.hidden = false;
        }
    }

    function showTotal(total) {
        listProblems.replaceChildren();
        retry = null;
        none.hidden = total > 0 || !isEmpty && !isFiltered(filter);
        list.element.hidden = total === 0;
        whole.hidden = total <= 100;
        whole.textContent = message("library.show-all", { n: total });
        if (total === 0 && !isEmpty && isFiltered(filter)) none.replaceChildren(...noneFound());
        clearTimeout(timers.announcing);
        if (isFiltered(filter)) timers.announcing = setTimeout(announce, 600, message("library.results", { n: total }));
    }

    function noneFound() {
        const typedWords = filter.q?.trim();
        return [
            make("p", {}, ...messageParts(typedWords ? "library.none-match" : "library.none-left", { words: plain(typedWords, 60) })),
            typedWords && make("p", {}, make("a", { href: searchURL({ words: typedWords }), text: message("library.search-inside") })),
            make("p", {}, make("a", { href: libraryURL({ sort: filter.sort, as: filter.as, tag: [] }), text: message("library.clear-filters") })),
        ].filter(Boolean);
    }

    function showProblem(error) {
        for (const part of [head, tools, body]) part.classList.remove("waiting");
        if (error.status === 0) retry = () => load(window.scrollY);
        listProblems.replaceChildren(errorBlock(error, message("library.cant-read")),
            make("button", { type: "button", text: message("view.try-again"), on: { click: () => load() } }));
    }

    /** Reads again what is shown, once for many changes in a short time. */
    function refresh() {
        if (isClosed) return;
        timers.refresh ??= setTimeout(async () => {
            timers.refresh = undefined;
            await Promise.all([list.refresh(), readFacets(abort.signal)]);
        }, refreshMilliseconds);
    }

    const whenVisible = () => {
        if (document.visibilityState !== "visible") return;
        loadHealth();
        refresh();
    };
    const keepScroll = () => {
        clearTimeout(timers.scroll);
        timers.scroll = setTimeout(() => history.replaceState({ ...history.state, top: window.scrollY }, ""), 200);
    };
    const showFacetsIfWide = () => {
        narrow.open = isWide.matches;
    };
    isWide.addEventListener("change", showFacetsIfWide);
    document.addEventListener("visibilitychange", whenVisible);
    window.addEventListener("scroll", keepScroll, { passive: true });
    const server = followServer({ onBack: () => retry?.() });
    const events = followEvents({ onConnected: refresh, onArchives: refresh });
    load(history.state?.top);

    return {
        kind: "library",

        /**
         * @param {import("../core/routes.js").LibraryRoute} route
         * @param {boolean} traversed whether Back or Forward opened this route
         */
        update(route, traversed) {
            ({ filter } = route);
            const top = traversed ? history.state?.top : 0;
            if (!traversed) window.scrollTo(0, 0);
            load(top);
        },

        close() {
            isClosed = true;
            abort.abort();
            Object.values(timers).forEach(clearTimeout);
            list.close();
            events.close();
            server.close();
            isWide.removeEventListener("change", showFacetsIfWide);
            document.removeEventListener("visibilitychange", whenVisible);
            window.removeEventListener("scroll", keepScroll);
        },
    };
}

/** The height of a card or a row in rem, and how many fit side by side. */
function shapeOf(as, width) {
    const rem = width / parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (as === "cards") return { rem: 20, columns: Math.max(1, Math.floor(rem / 15.5)) };
    return { rem: rem < 44 ? 7.5 : 3.75, columns: 1 };
}

function emptyState(button) {
    return make("section", { class: "empty" },
        make("h2", { text: message("library.empty-title") }),
        make("p", {}, ...messageParts("library.empty-text")),
        button, captureLink(),
        make("p", { class: "quiet" }, ...messageParts("library.empty-terminal")));
}
