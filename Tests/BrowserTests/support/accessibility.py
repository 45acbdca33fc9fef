"""Checks of what is shown against WCAG 2.2: by axe, and for what axe can't see."""

import os
from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

from .expecting import expect
from .places import SCREENSHOTS


def violations(page, judges_contrast=True):
    """Returns axe's violations of any impact in the app's document, without archived pages. Targets are at least 24 px."""
    options = {"resultTypes": ["violations"], "iframes": False, "rules": {
        "target-size": {"enabled": True}, "color-contrast": {"enabled": judges_contrast}}}
    results = Axe().run(page, context={"exclude": [["iframe"]]}, options=options)
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:200]} {node['failureSummary']}"
        for one in results.response["violations"] for node in one["nodes"][:3]
    ]


# Text that ends in an ellipsis is whole where its link leads, and what scrolls can be reached.
LOOK = """() => {
    const problems = [];
    const styles = new Map();
    const styleOf = (element) => styles.get(element) ?? styles.set(element, getComputedStyle(element)).get(element);
    const ancestors = function* (element) {
        for (let one = element; one; one = one.parentElement) yield one;
    };
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true })
        && [...ancestors(element)].every((one) => styleOf(one).clipPath === "none");
    const layer = [...document.querySelectorAll("dialog[open], :popover-open")].at(-1);
    const nameOf = (element) => `${element.localName}.${element.className?.baseVal ?? element.className} “${
        (element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 40)}”`;
    if (document.documentElement.scrollWidth > innerWidth) problems.push(`the page is ${document.documentElement.scrollWidth} px wide`);

    function lookForCut(text) {
        const range = document.createRange();
        range.selectNodeContents(text);
        const rectangles = [...range.getClientRects()].filter(({ width }) => width > 0);
        const bounds = rectangles.length === 0 ? null : { left: Math.min(...rectangles.map(({ left }) => left)),
            right: Math.max(...rectangles.map(({ right }) => right)), top: Math.min(...rectangles.map(({ top }) => top)),
            bottom: Math.max(...rectangles.map(({ bottom }) => bottom)) };
        if (!bounds) return;
        let [scrollsX, scrollsY] = [false, false];
        for (const one of ancestors(text.parentElement)) {
            const style = styleOf(one);
            if (style.textOverflow === "ellipsis" && style.overflowX !== "visible") return;
            if (style.webkitLineClamp !== "none") return;
            scrollsX ||= ["auto", "scroll"].includes(style.overflowX);
            scrollsY ||= ["auto", "scroll"].includes(style.overflowY);
            const box = one.getBoundingClientRect();
            // The lines of a font can be higher than the text's own.
            const margin = parseFloat(style.fontSize) / 4 + 1;
            const clips = (overflow) => overflow === "hidden" || overflow === "clip";
            if (!scrollsX && clips(style.overflowX) && (bounds.right > box.right + 1 || bounds.left < box.left - 1)) {
                problems.push(`cut at the side by ${nameOf(one)}: ${text.data.trim().slice(0, 60)}`);
                return;
            }
            if (!scrollsY && clips(style.overflowY) && (bounds.bottom > box.bottom + margin || bounds.top < box.top - margin)) {
                problems.push(`cut at the bottom by ${nameOf(one)}: ${text.data.trim().slice(0, 60)}`);
                return;
            }
            if (style.position === "fixed") break;
        }
        if (!scrollsX && (bounds.left < -1 || bounds.right > innerWidth + 1)) {
            problems.push(`outside of the window: ${text.data.trim().slice(0, 60)}`);
        }
    }

    const root = layer ?? document.body;
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (text.data.trim() && !text.parentElement.closest("option, noscript, script") && isSeen(text.parentElement)) lookForCut(text);
    }

    const isOver = (element) => [...ancestors(element)].some((one) => ["fixed", "sticky"].includes(styleOf(one).position));
    // A link in text has a rectangle for each line, of which the last ones can be cut off.
    function seenBoxes(element) {
        const boxes = [...element.getClientRects()].map(({ left, right, top, bottom }) => ({ left, right, top, bottom }));
        for (const one of ancestors(element.parentElement)) {
            if (styleOf(one).overflowX === "visible") continue;
            const { left, right, top, bottom } = one.getBoundingClientRect();
            for (const box of boxes) Object.assign(box, { left: Math.max(left, box.left), right: Math.min(right, box.right),
                top: Math.max(top, box.top), bottom: Math.min(bottom, box.bottom) });
        }
        return boxes;
    }
    const controls = [...root.querySelectorAll("a[href], button, input, select, textarea, summary")]
        .filter((one) => isSeen(one) && !isOver(one)).map((element) => [element, seenBoxes(element)]);
    const overlap = (a, b) => [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
    controls.forEach(([one, boxes], index) => {
        for (const [other, others] of controls.slice(index + 1)) {
            if (one.contains(other) || other.contains(one)) continue;
            const found = boxes.flatMap((a) => others.map((b) => overlap(a, b))).find(([width, height]) => width > 2 && height > 2);
            if (found) problems.push(`${nameOf(one)} overlaps ${nameOf(other)} by ${found.map(Math.round).join(" × ")} px`);
        }
    });
    return problems;
}"""


