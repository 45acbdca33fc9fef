/**
 * The rows of a long table, of which only those near the visible part are in the document.
 *
 * They are in parts, each a `tbody`. A part that is far away is empty and keeps its height.
 */
import { make } from "../core/dom.js";

const partSize = 50;

/**
 * @template Row
 * @param {HTMLTableElement} table with a head of one row
 * @param {(row: Row) => HTMLTableRowElement} render
 * @returns {{add: (rows: Row[]) => void, clear: () => void, close: () => void, readonly count: number}}
 */
export function tableRows(table, render) {
    // The rows of each part, and the number of the first.
    let parts = new Map();
    let count = 0;
    const near = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting, boundingClientRect } of entries) {
            if (isIntersecting) fill(target);
            else empty(target, boundingClientRect.height);
        }
    }, { rootMargin: "1000px 0px" });

    function fill(part) {
        const { rows, first } = parts.get(part) ?? {};
        if (!rows || part.rows[0]?.ariaRowIndex) return;
        part.replaceChildren(...rows.map((row, index) => {
            const element = render(row);
            // The head is the first row.
            element.setAttribute("aria-rowindex", first + index + 2);
            return element;
        }));
    }

    function empty(part, height) {
        if (height === 0 || part.contains(document.activeElement)) return;
        const cell = make("td", { colSpan: table.tHead.rows[0].cells.length });
        cell.style.height = `${height}px`;
        part.replaceChildren(make("tr", { class: "far", "aria-hidden": "true" }, cell));
    }

    // Paper has all rows.
    const fillAll = () => [...parts.keys()].forEach(fill);
    addEventListener("beforeprint", fillAll);

    return {
        get count() {
            return count;
        },

        add(rows) {
            for (let index = 0; index < rows.length; index += partSize) {
                const part = make("tbody");
                parts.set(part, { rows: rows.slice(index, index + partSize), first: count + index });
                fill(part);
                table.append(part);
                near.observe(part);
            }
            count += rows.length;
        },

        clear() {
            near.disconnect();
            for (const part of parts.keys()) part.remove();
            [parts, count] = [new Map(), 0];
        },

        close() {
            near.disconnect();
            removeEventListener("beforeprint", fillAll);
        },
    };
}
