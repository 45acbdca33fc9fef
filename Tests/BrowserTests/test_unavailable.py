"""Linked archives: unavailable, changed, missing, and available again."""

import os
import re
import shutil

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.journey import SITE, TITLE, expect_home, expect_species, open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

CANT_FIND = "Connect the drive it's on, or move the file back. Your notes and tags are safe."
COMPLAINTS = "503|409"


class Volume:
    """A folder with a linked archive, which can be detached."""

    def __init__(self, host, folder):
        self.host, self.folder = host, folder
        folder.mkdir()
        self.file = shutil.copy(FIXTURES / "sample.wacz", folder / "sample.wacz")
        identifier = host.add(self.file, "--link")
        # Its address changes when its file was hashed.
        wait_until(lambda: host.archive(identifier).get("sha256"), "the file is hashed")

    def detach(self):
        os.rename(self.folder, f"{self.folder}-detached")

    def attach(self):
        os.rename(f"{self.folder}-detached", self.folder)

    def change(self):
        with open(self.file, "ab") as file:
            file.write(b"more")


@pytest.fixture
def volume(host, tmp_path):
    return Volume(host, tmp_path / "volume")


def test_unavailable_archive_is_marked_and_returns(volume, page):
    """The library and the archive's page show a message instead of Open, and all its metadata."""
    page.goto(volume.host.home)
    expect(page.get_by_role("link", name=f"Open {TITLE}")).to_be_visible()
    volume.detach()
    page.reload()
    page.get_by_role("button", name="Unavailable", exact=True).click()
    expect(page.get_by_text(re.compile(CANT_FIND))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=f"Open {TITLE}")).to_have_count(0)
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(page.locator(".notice")).to_contain_text(CANT_FIND)
    expect(page.locator(".facts-line")).to_contain_text("10 pages")
    expect(page.locator(".facts-line")).to_contain_text("31 captures")
    expect(page.get_by_role("link", name="Open", exact=True)).to_have_count(0)
    open_tab(page, "URLs")
    expect(page.get_by_text("This is read from the file, which can't be read now.")).to_be_visible()
    open_tab(page, "Pages")
    expect(page.get_by_role("link", name=f"Beadlet anemone - {TITLE}")).to_be_visible()
    volume.attach()
    page.reload()
    page.get_by_role("link", name="Open", exact=True).click()
    expect_home(Viewer(page))


def test_changed_and_missing_archives_have_their_own_messages(volume, page):
    host = volume.host
    lost = host.add(FIXTURES / "second.wacz")
    volume.change()
    os.remove(host.store / "files" / f"{host.archive(lost)['sha256']}.wacz")
    page.goto(host.home)
    page.get_by_role("button", name="Changed since it was checked", exact=True).click()
    expect(page.get_by_text("This file has changed since you added it.")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Missing", exact=True).click()
    expect(page.get_by_text("This archive's file is missing from the library.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=re.compile("^Open"))).to_have_count(0)


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_archive_becomes_unavailable_in_the_viewer(volume, browser, mode):
    """The next link shows a message. "Try again" opens the page once the file is available."""
    page = browser.page
    browser.allow(COMPLAINTS)
    page.goto(f"{volume.host.home}/?archive=/archives/sample.wacz&replay={mode}")
    viewer = Viewer(page)
    expect_home(viewer)
    volume.detach()
    viewer.follow("Species")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("Can't find"))
    volume.attach()
    page.get_by_role("button", name="Try again").click()
    expect_species(viewer)


def test_panel_stays_when_the_same_failure_is_reported_again(volume, browser):
    """Its button keeps the focus, even if the files are available again."""
    page = browser.page
    browser.allow(COMPLAINTS)
    page.goto(f"{volume.host.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect_home(viewer)
    volume.detach()
    viewer.follow("Species")
    button = page.get_by_role("button", name="Try again")
    button.focus()
    before = button.element_handle()
    report = {"url": f"{SITE}/species/", "title": "This capture can't be read"}
    for number in range(6):
        if number == 3:
            volume.attach()
        kind = ["load", "replace-url", "archive-not-found"][number % 3]
        with page.expect_response(re.compile("/captures")):
            # Each has another time, since answers are cached.
            viewer.archived_frame.evaluate("report => parent.postMessage(report, '*')",
                {**report, "ts": f"2024112109000{number}", "wb_type": kind})
    expect(page.locator(".panel")).to_have_count(1)
    expect(button).to_be_focused()
    assert before.evaluate("button => button === document.activeElement")


@pytest.mark.parametrize("how, message", [("detach", "Can't find"), ("change", "has changed since you added it")])
def test_unavailable_archive_is_not_opened(volume, browser, how, message):
    """By a viewer URL and by a replay URL."""
    page = browser.page
    browser.allow(COMPLAINTS)
    getattr(volume, how)()
    page.goto(f"{volume.host.home}/?archive=/archives/sample.wacz#url={SITE}/species/")
    expect(page.get_by_role("alert")).to_contain_text(message)
    collection = volume.host.archive("sample")["replayCollection"]
    page.goto(f"{volume.host.replay_origin('sample')}/{collection}/20241121090006im_/{SITE}/species/")
    expect(page.get_by_text(re.compile(message))).to_be_visible()


def test_collection_with_an_unavailable_archive(volume, browser, tmp_path):
    """The available archives replay. For uncaptured URLs, the viewer names the unavailable ones."""
    host, page = volume.host, browser.page
    browser.allow(COMPLAINTS)
    own = "<title>Own</title><h1>Own</h1>"
    host.add(write_archive(tmp_path / "own.wacz", "Own", {"https://own.example/": own}))
    collection = host.create_collection("Both", "own", "sample")
    volume.detach()
    page.goto(host.home)
    expect(page.get_by_text("Partly unavailable", exact=True)).to_be_visible()
    page.get_by_role("link", name="Open Both").click()
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Own")
    page.goto(f"{host.home}/?collection={collection}#url={SITE}/species/")
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    expect(page.get_by_text(f"1 of 2 archives is unavailable: “{TITLE}”. Captures found only there can't be shown.")).to_be_visible()
    volume.attach()
    page.reload()
    expect(viewer.read("#species li")).to_have_count(3)