def layout_problems(page):
    """Returns what scrolls sideways, what is cut without a way to see the rest, and controls that overlap."""
    # Lists are laid out again in the frame after the window has changed.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(LOOK)


STOP = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const problems = [];
    // The browser's own outline is "auto".
    const isOutlined = outlineStyle === "auto" || outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    if (!isOutlined && element.localName !== "iframe") problems.push("has no outline of 2 px");
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const [from, to, above, below] = [Math.max(left, 0), Math.min(right, innerWidth), Math.max(top, 0), Math.min(bottom, innerHeight)];
    const points = [.1, .5, .9].flatMap((x) => [.1, .5, .9].map((y) => [from + (to - from) * x, above + (below - above) * y]));
    const isSeen = to > from && below > above && points.some(([x, y]) => {
        const hit = document.elementFromPoint(x, y);
        return hit && (element.contains(hit) || hit.contains(element));
    });
    if (!isSeen) problems.push("is hidden");
    if (element.tabIndex > 0) problems.push("has a place of its own in the order");
    element.dataset.stop ??= String(document.querySelectorAll("[data-stop]").length);
    return [element.dataset.stop, problems.map((problem) =>
        `${element.localName}.${element.className} “${(element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 40)}” ${problem}`)];
}"""


# From an archived page, Tab leads through its links first.
LEAVE_FRAME = """() => {
    if (document.activeElement?.localName !== "iframe") return;
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
}"""


def focus_problems(page, stops=60):
    """Presses Tab through the view. Returns the stops whose focus isn't visible, or that something else covers."""
    problems, seen, ends = [], set(), 0
    page.evaluate(LEAVE_FRAME)
    for _ in range(stops):
        page.keyboard.press("Tab")
        stop = page.evaluate(STOP)
        # After the last stop, the browser's own controls have the focus.
        ends += stop is None
        if ends > 1 or stop and stop[0] in seen:
            break
        if stop:
            seen.add(stop[0])
            problems += stop[1]
    assert seen, "Tab reaches nothing"
    return problems


# The windows in which each view is looked at. 320 by 256 is a window of 1,280 by 1,024 at 400 %.
WINDOWS = [(360, 740), (768, 1024), (1600, 900), (320, 256)]
# Where axe looks, which takes a second each time. With CASES=all it looks at all.
CHECKED = [(360, "dark"), (1600, "light")]
LARGE_TEXT = 32


def view_problems(page, name):
    """Looks at a view in each window, with large text and with forced colours. Returns what's wrong.

    With CASES=all, it also keeps pictures for people.
    """
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    problems = []

    def look(where, checks):
        if looks_at_all():
            page.screenshot(path=SCREENSHOTS / f"{where}.png")
        problems.extend(f"{where}: {problem}" for check in checks for problem in check(page))

    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ["light", "dark"]:
            checks = [layout_problems] if scheme == "light" else []
            if (width, scheme) in CHECKED or looks_at_all():
                checks += [violations, motions]
            if checks:
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                look(f"{name}-{width}-{scheme}", checks)
    page.set_viewport_size({"width": 1280, "height": 900})
    with text_size(page, LARGE_TEXT):
        look(f"{name}-large-text", [layout_problems, *([violations] if looks_at_all() else [])])
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="light", forced_colors="active")
    look(f"{name}-forced-colours", [focus_problems, *([violations_with_forced_colours] if looks_at_all() else [])])
    page.emulate_media(forced_colors="none")
    return problems


def violations_with_forced_colours(page):
    """The system chooses the colours of text, and scripts get those of the style sheet."""
    return violations(page, judges_contrast=False)


def looks_at_all():
    return os.environ.get("CASES") == "all"


def motions(page):
    """Returns the animations and transitions that run, which are none if the system asks for less motion."""
    return page.evaluate("() => document.getAnimations().map((one) => `${one.animationName ?? one.transitionProperty} moves`)")


@contextmanager
def text_size(page, pixels):
    """Sets the size of text in the browser's settings. 16 px is the usual one."""
    session = page.context.new_cdp_session(page)

    def set_size(size):
        session.send("Page.setFontSizes", {"fontSizes": {"standard": size, "fixed": size * 13 // 16}})
        expect(page.locator("html")).to_have_css("font-size", f"{size}px")

    set_size(pixels)
    try:
        yield
    finally:
        set_size(16)
        session.detach()
