/**
 * Texts of the interface, by key. A view loads its message files with it, and those of all views are in `shell.js`.
 *
 * A message is a whole sentence in a subset of ICU MessageFormat: `{name}`, `{count, plural, one {# page} other {# pages}}`,
 * `{state, select, failed {…} other {…}}`, and `<b>…</b>` for a part that becomes an element. Apostrophes don't quote.
 */
import { make } from "./dom.js";

/** The language of the texts, BCP 47. */
export let language = "en";

/** @returns {string} the locale of dates, BCP 47. British English writes the day before the month */
export const dateLocale = () => (language === "en" ? "en-GB" : language);

let plurals = new Intl.PluralRules(language);
let numbers = new Intl.NumberFormat(language);
const messages = {};
const patterns = new Map();
const slots = {
    b: (...children) => make("strong", { dir: "auto" }, ...children),
    code: (...children) => make("code", {}, ...children),
};

/** @param {Object<string, string>} texts of a message file, by key */
export function addMessages(texts) {
    Object.assign(messages, texts);
    for (const key of Object.keys(texts)) patterns.delete(key);
}

/**
 * Chooses the language in which numbers and times are written. The texts are those that were added last.
 *
 * @param {string} tag BCP 47
 */
export function setLanguage(tag) {
    language = tag;
    plurals = new Intl.PluralRules(tag);
    numbers = new Intl.NumberFormat(tag);
    document.documentElement.lang = tag;
}

/**
 * @param {string} key
 * @param {Object<string, string|number>} [values]
 * @returns {string} the message without its elements
 */
export function message(key, values = {}) {
    return read(pattern(key), values, (name, children) => children.join("")).join("");
}

/**
 * @param {string} key
 * @param {Object<string, string|number|Node>} [values]
 * @param {Object<string, (...children: (Node|string)[]) => Node>} [elements] makes `<name>…</name>` an element; `b` and
 *   `code` exist already
 * @returns {(Node|string)[]} children for `make`
 */
export function messageParts(key, values = {}, elements = {}) {
    return read(pattern(key), values, (name, children) => ({ ...slots, ...elements })[name](...children));
}

/** @returns {boolean} whether there is a message for the key, for codes that the server sends */
export const hasMessage = (key) => Object.hasOwn(messages, key);

function pattern(key) {
    if (!hasMessage(key)) throw new Error(`there is no message "${key}"`);
    if (!patterns.has(key)) patterns.set(key, new Parser(messages[key]).sequence());
    return patterns.get(key);
}

function read(parts, values, element, count) {
    return parts.flatMap((part) => {
        if (typeof part === "string") return part === "#" && count !== undefined ? numbers.format(count) : part;
        if (part.element) return element(part.element, read(part.children, values, element, count));
        const value = values[part.name];
        if (value === undefined) throw new Error(`the message needs a value for "${part.name}"`);
        if (!part.kind) return typeof value === "number" ? numbers.format(value) : value;
        const { cases } = part;
        const chosen = part.kind === "plural" ? cases[`=${value}`] ?? cases[plurals.select(value)] : cases[value];
        return read(chosen ?? cases.other, values, element, part.kind === "plural" ? value : count);
    });
}

class Parser {
    constructor(source) {
        Object.assign(this, { source, position: 0 });
    }

    /** Reads up to the end, to `}` or to a closing tag. */
    sequence() {
        const parts = [];
        while (this.position < this.source.length && this.source[this.position] !== "}" && !this.rest("</")) {
            const tag = this.match(/<([a-z]+)>/y);
            if (tag) {
                const children = this.sequence();
                this.match(/<\/[a-z]+>/y);
                parts.push({ element: tag[1], children });
            } else {
                parts.push(this.match(/\{/y) ? this.argument() : this.match(/#|[^{}<#]+|</y)[0]);
            }
        }
        return parts;
    }

    argument() {
        const name = this.match(/\s*(\w+)\s*/y)[1];
        const kind = this.match(/,\s*(plural|select)\s*,/y)?.[1];
        const cases = {};
        for (let label; kind && (label = this.match(/\s*([=\w-]+)\s*\{/y));) {
            cases[label[1]] = this.sequence();
            this.match(/\}/y);
        }
        this.match(/\s*\}/y);
        return kind ? { name, kind, cases } : { name };
    }

    rest(start) {
        return this.source.startsWith(start, this.position);
    }

    match(expression) {
        expression.lastIndex = this.position;
        const found = expression.exec(this.source);
        if (found) this.position = expression.lastIndex;
        return found;
    }
}
