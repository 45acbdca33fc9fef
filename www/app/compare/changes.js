/** Shows the changes between two texts: a text with marked words, or a table of lines, and a list to go through. */
import { foreign, make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";

const changesOfPart = 200;
// Of what is the same, as much as this is shown beside a change, and as much as that with each press of a button.
const around = { text: 30, source: 3 };
const more = { text: 2000, source: 500 };
const listedCharactersMax = 120;
const lineCharactersMax = 2000;
// What can't be seen, or looks like a space. A tab is one of the few that lines have on purpose.
const unseen = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u115f\u1160\u2800\u3164\uffa0]/gu;

/**
 * @typedef {import("./differ.js").Parts} Parts
 * @typedef {import("./differ.js").Edit} Edit
 */

/**
 * @param {"text"|"source"} kind
 * @param {Parts} a
 * @param {Parts} b
 * @param {Edit[]} edits
 * @returns {{element: HTMLElement, count: number, step: (by: number) => void}} `step`: shows the next change, or the previous one
 */
export function createChanges(kind, a, b, edits) {
    const isText = kind === "text";
    const body = isText ? make("div", { class: "changed-text", dir: "auto" }) : make("tbody");
    const list = make("ol", { class: "change-list" });
    const rest = make("button", { type: "button", class: "more-changes", on: { click: showPart } });
    const text = isText ? body : make("table", { class: "changed-lines" },
        make("thead", {}, make("tr", {}, ...["line-a", "line-b", "line"].map((name) => make("th", { scope: "col", text: message(`compare.${name}`) })))), body);
    const marks = [];
    let current = -1;

    /** Shows more of the changes, each with what is the same before it. */
    function showPart() {
        const from = marks.length;
        const part = edits.slice(from, from + changesOfPart);
        rest.remove();
        part.forEach((edit, index) => {
            const before = edits[from + index - 1];
            body.append(...unchanged(before?.[1] ?? 0, edit[0], before?.[3] ?? 0, !before, false));
            const [mark, elements] = isText ? changedWords(edit) : changedLines(edit);
            marks.push(mark);
            mark.tabIndex = -1;
            body.append(...elements);
            list.append(entry(edit, marks.length));
        });
        const left = edits.length - marks.length;
        if (left > 0) {
            rest.textContent = message("compare.more-changes", { n: Math.min(left, changesOfPart), left });
            text.after(rest);
        } else {
            const [, aTo, , bTo] = edits.at(-1);
            body.append(...unchanged(aTo, a.starts.length, bTo, false, true));
        }
        if (from > 0) go(from);
    }

    function go(index) {
        marks[current]?.classList.remove("current-change");
        current = index;
        marks[current].classList.add("current-change");
        marks[current].scrollIntoView({ block: "center" });
        marks[current].focus({ preventScroll: true });
    }

    /** After the last change comes the first one. */
    function step(by) {
        const next = current < 0 && by < 0 ? marks.length - 1 : current + by;
        if (next === marks.length && next < edits.length) showPart();
        else go((next + marks.length) % marks.length);
    }

    function entry([aFrom, aTo, bFrom, bTo], number) {
        const short = (parts, from, to) => foreign(slice(parts, from, Math.min(to, from + listedCharactersMax)), listedCharactersMax);
        const [removed, added] = [short(a, aFrom, aTo), short(b, bFrom, bTo)];
        const what = aFrom === aTo ? "added" : bFrom === bTo ? "removed" : "replaced";
        return make("li", {}, make("button", { type: "button", on: { click: () => go(number - 1) } }, ...messageParts(`compare.${what}`, { removed: removed || message("compare.empty-line"), added: added || message("compare.empty-line") },
            { del: (...children) => make("del", {}, ...children), ins: (...children) => make("ins", {}, ...children) })));
    }

    // Words

    function changedWords([aFrom, aTo, bFrom, bTo]) {
        const both = [["del", a, aFrom, aTo], ["ins", b, bFrom, bTo]].filter(([, , from, to]) => from < to);
        const elements = both.flatMap(([tag, parts, from, to]) => {
            const end = Math.min(to, from + more.text);
            return [make(tag, { text: slice(parts, from, end) }),
                end < to && make("span", { class: "quiet", text: ` ${message("compare.left-out", { n: to - end })}` }), space(parts, to - 1)].filter(Boolean);
        });
        return [elements[0], elements];
    }

    /** What is between a word and the next one. */
    const space = ({ text: whole, starts, ends }, index) => whole.slice(ends[index], starts[index + 1] ?? ends[index]);

    const words = (from, to) => make("span", { text: slice(b, from, to) + space(b, to - 1) });

    // Lines

    function changedLines([aFrom, aTo, bFrom, bTo]) {
        const rows = [...linesOf("del", a, aFrom, aTo), ...linesOf("ins", b, bFrom, bTo)];
        return [rows[0], rows];
    }

    function linesOf(tag, parts, from, to) {
        const end = Math.min(to, from + more.source);
        const rows = Array.from({ length: end - from }, (_, index) => {
            const number = String(from + index + 1);
            return row(tag === "del" ? number : "", tag === "ins" ? number : "", make(tag, {}, line(parts, from + index, beginOfChange(tag, from + index))));
        });
        if (end < to) rows.push(row("", "", make("span", { class: "quiet", text: message("compare.lines-left-out", { n: to - end }) })));
        return rows;

        /** Where a long line begins to differ from the one that replaces it. */
        function beginOfChange(side, index) {
            const [aFrom, aTo, bFrom, bTo] = edits[marks.length];
            const [own, other] = side === "del" ? [aFrom, bFrom] : [bFrom, aFrom];
            const [others, end] = side === "del" ? [b, bTo] : [a, aTo];
            const pair = other + index - own;
            if (parts.ends[index] - parts.starts[index] <= lineCharactersMax || pair >= end) return 0;
            const [one, two] = [slice(parts, index, index + 1), slice(others, pair, pair + 1)];
            let at = 0;
            while (at < one.length && one[at] === two[at]) at++;
            return Math.max(0, Math.min(at, one.length) - listedCharactersMax);
        }
    }

    const row = (one, other, content) => make("tr", {}, make("td", { class: "line-number", text: one }), make("td", { class: "line-number", text: other }),
        make("td", {}, make("code", { dir: "ltr" }, content)));

    /** A line, or the part of a long one that begins at a place. */
    function line({ text: whole, starts, ends }, index, from = 0) {
        const shown = whole.slice(starts[index] + from, Math.min(ends[index], starts[index] + from + lineCharactersMax));
        const left = ends[index] - starts[index] - from - shown.length;
        return make("span", { text: (from > 0 ? `… ` : "") + shown.replace(unseen, (one) => `⟨U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`) },
            left > 0 && make("span", { class: "quiet", text: ` ${message("compare.characters-left-out", { n: left })}` }));
    }

    const lines = (from, to, shift) => Array.from({ length: to - from }, (_, index) =>
        row(String(from + index + 1 + shift), String(from + index + 1), line(b, from + index)));

    // What is the same

    /** Parts of B that are also in A. In the middle of many, a button shows more. */
    function unchanged(aFrom, aTo, bFrom, isFirst, isLast) {
        const bTo = bFrom + aTo - aFrom;
        const shift = aFrom - bFrom;
        const head = isFirst ? bFrom : Math.min(bTo, bFrom + around[kind]);
        const tail = isLast ? bTo : Math.max(head, bTo - around[kind]);
        return [...same(bFrom, head, shift), ...hidden(head, tail, shift), ...same(tail, bTo, shift)];
    }

    const same = (from, to, shift) => from === to ? [] : isText ? [words(from, to)] : lines(from, to, shift);

    function hidden(from, to, shift) {
        // A button would be longer.
        if (to - from < around[kind]) return same(from, to, shift);
        const button = make("button", { type: "button", class: "unchanged", text: message(`compare.unchanged-${kind}`, { n: to - from }), on: { click: () => {
            const end = Math.min(to, from + more[kind]);
            const place = isText ? button : button.closest("tr");
            const next = hidden(end, to, shift);
            place.replaceWith(...same(from, end, shift), ...next);
            next.flatMap((one) => [...one.querySelectorAll?.("button") ?? [], one]).find((one) => one.localName === "button")?.focus();
        } } });
        return [isText ? button : make("tr", { class: "gap" }, make("td", { colspan: "3" }, button))];
    }

    const element = make("div", { class: "changes" }, make("div", { class: `changed ${kind}` }, text),
        make("section", { class: "change-section", "aria-labelledby": "change-list" }, make("h2", { id: "change-list", text: message("compare.list") }), list));
    if (edits.length > 0) showPart();
    return {
        element,
        count: edits.length,
        step,
    };
}

const slice = ({ text, starts, ends }, from, to) => from < to ? text.slice(starts[from], ends[to - 1]) : "";

