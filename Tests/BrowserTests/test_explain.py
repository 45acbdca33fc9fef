"""The panel for a URL that can't be shown: why, and that what it offers opens. docs/json.md lists the reasons."""

import json
import os
import re

import pytest

from support.accessibility import violations
from support.archives import PIXEL, TIME, name_requirement, write_archive, write_captures
from support.expecting import expect
from support.places import FIXTURES, SCREENSHOTS
from support.viewer import Viewer
from writers.captures import WARC
from writers.wacz import Package, page_list

pytestmark = pytest.mark.one_chromium

SITE = "https://reef.example"
UNCAPTURED = "This page isn't in"


def html(title):
    return f"<!doctype html><title>{title}</title><h1>{title}</h1>"


def page_of(url, title, **capture):
    return {"url": url, **capture}, html(title).encode()


def open_url(host, page, url, archive="reef", kind="archive", timestamp=""):
    where = f"archive=/archives/{archive}.wacz" if kind == "archive" else f"collection={archive}"
    page.goto(f"{host.home}/?{where}#url={url}&ts={timestamp}")
    return Viewer(page)


def reason(page, code):
    return page.locator(f'.reason[data-code="{code}"]')


def expect_reason(page, code, text):
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    expect(reason(page, code)).to_contain_text(text)
    expect(page.get_by_text("Looking in your library")).to_have_count(0)


def expect_opens(viewer, code, link, title):
    """The link of a reason opens the page with this title."""
    reason(viewer.page, code).get_by_role("link", name=link).click()
    expect(viewer.read("h1")).to_have_text(title)
    expect(viewer.page.locator(".panel")).to_have_count(0)


def test_other_archive(host, page, tmp_path):
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {f"{SITE}/": html("Home")}))
    years = [page_of(f"{SITE}/coral", f"Coral {year}", time=f"{year}-05-03T10:00:00Z") for year in (2019, 2023)]
    host.add(write_captures(tmp_path / "watch.wacz", "Reef Watch", years))
    viewer = open_url(host, page, f"{SITE}/coral", timestamp="2019")
    expect_reason(page, "other-archive", "It's in another archive in your library.")
    expect(reason(page, "other-archive").get_by_role("listitem")).to_have_text("Open in “Reef Watch” 2 captures 2019–2023")
    expect_opens(viewer, "other-archive", "Open in “Reef Watch”", "Coral 2019")
    expect(page).to_have_url(re.compile("/archives/watch.wacz"))
    page.go_back()
    expect_reason(page, "other-archive", "It's in another archive in your library.")


def test_other_form(host, page, tmp_path):
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {f"{SITE}/docs/index.html": html("Docs")}))
    viewer = open_url(host, page, f"{SITE}/docs/")
    expect_reason(page, "other-form", "It's in this archive under another form of the URL.")
    expect_opens(viewer, "other-form", f"{SITE}/docs/index.html", "Docs")


def test_other_query(host, page, tmp_path):
    pages = {f"{SITE}/list?page={number}": html(f"Page {number}") for number in (1, 2)}
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", pages))
    viewer = open_url(host, page, f"{SITE}/list")
    expect_reason(page, "other-query", "It's in this archive only with other queries, 2 of them.")
    expect_opens(viewer, "other-query", f"{SITE}/list?page=2", "Page 2")


def test_post_only(host, page, tmp_path):
    """The link of a page asks with GET."""
    home = b'<!doctype html><title>Home</title><h1>Home</h1><a href="/search">Search</a>'
    answer = page_of(f"{SITE}/search", "Answer", form="q=coral", file="answer.html")
    host.add(write_captures(tmp_path / "reef.wacz", "Reef", [({"url": f"{SITE}/"}, home), answer]))
    viewer = open_url(host, page, f"{SITE}/")
    viewer.follow("Search")
    expect_reason(page, "post-only", "It's in this archive only as the answer to a form or a script.")
    expect_opens(viewer, "post-only", f"{SITE}/search", "Answer")


def test_lost_redirect(host, page, tmp_path):
    captures = [page_of(f"{SITE}/", "Home"), page_of(f"{SITE}/old", "", status=301, location="https://new.example/home"),
        page_of(f"{SITE}/old", "Old", time="2020-01-02T00:00:00Z")]
    host.add(write_captures(tmp_path / "reef.wacz", "Reef", captures))
    viewer = open_url(host, page, f"{SITE}/old")
    expect_reason(page, "redirect-lost", f"{SITE}/old was captured only as a redirect to this page.")
    expect(page.locator(".panel p.url")).to_have_text("https://new.example/home")
    expect(reason(page, "site-not-captured")).to_have_text("Nothing from new.example is in this archive.")
    expect_opens(viewer, "redirect-lost", f"{SITE}/old", "Old")


def test_unreadable_record(host, page):
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    open_url(host, page, "https://leaf.example/", "index-past-the-end")
    expect(page.get_by_role("heading", name="This capture can't be shown")).to_be_visible()
    expect(reason(page, "unreadable")).to_contain_text("can't be read")
    expect(reason(page, "unreadable")).to_contain_text("replayhost info index-past-the-end")


