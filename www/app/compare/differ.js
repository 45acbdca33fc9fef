/**
 * Finds the differences between two texts: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), in linear space.
 *
 * Nothing here uses the document. The page's policy (Trusted Types) allows no workers, so the work is a generator, and `inSlices` lets the browser
 * respond in between.
 */

// Two texts that have nothing in common need the square of their length.
export const stepsMax = 60_000_000;
const stepsOfSlice = 100_000;
const partsOfSlice = 5000;
const sliceMilliseconds = 12;

/**
 * @typedef {{text: string, starts: Uint32Array, ends: Uint32Array}} Parts of a text, such as its words: where each starts and ends
 * @typedef {[aFrom: number, aTo: number, bFrom: number, bTo: number]} Edit parts of A that parts of B replace; one of the two can be empty
 */

// Scripts without spaces between words: each character counts as a word.
const unspaced = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const words = new RegExp(`[${unspaced}]|[^\\s${unspaced}]+`, "gu");
const lines = /[^\n]+|(?<=\n)(?=\n)|^(?=\n)/g;

/** @param {string} text @returns {Generator<void, Parts>} */
export const wordsOf = (text) => partsOf(text, words);

/** @param {string} text with line feeds only @returns {Generator<void, Parts>} also its empty lines, but not one after the last line feed */
export const linesOf = (text) => partsOf(text, lines);

function* partsOf(text, expression) {
    const starts = [];
    const ends = [];
    for (const { 0: part, index } of text.matchAll(expression)) {
        starts.push(index);
        ends.push(index + part.length);
        if (starts.length % partsOfSlice === 0) yield;
    }
    return { text, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) };
}

/** Gives equal parts of both texts the same number. */
function* numbered({ text, starts, ends }, numbers) {
    const result = new Uint32Array(starts.length);
    for (let index = 0; index < starts.length; index++) {
        const part = text.slice(starts[index], ends[index]);
        let number = numbers.get(part);
        if (number === undefined) numbers.set(part, number = numbers.size);
        result[index] = number;
        if (index % partsOfSlice === 0) yield;
    }
    return result;
}

/**
 * Compares two texts part by part.
 *
 * @param {Parts} a
 * @param {Parts} b
 * @param {number} [most] steps
 * @returns {Generator<void, {edits: Edit[], isComplete: boolean}>} `isComplete`: whether there were enough steps. If not, an edit can have
 *   parts that are the same
 */
export function* differences(a, b, most = stepsMax) {
    const numbers = new Map();
    const search = { a: yield* numbered(a, numbers), b: yield* numbered(b, numbers), steps: 0, most };
    const size = search.a.length + search.b.length + 3;
    Object.assign(search, { forward: new Int32Array(size), backward: new Int32Array(size) });
    const edits = [];
    let isComplete = true;
    const boxes = [[0, search.a.length, 0, search.b.length]];
    while (boxes.length > 0) {
        const box = withoutEnds(search, boxes.pop());
        const [aFrom, aTo, bFrom, bTo] = box;
        if (aFrom === aTo && bFrom === bTo) continue;
        const middle = aFrom === aTo || bFrom === bTo ? null : yield* middleOf(search, box);
        if (middle) {
            const [x, y] = middle;
            boxes.push([x, aTo, y, bTo], [aFrom, x, bFrom, y]);
        } else {
            isComplete &&= aFrom === aTo || bFrom === bTo;
            addEdit(edits, box);
        }
    }
    return { edits, isComplete };
}

/** Leaves out what is the same at both ends. */
function withoutEnds({ a, b }, [aFrom, aTo, bFrom, bTo]) {
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) [aFrom, bFrom] = [aFrom + 1, bFrom + 1];
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) [aTo, bTo] = [aTo - 1, bTo - 1];
    return [aFrom, aTo, bFrom, bTo];
}

function addEdit(edits, edit) {
    const last = edits.at(-1);
    if (last && last[1] === edit[0] && last[3] === edit[2]) [last[1], last[3]] = [edit[1], edit[3]];
    else edits.push(edit);
}

/**
 * Finds a point of a shortest path through a box, where the paths from both of its ends meet: figure 4b of the article. `forward` and
 * `backward` have how far the paths reach on each diagonal.
 *
 * @returns {Generator<void, [number, number]|null>} `null` when the steps are used up
 */
function* middleOf(search, box) {
    const [aFrom, aTo, bFrom, bTo] = box;
    const zero = bTo - bFrom + 1;
    search.forward[zero + 1] = 0;
    search.backward[zero + 1] = 0;
    let sliceEnd = search.steps + stepsOfSlice;
    for (let d = 0; search.steps <= search.most; d++) {
        let found = advance(search, box, d, true);
        if (found) return [aFrom + found[0], bFrom + found[1]];
        found = advance(search, box, d, false);
        if (found) return [aTo - found[0], bTo - found[1]];
        if (search.steps > sliceEnd) {
            yield;
            sliceEnd = search.steps + stepsOfSlice;
        }
    }
    return null;
}

/**
 * Extends all paths from one end of the box to those with `d` differences.
 *
 * @returns {[number, number]|null} where one meets a path from the other end, counted from this end
 */
function advance(search, [aFrom, aTo, bFrom, bTo], d, isForward) {
    const { a, b } = search;
    const [n, m] = [aTo - aFrom, bTo - bFrom];
    const delta = n - m;
    const zero = m + 1;
    const [own, other] = isForward ? [search.forward, search.backward] : [search.backward, search.forward];
    const canMeet = isForward === (delta % 2 !== 0);
    // Those of the other end have one difference less before they are extended, too.
    const reach = isForward ? d - 1 : d;
    const last = d - 2 * Math.max(0, d - n);
    let steps = 0;
    for (let k = -d + 2 * Math.max(0, d - m); k <= last; k += 2) {
        const below = own[zero + k - 1];
        const above = own[zero + k + 1];
        let x = k === -d || k !== d && below < above ? above : below + 1;
        const start = x;
        if (isForward) while (x < n && x - k < m && a[aFrom + x] === b[bFrom + x - k]) x++;
        else while (x < n && x - k < m && a[aTo - 1 - x] === b[bTo - 1 - x + k]) x++;
        own[zero + k] = x;
        steps += x - start + 1;
        if (canMeet && Math.abs(k - delta) <= reach && x + other[zero + delta - k] >= n) {
            search.steps += steps;
            return [x, x - k];
        }
    }
    search.steps += steps;
    return null;
}

/**
 * Runs a generator to its end, a few milliseconds at a time.
 *
 * @template Result
 * @param {Generator<void, Result>} work
 * @param {AbortSignal} signal
 * @returns {Promise<Result>}
 */
export async function inSlices(work, signal) {
    for (;;) {
        const end = performance.now() + sliceMilliseconds;
        do {
            const { done, value } = work.next();
            if (done) return value;
        } while (performance.now() < end);
        await new Promise((next) => setTimeout(next));
        signal.throwIfAborted();
    }
}
