/** Shows the changes between two texts: a text with marked words, or a table of lines, and a list to go through. */
import { foreign, make } from "../core/dom.js";
import { message, messageParts } from "../core/i18n.js";

// As much is shown at once.
const changesOfPart = 200;
const charactersOfPart = 200_000;
const piecesCharactersMax = 20_000;
const lineCharactersMax = 2000;
const linesOfChange = 500;
// Of what is the same, as much as this is shown beside a change, and as much as that with each press of a button.
const around = { text: 30, source: 3 };
const more = { text: 2000, source: 500 };
const listedCharactersMax = 120;
// What can't be seen, or looks like a space. A tab is one of the few that lines have on purpose.
const unseen = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u115f\u1160\u2800\u3164\uffa0]/gu;

const tags = { del: (...children) => make("del", {}, ...children), ins: (...children) => make("ins", {}, ...children) };

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
        rest.remove();
        for (let characters = 0; marks.length < Math.min(edits.length, from + changesOfPart) && characters < charactersOfPart;) {
            const edit = edits[marks.length];
            const before = edits[marks.length - 1];
            const [mark, ...others] = isText ? changedWords(edit) : changedLines(edit);
            body.append(...unchanged(before?.[1] ?? 0, edit[0], before?.[3] ?? 0, !before, false), mark, ...others);
            mark.tabIndex = -1;
            marks.push(mark);
            list.append(entry(edit, marks.length));
            characters += [mark, ...others].reduce((sum, { textContent }) => sum + textContent.length, 0);
        }
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
        const blank = message("compare.blank");
        return make("li", {}, make("button", { type: "button", on: { click: () => go(number - 1) } },
            ...messageParts(`compare.${what}`, { removed: removed || blank, added: added || blank }, tags)));
    }

    // Words

    function changedWords([aFrom, aTo, bFrom, bTo]) {
        return [["del", a, aFrom, aTo], ["ins", b, bFrom, bTo]].filter(([, , from, to]) => from < to)
            .flatMap(([tag, parts, from, to]) => [piece(tag, parts, from, to), document.createTextNode(spaceAfter(parts, to - 1))]);
    }

    function piece(tag, parts, from, to) {
        const whole = slice(parts, from, to);
        return make(tag, { text: whole.slice(0, piecesCharactersMax) }, leftOut(whole.length - piecesCharactersMax));
    }

    const words = (from, to) => [piece("span", b, from, to), document.createTextNode(spaceAfter(b, to - 1))];

    // Lines

    function changedLines([aFrom, aTo, bFrom, bTo]) {
        const startOf = (count) => aFrom + count < aTo && bFrom + count < bTo
            ? firstDifference(slice(a, aFrom + count, aFrom + count + 1), slice(b, bFrom + count, bFrom + count + 1)) : 0;
        return [...rowsOf("del", a, aFrom, aTo, startOf), ...rowsOf("ins", b, bFrom, bTo, startOf)];
    }

    function rowsOf(tag, parts, from, to, startOf) {
        const end = Math.min(to, from + linesOfChange);
        const rows = Array.from({ length: end - from }, (_, count) => {
            const number = String(from + count + 1);
            return row(tag === "del" ? number : "", tag === "ins" ? number : "", make(tag, {}, line(parts, from + count, startOf(count))));
        });
        if (end < to) rows.push(row("", "", make("span", { class: "quiet", text: message("compare.lines-left-out", { n: to - end }) })));
        return rows;
    }

    const row = (one, other, content) => make("tr", {}, ...[one, other].map((text) => make("td", { class: "line-number", text })),
        make("td", {}, make("code", { dir: "ltr" }, content)));

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

    const same = (from, to, shift) => from === to ? [] : isText ? words(from, to) : lines(from, to, shift);

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

/** Returns where a line begins to differ from the one that replaces it, if one of them is too long to be shown. */
function firstDifference(one, other) {
    if (Math.max(one.length, other.length) <= lineCharactersMax) return 0;
    let at = 0;
    while (at < one.length && one[at] === other[at]) at++;
    return Math.max(0, at - listedCharactersMax);
}

/** A line, or the part of a long one that begins at a place. */
function line({ text, starts, ends }, index, from = 0) {
    const start = starts[index] + from;
    const shown = text.slice(start, Math.min(ends[index], start + lineCharactersMax));
    return make("span", { text: (from > 0 ? "… " : "") + shown.replace(unseen, nameOf) }, leftOut(ends[index] - start - shown.length));
}

const nameOf = (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** What separates a word from the next one. */
function spaceAfter({ text, starts, ends }, index) {
    const space = text.slice(ends[index], starts[index + 1] ?? ends[index]);
    return space.includes("\n") ? "\n" : space && " ";
}

/** Says how many characters aren't shown, if any. */
const leftOut = (n) => n > 0 && make("span", { class: "quiet", text: ` ${message("compare.characters-left-out", { n })}` });

const slice = ({ text, starts, ends }, from, to) => from < to ? text.slice(starts[from], ends[to - 1]) : "";

