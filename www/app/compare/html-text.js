/**
 * Extracts the text of an HTML document. Nothing is parsed by the browser, and the time grows with the size, so a hostile document costs
 * no more than another one of its size.
 */

const tagsOfSlice = 5000;
const blocks = new Set(("address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    + "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol optgroup option p plaintext pre search section "
    + "select summary table tbody textarea tfoot thead title tr ul xmp").split(" "));
const cells = new Set(["td", "th", "img", "input", "button"]);
// Readers don't see what is in these.
const left = new Set(["iframe", "noembed", "noframes", "noscript", "script", "style", "template"]);
// Between their tags, there are no others.
const whole = new Set([...left, "textarea", "title", "xmp"]);
const ends = Object.fromEntries(Array.from(whole, (name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")]));
const nameAt = /[a-z][^\s/>]*/iy;
const endOrValue = /[>=]/g;
const valueAt = /\s*(["']?)/y;

/**
 * @param {string} html
 * @param {boolean} isXML whether elements can close themselves
 * @returns {Generator<void, string>} lines of text, with single spaces outside of preformatted text
 */
export function* textOfHTML(html, isXML) {
    const pieces = [];
    let last = "\n";
    let isPreformatted = false;

    function add(raw, isCharacterData = true) {
        let text = isCharacterData ? withoutReferences(raw) : raw;
        if (!isPreformatted) text = text.replace(/[ \t\r\n\f]+/g, " ");
        if (text[0] === " " && /\s/.test(last)) text = text.slice(1);
        if (text === "") return;
        pieces.push(text);
        last = text.at(-1);
    }

    function separate(name) {
        const separator = blocks.has(name) ? "\n" : " ";
        if (last === "\n" || last === separator) return;
        pieces.push(separator);
        last = separator;
    }

    for (let at = 0, count = 1; at < html.length; count++) {
        const open = html.indexOf("<", at);
        add(html.slice(at, open < 0 ? html.length : open));
        if (open < 0) break;
        const { name, isEnd, end } = tagAt(html, open);
        at = end;
        if (name === undefined) add("<");
        else if (blocks.has(name) || cells.has(name)) separate(name);
        if (name === "pre") isPreformatted = !isEnd;
        if (whole.has(name) && !isEnd && !(isXML && html[end - 2] === "/")) {
            at = startOfEnd(html, name, end);
            if (!left.has(name)) add(html.slice(end, at), name !== "xmp");
        }
        if (count % tagsOfSlice === 0) yield;
    }
    return pieces.join("");
}

/**
 * Reads a tag, a comment or a declaration.
 *
 * @returns {{name?: string, isEnd: boolean, end: number}} `name`: empty for what isn't a tag, `undefined` if the character is text
 */
function tagAt(html, open) {
    const after = (text, from) => {
        const index = html.indexOf(text, from);
        return index < 0 ? html.length : index + text.length;
    };
    if (html.startsWith("<!--", open)) return { name: "", isEnd: false, end: after("-->", open + 2) };
    const isEnd = html[open + 1] === "/";
    nameAt.lastIndex = open + (isEnd ? 2 : 1);
    const [name] = nameAt.exec(html) ?? [];
    if (!name) return isEnd || /[!?]/.test(html[open + 1] ?? "") ? { name: "", isEnd, end: after(">", open) } : { isEnd, end: open + 1 };
    endOrValue.lastIndex = nameAt.lastIndex;
    for (;;) {
        const found = endOrValue.exec(html);
        if (!found) return { name: "", isEnd, end: html.length };
        if (found[0] === ">") return { name: name.toLowerCase(), isEnd, end: endOrValue.lastIndex };
        valueAt.lastIndex = endOrValue.lastIndex;
        const [, quote] = valueAt.exec(html);
        endOrValue.lastIndex = quote ? after(quote, valueAt.lastIndex) : valueAt.lastIndex;
    }
}

function startOfEnd(html, name, from) {
    ends[name].lastIndex = from;
    return ends[name].exec(html)?.index ?? html.length;
}

// The names of HTML 4. Others, which are rare, stay as they are written.
const names = new Map();
const nameFrom = (first, list) => list.split(" ").forEach((name, index) => names.set(name, first + index));
nameFrom(160, "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot "
    + "cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave "
    + "Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute "
    + "acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml "
    + "divide oslash ugrave uacute ucirc uuml yacute thorn yuml");
nameFrom(913, "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho");
nameFrom(931, "Sigma Tau Upsilon Phi Chi Psi Omega");
nameFrom(945, "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega");
nameFrom(8592, "larr uarr rarr darr harr");
for (const [name, code] of Object.entries({ quot: 34, amp: 38, apos: 39, lt: 60, gt: 62, OElig: 338, oelig: 339, Scaron: 352, scaron: 353, Yuml: 376,
    fnof: 402, circ: 710, tilde: 732, ensp: 8194, emsp: 8195, thinsp: 8201, zwnj: 8204, zwj: 8205, lrm: 8206, rlm: 8207, ndash: 8211, mdash: 8212,
    lsquo: 8216, rsquo: 8217, sbquo: 8218, ldquo: 8220, rdquo: 8221, bdquo: 8222, dagger: 8224, Dagger: 8225, bull: 8226, hellip: 8230, permil: 8240,
    prime: 8242, Prime: 8243, lsaquo: 8249, rsaquo: 8250, oline: 8254, frasl: 8260, euro: 8364, trade: 8482, minus: 8722, infin: 8734, asymp: 8776,
    ne: 8800, le: 8804, ge: 8805 })) names.set(name, code);

const reference = /&(?:#(?:x([\da-f]{1,8})|(\d{1,9}));?|([a-z][a-z\d]{1,8});)/gi;
const latin = new TextDecoder("windows-1252");

/** Replaces character references. */
const withoutReferences = (text) => !text.includes("&") ? text : text.replace(reference, (written, hexadecimal, decimal, name) => {
    if (name) return names.has(name) ? String.fromCodePoint(names.get(name)) : written;
    const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    if (code >= 0x80 && code < 0xa0) return latin.decode(Uint8Array.of(code));
    return code === 0 || code > 0x10ffff || code >= 0xd800 && code < 0xe000 ? "\ufffd" : String.fromCodePoint(code);
});
