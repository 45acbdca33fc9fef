/**
 * How a search is read, and how its words are compared with those of a text: in lower case, without accents, with ß as ss.
 * The server does the same (`SearchQuery.swift`, `WordFolding.swift`).
 */

const termsMax = 64;
const charactersMax = 8192;
const foldsMax = 20_000;

/** Scripts that don't separate words, so that each character counts as one: Han, Kana, Hangul, Thai, Lao, Khmer. */
const unspaced = "\\u0e00-\\u0eff\\u1100-\\u11ff\\u1780-\\u17ff\\u3005-\\u3007\\u3031-\\u3035\\u303b\\u3041-\\u30ff\\u3130-\\u318f"
    + "\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\uff66-\\uffdc"
    + "\\u{1b000}-\\u{1b16f}\\u{20000}-\\u{3ffff}";
const wordPattern = `(?<single>(?!\\p{Nd})(?=[\\p{L}\\p{N}])[${unspaced}]\\p{M}*)`
    + `|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{Co}]|(?=[${unspaced}])\\p{Nd})`
    + `(?:(?![${unspaced}\\u200b])[\\p{L}\\p{N}\\p{Co}\\p{M}\\p{Cf}]|(?=[${unspaced}])[\\p{Nd}\\p{M}])*`;

/** Marks of Latin, Greek, Cyrillic, Arabic and Hebrew, and what isn't part of a word. */
const dropped = new RegExp("[\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05c7\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed"
    + "\\u08d3-\\u08ff\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u2de0-\\u2dff\\ufe00-\\ufe0f\\ufe20-\\ufe2f\\u{e0100}-\\u{e01ef}]"
    + "|[^\\p{L}\\p{N}\\p{Co}\\p{M}]", "gu");

/** Letters that are often written with other letters, in lower case. */
const replacements = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", ı: "i", þ: "th", ς: "σ" };
const replaced = /[ßæœøłđðħıþς]/g;

const folds = new Map();

/**
 * @param {string} word
 * @returns {string} the same for all spellings of a word
 */
export function folded(word) {
    if (/^[a-z0-9]*$/i.test(word)) return word.toLowerCase();
    let fold = folds.get(word);
    if (fold === undefined) {
        fold = word.normalize("NFKD").toLowerCase().replace(dropped, "").replace(replaced, (letter) => replacements[letter]);
        if (folds.size >= foldsMax) folds.clear();
        folds.set(word, fold);
    }
    return fold;
}

/**
 * @typedef {object} Word
 * @property {string} word folded
 * @property {number} start in the text
 * @property {number} end
 * @property {boolean} isSingle whether it's one character of a script that doesn't separate words
 */

/**
 * @param {string} text
 * @returns {Generator<Word>}
 */
export function* wordsIn(text) {
    for (const match of text.matchAll(new RegExp(wordPattern, "gu"))) {
        const word = folded(match[0]);
        if (word) yield { word, start: match.index, end: match.index + match[0].length, isSingle: match.groups.single !== undefined };
    }
}

/**
 * Words side by side.
 *
 * @typedef {object} Term
 * @property {string} text as typed
 * @property {{word: string, isJoined: boolean|undefined}[]} words folded; `isJoined`: whether nothing may be between a
 *   character and the one before it
 * @property {boolean} isPrefix whether the last word is the beginning of a word
 */

/** @returns {Term|null} `null` without words */
function term(text, isPrefix) {
    let end = -1;
    let wasSingle = false;
    const words = [...wordsIn(text)].map(({ word, start, end: next, isSingle }) => {
        const isJoined = isSingle && wasSingle ? start === end : undefined;
        [end, wasSingle] = [next, isSingle];
        return { word, isJoined };
    });
    return words.length > 0 ? { text: text.replace(/["\s]+/g, " ").trim(), words, isPrefix } : null;
}

const fieldPattern = /^(title|site|type|lang|language|in|collection|after|before):(?=\S)/i;

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/**
 * Reads a search. Excluded words, filters, and words that are wanted in the title aren't in the result.
 *
 * @param {string} search
 * @returns {Term[]}
 */
export function termsOf(search) {
    const terms = [];
    let rest = search.slice(0, charactersMax).trimStart();
    while (rest && terms.length < termsMax) {
        const isExcluded = /^-[^\s-]/.test(rest);
        if (isExcluded) rest = rest.slice(1);
        const field = fieldPattern.exec(rest)?.[0] ?? "";
        rest = rest.slice(field.length);
        const [whole, quoted, star, typed] = /^"([^"]*)"?(\*?)|^([^\s"]+)/.exec(rest);
        rest = rest.slice(whole.length).trimStart();
        if (isExcluded || field || typed === "OR") continue;
        const text = quoted ?? decoded(typed.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/^www\./, "").replace(/\*$/, ""));
        const found = term(text, star === "*" || quoted === undefined && typed.endsWith("*"));
        if (found) terms.push(found);
    }
    return terms;
}

const isWord = (text) => /^[\p{L}\p{N}]+$/u.test(text) && text !== "OR";
const written = ({ text, isPrefix }) => (isWord(text) ? text : `"${text}"`) + (isPrefix ? "*" : "");
const key = ({ words }) => words.map(({ word }) => word).join(" ");

/**
 * Returns the words to mark in a page that a search found, as a search.
 *
 * @param {string} search
 * @param {{text: string, match?: boolean}[]} snippet a piece of the page's text. What matches there can be another form of a word.
 * @param {string[]} optional folded words of the search that a page need not have, such as "how"
 * @returns {string} empty if there are none
 */
export function wordsToMark(search, snippet, optional) {
    const terms = termsOf(search).filter((one) => one.isPrefix || !optional.includes(key(one)));
    const known = new Set(terms.flatMap((one) => [key(one), ...one.words.map(({ word }) => word)]));
    const prefixes = terms.filter(({ isPrefix }) => isPrefix).map(key);
    for (const { text, match } of snippet) {
        const form = match && terms.length < termsMax ? term(text, false) : null;
        if (!form || known.has(key(form)) || prefixes.some((prefix) => key(form).startsWith(prefix))) continue;
        known.add(key(form));
        terms.push(form);
    }
    return terms.map(written).join(" ").slice(0, charactersMax);
}

/**
 * @param {string} address the URL of a page in the viewer
 * @param {string} words to mark in the page
 * @returns {string} the URL with the words
 */
export const withWords = (address, words) => (words ? `${address}&words=${encodeURIComponent(words)}` : address);
