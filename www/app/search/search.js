/** The results of a search: pages of all archives, best first. */
import "../messages/en/around.js";
import "../messages/en/search.js";
import { namesOf } from "../components/archive-names.js";
import { listDownload } from "../components/list-download.js";
import { errorBlock } from "../components/messages.js";
import { pageHeader, showBanners } from "../components/page-header.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { announce, make, plain } from "../core/dom.js";
import { followEvents } from "../core/events.js";
import { message, messageParts } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { searchURL } from "../core/routes.js";
import { alternatives, spelling } from "./alternatives.js";
import { activeFilters, facetGroups } from "./facets.js";
import { createCoverage } from "./coverage.js";
import { hitRow } from "./hit.js";
import { createSearchBox } from "./search-box.js";
import { urlCaptures, urlCaptureSection } from "./url-captures.js";

const hitsPerRequest = 20;
const hitsPerRequestMax = 100;
const slowMilliseconds = 150;
const titlesMax = 60;

/**
 * @param {HTMLElement} root
 * @param {import("../core/route-types.js").SearchRoute} firstRoute
 */
export function showSearch(root, firstRoute) {
    document.body.dataset.view = "search";
    let search = firstRoute.search;
    let cursor;
    let count = 0;
    let abort = new AbortController();
    // Repeats what failed because the server had stopped.
    let retry = null;
    const archives = new Map();
    // What the archives are called here, by their IDs.
    const titles = new Map();
    const box = createSearchBox(open);
    const heading = make("h1", { text: message("search.title"), tabindex: "-1" });
    const summary = make("p", { class: "quiet" });
    const download = listDownload((format) => api.searchFile(search, format));
    download.hidden = true;
    const chips = make("ul", { class: "tags chips", "aria-label": message("library.active-filters") });
    const coverage = createCoverage(load);
    const problems = make("div");
    const hits = make("ol", { class: "hits" });
    const more = make("button", { type: "button", text: message("search.more"), hidden: true, on: { click: loadMore } });
    const moreProblems = make("div");
    const facets = make("nav", { class: "facets", "aria-label": message("search.narrow"), tabindex: "-1" });
    // On a narrow screen, the filters are below the results.
    const narrow = make("button", { type: "button", class: "narrow", text: message("search.narrow"), hidden: true,
        on: { click: () => facets.focus() } });
    const body = make("div", { class: "search-body" }, make("div", { class: "found" }, problems, hits, moreProblems, make("p", { class: "after-hits" }, more, download)), facets);
    root.replaceChildren(
        pageHeader([make("span", { "aria-hidden": "true", text: "/" }),
            make("span", { class: "current", "aria-current": "page", text: message("search.search") })], box.element),
        make("main", { class: "column" }, heading, summary, chips, narrow, coverage.element, body));
    showBanners();
    // Back leads to the same hits: their number is kept, and the position in the list.
    hits.addEventListener("click", () => keep({ hits: count, top: window.scrollY }));

    /** Opens a URL of the app. The results of the same search are loaded again. */
    function open(address) {
        if (address !== location.pathname + location.search + location.hash) {
            navigate(address);
            return;
        }
        history.replaceState(null, "");
        load();
    }

    const keep = (position) => history.replaceState({ ...history.state, ...position }, "");

    async function load() {
        abort.abort();
        abort = new AbortController();
        retry = null;
        moreProblems.replaceChildren();
        const { signal } = abort;
        const { hits: wanted = hitsPerRequest, top = 0 } = history.state ?? {};
        document.title = `${plain(search.words, 80) || message("search.search")} – replayhost`;
        box.show(search);
        showFilters();
        const timer = setTimeout(() => showBusy(true), slowMilliseconds);
        try {
            const [found, captures] = await Promise.all([
                api.search(search, { limit: Math.min(wanted, hitsPerRequestMax), facets: true, signal }),
                urlCaptures(search, signal)]);
            await loadTitles([...(found.facets?.archives ?? []), ...archivesOf(found.hits), ...captures.map(({ source }) => ({ value: source }))],
                found.unknown);
            if (signal.aborted) return;
            showResults(found, captures);
            if (top > 0) window.scrollTo(0, top);
            // The focus was in the search field, or on a link that is no longer there.
            if (document.activeElement === document.body) heading.focus({ preventScroll: true });
        } catch (error) {
            if (signal.aborted) return;
            if (error.status === 0) retry = load;
            showProblem(error);
        } finally {
            clearTimeout(timer);
            if (!signal.aborted) showBusy(false);
        }
    }

    /** Notes the names of archives, and reads those of filters and captures. An ID without an archive is its own name. */
    async function loadTitles(known, unknown) {
        for (const { value, title, originalName } of known) if (title !== undefined) archives.set(value, { id: value, title, originalName });
        const filters = ["in", "collection"].flatMap((name) => (search[name] ?? "").split(",").filter(Boolean)
            .map((id) => ({ id, kind: name === "in" ? "archive" : "collection" })));
        const wanted = filters.concat(known.map(({ value }) => ({ id: value, kind: "archive" })));
        await Promise.all(wanted.slice(0, titlesMax).filter(({ id }) => !archives.has(id) && !unknown.includes(id)).map(async (target) => {
            const { title = target.id, originalName } = await api.details(target).catch(() => ({}));
            archives.set(target.id, { id: target.id, title, originalName });
        }));
        const all = [...archives.values()];
        const alone = filters.filter(({ id, kind }) => kind === "archive" && archives.has(id)).map(({ id }) => archives.get(id));
        // Without the files, the titles are shown.
        const names = await namesOf(all, alone).catch(() => new Map(all.map(({ id, title }) => [id, plain(title) || id])));
        for (const [id, name] of names) titles.set(id, name);
    }

    function showBusy(isBusy) {
        body.setAttribute("aria-busy", String(isBusy));
        if (isBusy && count === 0) summary.textContent = message("search.searching");
    }

    function showFilters() {
        const filters = activeFilters(search, titles);
        chips.hidden = filters.length === 0;
        chips.replaceChildren(...filters.map(({ text, without }) => make("li", {},
            make("a", { class: "tag", href: searchURL(without), "aria-label": message("library.remove-filter", { text }) },
                make("span", { dir: "auto", text }), make("span", { "aria-hidden": "true", text: "×" })))));
        if (filters.length < 2) return;
        chips.append(make("li", {}, make("a", { class: "tag", href: searchURL({ words: search.words }), text: message("library.clear-filters") })));
    }

    function showResults(found, captures) {
        count = 0;
        hits.replaceChildren();
        showFilters();
        facets.replaceChildren(...facetGroups(search, found.facets, titles));
        narrow.hidden = !facets.hasChildNodes();
        coverage.show(found.coverage);
        problems.replaceChildren(...(captures.length > 0 ? [urlCaptureSection(captures, search.words.trim(), titles)]
            : notFound(found)));
        addHits(found);
        summary.textContent = isEmpty(search) ? "" : totalText(found);
        announce(summary.textContent || message("search.nothing"));
    }

    function addHits({ hits: found, next, optionalWords }) {
        hits.append(...found.map((hit) => hitRow(hit, titles, search.words, optionalWords)));
        count += found.length;
        cursor = next;
        more.hidden = !next;
        more.disabled = false;
        download.hidden = count === 0;
    }

    async function loadMore() {
        const { signal } = abort;
        more.disabled = true;
        retry = null;
        moreProblems.replaceChildren();
        try {
            const found = await api.search(search, { limit: hitsPerRequest, cursor, signal });
            await loadTitles(archivesOf(found.hits), []);
            if (signal.aborted) return;
            const first = count;
            addHits(found);
            keep({ hits: count });
            announce(message("search.more-results", { n: found.hits.length }));
            hits.children[first]?.querySelector("a").focus({ preventScroll: true });
        } catch (error) {
            if (signal.aborted) return;
            more.disabled = false;
            if (error.status === 0) retry = loadMore;
            moreProblems.replaceChildren(errorBlock(error, message("search.cant-load-more")));
        }
    }

    function showProblem(error) {
        count = 0;
        hits.replaceChildren();
        facets.replaceChildren();
        [more.hidden, narrow.hidden, download.hidden] = [true, true, true];
        summary.textContent = "";
        // A search that is refused is refused again.
        const canRetry = error.status === 0 || error.status >= 500;
        problems.replaceChildren(errorBlock(error, message("search.cant-search"),
            canRetry && load));
    }

    /** Says why nothing was found, and what to try. */
    function notFound(results) {
        const { hits: found, unknown, invalidFilters } = results;
        if (unknown.length > 0) {
            const names = unknown.map((name) => `“${plain(name, 60)}”`).join(", ");
            return [make("div", { class: "notice warning" },
                make("p", { text: message("search.unknown", { names }) }),
                make("p", { class: "hint", text: message("search.unknown-hint") }))];
        }
        const notes = invalidFilters.map((filter) =>
            make("p", { class: "quiet", dir: "auto", text: message("search.invalid-filter", { filter: plain(filter, 60) }) }));
        if (isEmpty(search)) return [make("p", { text: message("search.enter-words") })];
        if (found.length > 0) return [...notes, ...spelling(search, results)];
        const words = plain(search.words, 100);
        return [...notes, make("p", {}, ...messageParts(words ? "search.none-match" : "search.none-left", { words })),
            ...alternatives(search, results), tips()];
    }

    const events = followEvents({
        onConnected: () => coverage.refresh(),
        onArchives: () => coverage.refresh(),
        onJob: ({ kind, state }) => {
            if (kind === "text" && state === "done") coverage.refresh();
        },
    });
    const server = followServer({ onBack: () => retry?.() });
    load();

    return {
        kind: "search",

        /**
         * @param {import("../core/route-types.js").SearchRoute} route
         * @param {boolean} traversed whether Back or Forward opened this route
         */
        update(route, traversed) {
            search = route.search;
            if (!traversed) window.scrollTo(0, 0);
            load();
        },

        close() {
            abort.abort();
            coverage.close();
            events.close();
            server.close();
        },
    };
}

/** The archives of hits, as facets are. */
const archivesOf = (hits) => hits.flatMap(({ archive, archiveTitle, originalName, otherArchives = [] }) =>
    [{ value: archive, title: archiveTitle, originalName }, ...otherArchives.map((other) => ({ ...other, value: other.id }))]);

const isEmpty = (search) => Object.values(search).every((value) => !value?.trim());

function totalText({ total, totalIsMinimum }) {
    if (total === 0) return message("search.none");
    return message(totalIsMinimum ? "search.more-than" : "count.pages", { n: total });
}

function tips() {
    return make("section", { class: "tips", "aria-labelledby": "tips-title" },
        make("h2", { id: "tips-title", text: message("search.tips") }),
        make("ul", {}, ...["search.tip-fewer", "search.tip-other", "search.tip-filters"].map((key) => make("li", {}, ...messageParts(key)))));
}
