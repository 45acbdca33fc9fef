"""Archives whose files stay elsewhere: away, changed, and back again."""

import os
import re
import shutil

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.journey import SITE, TITLE, expect_home, expect_species
from support.places import FIXTURES
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium

NOT_WHERE_IT_WAS = "is not where it was. Attach the volume that holds it, or put the file back"
COMPLAINTS = "503|409"


class Volume:
    """A folder that can be detached, with an archive in it that the store refers to."""

    def __init__(self, host, folder):
        self.host, self.folder = host, folder
        folder.mkdir()
        self.file = shutil.copy(FIXTURES / "sample.wacz", folder / "sample.wacz")
        host.add(self.file, "--link")

    def detach(self):
        os.rename(self.folder, f"{self.folder}-away")

    def attach(self):
        os.rename(f"{self.folder}-away", self.folder)

    def change(self):
        with open(self.file, "ab") as file:
            file.write(b"more")


@pytest.fixture
def volume(host, tmp_path):
    return Volume(host, tmp_path / "volume")


def test_offline_archive_is_marked_and_comes_back(volume, page):
    """In the library and on its own page: words in place of the visit, and all that is known of it."""
    page.goto(volume.host.home)
    expect(page.get_by_role("link", name=f"Visit {TITLE}")).to_be_visible()
    volume.detach()
    page.reload()
    expect(page.get_by_text("unavailable", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(NOT_WHERE_IT_WAS))).to_be_visible()
    expect(page.get_by_role("link", name=f"Visit {TITLE}")).to_have_count(0)
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(page.locator(".notice")).to_contain_text(NOT_WHERE_IT_WAS)
    expect(page.get_by_text("10 pages, 31 captures")).to_be_visible()
    expect(page.get_by_role("link", name="Visit the main page")).to_have_count(0)
    expect(page.get_by_role("link", name=f"Beadlet anemone - {TITLE}")).to_be_visible()
    volume.attach()
    page.reload()
    page.get_by_role("link", name="Visit the main page").click()
    expect_home(Viewer(page))


def test_changed_and_missing_archives_are_told_apart(volume, page):
    host = volume.host
    lost = host.add(FIXTURES / "second.wacz")
    volume.change()
    os.remove(host.store / "files" / f"{host.archive(lost)['sha256']}.wacz")
    page.goto(host.home)
    expect(page.get_by_text("was changed since it was read, and is not shown as what it was.")).to_be_visible()
    expect(page.get_by_text("Its file is gone from the library's folder.")).to_be_visible()
    expect(page.get_by_text("changed", exact=True)).to_be_visible()
    expect(page.get_by_text("missing", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Visit"))).to_have_count(0)


@pytest.mark.parametrize("way", ["lookups", "ranges"])
def test_archive_goes_offline_while_it_is_viewed(volume, browser, way):
    """A link followed then leads to words that say what to do; "Try again" shows the page once the file is back."""
    page = browser.page
    browser.allow(COMPLAINTS)
    page.goto(f"{volume.host.home}/?archive=/archives/sample.wacz&replay={way}")
    viewer = Viewer(page)
    expect_home(viewer)
    volume.detach()
    viewer.follow("Species")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("not where it was"))
    volume.attach()
    page.get_by_role("button", name="Try again").click()
    expect_species(viewer)


def test_panel_stays_when_the_same_failure_is_reported_again(volume, browser):
    """A person may be about to click in it, or be in it with the keyboard. The files may even be back meanwhile."""
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
    report = {"url": f"{SITE}/species/", "title": "This capture cannot be read"}
    for number in range(6):
        if number == 3:
            volume.attach()
        kind = ["load", "replace-url", "archive-not-found"][number % 3]
        with page.expect_response(re.compile("/captures")):
            # Each of another time: answers for one are remembered.
            viewer.archived_frame.evaluate("report => parent.postMessage(report, '*')",
                {**report, "ts": f"2024112109000{number}", "wb_type": kind})
    expect(page.locator(".panel")).to_have_count(1)
    expect(button).to_be_focused()
    assert before.evaluate("button => button === document.activeElement")


@pytest.mark.parametrize("how, words", [("detach", "not where it was"), ("change", "was changed since it was read")])
def test_archive_that_is_away_is_not_opened(volume, browser, how, words):
    """By an address from before."""
    page = browser.page
    browser.allow(COMPLAINTS)
    getattr(volume, how)()
    page.goto(f"{volume.host.home}/?archive=/archives/sample.wacz#url={SITE}/species/")
    expect(page.get_by_role("alert")).to_contain_text(words)
    collection = volume.host.archive("sample")["replayCollection"]
    page.goto(f"{volume.host.replay_origin('sample')}/{collection}/20241121090006im_/{SITE}/species/")
    expect(page.get_by_text(re.compile(words))).to_be_visible()


def test_collection_without_one_of_its_archives(volume, browser, tmp_path):
    """What is here replays; what is not found may be in what is away, and that is said."""
    host, page = volume.host, browser.page
    browser.allow(COMPLAINTS)
    own = "<title>Own</title><h1>Own</h1>"
    host.add(write_archive(tmp_path / "own.wacz", "Own", {"https://own.example/": own}))
    collection = host.make_collection("Both", "own", "sample")
    volume.detach()
    page.goto(host.home)
    expect(page.get_by_text("partly offline", exact=True)).to_be_visible()
    page.get_by_role("link", name="Visit Both").click()
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Own")
    page.goto(f"{host.home}/?collection={collection}#url={SITE}/species/")
    expect(page.get_by_role("heading", name="This address was not captured")).to_be_visible()
    expect(page.get_by_text(f"Of 2 archives one is away: “{TITLE}”. What only it has cannot be shown.")).to_be_visible()
    volume.attach()
    page.reload()
    expect_home_of_species(viewer)


def expect_home_of_species(viewer):
    expect(viewer.read("#species li")).to_have_count(3)
