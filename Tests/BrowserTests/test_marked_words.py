"""The words of a search are marked in the page that it found: which words, where, and how one gets from one to the next."""

import re
from urllib.parse import quote

import pytest

from support.accessibility import view_problems
from support.archives import write_archive, write_captures
from support.expecting import expect
from support.host import Host
from support.journey import TITLE
from support.marks import MARKS, STATUS, address
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

PAGE = "https://words.example/"
SEARCH = 'limpet strasse "sea star" claw* 東京 สวัสดี -barnacle title:crab site:words.example after:2019'

# Each <i> is what a mark covers. Everything else stays unmarked.
WORDS = """<!doctype html><meta charset="utf-8"><title>Words</title><style>i { font-style: normal } iframe { height: 60px }</style>
<h1>A <i>limpet</i></h1>
<p><i>LIMPET</i>, <i>Límpet</i>, <i>li&#769;mpet</i>, <i>lim<b>pet</b></i>, <i>lim&shy;pet</i>; limpets, unlimpet, limpet2, lim pet</p>
<p><i>Straße</i> <i>STRASSE</i> <i>stra<span>ß</span>e</i>; Strassen</p>
<p>The <i>sea
    <u>star</u></i>, the “<i>Sea”–Star</i>; sea of one star, star sea</p>
<p><i>claw</i>, <i>Clawed</i>; declaw</p>
<p>天気は<i>東京</i>都、東 京、京都</p>
<p>ท่าน<i>สวัสดี</i>ครับ</p>
<p>barnacle, crab, words.example</p>
<p style="display: none">limpet</p><p style="visibility: hidden">limpet</p><details><summary>More</summary><p>limpet</p></details>
<iframe srcdoc="<style>i { font-style: normal }</style><p>In a frame: <i>limpet</i>"></iframe>
<div id="host"></div>
<script>
document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML = "<style>i { font-style: normal }</style><p>In a shadow: <i>limpet</i></p>";
addEventListener("load", () => setTimeout(() => {
    document.body.insertAdjacentHTML("beforeend", "<p>Late: <i>limpet</i></p>");
    const late = document.createElement("div");
    document.body.append(late);
    late.attachShadow({ mode: "open" }).innerHTML = "<style>i { font-style: normal }</style><p>Late in a shadow: <i>limpet</i></p>";
    window.before = document.documentElement.outerHTML;
    window.changes = 0;
    new MutationObserver((all) => { window.changes += all.length; })
        .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
}, 700));
</script>"""

# The rectangles of all <i>, in the window of the page.
EXPECTED = """() => {
    const found = [];
    const look = (root, x, y) => {
        for (const one of root.querySelectorAll("i")) {
            const { left, top, right, bottom } = one.getBoundingClientRect();
            if (one.checkVisibility()) found.push([left + x, top + y, right + x, bottom + y]);
        }
        for (const one of root.querySelectorAll("*")) {
            if (one.shadowRoot) look(one.shadowRoot, x, y);
            if (one.localName !== "iframe") continue;
            const { left, top } = one.getBoundingClientRect();
            look(one.contentDocument, x + left + one.clientLeft, y + top + one.clientTop);
        }
    };
    look(document, 0, 0);
    return found;
}"""


def differences(expected, marks):
    """Returns what isn't marked, and marks that nothing explains. A mark is a little larger than its text."""
    def fits(box, mark):
        return all(abs(a - b) <= 5 for a, b in zip(box, mark, strict=True))

    missing = [box for box in expected if not any(fits(box, mark) for mark in marks)]
    return missing, [mark for mark in marks if not any(fits(box, mark) for box in expected)]


@pytest.fixture(params=["names", "ports"])
def words_host(request, tmp_path):
    host = Host(tmp_path, origins=request.param)
    host.add(write_archive(tmp_path / "words.wacz", "Words", {PAGE: WORDS}))
    with host:
        yield host