def test_missing_requirement(host, page, tmp_path):
    """A revisit whose payload is in an archive that this one names."""
    seen = {}
    first = page_of(f"{SITE}/", "Home", time="2020-01-02T00:00:00Z")
    write_captures(tmp_path / "base.wacz", "Base", [first], seen)
    again = {"url": f"{SITE}/", "time": TIME, "revisitOf": first[0]["time"]}
    path = write_captures(tmp_path / "reef.wacz", "Reef", [(again, b"")], seen)
    name_requirement(path, "base.wacz", "ab" * 32)
    host.add(path)
    open_url(host, page, f"{SITE}/")
    expect(page.get_by_role("heading", name="This capture can't be shown")).to_be_visible()
    expect(reason(page, "requires")).to_contain_text(f"base.wacz, SHA-256 {'ab' * 32}")
    reason(page, "requires").get_by_role("link", name="Add it to your library").click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()


def test_content_in_another_archive(host, page, tmp_path):
    """The required file has changed since: it's found by its name and the digest of the capture."""
    seen = {}
    first = page_of(f"{SITE}/", "Home", time="2020-01-02T00:00:00Z")
    base = write_captures(tmp_path / "base.wacz", "Base", [first], seen)
    again = {"url": f"{SITE}/", "time": TIME, "revisitOf": first[0]["time"]}
    path = write_captures(tmp_path / "reef.wacz", "Reef", [(again, b"")], seen)
    name_requirement(path, "base.wacz", "ab" * 32)
    host.add(base)
    host.add(path)
    viewer = open_url(host, page, f"{SITE}/")
    incomplete = reason(page, "incomplete")
    expect(incomplete).to_contain_text(f"The capture of 21 November 2024 is incomplete without {SITE}/ of 2 January 2020")
    offer = incomplete.locator(".together-offer")
    expect(offer).to_contain_text("Base has a capture with the same digest. "
        "It has the same name as the required file “base.wacz”, but other bytes.")
    offer.get_by_role("button", name="Replay together").click()
    expect(viewer.read("h1")).to_have_text("Home")

    # The archive's issues lead to the same collection.
    page.goto(f"{host.home}/?archive=/archives/reef.wacz#view=details")
    issue = page.locator('[data-cause="other-archive"]')
    expect(issue).to_contain_text("1 capture is incomplete without another archive")
    issue.get_by_role("button", name="Replay together").click()
    expect(viewer.read("h1")).to_have_text("Home")
    assert len(host.collection_ids()) == 1


def test_unavailable_archive(host, page, tmp_path):
    """The panel names it once."""
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {f"{SITE}/": html("Home")}))
    host.add(write_archive(tmp_path / "away.wacz", "Away", {f"{SITE}/coral": html("Coral")}), "--link")
    both = host.create_collection("Both", "reef", "away")
    os.remove(tmp_path / "away.wacz")
    open_url(host, page, f"{SITE}/coral", both, "collection")
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    expect(page.get_by_text("1 of 2 archives is unavailable: “Away”")).to_be_visible()
    expect(page.get_by_text("Closest URLs")).to_be_visible()
    expect(reason(page, "unavailable")).to_have_count(0)


def write_crawl(path):
    """An archive with what Browsertrix notes about the URLs that a page loaded."""
    warc = WARC("crawl.warc.gz", TIME)
    capture, body = page_of(f"{SITE}/", "Home")
    warc.add_capture({"time": TIME, **capture}, body)
    loads = {f"{SITE}/": {"status": 200}, f"{SITE}/chart": {"status": 0, "error": "net::ERR_TIMED_OUT"},
        f"{SITE}/frame": {"status": 200, "type": "document"}}
    info = json.dumps({"url": f"{SITE}/", "urls": loads}).encode()
    warc.add("resource", f"urn:pageinfo:{SITE}/", TIME, info, content_type="application/json")
    with Package(path, "Reef", created=TIME, main_page=(f"{SITE}/", TIME)) as package:
        warc.add_to(package)
        package.add("pages/pages.jsonl", page_list([{"url": f"{SITE}/", "ts": TIME, "title": "Home"}]))
    return path


def test_failure_of_the_crawl(host, page, tmp_path):
    host.add(write_crawl(tmp_path / "reef.wacz"))
    viewer = open_url(host, page, f"{SITE}/chart")
    expect_reason(page, "crawl-failed",
        f"The crawler couldn't load it on 21 November 2024. Its error was: net::ERR_TIMED_OUT. It's a part of {SITE}/.")
    page.get_by_role("link", name="Home", exact=True).click()
    expect(viewer.read("h1")).to_have_text("Home")


def test_linking_page(host, page, tmp_path):
    host.add(write_crawl(tmp_path / "reef.wacz"))
    viewer = open_url(host, page, f"{SITE}/frame")
    expect_reason(page, "linked-from", "A captured page uses it:")
    expect_opens(viewer, "linked-from", f"{SITE}/", "Home")


