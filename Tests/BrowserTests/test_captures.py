"""Choosing among many captures of one URL."""

import re
from datetime import datetime, timedelta

from support.archives import write_captures
from support.expecting import expect
from support.viewer import Viewer

HOME = "https://many.example/"
DAYS = 1000
FIRST = datetime(2011, 1, 1)


def timestamp(day):
    return (FIRST + timedelta(days=day)).strftime("%Y%m%d%H%M%S")


def page_of(day):
    return f'<!doctype html><title>Day {day}</title><h1>Day {day}</h1><a href="/species">Species</a>'.encode()


def test_every_capture_of_a_thousand_is_reached(host, browser, tmp_path):
    """For a time in 2025, the last capture is shown. The list reaches the first, the last and one in the middle."""
    captures = [({"url": HOME, "time": f"{FIRST + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"}, page_of(day))
        for day in range(DAYS)]
    species = b'<!doctype html><title>Species</title><h1>Species</h1><a href="crab.html">Crab</a>'
    captures += [({"url": f"{HOME}species/"}, species), ({"url": f"{HOME}species/crab.html"}, b"<h1>Crab</h1>")]
    host.add(write_captures(tmp_path / "many.wacz", "Many days", captures))
    page = browser.page
    page.goto(f"{host.home}/?archive=/archives/many.wacz#url={HOME}&ts=20250101000000")
    viewer = Viewer(page)
    times = page.get_by_role("combobox", name=f"Capture time, {DAYS:,} captures")

    def expect_day(day):
        expect(viewer.read("h1")).to_have_text(f"Day {day}")
        expect(page).to_have_url(re.compile(f"&ts={timestamp(day)}$"))
        expect(times).to_have_value(timestamp(day))

    def load_part(part, day):
        """Loads another part of the list, which contains that day. The shown day stays selected."""
        selected = times.input_value()
        times.select_option(value=part)
        expect(times.locator(f'option[value="{timestamp(day)}"]')).to_have_count(1)
        expect(times).to_have_value(selected)

    expect_day(999)
    expect(page.get_by_role("button", name="Next capture")).to_be_disabled()
    page.get_by_role("button", name="Previous capture").click()
    expect_day(998)
    load_part("first", 0)
    times.select_option(value=timestamp(0))
    expect_day(0)
    expect(page.get_by_role("button", name="Previous capture")).to_be_disabled()
    for last in (150, 250, 350, 450, 550):
        load_part("later", last)
    times.select_option(value=timestamp(512))
    expect_day(512)
    times.focus()
    page.keyboard.press("ArrowDown")
    expect_day(513)
    load_part("latest", 999)
    load_part("earlier", 850)
    load_part("latest", 999)
    times.select_option(value=timestamp(999))
    expect_day(999)

    # A link without the final slash opens the URL with it, so that relative links work.
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