@pytest.mark.few("chromium names lookups", "firefox names ranges", "webkit ports lookups", "chromium ports ranges")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_words_are_marked_where_they_are(words_host, engine, mode):
    """Also in frames, shadow roots, and what a script adds later. The page's document doesn't change."""
    engine.go(address(words_host, "words", PAGE, SEARCH, mode))
    engine.resize(1200, 1000)
    engine.wait_for("() => window.changes !== undefined", what="the page has added its last text", in_page=True)
    last = None

    def is_marked():
        nonlocal last
        expected, marks = engine.run_in_page(EXPECTED), engine.run(MARKS)
        last = (expected, marks, *differences(expected, marks))
        return len(expected) >= 18 and len(marks) == len(expected) and last[2:] == ([], [])

    try:
        wait_until(is_marked, "exactly the words of the search are marked")
    except AssertionError as error:
        raise AssertionError(f"{error}: {last}") from None
    engine.wait_for(STATUS, f"1 of {len(last[0])}", what="all marks are counted")
    same, changes = engine.run_in_page("() => [document.documentElement.outerHTML === before, changes]")
    assert same and changes == 0
    assert engine.run_in_page("() => [getSelection().toString(), CSS.highlights?.size ?? 0]") == ["", 0]


FILLER = "".join(f"<p>Line {number} of a long page, with nothing to find.</p>" for number in range(120))
LONG = f"""<!doctype html><title>Long</title><body>{FILLER}<p id="first">The first limpet.</p>{FILLER}<p id="second">The second limpet.</p>
{FILLER}<div id="box" style="overflow: auto; height: 200px">{FILLER}<p id="third">The third limpet.</p></div>{FILLER}
<a href="https://long.example/other">Other</a><input aria-label="Field">"""
OTHER = f"""<!doctype html><title>Other page</title><body><h1>Other</h1>{FILLER}<p id='other'>Another limpet.</p>
<a href="https://long.example/none">None</a>"""
NONE = """<!doctype html><title>None</title><h1>None</h1><p>Barnacles.</p><a href="https://long.example/other">Other</a>"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    host = Host(folder)
    host.add(FIXTURES / "sample.wacz")
    host.add(write_archive(folder / "long.wacz", "Long", {"https://long.example/": LONG, "https://long.example/other": OTHER,
        "https://long.example/none": NONE}))
    with host:
        yield host.wait_until_indexed()


@pytest.fixture
def page(open_browser, shared_browser):
    return open_browser(among=shared_browser).page


def status(page):
    return page.locator(".marks-status")


def expect_in_view(viewer, selector):
    """The paragraph is in the window, and the current mark is drawn over it."""
    inside = "element => { const { top, bottom } = element.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"
    wait_until(lambda: viewer.read(selector).evaluate(inside), f"{selector} is in view")

    # Read at once, because marks are redrawn while the page scrolls.
    current = "() => document.querySelector('.word-mark.current')?.getBoundingClientRect().top ?? null"

    def is_over():
        top, paragraph = viewer.page.evaluate(current), viewer.read(selector).bounding_box()
        return top is not None and paragraph["y"] - 5 <= top <= paragraph["y"] + paragraph["height"]

    wait_until(is_over, f"the current mark is in {selector}")


def test_buttons_lead_from_mark_to_mark(library, page):
    """The first is scrolled to. After the last comes the first. A reload keeps the marks, and the last button ends them."""
    page.goto(address(library, "long", "https://long.example/", "limpet"))
    viewer = Viewer(page)
    expect(status(page)).to_have_text("1 of 3")
    expect_in_view(viewer, "#first")
    expect(page.locator("#announcements")).to_have_text("1 of 3")
    for name, text, place in [("Next", "2 of 3", "#second"), ("Next", "3 of 3", "#third"), ("Next", "1 of 3", "#first"),
            ("Previous", "3 of 3", "#third"), ("Previous", "2 of 3", "#second")]:
        page.get_by_role("button", name=f"{name} marked word", exact=True).click()
        expect(status(page)).to_have_text(text)
        expect(page.locator("#announcements")).to_have_text(text)
        expect_in_view(viewer, place)
    page.reload()
    expect(status(page)).to_have_text("1 of 3")
    expect_in_view(viewer, "#first")
    page.get_by_role("button", name="Turn marks off", exact=True).click()
    expect(page.locator(".marks-bar")).to_be_hidden()
    expect(page.locator(".word-mark")).to_have_count(0)
    assert "words=" not in page.url
    page.reload()
    expect(viewer.read("#first")).to_be_attached()
    expect(page.locator(".marks-bar")).to_be_hidden()


def test_marks_stay_from_page_to_page(library, page):
    """Another page isn't scrolled by itself. Back shows the page before with its marks. A page without the words has no bar."""
    page.goto(address(library, "long", "https://long.example/", "limpet"))
    viewer = Viewer(page)
    expect(status(page)).to_have_text("1 of 3")
    viewer.follow("Other")
    expect(viewer.read("h1")).to_have_text("Other")
    expect(status(page)).to_have_text("1 marked")
    expect(page).to_have_url(re.compile(r"other&ts=\d+&words=limpet$"))
    assert viewer.read("h1").evaluate("() => scrollY") == 0
    page.get_by_role("button", name="Next marked word", exact=True).click()
    expect(status(page)).to_have_text("1 of 1")
    expect_in_view(viewer, "#other")
    page.go_back()
    expect(viewer.read("#first")).to_be_attached()
    expect(status(page)).to_have_text("3 marked")
    page.keyboard.press("Shift+F6")
    page.keyboard.press("Escape")
    expect(page.locator(".marks-bar")).to_be_hidden()
    page.go_forward()
    expect(viewer.read("h1")).to_have_text("Other")
    expect(status(page)).to_have_text("1 marked")
    viewer.follow("None")
    expect(viewer.read("h1")).to_have_text("None")
    expect(page.locator(".marks-bar")).to_be_hidden()
    viewer.follow("Other")
    expect(viewer.read("h1")).to_have_text("Other")
    expect(page.locator(".marks-bar")).to_be_visible()
    expect(status(page)).to_have_text("1 marked")