def test_never_captured(host, page, tmp_path):
    """The closest URLs are pages of the same folder, and open."""
    pages = {f"{SITE}/{path}": html(path) for path in ["", "species/crab", "species/limpet", "tides"]}
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", pages))
    viewer = open_url(host, page, f"{SITE}/species/crane")
    expect_reason(page, "never", "It was never captured. 4 URLs from reef.example are in this archive.")
    closest = page.locator(".explanation").last.get_by_role("link")
    expect(closest.first).to_have_text("species/crab")
    closest.first.click()
    expect(viewer.read("h1")).to_have_text("species/crab")
    viewer.open_url("https://other.example/")
    expect_reason(page, "site-not-captured", "Nothing from other.example is in this archive.")


def test_untrusted_text_stays_text(host, page, tmp_path):
    """URLs and titles from archives, with markup and characters that reorder text."""
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {f"{SITE}/": html("Home")}))
    title = "<img src=x onerror=alert(1)>\u202e"
    host.add(write_archive(tmp_path / "other.wacz", title, {f"{SITE}/<b>": html("Bold")}))
    open_url(host, page, f"{SITE}/%3Cb%3E")
    expect_reason(page, "other-archive", "Open in “<img src=x onerror=alert(1)>”")
    assert page.locator(".panel img, .panel b").count() == 0


def test_panel_does_not_move(host, browser, tmp_path):
    """The buttons stay where they are when the explanation arrives."""
    page = browser.page
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {f"{SITE}/": html("Home")}))
    waiting = []
    page.route("**/explain?*", lambda route: waiting.append(route))
    open_url(host, page, f"{SITE}/coral")
    expect(page.get_by_text("Looking in your library")).to_be_visible()
    pages = page.locator(".panel").get_by_role("link", name="All pages")
    before = pages.bounding_box()
    waiting[0].continue_()
    expect_reason(page, "never", "It was never captured. 1 URL from reef.example is in this archive.")
    assert pages.bounding_box() == before
    browser.allow("500")
    page.unroute("**/explain?*")
    page.route("**/explain?*", lambda route: route.fulfill(status=500))
    page.reload()
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    expect(page.get_by_role("heading", name="Pages from reef.example in this archive")).to_be_visible()
    expect(page.get_by_text("Looking in your library")).to_have_count(0)


def test_panel_is_accessible(host, page, tmp_path):
    """No axe violations, no sideways scrolling. The screenshots are for people."""
    long = f"{SITE}/{'very-long-name/' * 12}"
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {
        f"{SITE}/": html("Home"), f"{long}?a=1": html("A"), f"{long}?b=2": html("B"), f"{SITE}/tides": html("Tides")}))
    years = [page_of(long, f"Coral {year}", time=f"{year}-05-03T10:00:00Z") for year in (2019, 2023)]
    host.add(write_captures(tmp_path / "watch.wacz", "Reef Watch, a long title about the reefs of the north", years))
    open_url(host, page, long)
    expect_reason(page, "other-archive", "It's in another archive in your library.")
    expect(reason(page, "other-query")).to_be_visible()
    expect(page.get_by_role("heading", name="Closest URLs")).to_be_visible()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    problems = []
    for width in [360, 1280]:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.querySelector('.panel').scrollWidth <= document.querySelector('.panel').clientWidth")
        for theme in ["light", "dark"]:
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=SCREENSHOTS / f"explain-{width}-{theme}.png")
            problems += [f"{width} {theme}: {violation}" for violation in violations(page)]
    assert not problems, "\n".join(problems)


def test_panel_shows_nothing_of_the_previous_page(host, page, tmp_path):
    """Its icon goes, screen readers are told, and the heading has the focus. The page below the panel comes back whole."""
    page_html = f'<link rel="icon" href="/dot.png">{html("Home")}<a href="/coral">Coral</a>'
    host.add(write_captures(tmp_path / "reef.wacz", "Reef", [
        ({"url": f"{SITE}/"}, page_html.encode()), ({"url": f"{SITE}/dot.png", "file": "dot.png"}, PIXEL)]))
    icon, tab_icon, spoken = page.locator(".favicon"), page.locator('link[rel="icon"]'), page.locator("#announcements")
    viewer = open_url(host, page, f"{SITE}/")
    for act in [lambda: viewer.follow("Coral"), lambda: viewer.open_url(f"{SITE}/coral")]:
        expect(page).to_have_title("Home – Reef")
        expect(icon).to_be_visible()
        expect(tab_icon).to_have_attribute("href", re.compile("^blob:"))
        act()
        expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_focused()
        expect(page).to_have_title("Not captured – Reef")
        expect(spoken).to_have_text("Not captured")
        expect(icon).to_be_hidden()
        expect(tab_icon).to_have_attribute("href", "/app/icon.svg")
        viewer.open_url(f"{SITE}/")
    expect(icon).to_be_visible()
    expect(spoken).to_have_text("Home")
