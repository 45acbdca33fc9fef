/**
 * A list of any length, of which only the rows near the visible part are in the document.
 *
 * Rows have a fixed height and load in blocks, while the page scrolls. The list has one tab stop: the arrow keys move
 * between its rows and their controls (WAI-ARIA APG, "Managing focus within components").
 */
import { serverFailed } from "../core/connection.js";
import { arrange, make } from "../core/dom.js";

const blocksMax = 30;
const rowsBeyond = 8;
// Browsers limit the height of an element: Firefox to 17.9 million pixels.
const heightMax = 12_000_000;

/**
 * @template Item
 * @param {import("./list-types.js").Source<Item>} source
 * @returns {import("./list-types.js").WindowedList<Item>}
 */
export function windowedList({ label, load, render, shape, blockSize = 100, keyOf = JSON.stringify, stateOf = () => "", onKey, onLoad }) {
    const element = make("div", { class: "windowed", role: "list", "aria-label": label });
    let blocks = new Map();
    let rows = new Map();
    let total = 0;
    let active = 0;
    let isWhole = false;
    let abort = new AbortController();
    let frame = 0;
    let replacing = null;
    // The row that gets the focus once it has loaded.
    let awaited = -1;
    let moves = null;
    let loading = null;

    const item = (index) => blocks.get(Math.floor(index / blockSize))?.items?.[index % blockSize];

    /** Measures the list. Heights are in rem, so that they grow with the text. */
    function measure() {
        const { rem, columns } = shape(element.clientWidth);
        const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const count = Math.ceil(total / columns);
        const height = rem * size;
        const shown = isWhole ? count * height : Math.min(count * height, heightMax);
        const top = Math.min(Math.max(0, -element.getBoundingClientRect().top), Math.max(0, shown - innerHeight));
        // The row at the top of the window. Where the height is limited, rows go by faster than the page scrolls.
        const first = shown < count * height ? top / (shown - innerHeight) * (count - innerHeight / height) : top / height;
        return { columns, count, height, shown, top, first };
    }

    function show() {
        frame = 0;
        const now = measure();
        element.style.height = `${now.shown}px`;
        const from = isWhole ? 0 : Math.max(0, Math.floor(now.first) - rowsBeyond);
        const to = isWhole ? now.count : Math.min(now.count, Math.ceil(now.first + innerHeight / now.height) + rowsBeyond);
        const wanted = [];
        for (let index = from * now.columns; index < Math.min(total, to * now.columns); index += 1) wanted.push(index);
        const focused = [...rows].find(([, { place }]) => place.contains(document.activeElement));
        const control = controls(focused?.[1].place).indexOf(document.activeElement);
        rows = rowsOf(wanted, focused);
        const indexes = [...rows.keys()].sort((one, other) => one - other);
        for (const index of indexes) place(index, now);
        arrange(element, indexes.map((index) => rows.get(index).place));
        // The item with the focus was removed. The next one gets it.
        if (focused && !focused[1].place.isConnected && total > 0) focusRow(Math.min(focused[0], total - 1), control);
        for (let block = Math.floor(from * now.columns / blockSize); !replacing && block * blockSize < to * now.columns; block += 1) read(block);
        setTabStop();
    }

    /** Returns the rows to show. An item that moved keeps its row, so that neither the focus nor a click is lost. */
    function rowsOf(wanted, focused) {
        const known = new Map([...rows.values()].filter(({ key }) => key !== null).map((row) => [row.key, row]));
        const next = new Map(wanted.map((index) => {
            const value = item(index);
            const key = value === undefined ? null : keyOf(value);
            const old = rows.get(index);
            const row = key === null ? old?.key === null && old : known.get(key) ?? (old?.key === null && old);
            known.delete(key);
            return [index, Object.assign(row || { place: make("div", { role: "listitem" }), state: null }, { key })];
        }));
        const [index, row] = focused ?? [];
        const moved = [...next].find(([, one]) => one === row)?.[0];
        if (moved !== undefined) active = moved;
        // A row outside the visible part stays while it has the focus.
        else if (row && index < total && !next.has(index)) next.set(index, row);
        return next;
    }

    function place(index, { columns, height, top, first }) {
        const value = item(index);
        const state = value === undefined ? "" : stateOf(value) + JSON.stringify(value);
        const row = rows.get(index);
        // A row that is pressed, or whose menu is open, changes afterwards.
        if (row.state !== state && !row.place.matches(":active, :has(:popover-open)")) fill(row, value, index, state);
        row.place.setAttribute("aria-setsize", total);
        row.place.setAttribute("aria-posinset", index + 1);
        const { style } = row.place;
        style.transform = `translateY(${Math.round(top + (Math.floor(index / columns) - first) * height)}px)`;
        style.height = `${height}px`;
        style.width = `${100 / columns}%`;
        style.insetInlineStart = `${index % columns * 100 / columns}%`;
    }

    function fill(row, value, index, state) {
        const controlIndex = controls(row.place).indexOf(document.activeElement);
        row.place.replaceChildren(value === undefined ? make("div", { class: "skeleton", "aria-hidden": "true" }) : render(value, index));
        row.state = state;
        if (value !== undefined && index === awaited) focusRow(index);
        else if (controlIndex >= 0) (controls(row.place)[controlIndex] ?? controls(row.place)[0])?.focus({ preventScroll: true });
    }

    // What an open popover has isn't the list's.
    const controls = (place) => [...place?.querySelectorAll("a[href], button, input") ?? []].filter((one) => !one.hidden && !one.closest("[popover]"));

    function setTabStop() {
        if (total > 0) active = Math.min(active, total - 1);
        // The row with the tab stop can be far from the visible ones.
        const stop = rows.has(active) ? active : [...rows.keys()].find((index) => item(index) !== undefined);
        for (const [index, { place: row }] of rows) {
            controls(row).forEach((control, number) => {
                const isCurrent = control === document.activeElement;
                control.tabIndex = isCurrent || index === stop && number === 0 && !row.contains(document.activeElement) ? 0 : -1;
            });
        }
    }

    async function read(number) {
        if (blocks.has(number) && !blocks.get(number).isStale || number * blockSize >= Math.max(total, 1)) return;
        const { signal } = abort;
        const former = blocks.get(number);
        const block = { items: former?.items };
        blocks.delete(number);
        blocks.set(number, block);
        let error = null;
        try {
            const answer = await load(number * blockSize, blockSize, signal);
            if (signal.aborted) return;
            block.items = answer.items;
            total = answer.total;
            if (!isWhole && blocks.size > blocksMax) blocks.delete(blocks.keys().next().value);
        } catch (failure) {
            if (signal.aborted) return;
            // What was shown stays, and is read again by the next refresh.
            if (blocks.get(number) === block && former) blocks.set(number, { items: former.items });
            else if (blocks.get(number) === block) blocks.delete(number);
            error = failure;
        }
        if (!error) schedule();
        onLoad?.({ total, error });
    }

    /** Loads other items. Until they are there, the rows stay, can be used, and keep the focus. Returns whether they are shown. */
    async function replace(signal) {
        let first = null;
        let error = null;
        try {
            first = await load(0, blockSize, signal);
        } catch (failure) {
            error = failure;
        }
        if (signal.aborted) return false;
        replacing = null;
        [blocks, total, active, isWhole] = [new Map(first ? [[0, { items: first.items }]] : []), first?.total ?? 0, 0, false];
        onLoad?.({ total, error });
        show();
        return true;
    }

    const schedule = () => {
        frame ||= requestAnimationFrame(show);
    };

    const afterClick = () => setTimeout(schedule);

    function focusRow(index, control = 0) {
        awaited = -1;
        const all = controls(rows.get(index)?.place);
        (all[control] ?? all[0])?.focus({ preventScroll: true });
    }

    const indexOf = (target) => [...rows].find(([, { place: row }]) => row.contains(target))?.[0];

    /** Keys that move wait for their module if it isn't there yet. */
    function press(event) {
        const index = indexOf(event.target);
        if (index === undefined || event.target.matches("input:not([type=checkbox]), textarea, select")) return;
        const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
        if (isPlain && /^(Arrow|Page(Up|Down)|Home|End)/.test(event.key)) {
            event.preventDefault();
            if (moves) moves.move(parts, event);
            else loadMoves().then(({ move }) => move(parts, event), serverFailed);
        } else if (event.key !== "Tab" && item(index) !== undefined) {
            onKey?.(event, item(index), index);
        }
    }

    const loadMoves = () => {
        loading ??= import("./list-moves.js");
        return loading.then((module) => (moves = module));
    };
    const parts = { element, measure, item, indexOf, controls, onKey, activate, rowAt: (index) => rows.get(index)?.place,
        get total() {
            return total;
        } };

    /** Makes a row the current one, which gets the focus once it has loaded. */
    function activate(index) {
        active = index;
        show();
        // The row that has the focus is still the current one.
        active = index;
        if (item(index) === undefined) awaited = index;
        else focusRow(index);
    }

    element.addEventListener("keydown", press);
    element.addEventListener("focusin", (event) => {
        active = indexOf(event.target) ?? active;
        awaited = -1;
        loadMoves().catch(serverFailed);
        setTabStop();
    });
    element.addEventListener("toggle", schedule, true);
    addEventListener("scroll", schedule, { passive: true });
    addEventListener("pointerup", afterClick);
    const resized = new ResizeObserver(schedule);
    resized.observe(element);

    return {
        element,
        item,
        focus: async (index) => (await loadMoves()).focus(parts, index),

        get total() {
            return total;
        },

        async load(top = 0) {
            abort.abort();
            abort = new AbortController();
            replacing = replace(abort.signal);
            if (await replacing && top > 0) scrollTo(0, top);
        },

        async refresh() {
            await replacing;
            for (const block of blocks.values()) block.isStale = true;
            const first = [...rows.keys()].sort((one, other) => one - other)[0] ?? 0;
            await read(Math.floor(first / blockSize));
            schedule();
        },

        update: schedule,

        /** Puts all rows into the document, for the browser's own search and for printing. */
        async showAll() {
            await replacing;
            isWhole = true;
            for (let block = 0; block * blockSize < total; block += 1) await read(block);
            show();
        },

        close() {
            abort.abort();
            removeEventListener("scroll", schedule);
            removeEventListener("pointerup", afterClick);
            resized.disconnect();
            cancelAnimationFrame(frame);
        },
    };
}
