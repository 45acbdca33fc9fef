"""Choosing among the captures of one URL: the chip with previous and next, the calendar, and times without a capture."""

import json
import re
from collections import Counter
from datetime import datetime, timedelta

import pytest
from writers.captures import WARC, index_lines, page_entry
from writers.wacz import Package, page_list

from support.archives import write_captures
from support.expecting import expect
from support.host import Host
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium

HOME = "https://many.example/"
# 100,000 work as well, but a debug build takes half a minute to import them.
COUNT = 5_000
FIRST = datetime(2001, 1, 1, 5)
STEP = timedelta(hours=5, minutes=1)
MIDDLE = COUNT // 2
# These have a record. The others are only in the index.
READABLE = [0, MIDDLE - 1, MIDDLE, MIDDLE + 1, COUNT - 1]
SLOW = "https://slow.example/"
# The content changes with the captures of 3 May 2003 and 12 June 2003.
SLOW_TIMES = {
    "2003-01-05T08:00:00Z": "first", "2003-05-03T10:00:00Z": "second", "2003-06-11T10:00:00Z": "second", "2003-06-12T09:00:00Z": "third",
    "2003-06-12T10:00:00Z": "third", "2003-06-12T11:00:00Z": "third", "2003-06-20T10:00:00Z": "third", "2003-06-20T11:00:00Z": "third",
}


def time_of(number):
    return FIRST + number * STEP


def timestamp(number):
    return f"{time_of(number):%Y%m%d%H%M%S}"


def write_many(path):
    """Thousands of captures of one URL."""
    warc = WARC("many.warc.gz", "2024-01-01T00:00:00Z")
    captures = [({"url": HOME, "time": f"{time_of(number):%Y-%m-%dT%H:%M:%SZ}"},
        f"<!doctype html><title>Capture</title><h1>{number}</h1>".encode()) for number in READABLE]
    for capture, body in captures:
        warc.add_capture(capture, body)
    lines = {line.split(b" ")[1].decode(): line for line in index_lines([warc])}
    key, _, fields = next(iter(lines.values())).decode().split(" ", 2)
    unreadable = json.dumps({**json.loads(fields), "offset": "9"})
    for number in range(COUNT):
        lines.setdefault(timestamp(number), f"{key} {timestamp(number)} {unreadable}\n".encode())
    with Package(path, "Many captures", main_page=(HOME, captures[-1][0]["time"])) as package:
        package.add(f"archive/{warc.name}", warc.bytes())
        package.add("indexes/index.cdx", b"".join(lines[time] for time in sorted(lines)))
        package.add("pages/pages.jsonl", page_list([page_entry(*captures[-1])]))
    return path


def write_slow(path, title, times=SLOW_TIMES):
    """The capture of 11 June is a revisit."""
    captures = [({"url": SLOW, "time": time, **({"revisitOf": "2003-05-03T10:00:00Z"} if time.startswith("2003-06-11") else {})},
        b"" if time.startswith("2003-06-11") else f"<!doctype html><title>Slow</title><h1>{text}</h1>".encode()) for time, text in times.items()]
    return write_captures(path, title, captures)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    host = Host(folder)
    host.add(write_many(folder / "many.wacz"))
    host.add(write_slow(folder / "slow.wacz", "Slow"))
    host.add(write_captures(folder / "loop.wacz", "Loop", [
        ({"url": "https://loop.example/", "time": "2003-01-05T08:00:01Z"}, b"<!doctype html><title>Loop</title><h1>Loop</h1>"),
        ({"url": "http://loop.example/", "time": "2003-01-05T08:00:00Z", "status": 301, "location": "https://loop.example/"}, b"")]))
    late = {time: text for time, text in SLOW_TIMES.items() if time >= "2003-05" and time < "2003-06-11"}
    host.add(write_slow(folder / "other.wacz", "Other", {**late, "2004-02-29T12:00:00Z": "fourth"}))
    with host:
        host.create_collection("Both", "slow", "other")
        yield host


def open_capture(library, page, target, url, time, heading):
    page.goto(f"{library.home}/?{target}#url={url}&ts={time}")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text(heading)
    expect(page.locator(".capture-time time").first).to_be_visible()
    return viewer


def chip(page, text):
    return page.locator(".capture-chip").filter(has_text=re.compile(f"{text}$"))