def test_keys(library, page):
    """Shift+F6 leads from the page to the bar and back, `n` from mark to mark, and Escape turns the marks off."""
    page.goto(address(library, "long", "https://long.example/", "limpet"))
    viewer = Viewer(page)
    expect(status(page)).to_have_text("1 of 3")
    frame = page.locator('iframe[title="Archived page"]')
    expect(frame).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.press("Shift+F6")
    after = page.get_by_role("button", name="Next marked word", exact=True)
    expect(after).to_be_focused()
    expect(status(page)).to_have_text("1 of 3")
    page.keyboard.press("n")
    expect(status(page)).to_have_text("2 of 3")
    page.keyboard.press("Shift+N")
    expect(status(page)).to_have_text("1 of 3")
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("2 of 3")
    page.keyboard.press("Shift+F6")
    expect(frame).to_be_focused()
    viewer.address.focus()
    page.keyboard.press("n")
    expect(status(page)).to_have_text("2 of 3")
    page.keyboard.press("Escape")
    expect(page.locator(".marks-bar")).to_be_visible()
    frame.focus()
    wait_until(lambda: viewer.archived_frame.evaluate("document.hasFocus()"), "the archived page has the focus")
    page.keyboard.press("Escape")
    expect(page.locator(".marks-bar")).to_be_hidden()
    expect(frame).to_be_focused()
    page.keyboard.press("Shift+F6")
    expect(viewer.address).to_be_focused()


def test_a_hit_opens_with_its_words(library, page):
    """In the same tab and in a new one. Back leads to the results."""
    page.goto(f"{library.home}/#search={quote('the limpet teeth -barnacle type:html')}&in=sample")
    hit = page.get_by_role("link", name=f"Common limpet - {TITLE}", exact=True)
    expect(hit).to_have_attribute("href", re.compile("&words=limpet%20teeth"))
    with page.context.expect_page() as opened:
        hit.click(modifiers=["Control"])
    expect(opened.value.locator(".marks-bar")).to_contain_text("Words: limpet, teeth")
    expect(status(opened.value)).to_have_text(re.compile(r"^1 of \d+$"))
    opened.value.close()
    hit.click()
    expect(page.locator(".marks-bar")).to_contain_text("Words: limpet, teeth")
    expect(status(page)).to_have_text(re.compile(r"^1 of \d+$"))
    assert page.locator(".word-mark").count() >= 2
    page.go_back()
    expect(hit).to_be_visible()


