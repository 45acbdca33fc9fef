"""`?archive=` and `window.setArchiveURL`: how other programs and links open an archive."""

import re
import shutil
import threading

import pytest
from playwright.sync_api import Error

from support.expecting import expect
from support.journey import SITE, TITLE, expect_home
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


@pytest.fixture
def host_with_odd_name(host_with_sample, tmp_path):
    """Also holds the second archive, imported under a file name that is no id."""
    file = tmp_path / "Harbour Notes (1).wacz"
    shutil.copy(FIXTURES / "second.wacz", file)
    host_with_sample.add(file)
    return host_with_sample


@pytest.mark.parametrize("path", ["/", "/index.html"])
@pytest.mark.parametrize("start", ["address", "home"])
def test_archive_in_the_address_opens_at_its_main_page(host_with_sample, page, path, start):
    """From `localhost` too, where the application moves on with query and fragment."""
    page.goto(f"{getattr(host_with_sample, start)}{path}?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    assert page.url.startswith(f"{host_with_sample.home}/")


def test_fragment_survives_the_move_to_the_home_address(host_with_sample, page):
    page.goto(f"{host_with_sample.address}/index.html?archive=/archives/sample.wacz#view=pages")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert page.url == f"{host_with_sample.home}/index.html?archive=/archives/sample.wacz#view=pages"


def test_archive_in_the_address_by_its_original_file_name(host_with_odd_name, page):
    page.goto(f"{host_with_odd_name.home}/?archive=/archives/Harbour%20Notes%20(1).wacz")
    expect(Viewer(page).read("#shared")).to_have_text("This archive must never show a tidepool.")


def test_id_wins_over_an_original_file_name(host, page, tmp_path):
    """Two archives came as sample.wacz: the name is the id of the first."""
    host.add(FIXTURES / "sample.wacz")
    file = tmp_path / "sample.wacz"
    shutil.copy(FIXTURES / "second.wacz", file)
    assert host.add(file) != "sample"
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))


@pytest.mark.parametrize("archive, words", [
    ("/archives/nobody.wacz", "nobody"),
    ("https://example.org/archives/sample.wacz", "another host"),
    ("/elsewhere/sample.wacz", "isn't the path of an archive"),
    ("/archives/sample.wacz/../../x", "isn't the path of an archive"),
    ("", "no archive given"),
])
def test_archive_in_the_address_that_cannot_be_opened_is_explained(shared_host_with_sample, shared_browser, archive, words):
    shared_browser.allow("404")
    page = shared_browser.page
    page.goto(f"{shared_host_with_sample.home}/?archive={archive}")
    expect(page.get_by_role("heading", name="This archive can't be opened")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text(re.compile(words, re.I))
    page.get_by_role("link", name="Open the library").click()
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()


def test_function_is_there_before_any_module(host_with_sample, page):
    """Called while the first module is still on its way, it resolves when the page of the archive shows."""
    released = threading.Event()
    held = []
    page.route("**/app/main.js", lambda route: route.continue_() if released.is_set() else held.append(route))
    page.goto(f"{host_with_sample.home}/", wait_until="commit")
    wait_until(lambda: page.evaluate("typeof window.setArchiveURL === 'function'"), "the function is there")
    wait_until(lambda: held, "the first module is asked for")
    page.evaluate("""() => {
        window.opened = "waiting";
        const settle = (word) => { window.opened = word; };
        setArchiveURL("/archives/sample.wacz").then(() => settle("resolved"), settle);
    }""")
    assert page.evaluate("window.opened") == "waiting"
    released.set()
    for route in held:
        route.continue_()
    wait_until(lambda: page.evaluate("String(window.opened)") != "waiting", "the promise is settled")
    assert page.evaluate("String(window.opened)") == "resolved"
    expect_home(Viewer(page))


@pytest.mark.parametrize("form", [
    "/archives/sample.wacz", "archives/sample.wacz", "HOME/archives/sample.wacz", "ADDRESS/archives/sample.wacz",
])
def test_function_resolves_when_the_page_shows(host_with_sample, page, form):
    """By a path and by a full address of this host; at the moment it resolves, the page is there to read."""
    path = form.replace("HOME", host_with_sample.home).replace("ADDRESS", host_with_sample.address)
    page.goto(f"{host_with_sample.home}/")
    assert page.evaluate("path => setArchiveURL(path)", path) is None
    assert Viewer(page).read("#edition").inner_text(timeout=1000) == "Autumn edition"
    expect_home(Viewer(page))


def test_function_opens_by_original_file_name_and_one_archive_after_another(host_with_odd_name, page):
    page.goto(f"{host_with_odd_name.home}/")
    page.evaluate("setArchiveURL('/archives/sample.wacz')")
    expect_home(Viewer(page))
    page.evaluate("setArchiveURL('/archives/Harbour Notes (1).wacz')")
    expect(Viewer(page).read("#shared")).to_have_text("This archive must never show a tidepool.")
    page.go_back()
    expect_home(Viewer(page))


@pytest.mark.parametrize("path, words", [
    ("/archives/nobody.wacz", "nobody"),
    ("https://example.org/archives/sample.wacz", "another host"),
    ("http://sample.replayhost.localhost:1/archives/sample.wacz", "another host"),
    ("javascript:alert(1)", "another host"),
    ("/api/archives/sample", "isn't the path of an archive"),
    ("", "no archive given"),
    (None, "no archive given"),
])
def test_function_rejects_what_is_no_archive_of_this_library(host_with_sample, browser, path, words):
    """The promise rejects with words; what was shown stays."""
    browser.allow("404")
    page = browser.page
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#url={SITE}/&ts=20241121090000")
    expect_home(Viewer(page))
    with pytest.raises(Error, match=words):
        page.evaluate("path => setArchiveURL(path)", path)
    expect_home(Viewer(page))