def cell(page, name):
    return page.get_by_role("gridcell", name=name, exact=True)


def test_counts_of_thousands_of_captures(library, browser):
    """The chip, the years, the days and the list of a day have the numbers of the index. Only a part of it is read."""
    page = browser.page
    viewer = open_capture(library, page, "archive=/archives/many.wacz", HOME, timestamp(MIDDLE), str(MIDDLE))
    expect(chip(page, f"{MIDDLE + 1:,} of {COUNT:,}")).to_be_visible()
    assert not [url for url in browser.requests if re.search("histogram|captures.css", url)]
    page.get_by_role("button", name="Next capture").press("Enter")
    expect(viewer.read("h1")).to_have_text(str(MIDDLE + 1))
    expect(chip(page, f"{MIDDLE + 2:,} of {COUNT:,}")).to_be_visible()
    # The button keeps the focus for the next step.
    expect(page.get_by_role("button", name="Next capture")).to_be_focused()
    page.get_by_role("button", name="Previous capture").click()
    expect(viewer.read("h1")).to_have_text(str(MIDDLE))
    expect(page).to_have_url(re.compile(f"&ts={timestamp(MIDDLE)}$"))

    years = Counter(f"{time_of(number):%Y}" for number in range(COUNT))
    days = Counter(f"{time_of(number):%Y%m%d}" for number in range(COUNT))
    page.locator(".capture-chip").click()
    bars = page.get_by_role("group", name="Years").get_by_role("button")
    expect(bars).to_have_count(len(years))
    assert [bar.get_attribute("aria-label") for bar in bars.all()] == [f"{year}: {n:,} captures" for year, n in years.items()]
    day = time_of(MIDDLE)
    expect(page.get_by_role("grid", name=f"{day:%B %Y}")).to_be_visible()
    shown = {each.get_attribute("data-day"): each.get_attribute("aria-label") for each in page.locator("[data-day]").all()}
    assert shown == {each: f"{datetime.strptime(each, '%Y%m%d'):%-d %B %Y}: {days[each]} captures" for each in shown}
    assert len(shown) >= 28
    rows = page.locator(".day-list time")
    expect(rows).to_have_text([f"{time_of(number):%H:%M:%S}" for number in range(COUNT) if time_of(number).date() == day.date()])
    expect(page.locator('.day-list [aria-current="true"]')).to_have_text(f"{day:%H:%M:%S}shown")
    page.get_by_role("textbox", name="Date").fill("2001-01-01 05:00")
    page.keyboard.press("Enter")
    expect(viewer.read("h1")).to_have_text("0")
    expect(chip(page, f"1 of {COUNT:,}")).to_be_visible()
    expect(page.get_by_role("button", name="Previous capture")).to_be_disabled()
    # The focus is in the page, as after a link.
    expect(page.locator('iframe[title="Archived page"]')).to_be_focused()


def test_calendar_by_keyboard(library, page):
    """Nothing opens until Enter is pressed, and Escape leads back to the chip."""
    viewer = open_capture(library, page, "archive=/archives/slow.wacz", SLOW, "20030612090000", "third")
    address = page.url
    page.locator(".capture-chip").focus()
    page.keyboard.press("c")

    def expect_day(name):
        expect(cell(page, name)).to_be_focused()
        expect(page.locator('[role="grid"] [tabindex="0"]')).to_have_count(1)

    expect_day("12 June 2003: 3 captures")
    for key, name in [
        ("ArrowLeft", "11 June 2003: 1 capture"), ("ArrowUp", "4 June 2003: no captures"), ("ArrowRight", "5 June 2003: no captures"),
        ("End", "8 June 2003: no captures"), ("Home", "2 June 2003: no captures"), ("PageUp", "2 May 2003: no captures"),
        ("ArrowRight", "3 May 2003: 1 capture"), ("Shift+PageDown", "3 May 2003: 1 capture"), ("Control+Home", "5 January 2003: 1 capture"),
        ("Control+End", "20 June 2003: 2 captures"), ("ArrowUp", "13 June 2003: no captures"), ("ArrowLeft", "12 June 2003: 3 captures")]:
        page.keyboard.press(key)
        expect_day(name)
    # Of several captures, one is chosen in the list. Its arrow keys lead on to other days.
    page.keyboard.press("Enter")
    rows = page.locator(".day-list")
    expect(rows.get_by_role("link").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("heading", name="11 June 2003: 1 capture")).to_be_visible()
    expect(rows.get_by_role("link", name="10:00:00 unchanged since 3 May 2003")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows.get_by_role("link", name="09:00:00")).to_be_focused()
    assert page.url == address
    page.keyboard.press("Escape")
    expect(page.get_by_role("grid")).to_have_count(0)
    expect(page.locator(".capture-chip")).to_be_focused()
    page.keyboard.press("c")
    expect_day("12 June 2003: 3 captures")
    page.keyboard.press("ArrowLeft")
    expect_day("11 June 2003: 1 capture")
    page.keyboard.press("Enter")
    expect(viewer.read("h1")).to_have_text("second")
    expect(page).to_have_url(re.compile("&ts=20030611100000$"))
    # From inside the page, and from the toolbar.
    expect(page.locator('iframe[title="Archived page"]')).to_be_focused()
    page.keyboard.press("Alt+PageDown")
    expect(chip(page, "4 of 8")).to_be_visible()
    page.locator(".capture-chip").focus()
    page.keyboard.press("Alt+PageUp")
    expect(chip(page, "3 of 8")).to_be_visible()
    expect(page.locator(".capture-chip")).to_be_focused()


