/** The text of a page that is shown, and where it is. It includes frames and open shadow roots, but no hidden parts. */

const unreadTags = new Set(["script", "style", "noscript", "template", "textarea", "select", "option", "datalist", "title",
    "object", "audio", "video", "canvas"]);
// The characters of scripts that don't separate words are placed one by one.
const unspacedCharacters = "\\u0e00-\\u0eff\\u1100-\\u11ff\\u1780-\\u17ff\\u3000-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff"
    + "\\uff66-\\uffdc\\u{1b000}-\\u{1b16f}\\u{20000}-\\u{3ffff}";
const placedPattern = new RegExp(`[${unspacedCharacters}]\\p{M}*|(?:(?![${unspacedCharacters}])[\\p{L}\\p{N}\\p{Co}\\p{M}\\p{Cf}])+`, "gu");
const longCharactersMin = 2000;
const longPartCharacters = 300;

const styleOf = (element) => element.ownerDocument.defaultView.getComputedStyle(element);

const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

function documentIn(frame) {
    try {
        return frame.contentDocument;
    } catch {
        return null;
    }
}

/** Returns the nodes that are laid out in an element. */
function childrenOf(element) {
    const name = element.localName;
    if (name === "iframe" || name === "frame") return [documentIn(element)?.documentElement].filter(Boolean);
    if (element.shadowRoot) return [...element.shadowRoot.childNodes];
    const assigned = name === "slot" ? element.assignedNodes() : [];
    return assigned.length > 0 ? assigned : [...element.childNodes];
}

/** Whether an element is shown. The browser says no for elements that only their children are laid out of. */
function isShown(element, known) {
    if (!element) return true;
    if (known.has(element)) return known.get(element);
    let shown = element.checkVisibility?.({ visibilityProperty: true }) ?? true;
    if (!shown && styleOf(element).display === "contents") shown = isShown(element.parentElement, known);
    known.set(element, shown);
    return shown;
}

/**
 * @param {Document} page
 * @returns {Generator<Text|null>} the texts in the order of the page; `null` where a line ends, and now and then between
 */
function* textsIn(page) {
    const known = new WeakMap();
    const open = [{ nodes: [page.documentElement], at: 0, isLine: true }];
    while (open.length > 0) {
        const level = open.at(-1);
        const node = level.nodes[level.at];
        level.at += 1;
        if (!node) {
            open.pop();
            if (level.isLine) yield null;
        } else if (node.nodeType === 3) {
            if (isShown(node.parentElement, known)) yield node;
        } else if (node.nodeType === 1 && !unreadTags.has(node.localName)) {
            const { display } = node.localName === "br" ? {} : styleOf(node);
            const isLine = display !== "inline" && display !== "contents";
            if (isLine) yield null;
            if (display !== "none") open.push({ nodes: childrenOf(node), at: 0, isLine });
        }
    }
}

/** Returns the documents of a page and of its frames, and their shadow roots. */
function rootsIn(page) {
    const roots = [page];
    for (const root of roots) {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) roots.push(element.shadowRoot);
            const inner = /^i?frame$/.test(element.localName) && documentIn(element);
            if (inner?.documentElement) roots.push(inner);
        }
    }
    return roots;
}

const frameOf = (view) => {
    try {
        return view.frameElement;
    } catch {
        return null;
    }
};

