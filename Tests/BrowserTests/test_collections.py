"""Collections: created, changed, replayed and removed in the web app."""

import json
import re

import pytest

from support.archives import TIME, write_archive, write_captures
from support.expecting import expect
from support.journey import open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

EXAMPLE = "https://page.example"
LATER = "2024-11-22T09:00:00Z"
PAGE = (
    b'<!doctype html><title>Harbour</title><link rel=stylesheet href="/style.css"><h1>Harbour</h1>'
    b'<img id=boat src="/boat.png"><a href="/tide">Tide</a> <a href="/nowhere">Nowhere</a>')
STYLE = b"h1 { color: rgb(1, 2, 3) }"


@pytest.fixture
def two_archives(host, tmp_path):
    """`pages` has a page and a revisit of its style sheet. `things` has that style sheet and the page's image."""
    picture = (FIXTURES / "site" / "media" / "anemone.png").read_bytes()
    seen = {}
    things = write_captures(tmp_path / "things.wacz", "Things", [
        ({"url": f"{EXAMPLE}/tide"}, b"<!doctype html><title>Tide</title><h1>Tide</h1><p id=own>Low at six."),
        ({"url": f"{EXAMPLE}/boat.png", "file": "boat.png"}, picture),
        ({"url": f"{EXAMPLE}/style.css", "file": "style.css"}, STYLE),
    ], seen)
    pages = write_captures(tmp_path / "pages.wacz", "Pages", [
        ({"url": f"{EXAMPLE}/", "time": LATER}, PAGE),
        ({"url": f"{EXAMPLE}/style.css", "file": "style.css", "time": LATER, "revisitOf": TIME}, b""),
    ], seen)
    host.add(things)
    host.add(pages)
    return host


@pytest.fixture
def collection(two_archives):
    return two_archives.create_collection("Both", "pages", "things")


def expect_harbour(viewer):
    expect(viewer.read("h1")).to_have_text("Harbour")
    assert viewer.natural_width("#boat") == 640
    expect(viewer.read("h1")).to_have_css("color", "rgb(1, 2, 3)")


def test_page_alone_lacks_parts_in_another_archive(two_archives, page):
    """The page's archive contains neither the image nor the style sheet, so only the collection can show them."""
    page.goto(f"{two_archives.home}/?archive=/archives/pages.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Harbour")
    assert viewer.read("#boat").evaluate("image => image.decode().then(() => 'shown', () => 'missing')") == "missing"
    expect(viewer.read("h1")).to_have_css("color", "rgb(0, 0, 0)")


def test_collection_is_created_and_replayed(two_archives, browser):
    """A page in one archive shows with the image and the style sheet in the other."""
    host, page = two_archives, browser.page
    page.goto(host.home)
    page.get_by_role("button", name="More actions", exact=True).click()
    page.get_by_role("menuitem", name="New collection…").click()
    for title in ["Pages", "Things"]:
        page.get_by_role("checkbox", name=f"Select {title}").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("region", name="Selected archives").get_by_role("button", name="New collection…").click()
    page.get_by_label("Collection title").fill("Both of them")
    page.get_by_role("button", name="Create collection").click()
    expect(page.get_by_role("heading", name="Both of them", level=1)).to_be_visible()
    expect(page.get_by_text("A collection of 2 archives")).to_be_visible()
    open_tab(page, "Pages")
    expect(page.locator(".page-line a")).to_have_text(["Harbour", "Tide"])
    expect(page.locator(".page-line .member")).to_have_text(["Pages", "Things"])

    page.goto(host.home)
    expect(page.get_by_role("region", name="Collections").get_by_text("2 archives")).to_be_visible()
    page.get_by_role("link", name="Open Both of them").click()
    viewer = Viewer(page)
    viewer.address = page.get_by_role("textbox", name="URL in this collection", exact=True)
    expect_harbour(viewer)
    viewer.expect_at(f"{EXAMPLE}/", "Harbour", "22 November 2024, 09:00 UTC", "20241122090000")
    viewer.follow("Tide")
    expect(viewer.read("#own")).to_have_text("Low at six.")
    viewer.expect_at(f"{EXAMPLE}/tide", "Tide", "21 November 2024, 09:00 UTC", "20241121090000")
    assert not [url for url in browser.requests if "/archives/both-of-them" in url], "a collection has no file"
    page.reload()
    expect(viewer.read("#own")).to_have_text("Low at six.")


