"""Two captures of a URL compared: the words of their text, the lines of their source, their pages and their pictures."""

import html
import random
import re
import subprocess

import pytest

from support.archives import write_captures
from support.expecting import expect
from support.host import Host
from support.pictures import plain
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

URL = "https://tide.example/"
MAY, JUNE = "20240503101500", "20240612090000"
LONG = "<div style='height: 4000px; background: linear-gradient(red, blue)'>Far</div>"
PAGES = {
    "2024-05-03T10:15:00Z": f"""<!doctype html><title>Tide table</title><style>p {{ margin: 0 }}</style>
<h1>Tides</h1>
<p>High water is at nine in the morning.</p>
<p>Bring <b>old</b>shoes &amp; a net.</p><script>document.title = parent.ran = "ran"; document.body.append(" from a script");</script>
<p>Limpets, crabs and mussels.</p>{LONG}""",
    "2024-06-12T09:00:00Z": f"""<!doctype html><title>Tide table</title><style>p {{ margin: 0 }}</style>
<h1>Tides</h1>
<p>High water is at ten in the morning.</p>
<p>Bring <b>old</b>shoes &amp; a net.</p><script>document.title = parent.ran = "ran"; document.body.append(" from a script");</script>
<p>Limpets and mussels.</p>{LONG}<p>No dogs &lt;img src=x onerror=alert(1)&gt;.\u202e</p><img src="https://elsewhere.example/a.png">""",
}


def capture(path, month, **more):
    return {"url": URL + path, "time": f"2024-{month:02}-01T00:00:00Z", **more}


def large(changed):
    """A page of almost 5 MB, with a few other words."""
    lines = (f"<p>{changed.get(number, number)}: the water comes <b>and</b> goes.</p>" for number in range(105_000))
    return "\n".join(lines).encode()


OTHERS = [
    (capture("map.png", 1, file="map.png"), plain((255, 0, 0))),
    (capture("map.png", 2, file="map.png"), plain((0, 0, 255))),
    (capture("many", 1), b"<p>First, and unchanged"),
    (capture("many", 2, revisitOf="2024-01-01T00:00:00Z"), b""),
    (capture("many", 3, status=404), b"<p>Not here"),
    (capture("many", 4, status=301, location=f"{URL}other"), b"<p>Moved"),
    (capture("many", 5, file="a.html", type="text/html"), "<meta charset=iso-8859-1><p>Première".encode("latin-1")),
    (capture("many", 6, type="text/html; charset=klingon"), "<p>Première".encode()),
    (capture("many", 7, file="a.html", type="text/html; charset=utf-8"), b"<p>Premi\xe8re"),
    (capture("many", 8, file="a.pdf"), b"%PDF-1.4"),
    (capture("many", 9, file="a.html"), b"<p>a" * 1_250_001),
    *[(capture("many", month), f"<script>{month}</script>".encode()) for month in (10, 11)],
    *[(capture("large", month, file="a.html"), large(changed)) for month, changed in [(1, {}), (2, {7: "seven", 99_000: "last"})]],
]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    host = Host(folder)
    pages = [({"url": URL, "time": time}, text.encode()) for time, text in PAGES.items()]
    host.add(write_captures(folder / "tides.wacz", "Tides", pages + OTHERS, lists_text=False))
    with host:
        yield host


def compare(library, page, way, a=MAY, b=JUNE, url=URL):
    page.goto(f"{library.home}/?archive=/archives/tides.wacz#compare={url}&a={a}&b={b}&as={way}")
    expect(page.get_by_role("heading", name="Compare captures", level=1)).to_be_visible()


def said(page, text):
    return page.get_by_role("main").get_by_text(text, exact=True)


def months(library, page, way, a, b, path="many"):
    compare(library, page, way, f"2024{a:02}", f"2024{b:02}", URL + path)


def test_words_of_two_captures(library, browser):
    """They are marked, and listed. Nothing of the archive runs or loads."""
    page = browser.page
    compare(library, page, "text")
    expect(said(page, "3 changes")).to_be_visible()
    text = page.locator(".changed-text")
    expect(text.locator("del")).to_have_text(["nine", "Limpets, crabs"])
    expect(text.locator("ins")).to_have_text(["ten", "Limpets", "No dogs <img src=x onerror=alert(1)>."])
    expect(text).to_contain_text("Bring oldshoes & a net.")
    listed = page.get_by_role("region", name="List of changes").get_by_role("listitem")
    expect(listed).to_have_text(["nine became ten", "Limpets, crabs became Limpets", "Added No dogs <img src=x onerror=alert(1)>."])
    assert not page.evaluate("'ran' in window") and "elsewhere" not in "".join(browser.requests)
    # By keyboard: each step leads to the next change, and after the last one to the first.
    step = page.get_by_role("button", name="Next change")
    for expected in ["nine", "Limpets, crabs", "No dogs", "nine"]:
        step.press("Enter")
        expect(page.locator(".current-change")).to_contain_text(expected)
        expect(page.locator(".current-change")).to_be_focused()
    page.get_by_role("button", name="Swap A and B").press("Enter")
    expect(text.locator("ins")).to_have_text(["nine", "Limpets, crabs"])
    expect(page).to_have_url(re.compile(f"&a={JUNE}&b={MAY}&as=text$"))
    page.go_back()
    expect(text.locator("del")).to_have_text(["nine", "Limpets, crabs"])