def test_words_that_are_not_shown(library, page):
    """It says so, also for a hidden part. A panel has no bar."""
    page.goto(address(library, "long", "https://long.example/", "quokka"))
    expect(status(page)).to_have_text("These words aren't visible on this page.")
    expect(page.get_by_role("button", name="Next marked word", exact=True)).to_have_count(0)
    page.goto(address(library, "long", "https://long.example/missing", "limpet"))
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    expect(page.locator(".marks-bar")).to_be_hidden()


def test_text_file(library, page, tmp_path):
    """A document without the engine's script."""
    library.add(write_captures(tmp_path / "plain.wacz", "Plain", [
        ({"url": "https://plain.example/a.txt", "type": "text/plain"}, b"A limpet.\n" * 3)]))
    page.goto(address(library, "plain", "https://plain.example/a.txt", "limpet"))
    expect(status(page)).to_have_text("1 of 3")
    expect(page.locator(".word-mark")).to_have_count(3)


def test_many_words(library, page, tmp_path):
    """At most 1,000 are marked."""
    library.add(write_archive(tmp_path / "many.wacz", "Many", {"https://many.example/": "<title>Many</title><p>" + "limpet claw " * 1001}))
    page.goto(address(library, "many", "https://many.example/", "limpet"))
    expect(status(page)).to_have_text("1 of 1,000+")
    page.get_by_role("button", name="Previous marked word", exact=True).click()
    expect(status(page)).to_have_text("1,000 of 1,000+")
    expect(page.locator(".word-mark.current")).to_have_count(1)


def test_large_text(library, page, tmp_path):
    """3 MB in one text, with the word at its end. It's read in parts, and the word is scrolled to."""
    line = "Barnacles live on rocks between the tides, and graze at night. Forty more characters of text are here.\n"
    library.add(write_captures(tmp_path / "large.wacz", "Large", [
        ({"url": "https://large.example/", "type": "text/plain"}, (line * 30_000 + "A limpet.\n").encode())]))
    page.add_init_script("""if (window === top) {
        window.parts = [];
        addEventListener("message", ({ data }) => { if (data?.replayhost === "text") parts.push(data.text.length); });
    }""")
    page.goto(address(library, "large", "https://large.example/", "limpet"))
    expect(status(page)).to_have_text("1 of 1")
    expect(page.locator(".word-mark.current")).to_have_count(1)
    parts = page.evaluate("() => parts")
    assert max(parts) <= 1 << 16 and sum(parts) >= len(line) * 30_000
    scrolled = Viewer(page).archived_frame.evaluate("() => [scrollY, document.documentElement.scrollHeight - innerHeight]")
    assert scrolled[0] > scrolled[1] * .9