def test_uncaptured_url_in_a_collection(collection, two_archives, page):
    """The panel names the collection and lists pages from the same site."""
    page.goto(f"{two_archives.home}/?collection={collection}")
    viewer = Viewer(page)
    expect_harbour(viewer)
    viewer.follow("Nowhere")
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    expect(page.get_by_text("This page isn't in “Both”")).to_be_visible()
    expect(page.locator(".panel .pages a")).to_have_text(["Harbour", "Tide"])
    page.get_by_role("link", name="All pages").click()
    expect(page.get_by_role("heading", name="Both", level=1)).to_be_visible()


def test_collection_always_replays_by_lookups(collection, two_archives, browser):
    page = browser.page
    page.goto(f"{two_archives.home}/?collection={collection}&replay=ranges")
    expect_harbour(Viewer(page))
    expect(page.get_by_text("Collections always replay by lookups")).to_be_visible()
    assert [url for url in browser.requests if f"/c/{collection}-" in url]
    assert not [url for url in browser.requests if "/archives/" in url and "/api/" not in url and "?archive" not in url]


def test_deep_link_at_the_replay_origin_of_a_collection(collection, two_archives, page):
    host = two_archives
    _, _, body = host.request("GET", f"/api/collections/{collection}")
    replay_collection = json.loads(body)["replayCollection"]
    page.goto(f"{host.replay_origin(collection)}/{replay_collection}/20241122090000mp_/{EXAMPLE}/")
    expect_harbour(Viewer(page))
    expect(page).to_have_url(re.compile(rf"^{re.escape(host.home)}/\?collection={collection}#url="))


def test_archives_are_added_and_removed(collection, two_archives, page, tmp_path):
    """After each change, the list of pages and replay use the current archives."""
    host = two_archives
    host.add(write_archive(tmp_path / "third.wacz", "Third", {"https://third.example/": "<title>Cliff</title><h1>Cliff"}))
    page.goto(f"{host.home}/?collection={collection}")
    expect_harbour(Viewer(page))
    page.get_by_role("link", name="Both", exact=True).click()
    open_tab(page, "Archives")
    remove = page.get_by_role("button", name="Remove Things from the collection")
    remove.click()
    expect(page.get_by_text("A collection of 1 archive")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("A collection of 2 archives")).to_be_visible()
    remove.click()
    expect(page.get_by_text("A collection of 1 archive")).to_be_visible()
    open_tab(page, "Pages")
    expect(page.locator(".page-line a")).to_have_text(["Harbour"])
    open_tab(page, "Archives")
    page.get_by_label("Add an archive").select_option(label="Third")
    page.get_by_role("button", name="Add to collection").click()
    expect(page.get_by_text("A collection of 2 archives")).to_be_visible()
    open_tab(page, "Pages")
    expect(page.locator(".page-line a")).to_have_text(["Harbour", "Cliff"])
    page.get_by_role("link", name="Open", exact=True).click()
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_css("color", "rgb(0, 0, 0)")
    viewer.address = page.get_by_role("textbox", name="URL in this collection", exact=True)
    viewer.open_url("third.example")
    expect(viewer.read("h1")).to_have_text("Cliff")


def test_collection_is_removed_and_its_archives_stay(collection, two_archives, page):
    """At once, with Undo. Nothing is deleted as long as it can be undone."""
    host = two_archives
    page.goto(f"{host.home}/?collection={collection}#view=pages")

    def remove():
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="Remove…").click()
        expect(page).to_have_url(f"{host.home}/")
        expect(page.get_by_text("Its archives stay.").last).to_be_visible()
        assert host.collection_ids() == [collection]

    remove()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Both", level=1)).to_be_visible()
    assert host.collection_ids() == [collection]
    remove()
    page.get_by_role("button", name="Dismiss").click()
    wait_until(lambda: host.collection_ids() == [], "the collection is removed")
    assert sorted(host.ids()) == ["pages", "things"]


def test_removal_is_carried_out_when_the_app_is_left(collection, two_archives, page):
    host = two_archives
    page.goto(f"{host.home}/?collection={collection}#view=pages")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Remove…").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.goto("about:blank")
    wait_until(lambda: host.collection_ids() == [], "the collection is removed")


def test_archive_names_its_collections(collection, two_archives, page):
    page.goto(f"{two_archives.home}/?archive=/archives/pages.wacz#view=details")
    page.get_by_role("link", name=collection, exact=True).click()
    expect(page.get_by_text("A collection of 2 archives")).to_be_visible()


def test_unknown_collection_shows_a_message(host, browser):
    browser.allow("404")
    for identifier, message in [("nobody", "No collection has the id"), ("Not/an id", "isn't a valid collection ID")]:
        browser.page.goto(f"{host.home}/?collection={identifier}")
        expect(browser.page.get_by_text(re.compile(message))).to_be_visible()
