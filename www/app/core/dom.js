/** Builds elements from text. Nothing here parses markup. */

// Control characters except tab and line feed, and line and paragraph separators.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
// Characters that reorder the surrounding text (UAX #9), and deprecated ones like them.
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g;
// Spaces of all kinds, also Braille without dots and Hangul fillers, with what is invisible between them.
const blanks = /[\p{Zs}\t\n\u2800\u3164\uffa0][\p{Zs}\t\n\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]+|[\u115f\u1160]{3,}/gu;
const spokenAttributes = new Set(["alt", "aria-label", "title"]);

const clusterCharactersMax = 10;
const clusterPart = new RegExp(`.{1,${clusterCharactersMax}}`, "gsu");
const clusters = new Intl.Segmenter("en", { granularity: "grapheme" });
// Only these can be in longer clusters.
const mayBeLong = new RegExp(`[^\\0-\u02ff\\s]{${clusterCharactersMax + 1}}`, "u");

/**
 * Lets a line break within what browsers show as one character. Otherwise a letter with hundreds of marks, or hundreds of Hangul
 * parts, would be wider than the window. Characters of languages and emoji are shorter.
 */
function breakClusters(text) {
    if (!mayBeLong.test(text)) return text;
    return Array.from(clusters.segment(text), ({ segment }) => segment.match(clusterPart)?.join("\u200b") ?? segment).join("");
}

const marksMax = 4;
// A letter's marks, as far as there may be too many.
const markRun = new RegExp(`\\p{M}[\\p{M}\\p{Cf}\\p{Default_Ignorable_Code_Point}]{${marksMax},}`, "gu");
const loneMarks = /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u;
const isInvisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
// Points within Hebrew letters, medial consonants of Myanmar, and subjoined ones of Tibetan. They count separately.
const isInLetter = /[\u05bc\u05c1\u05c2\u103d\u103e\u0f8d-\u0fbc]/;

/**
 * Limits the marks above and below a letter, which could otherwise be drawn over other lines. No language needs more.
 *
 * @param {string} text
 * @param {(mark: string) => string} [surplus] returns what stands for each mark above the limit
 * @returns {string}
 */
export function withFewMarks(text, surplus = () => "") {
    return text.replace(markRun, (run) => {
        const counts = [0, 0, 0];
        return Array.from(run, (mark) => {
            // Each of these has its own place beside the letter.
            if (/\p{Mc}/u.test(mark)) return mark;
            const kind = isInLetter.test(mark) ? 1 : isInvisible.test(mark) ? 2 : 0;
            counts[kind] += 1;
            return counts[kind] > marksMax ? surplus(mark) : mark;
        }).join("");
    });
}

/**
 * Removes what could be taken for more than text: control characters, what reorders lines, wide gaps, and stacks of marks. All text
 * that is shown passes through here: much of it comes from archives.
 */
const readable = (text) => breakClusters(withFewMarks(String(text).replace(controls, " ").replace(bidiControls, "")
    // Indents of commands stay.
    .replace(blanks, (run) => (/^[ \t\n]+$/.test(run) ? run : " "))));

/**
 * Creates an element. Control characters are removed from its text and from attributes that screen readers speak.
 *
 * @param {string} tag
 * @param {Object<string, any>} [properties] `class`, `text`, `on: {event: handler}`; `true` sets an empty attribute,
 *   `false`, `null` and `undefined` set none; anything else becomes an attribute.
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {HTMLElement}
 */
export function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (name === "text") {
            element.textContent = readable(value);
        } else if (name === "on") {
            for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
        } else {
            const text = value === true ? "" : String(value);
            element.setAttribute(name, spokenAttributes.has(name) ? readable(text) : text);
        }
    }
    const shown = children.filter((child) => child !== null && child !== undefined && child !== false);
    element.append(...shown.map((child) => (child instanceof Node ? child : readable(child))));
    return element;
}

const styleSheets = new Map();

/**
 * Adds a style sheet of the app, once.
 *
 * @param {string} path in the app's folder
 * @returns {Promise<void>} settles when it applies
 */
export function loadStyles(path) {
    if (!styleSheets.has(path)) {
        styleSheets.set(path, new Promise((resolve, reject) => {
            const link = make("link", { rel: "stylesheet", href: `/app/${path}`, on: { load: resolve, error: () => {
                // The next attempt loads it again.
                link.remove();
                styleSheets.delete(path);
                reject(new Error(`the style sheet ${path} can't be loaded`));
            } } });
            document.head.append(link);
        }));
    }
    return styleSheets.get(path);
}

/**
 * Returns a drawing of lines, hidden from assistive technology. The control around it needs its own label.
 *
 * @param {string} lines SVG path data, 24 × 24
 * @returns {SVGElement}
 */
export function drawing(lines) {
    const space = "http://www.w3.org/2000/svg";
    const element = document.createElementNS(space, "svg");
    element.setAttribute("viewBox", "0 0 24 24");
    element.setAttribute("aria-hidden", "true");
    element.setAttribute("class", "icon");
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", lines);
    element.append(path);
    return element;
}

/**
 * Sets a text that differs from the present one. Screen readers and selections don't notice the rest.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/**
 * Announces a text to screen readers.
 *
 * @param {string} text
 */
export function announce(text) {
    setText(document.getElementById("announcements"), readable(text));
}

/**
 * Returns untrusted text as one line of limited length, with single spaces, for a line of the app. It's isolated by `foreign`, or
 * by a `dir` of the element that it's in.
 *
 * @param {unknown} text
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function plain(text, charactersMax = 200) {
    const line = readable(String(text ?? "").slice(0, charactersMax * 4)).replace(/[\t\n ]+/g, " ").trim();
    // A mark without a letter would be drawn on what is before it.
    return shortened(line.replace(loneMarks, ""), charactersMax);
}

/**
 * Returns untrusted text as a part of a line. Its direction doesn't change that of the rest of the line.
 *
 * @param {unknown} text as for `plain`
 * @param {number} [charactersMax]
 * @returns {HTMLElement|string} empty if the text is
 */
export function foreign(text, charactersMax) {
    const line = plain(text, charactersMax);
    return line && make("bdi", { text: line });
}

/**
 * @param {string} text
 * @param {number} charactersMax
 * @returns {string}
 */
export function shortened(text, charactersMax) {
    const characters = Array.from(text);
    return characters.length > charactersMax ? characters.slice(0, charactersMax - 1).join("") + "…" : text;
}

/**
 * Replaces the children of a list. Elements that stay aren't moved, so they keep the focus.
 *
 * @param {HTMLElement} list
 * @param {HTMLElement[]} elements
 */
export function arrange(list, elements) {
    const wanted = new Set(elements);
    for (const child of [...list.children]) {
        if (!wanted.has(child)) child.remove();
    }
    elements.forEach((element, index) => {
        if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
    });
}