def test_repeated_captures_are_grouped(library, page):
    """Those with equal digests, and revisits."""
    open_capture(library, page, "archive=/archives/slow.wacz", SLOW, "20030612090000", "third")
    page.locator(".capture-chip").click()
    group = page.get_by_role("button", name="2 captures, unchanged since 09:00:00")
    rows = page.locator(".day-list a:visible")
    note = page.get_by_text("“Unchanged”: the index states the same digest as for the capture before.")
    expect(rows).to_have_text(["09:00:00shown"])
    expect(note).to_be_visible()
    group.click()
    expect(rows).to_have_text(["09:00:00shown", "10:00:00", "11:00:00"])
    cell(page, "20 June 2003: 2 captures").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="2 captures, unchanged since 12 Jun 2003")).to_be_focused()
    cell(page, "11 June 2003: 1 capture").focus()
    page.keyboard.press("Control+Home")
    expect(rows).to_have_text(["08:00:00"])
    expect(note).to_be_hidden()
    page.get_by_role("button", name="2003: 8 captures")
    for _ in range(5):
        page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="11 June 2003: 1 capture")).to_be_visible()
    expect(rows).to_have_text(["10:00:00unchanged since 3 May 2003"])


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_time_without_a_capture(library, page, mode):
    """A link with a time keeps it in the address until the user moves on. Going back shows it again."""
    viewer = open_capture(library, page, f"archive=/archives/slow.wacz&replay={mode}", SLOW, "19950101", "first")
    hint = page.get_by_text("No capture on 1 Jan 1995; showing the closest, 5 Jan 2003.", exact=True)
    asked = re.compile("&ts=19950101$")
    expect(hint).to_be_visible()
    expect(page).to_have_url(asked)
    expect(chip(page, "5 Jan 2003 · 1 of 8")).to_be_visible()
    page.get_by_role("button", name="Reload this page").click()
    expect(page.locator(".toolbar.busy")).to_have_count(0)
    expect(hint).to_be_visible()
    expect(page).to_have_url(asked)
    page.get_by_role("button", name="Next capture").click()
    expect(viewer.read("h1")).to_have_text("second")
    expect(page).to_have_url(re.compile("&ts=20030503100000$"))
    expect(hint).to_be_hidden()
    page.go_back()
    expect(viewer.read("h1")).to_have_text("first")
    expect(hint).to_be_visible()
    expect(page).to_have_url(asked)
    # A day that is typed has the same hint. A month with a capture has none.
    page.locator(".capture-chip").click()
    field = page.get_by_role("textbox", name="Date")
    field.fill("3/5/2003")
    field.press("Enter")
    expect(page.get_by_text("Type a date such as 3 May 2024, May 2024 or 2024-05-03.")).to_be_visible()
    field.fill("4 May 2003")
    field.press("Enter")
    expect(page.get_by_text("No capture on 4 May 2003; showing the closest, 3 May 2003.")).to_be_visible()
    expect(page).to_have_url(re.compile("&ts=20030504$"))
    page.locator(".capture-chip").click()
    field.fill("June 2003")
    field.press("Enter")
    expect(viewer.read("h1")).to_have_text("third")
    expect(page).to_have_url(re.compile("&ts=20030620110000$"))
    expect(page.locator(".hint-bar")).to_be_hidden()


