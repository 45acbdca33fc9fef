/** Finds words in a text that arrives in pieces. */
import { wordsIn } from "../core/search-words.js";

const heldBackMax = 4096;

/**
 * @typedef {{start: number, end: number}} Mark where the words are in the text
 */

/**
 * @param {import("../core/search-words.js").Term[]} terms
 * @param {number} marksMax
 */
export function createMatcher(terms, marksMax) {
    // The terms that end with each word.
    const endings = Map.groupBy(terms.filter(({ isPrefix }) => !isPrefix), ({ words }) => words.at(-1).word);
    const prefixes = terms.filter(({ isPrefix }) => isPrefix);
    const wordsMax = Math.max(1, ...terms.map(({ words }) => words.length));
    const marks = [];
    // The last words, the latest last.
    let recent = [];
    // The end of the text so far, in which a word may be incomplete, and where it begins.
    let rest = "";
    let position = 0;
    let isFull = false;

    /** Returns where a term begins that ends with the latest word, or infinity. */
    function startOf({ words, isPrefix }) {
        if (words.length > recent.length) return Infinity;
        const first = recent.length - words.length;
        for (let index = words.length - 1; index >= 0; index -= 1) {
            const { word, isJoined } = words[index];
            const found = recent[first + index];
            const isLast = index === words.length - 1;
            if (isPrefix && isLast ? !found.word.startsWith(word) : found.word !== word) return Infinity;
            if (isJoined !== undefined && isJoined !== (found.start === recent[first + index - 1].end)) return Infinity;
        }
        return recent[first].start;
    }

    function add(mark) {
        // Terms can overlap.
        while (marks.length > 0 && marks.at(-1).end > mark.start) mark.start = Math.min(mark.start, marks.pop().start);
        if (marks.length < marksMax) marks.push(mark);
        else isFull = true;
    }

    function look(found) {
        recent.push(found);
        if (recent.length > wordsMax * 2) recent = recent.slice(-wordsMax);
        const start = Math.min(...[...endings.get(found.word) ?? [], ...prefixes].map(startOf));
        if (start <= found.start) add({ start, end: found.end });
    }

    return {
        marks,

        /** @returns {boolean} whether there are more marks than can be shown */
        get isFull() {
            return isFull;
        },

        /**
         * @param {string} text the next piece
         * @param {boolean} isLast
         */
        add(text, isLast) {
            if (isFull) return;
            rest += text;
            let end = rest.length;
            if (!isLast) {
                while (end > 0 && !/\s/.test(rest[end - 1])) end -= 1;
                if (end === 0 && rest.length > heldBackMax) end = rest.length;
            }
            for (const { word, start, end: after } of wordsIn(rest.slice(0, end))) {
                look({ word, start: position + start, end: position + after });
                if (isFull) return;
            }
            rest = rest.slice(end);
            position += end;
        },
    };
}
