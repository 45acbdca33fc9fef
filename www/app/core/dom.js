/** Builds elements from text. Nothing here parses markup. */

// Control characters except tab and line feed, and line and paragraph separators.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
// Characters that reorder the surrounding text (UAX #9).
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// Characters that are invisible or look like a space. U+2800 is a Braille pattern without dots.
const invisible = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const spokenAttributes = new Set(["alt", "aria-label", "title"]);

/** Removes control characters. All text that is shown passes through here: much of it comes from archives. */
const readable = (text) => String(text).replace(controls, " ").replace(bidiControls, "");

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

const shapes = {
    back: "M15 5l-7 7 7 7",
    forward: "M9 5l7 7-7 7",
    reload: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
    print: "M7 9V4h10v5M7 17H4v-8h16v8h-3M7 14h10v6H7z",
    library: "M4 6h16M4 6v3h16V6M6 9v10h12V9M10 13h4",
    file: "M7 3h7l4 4v14H7zM14 3v4h4",
    edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
    save: "M12 4v11M7 10l5 5 5-5M5 20h14",
    check: "M4 13l5 5L20 6",
    warning: "M12 3L22 21H2zM12 10v5M12 17.5v1",
    cross: "M5 5l14 14M19 5L5 19",
};

/**
 * Returns an icon, hidden from assistive technology. The control around it needs its own label.
 *
 * @param {keyof typeof shapes} name
 * @returns {SVGElement}
 */
export function icon(name) {
    const space = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(space, "svg");
    drawing.setAttribute("viewBox", "0 0 24 24");
    drawing.setAttribute("aria-hidden", "true");
    drawing.setAttribute("class", "icon");
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", shapes[name]);
    drawing.append(path);
    return drawing;
}

/**
 * Announces a text to screen readers.
 *
 * @param {string} text
 */
export function announce(text) {
    const region = document.getElementById("announcements");
    const line = readable(text);
    if (region.textContent !== line) region.textContent = line;
}

/**
 * Returns untrusted text as one line of limited length, without characters that reorder the surrounding text.
 *
 * @param {unknown} text
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function plain(text, charactersMax = 200) {
    const line = readable(String(text ?? "").slice(0, charactersMax * 4)).replace(/[\t\n]/g, " ").trim();
    return shortened(line, charactersMax);
}

/**
 * Returns an untrusted URL as text to read, as in the address bars of browsers: letters of other scripts are decoded, and
 * invisible characters are percent-encoded.
 *
 * @param {string} url
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function plainURL(url, charactersMax = 4000) {
    // Only characters that aren't ASCII: the others can have a meaning in URLs.
    const start = url.slice(0, charactersMax * 12).replace(/(?:%[89A-F][\dA-F])+/gi, decoded);
    return exactURL(start, charactersMax);
}

/**
 * Returns an untrusted URL as text to copy. Invisible characters are percent-encoded.
 *
 * @param {string} url
 * @param {number} [charactersMax]
 * @returns {string}
 */
export function exactURL(url, charactersMax = 4000) {
    return shortened(url.slice(0, charactersMax * 4).replace(invisible, encodeURIComponent), charactersMax);
}

function decoded(escapes) {
    try {
        return decodeURIComponent(escapes);
    } catch {
        return escapes;
    }
}

function shortened(text, charactersMax) {
    const characters = Array.from(text);
    return characters.length > charactersMax ? characters.slice(0, charactersMax - 1).join("") + "…" : text;
}

/**
 * Returns untrusted text like {@link plain}, but keeps its lines.
 *
 * @param {unknown} text
 * @param {number} [linesMax]
 * @returns {string}
 */
export function plainLines(text, linesMax = 2000) {
    return String(text ?? "").split(/\r\n?|\n/).slice(0, linesMax).map((line) => plain(line, 4000)).join("\n").trim();
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