MATCHES = [
    ("limpet", "Limpet LIMPETS (limpet) límpet ﬁlimpet", ["Limpet", "limpet", "límpet"]),
    ("strasse", "Straße, STRASSE, Strassen", ["Straße", "STRASSE"]),
    ("елка", "ёлка Ёлка елка", ["ёлка", "Ёлка", "елка"]),
    ("oeuvre", "œuvre Œuvre", ["œuvre", "Œuvre"]),
    ("file", "ﬁle", ["ﬁle"]),
    ("سلام", "سَلَامٌ", ["سَلَامٌ"]),
    ("हिन्दी", "हिन्दी हिन्द", ["हिन्दी"]),
    ("cor*", "coral, cord; accord", ["coral", "cord"]),
    ('"sea star"', "sea star sea, (star) starsea sea\nstar", ["sea star", "sea, (star", "sea\nstar"]),
    ('"coral re"*', "coral reef, coral rock", ["coral reef"]),
    ("sea-star", "sea star; sea", ["sea star"]),
    ("sea star \"sea star\"", "sea star fish", ["sea star"]),
    ("東京", "東京都の天気、東 京", ["東京"]),
    ("京", "東京都", ["京"]),
    ("天気", "東京の天気と天気", ["天気", "天気"]),
    ("東京2020", "東京2020年", ["東京2020"]),
    ("바다", "바다이야기", ["바다"]),
    ('"바다 이야기"', "바다 이야기 바다이야기", ["바다 이야기"]),
    ("coral OR sponge", "coral or sponge", ["coral", "sponge"]),
    ("coral -reef title:fish site:a.example type:pdf lang:de in:x collection:y after:2019 before:2020", "coral reef fish a example pdf de", ["coral"]),
    ("https://www.reef.example/a", "see reef.example/a", ["reef.example/a"]),
    ("a_b", "a_b a b", ["a_b", "a b"]),
    ('"unclosed phrase', "unclosed phrase", ["unclosed phrase"]),
    ("", "nothing", []), ("-only", "only", []), ("!!! \"\" *", "a ! b", []),
]
MATCH = """async (rows) => {
    const { termsOf } = await import("/app/core/search-words.js");
    const { createMatcher } = await import("/app/viewer/word-matcher.js");
    return rows.map(([search, text]) => [text.length, 1, 3].map((size) => {
        const matcher = createMatcher(termsOf(search), 1000);
        for (let at = 0; at < text.length; at += size) matcher.add(text.slice(at, at + size), at + size >= text.length);
        return matcher.marks.map(({ start, end }) => text.slice(start, end));
    }));
}"""


def test_words_match_as_in_a_search(library, page):
    """However the text is divided."""
    page.goto(library.home)
    found = page.evaluate(MATCH, [row[:2] for row in MATCHES])
    for (search, text, wanted), results in zip(MATCHES, found, strict=True):
        assert results == [wanted] * 3, f"{search} in {text}"


FORMS = [
    ("limpet", [{"text": "Two "}, {"text": "limpets", "match": True}], 'limpet limpets'),
    ("limpet", [{"text": "Limpet", "match": True}, {"text": "LIMPETS", "match": True}, {"text": "limpets", "match": True}], "limpet LIMPETS"),
    ("limp*", [{"text": "limpets", "match": True}], "limp*"),
    ('"sea star" -crab site:a.example', [{"text": "sea", "match": True}, {"text": "sea stars", "match": True}], '"sea star" "sea stars"'),
    ('"unclosed', [{"text": 'a "quoted" form', "match": True}], 'unclosed "a quoted form"'),
    ("title:limpet", [], ""),
    ('"OR" coral', [], '"OR" coral'),
    ("How the limpet how*", [], "limpet how*"),
]


def test_forms_in_the_snippet_are_marked_too(library, page):
    page.goto(library.home)
    made = page.evaluate("""async (rows) => {
        const { wordsToMark } = await import("/app/core/search-words.js");
        return rows.map(([search, snippet]) => wordsToMark(search, snippet, ["how", "the"]));
    }""", [row[:2] for row in FORMS])
    assert made == [wanted for *_, wanted in FORMS]


def test_words_are_limited(library, page):
    """64 words or phrases, and 8 kB."""
    page.goto(library.home)
    counts = page.evaluate("""async () => {
        const { termsOf, wordsToMark } = await import("/app/core/search-words.js");
        const many = Array.from({ length: 100 }, (_, number) => `word${number}`).join(" ");
        const snippet = Array.from({ length: 100 }, (_, number) => ({ text: `form${number}`, match: true }));
        return [termsOf(many).length, termsOf(wordsToMark("limpet", snippet, [])).length, termsOf("a".repeat(10_000))[0].text.length];
    }""")
    assert counts == [64, 64, 8192]


def test_bar_fits_each_window(library, page):
    page.goto(address(library, "long", "https://long.example/", "limpet claw barnacle \"sea star\" anemone"))
    expect(status(page)).to_have_text("1 of 3")
    assert view_problems(page, "marked-words") == []