function intersection(a, b) {
    return { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

const isEmpty = ({ left, top, right, bottom }) => right - left < 1 || bottom - top < 1;

/**
 * Measures where texts are in the window of the replay frame.
 *
 * @param {Window} topView the replay frame's window
 */
function createMeasure(topView) {
    const places = new Map();
    const clips = new Map();

    /** Where a window is in the replay frame's window, and what of it is visible there. */
    function placeOf(view) {
        if (places.has(view)) return places.get(view);
        const { clientWidth: width, clientHeight: height } = view.document.scrollingElement ?? view.document.documentElement;
        let place = { x: 0, y: 0, clip: { left: 0, top: 0, right: width || view.innerWidth, bottom: height || view.innerHeight } };
        const frame = view === topView ? null : frameOf(view);
        if (frame) {
            const outer = placeOf(frame.ownerDocument.defaultView);
            const box = frame.getBoundingClientRect();
            const style = styleOf(frame);
            const x = outer.x + box.left + frame.clientLeft + parseFloat(style.paddingLeft);
            const y = outer.y + box.top + frame.clientTop + parseFloat(style.paddingTop);
            const own = { left: x, top: y, right: x + view.innerWidth, bottom: y + view.innerHeight };
            place = { x, y, clip: intersection(own, intersection(outer.clip, moved(clipOf(parentOf(frame)), outer))) };
        }
        places.set(view, place);
        return place;
    }

    const moved = ({ left, top, right, bottom }, { x, y }) => ({ left: left + x, top: top + y, right: right + x, bottom: bottom + y });

    /** What elements around a text leave visible of it, in its own window. */
    function clipOf(element) {
        if (!element) return { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
        if (clips.has(element)) return clips.get(element);
        const { overflowX, overflowY, position } = styleOf(element);
        const root = element.getRootNode();
        let clip = clipOf(position === "fixed" ? null : parentOf(element));
        const isRoot = element === root.documentElement || element === root.body;
        if (!isRoot && (overflowX !== "visible" || overflowY !== "visible")) clip = intersection(clip, element.getBoundingClientRect());
        clips.set(element, clip);
        return clip;
    }

    /** Whether something that doesn't scroll with the page, such as a sticky header, is in front of a point of a text. */
    function isCovered(node, x, y) {
        const parent = parentOf(node);
        const front = node.getRootNode().elementFromPoint?.(x, y);
        if (!front || front.contains(parent) || parent.contains(front)) return false;
        for (let one = front; one && !one.contains(parent); one = one.parentElement) {
            if (/^(?:fixed|sticky)$/.test(styleOf(one).position)) return true;
        }
        return false;
    }

    function rectangles(node, start, end) {
        const range = node.ownerDocument.createRange();
        range.setStart(node, start);
        range.setEnd(node, end);
        return range.getClientRects();
    }

    /** Finds the first character from which on something holds for all. In a long text, each look takes long. */
    function* first(node, holds) {
        const { length } = node.data;
        let [low, high] = [0, length];
        while (low < high) {
            const middle = (low + high) >> 1;
            const [box] = rectangles(node, middle, Math.min(length, middle + longPartCharacters));
            if (box && holds(box)) high = middle;
            else low = middle + 1;
            yield null;
        }
        return low;
    }

    function* visiblePart(node, clip) {
        const { length } = node.data;
        if (length <= longCharactersMin) return [0, length];
        const start = yield* first(node, (box) => box.bottom >= clip.top);
        const end = yield* first(node, (box) => box.top > clip.bottom);
        return [Math.max(0, start - longPartCharacters), Math.min(length, end + longPartCharacters)];
    }

    return {
        /**
         * @param {Text} node
         * @returns {Generator<number[]|null>} for each visible word, or character of a script that doesn't separate words: its
         *   start and end in the text, and its rectangle. `null` now and then, if the text may be visible
         */
        * places(node) {
            const view = node.isConnected && node.ownerDocument.defaultView;
            if (!view) return;
            const place = placeOf(view);
            const clip = intersection(moved(place.clip, { x: -place.x, y: -place.y }), clipOf(parentOf(node)));
            const range = node.ownerDocument.createRange();
            range.selectNodeContents(node);
            if (isEmpty(intersection(range.getBoundingClientRect(), clip))) return;
            yield null;
            const [from, to] = yield* visiblePart(node, clip);
            for (const { 0: word, index } of node.data.slice(from, to).matchAll(placedPattern)) {
                const [start, end] = [from + index, from + index + word.length];
                for (const one of rectangles(node, start, end)) {
                    const { left, top, right, bottom } = intersection(one, clip);
                    if (isEmpty({ left, top, right, bottom }) || isCovered(node, (left + right) / 2, (top + bottom) / 2)) continue;
                    yield [start, end, left + place.x, top + place.y, right - left, bottom - top];
                }
                yield null;
            }
        },
    };
}

/**
 * Scrolls a text to the middle of all that it scrolls in, unless it's visible.
 *
 * @param {Window} topView
 * @param {Text} node
 * @param {number} start
 * @param {number} end
 */
function scrollToText(topView, node, start, end) {
    const range = node.ownerDocument.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    let target = range;
    let element = parentOf(node);
    for (let view = node.ownerDocument.defaultView; view;) {
        for (; element; element = parentOf(element)) {
            const { overflowX, overflowY } = styleOf(element);
            const scrolls = /auto|scroll|hidden/.test(`${overflowX} ${overflowY}`) && element !== view.document.scrollingElement
                && element !== view.document.body;
            if (!scrolls || element.scrollHeight <= element.clientHeight && element.scrollWidth <= element.clientWidth) continue;
            const { left, top } = element.getBoundingClientRect();
            scroll(element, target, { left, top, right: left + element.clientWidth, bottom: top + element.clientHeight });
        }
        scroll(view, target, { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight });
        if (view === topView) return;
        target = frameOf(view);
        if (!target) return;
        element = parentOf(target);
        view = target.ownerDocument.defaultView;
    }
}

function scroll(box, target, visible) {
    const { left, top, right, bottom } = target.getBoundingClientRect();
    const height = visible.bottom - visible.top;
    const y = top >= visible.top + height / 8 && bottom <= visible.bottom - height / 8 ? 0 : (top + Math.min(bottom, top + height / 2)) / 2 - visible.top - height / 2;
    const x = left >= visible.left && left < visible.right ? 0 : left - visible.left - 16;
    if (x || y) box.scrollBy({ left: x, top: y, behavior: "instant" });
}