def test_captures_of_a_collection(library, page):
    """Copies in several archives are one capture."""
    viewer = open_capture(library, page, "collection=both", SLOW, "20040229", "fourth")
    expect(chip(page, "29 Feb 2004 · 9 of 9")).to_be_visible()
    page.locator(".capture-chip").click()
    expect(page.get_by_role("group", name="Years").get_by_role("button")).to_have_count(2)
    page.get_by_role("button", name="2003: 8 captures").click()
    expect(page.get_by_role("grid", name="January 2003")).to_be_visible()
    page.get_by_role("button", name="Next month").click()
    expect(page.get_by_role("grid", name="February 2003")).to_be_visible()
    cell(page, "1 February 2003: no captures").click()
    expect(viewer.read("h1")).to_have_text("first")
    expect(page.get_by_text("No capture on 1 Feb 2003; showing the closest, 5 Jan 2003.")).to_be_visible()


def test_capture_that_cant_be_shown_is_named(library, page):
    """A redirect to the URL itself: choosing it has no other effect."""
    open_capture(library, page, "archive=/archives/loop.wacz", "https://loop.example/", "20030105080001", "Loop")
    expect(chip(page, "5 Jan 2003, 08:00 UTC · 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Previous capture").click()
    expect(page.get_by_text("The capture of 5 January 2003, 08:00:00 UTC can't be shown: it redirects to its own URL or has no content. "
        "Showing the closest, 5 January 2003, 08:00:01 UTC.")).to_be_visible()
    expect(chip(page, "2 of 2")).to_be_visible()


TYPED = {
    "2024": "2024", "2024-05": "202405", "2024-5-3": "20240503", "20240503": "20240503", "2024/05/03": "20240503",
    "3 May 2024": "20240503", "May 3, 2024": "20240503", "3rd of may 2024": "20240503", "Sept 2024": "202409", "29 February 2024": "20240229",
    "20240503101500": "20240503101500", "2024-05-03T10:15:00Z": "20240503101500", "2024-05-03 10:15": "20240503101500",
    "": None, "3/5/2024": None, "29 February 2023": None, "2024-13": None, "May": None, "3 4 May 2024": None, "tomorrow": None,
    "2024-05-03 25:00": None, "3 May 2024 x": None,
}


def test_typed_dates(library, page):
    page.goto(library.home)
    read = page.evaluate("""async (texts) => {
        const { readDate } = await import("/app/core/typed-dates.js");
        return texts.map(readDate);
    }""", list(TYPED))
    assert dict(zip(TYPED, read, strict=True)) == TYPED


def test_links_and_urls_with_and_without_a_slash(host, page, tmp_path):
    """A link without the final slash opens the URL with it, so that relative links work."""
    species = b'<!doctype html><title>Species</title><h1>Species</h1><a href="crab.html">Crab</a>'
    host.add(write_captures(tmp_path / "slash.wacz", "Slash", [
        ({"url": HOME}, b'<!doctype html><title>Home</title><h1>Home</h1><a href="/species">Species</a>'),
        ({"url": f"{HOME}species/"}, species), ({"url": f"{HOME}species/crab.html"}, b"<h1>Crab</h1>")]))
    page.goto(f"{host.home}/?archive=/archives/slash.wacz")
    viewer = Viewer(page)
    viewer.follow("Species")
    expect(viewer.address).to_have_value(f"{HOME}species/")
    viewer.follow("Crab")
    expect(viewer.read("h1")).to_have_text("Crab")
    # Until a page has arrived, its URL can replace a selected one while another is typed.
    expect(viewer.address).to_have_value(f"{HOME}species/crab.html")
    viewer.open_url(f"{HOME}species")
    expect(viewer.read("h1")).to_have_text("Species")
    expect(viewer.address).to_have_value(f"{HOME}species/")
    hint = page.get_by_text(f"Showing {HOME}species/ (the archive has it with a slash).")
    expect(hint).to_be_visible()
    # The page reports its URL once more. The viewer's title shows that the report has arrived.
    viewer.read("h1").evaluate("() => { history.replaceState(null, '', location.href); document.title = 'Again'; }")
    expect(page).to_have_title(re.compile("Again"))
    expect(hint).to_be_visible()