def test_lines_of_two_captures(library, page):
    """With their numbers. Characters that can't be seen are named."""
    compare(library, page, "text")
    page.get_by_role("navigation", name="What to compare").get_by_role("link", name="Source", exact=True).press("Enter")
    expect(page.get_by_role("link", name="Source", exact=True)).to_be_focused()
    rows = page.locator(".changed-lines tbody tr")
    expect(rows.filter(has=page.locator("del"))).to_have_text([
        re.compile("^3<p>High water is at nine"), re.compile("^5<p>Limpets, crabs")])
    expect(rows.filter(has=page.locator("ins"))).to_have_text([
        re.compile("^3<p>High water is at ten"), re.compile("^5<p>Limpets and mussels.*⟨U\\+202E⟩</p><img")])
    expect(rows.nth(4)).to_have_text(re.compile("^44<p>Bring"))
    expect(said(page, "2 changes")).to_be_visible()


def test_pages_side_by_side(library, browser):
    """Without their scripts, which could change each other. They scroll together."""
    page = browser.page
    compare(library, page, "pages")
    frames = [page.frame_locator(f'iframe[title^="{side}, "]') for side in "AB"]
    expect(frames[0].locator("p").first).to_have_text("High water is at nine in the morning.")
    expect(frames[1].locator("p").first).to_have_text("High water is at ten in the morning.")
    for frame in frames:
        expect(frame.get_by_text("from a script")).to_have_count(0)
    scroll = lambda side, top: frames[side].locator("html").evaluate("(_, top) => scrollTo(0, top)", top)  # noqa: E731

    def expect_together(side, top):
        """They do so from when both have loaded, so it's repeated with a changed place."""
        places = [top, top + 1]

        def is_followed():
            places.reverse()
            scroll(side, places[0])
            return frames[1 - side].locator("html").evaluate("() => scrollY") in places

        wait_until(is_followed, "the other page scrolls, too")

    for side, top in [(0, 700), (1, 300)]:
        expect_together(side, top)
    page.get_by_role("checkbox", name="Scroll together").uncheck()
    scroll(0, 900)
    page.get_by_role("checkbox", name="Scroll together").check()
    expect_together(0, 1000)


def test_pictures_with_a_slider(library, page):
    months(library, page, "pages", 1, 2, "map.png")
    slider = page.get_by_role("slider", name="Edge between A and B")
    expect(page.get_by_text("A: 40 × 30 pixels")).to_be_visible()
    slider.focus()
    both = page.locator(".both-pictures")
    for key, edge in [("Home", "0%"), ("End", "100%"), ("ArrowLeft", "99%")]:
        page.keyboard.press(key)
        expect(both).to_have_attribute("style", re.compile(rf"--edge: {edge}"))
    months(library, page, "text", 1, 2, "map.png")
    expect(said(page, "A can't be compared this way. Its type is image/png.")).to_be_visible()


# What is said of two captures of one URL, by their months.
SAID = [
    ("text", 1, 2, ["Both files are identical (23 bytes).",
                    "This capture has no content of its own. It repeats the content of 1 January 2024, 00:00:00 UTC."]),
    ("text", 1, 1, ["A and B are the same capture."]),
    ("text", 1, 3, ["The site answered 404.", "1 change"]),
    ("text", 1, 4, [f"This is a redirect (301) to {URL}other"]),
    ("text", 5, 6, ["All words are the same. The files differ.",
                    "B declares an unknown encoding, “klingon”. It's read as utf-8."]),
    ("text", 5, 7, ["Some bytes of B aren't valid utf-8. They're shown as �."]),
    ("text", 10, 11, ["Neither file has text. Scripts may add some."]),
    ("source", 1, 8, ["B can't be compared this way. Its type is application/pdf."]),
    ("source", 1, 9, ["B is larger than 5.0 MB. Its text and source aren't compared."]),
    ("text", 1, 12, ["No capture in Dec 2024. This is the closest."]),
]


def test_captures_are_called_what_they_are(library, page):
    for way, a, b, texts in SAID:
        months(library, page, way, a, b)
        for text in texts:
            expect(said(page, text)).to_be_visible()
    compare(library, page, "text", url=f"{URL}never")
    expect(said(page, "Tides has no capture of this URL.")).to_be_visible()


