/** The library: all archives as cards or as a list, with filters, and the collections. */
import "../messages/en/library.js";
import { createTitles } from "../components/archive-name.js";
import { errorBlock } from "../components/messages.js";
import { openOnDemand } from "../components/on-demand.js";
import { captureLink, pageHeader, saysWhenStopped, showBanners } from "../components/page-header.js";
import { windowedList } from "../components/windowed-list.js";
import { followServer, serverFailed } from "../core/connection.js";
import { announce, make } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { isBeingRemoved } from "../core/removing.js";
import * as api from "../core/library-api.js";
import { libraryURL, searchURL, tabURL } from "../core/routes.js";
import { settings } from "../core/settings.js";
import { archiveItem } from "./archive-item.js";
import { collectionStrip } from "./collection-strip.js";
import { filterChips, isFiltered } from "./filters.js";
import { listColumns } from "./list-columns.js";

const typingMilliseconds = 120;
const slowMilliseconds = 150;
const refreshMilliseconds = 1000;
const archivesPerRequest = 50;
// As many archives fill several screens with cards.
const listFrom = 100;
const sorts = ["-added", "added", "title", "-title", "-captured", "captured", "-size", "size", "-pages", "pages", "-trust", "trust"];
const imports = () => import("../components/imports.js");

/**
 * @param {HTMLElement} root
 * @param {import("../core/route-types.js").LibraryRoute} firstRoute
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
    const titles = createTitles();
    // How many archives the library has, as far as it's known.
    let librarySize = 0;
    const as = () => (["cards", "list"].includes(filter.as) ? filter.as : settings().as || (librarySize < listFrom ? "cards" : "list"));
    // These load after the list.
    let selection = null;
    let loading = null;
    let keys = null;
    let events = null;

    const pick = () => make("button", { type: "button", class: "primary", text: message("library.add-files"), on: {
        click: () => whenLoaded(imports, ({ pickFiles }) => pickFiles()) } });
    const heading = make("h1", { text: message("library.title"), tabindex: "-1" });
    const summary = make("p", { class: "quiet library-summary" });
    const more = make("button", { type: "button", "aria-haspopup": "menu", "aria-label": message("library.other-actions"), text: "⋯" });
    openOnDemand(more, async () => (await import("./menus.js")).libraryMenu(more, select, () => filter));
    const sort = make("select", { id: "library-sort", on: { change: () => navigate(libraryURL({ ...filter, sort: sort.value })) } },
        ...sorts.map((value) => make("option", { value, text: message(`library.sort-${value}`) })));
    const layouts = Object.fromEntries(["cards", "list"].map((name) => [name, make("a", { text: message(`library.as-${name}`) })]));
    const begin = make("button", { type: "button", text: message("library.select"), on: { click: () => select((selected) => selected.begin()) } });
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
    const selectionPlace = make("div");
    const none = make("div", { class: "library-none", hidden: true });
    const list = windowedList({
        label: message("library.archives"),
        load: async (offset, limit, signal) => {
            const part = await api.filteredArchives(filter, { offset, limit, signal });
            part.items.forEach(titles.note);
            return part;
        },
        render: (archive) => archiveItem(archive, choices(), as()),
        keyOf: ({ id }) => id,
        stateOf: (archive) => [as(), selection?.isOpen, selection?.isSelected(archive.id), titles.isShared(archive), titles.isFileShared(archive),
            isBeingRemoved(archive)].join(),
        shape: (width) => shapeOf(as(), width),
        blockSize: archivesPerRequest,
        onKey,
        onLoad: ({ total, error }) => (error ? showProblem(error) : showTotal(total)),
    });
    const columns = listColumns((key) => navigate(libraryURL({ ...filter, sort: key })));
    const whole = make("button", { type: "button", class: "plain show-all", hidden: true, on: { click: () => list.showAll() } });
    const tools = make("div", { class: "library-tools waiting" },
        make("label", { for: sort.id, text: message("library.sort") }), sort,
        make("nav", { class: "layouts", "aria-label": message("library.layout") }, layouts.cards, layouts.list), begin);
    // Invisible until all of it is known, so that nothing moves below the pointer.
    const body = make("div", { class: "library-body waiting", "aria-busy": "true" },
        make("aside", { class: "library-side" }, words, narrow),
        make("div", { class: "library-main" }, chips, collections, none, columns.element, list.element, whole));
    // An empty library has its own button.
    const head = make("div", { class: "head-actions waiting" }, pick(), captureLink(), more);
    root.replaceChildren(
        pageHeader([]),
        make("main", { class: "column library" },
            make("div", { class: "title-row" },
                make("div", {}, heading, summary), head),
            problems, tools, body, selectionPlace));
    showBanners();

    function choices() {
        return {
            isSelecting: selection?.isOpen ?? false,
            isSelected: (id) => selection?.isSelected(id) ?? false,
            select: (archive, isSelected) => select((selected) => selected.select(archive, isSelected)),
            titles,
            act: select,
        };
    }

    function onKey(event, archive, index, to) {
        if (event.ctrlKey || event.metaKey || event.altKey || !archive) return;
        if (event.key === " " && !event.target.matches("button, input")) event.preventDefault();
        // The field that it opens could get the letter.
        if (event.key === "e" && settings().singleKeys) event.preventDefault();
        whenLoaded(() => keys ??= import("./keys.js"), ({ press }) => press(event, archive, index, to, { list, select }));
    }

    /** Does something with a module that loads when it's first used. */
    function whenLoaded(load, act) {
        load().then(act, (error) => {
            serverFailed();
            problems.replaceChildren(errorBlock(error, message("view.cant-load")));
        });
    }

    /** Does something with the selection, which loads when it's first used. What is done meanwhile keeps its order. */
    function select(act) {
        loading ??= import("./selection.js").then(({ createSelection }) => {
            selection = createSelection({
                onChanged: () => list.update(),
                onFocusLost: () => (list.element.querySelector("[tabindex='0']") ?? heading).focus({ preventScroll: true }),
                filter: () => filter,
                onCreated: (collection) => navigate(tabURL({ kind: "collection", id: collection.id })),
            });
            selectionPlace.replaceWith(selection.element);
            return selection;
        });
        loading.catch(() => {
            loading = null;
        });
        whenLoaded(() => loading, act);
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
        problems.replaceChildren();
        titles.clear();
        showFilter();
        const timer = setTimeout(() => body.setAttribute("aria-busy", "true"), slowMilliseconds);
        await Promise.all([list.load(top), readFacets(signal)]);
        clearTimeout(timer);
        if (!signal.aborted) body.removeAttribute("aria-busy");
    }

    async function readFacets(signal) {
        try {
            const [{ facetGroups }, facets, all] = await Promise.all([import("./facets.js"), api.facets(filter, signal), api.collections()]);
            if (signal.aborted) return;
            groups.replaceChildren(...facetGroups(filter, facets));
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
        columns.show(as() === "list", sort.value);
    }

    function showFacets(facets, all) {
        for (const part of [head, tools, body]) part.classList.remove("waiting");
        const { library, freeBytes } = facets;
        isEmpty = library.archives + library.collections === 0;
        const before = as();
        librarySize = library.archives;
        if (as() !== before) {
            showFilter();
            list.update();
        }
        summary.textContent = isEmpty ? "" : [message("count.archives", { n: library.archives }),
            message("library.used", { size: size(library.bytes) }),
            freeBytes !== undefined && message("library.free", { size: size(freeBytes) })].filter(Boolean).join(" · ");
        head.hidden = isEmpty;
        for (const part of [tools, body.firstChild]) part.hidden = isEmpty;
        narrow.hidden = groups.children.length === 0;
        collections.replaceChildren(...(filter.site || filter.year || filter.saved || filter.state ? [] : collectionStrip(all, filter)));
        if (isEmpty) {
            showNothing(({ emptyState }) => emptyState(pick()));
            none.hidden = false;
        }
    }

    function showTotal(total) {
        problems.replaceChildren();
        retry = null;
        none.hidden = total > 0 || !isEmpty && !isFiltered(filter);
        list.element.hidden = columns.element.hidden = total === 0;
        whole.hidden = total <= 100;
        whole.textContent = message("library.show-all", { n: total });
        if (total === 0 && !isEmpty && isFiltered(filter)) showNothing(({ noneFound }) => noneFound(filter));
        clearTimeout(timers.announcing);
        if (isFiltered(filter)) timers.announcing = setTimeout(announce, 600, message("count.archives", { n: total }));
    }

    /** Says why there are no archives. */
    function showNothing(contents) {
        const { signal } = abort;
        whenLoaded(() => import("./nothing.js"), (module) => !signal.aborted && none.replaceChildren(...contents(module)));
    }

    function showProblem(error) {
        for (const part of [head, tools, body]) part.classList.remove("waiting");
        const isStopped = error.status === 0;
        if (isStopped) retry = () => load(window.scrollY);
        problems.replaceChildren(...(isStopped && saysWhenStopped() ? [] : [errorBlock(error, message("library.cant-read"), !isStopped && load)]));
    }

    /** Reads again what is shown, once for many changes in a short time. */
    function refresh() {
        if (isClosed) return;
        timers.refresh ??= setTimeout(async () => {
            timers.refresh = undefined;
            await Promise.all([list.refresh(), readFacets(abort.signal)]);
        }, refreshMilliseconds);
    }

    const whenVisible = () => document.visibilityState === "visible" && refresh();
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
    async function follow() {
        const { followEvents } = await import("../core/events.js");
        if (!isClosed) events ??= followEvents({ onConnected: refresh, onArchives: refresh });
    }

    const server = followServer({ onBack: () => {
        retry?.();
        follow();
    } });
    const ready = load(history.state?.top);
    ready.then(follow).catch(serverFailed);

    return {
        kind: "library",
        ready,

        /**
         * @param {import("../core/route-types.js").LibraryRoute} route
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
            events?.close();
            server.close();
            isWide.removeEventListener("change", showFacetsIfWide);
            document.removeEventListener("visibilitychange", whenVisible);
            window.removeEventListener("scroll", keepScroll);
        },
    };
}

/** The height of a card or a row in rem, and how many fit side by side. The style sheet arranges rows at the same widths. */
function shapeOf(as, width) {
    const rem = width / parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (as === "cards") return { rem: 23.5, columns: Math.max(1, Math.floor(rem / 15.5)) };
    return { rem: rem < 30 ? 11.5 : rem < 46 ? 7.25 : 2.75, columns: 1 };
}