def test_captures_are_chosen_in_the_calendar(library, page):
    """From the viewer, and in the comparison."""
    page.goto(f"{library.home}/?archive=/archives/tides.wacz#url={URL}&ts={JUNE}")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Tides")
    page.locator(".capture-chip").click()
    page.get_by_role("checkbox", name="Compare what you choose with the capture shown").check()
    page.get_by_role("textbox", name="Date").fill("May 2024")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"&a=202405&b={JUNE}&as=text$"))
    expect(page.locator(".changed-text del").first).to_have_text("nine")
    # No archived script can reach the pages that are compared.
    expect(page.locator("iframe")).to_have_count(0)
    choice = page.get_by_role("button", name="A 3 May 2024, 10:15:00 UTC")
    choice.click()
    page.get_by_role("gridcell", name="3 May 2024: 1 capture").press("ArrowDown")
    page.get_by_role("textbox", name="Date").fill("2024-06")
    page.keyboard.press("Enter")
    expect(said(page, "A and B are the same capture.")).to_be_visible()
    expect(page.get_by_role("button", name="A 12 June 2024, 09:00:00 UTC")).to_be_focused()
    page.go_back()
    page.go_back()
    expect(viewer.read("h1")).to_have_text("Tides")


def test_pages_of_5_megabytes(library, page):
    """They are shown around the changes. More is shown when it's asked for."""
    assert 4_800_000 < len(large({})) < 5_000_000
    months(library, page, "text", 1, 2, "large")
    expect(page.locator(".changed-text del")).to_have_text(["7:", "99000:"])
    expect(page.locator(".changed-text ins")).to_have_text(["seven:", "last:"])
    assert page.locator(".changed-text").evaluate("({ textContent }) => textContent.length") < 2_000
    more = page.locator(".unchanged").nth(1)
    before = int(re.search("[0-9,]+", more.text_content())[0].replace(",", ""))
    more.press("Enter")
    expect(more).to_have_text(f"Show {before - 2_000:,} unchanged words")
    expect(more).to_be_focused()
    months(library, page, "source", 1, 2, "large")
    expect(page.locator(".changed-lines del")).to_have_count(2)


CHANGES = """async (pairs) => {
    const { differences, linesOf } = await import("/app/compare/differ.js");
    const run = (work) => { for (;;) { const { done, value } = work.next(); if (done) return value; } };
    return pairs.map(([one, other]) => run(differences(run(linesOf(one)), run(linesOf(other)))).edits);
}"""


def test_changes_are_those_of_diff(library, page, tmp_path):
    """As few lines as `diff --minimal` finds, and what is between them is the same."""
    seeded = random.Random(7)
    pairs = [["".join(f"{seeded.choice('abcde'[:letters])}\n" for _ in range(seeded.randrange(40))) for _ in "ab"]
             for letters in (1, 2, 3, 5) for _ in range(10)]
    page.goto(library.home)
    for (one, other), edits in zip(pairs, page.evaluate(CHANGES, pairs), strict=True):
        before, after = one.splitlines(), other.splitlines()
        (tmp_path / "a").write_text(one)
        (tmp_path / "b").write_text(other)
        found = subprocess.run(["diff", "--minimal", tmp_path / "a", tmp_path / "b"], capture_output=True, text=True, check=False).stdout
        assert sum(to - start + end - begin for start, to, begin, end in edits) == len(re.findall("^[<>]", found, re.M))
        patched = list(before)
        for start, to, begin, end in reversed(edits):
            patched[start:to] = after[begin:end]
        assert patched == after


REFERENCES = "&amp; &eacute; &Eacute; &nbsp; &hellip; &#8364; &#x20ac; &#128; &#0; &sigmaf; &rarr; &unknown; &frac12; &AElig; &yuml; &lt;b&gt;"
TEXTS = [
    ("<title>A</title><p>b<br>c <i>d</i>e<table><tr><td>f<td>g</table>", "A\nb\nc de\nf g\n"),
    ("a<script>if (1 < 2) '<p>'</script>b<style>p</style><!-- <p>c --><noscript>d</noscript>", "ab"),
    ("a <p title='>' data-x=\"</p>\">b</p  x>c < d <3 </ e>f", "a \nb\nc < d <3 f"),
    ("<pre>a\n  b</pre>\n\n  c\n  d", "a\n  b\nc d"),
    ("a<script>never closed <p>b", "a"),
    ("a<!-- never closed <p>b", "a"),
    ("a<p class='never closed>b", "a"),
    ("<textarea>a<b>c</b>&amp;</textarea><!-->d<!--->e<![CDATA[f]]>", "a<b>c</b>&\nde"),
    (REFERENCES, html.unescape(REFERENCES)),
]
TEXT = """async (documents) => {
    const { textOfHTML } = await import("/app/compare/html-text.js");
    const run = (work) => { for (;;) { const { done, value } = work.next(); if (done) return value; } };
    return documents.map((one) => run(textOfHTML(one, false)));
}"""


def test_text_of_documents(library, page):
    page.goto(library.home)
    assert page.evaluate(TEXT, [text for text, _ in TEXTS]) == [expected for _, expected in TEXTS]
