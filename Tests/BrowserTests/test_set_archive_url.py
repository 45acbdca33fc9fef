"""`?archive=` and `window.setArchiveURL`: how other programs and links open an archive."""

import re
import shutil
import threading

import pytest
from playwright.sync_api import Error

from support.expecting import expect
from support.journey import SITE, TITLE, expect_home
from support.places import APP_SCRIPT, FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


@pytest.fixture
def host_with_odd_name(host_with_sample, tmp_path):
    """With a second archive, whose file name isn't a valid ID."""
    file = tmp_path / "Harbour Notes (1).wacz"
    shutil.copy(FIXTURES / "second.wacz", file)
    host_with_sample.add(file)
    return host_with_sample


@pytest.mark.parametrize("path", ["/", "/index.html"])
@pytest.mark.parametrize("start", ["address", "home"])
def test_archive_in_the_url_opens_its_main_page(host_with_sample, page, path, start):
    """Also from `localhost`, where the app moves on and keeps query and fragment."""
    page.goto(f"{getattr(host_with_sample, start)}{path}?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    assert page.url.startswith(f"{host_with_sample.home}/")


def test_move_to_replayhost_localhost_keeps_the_fragment(host_with_sample, page):
    page.goto(f"{host_with_sample.address}/index.html?archive=/archives/sample.wacz#view=pages")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert page.url == f"{host_with_sample.home}/index.html?archive=/archives/sample.wacz#view=pages"


def test_archive_in_the_url_by_its_original_file_name(host_with_odd_name, page):
    page.goto(f"{host_with_odd_name.home}/?archive=/archives/Harbour%20Notes%20(1).wacz")
    expect(Viewer(page).read("#shared")).to_have_text("This archive must never show a tidepool.")


def test_id_has_priority_over_a_file_name(host, page, tmp_path):
    """Two archives were imported from sample.wacz. The first has the ID `sample`."""
    host.add(FIXTURES / "sample.wacz")
    file = tmp_path / "sample.wacz"
    shutil.copy(FIXTURES / "second.wacz", file)
    assert host.add(file) != "sample"
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))


@pytest.mark.parametrize("archive, message", [
    ("/archives/unknown.wacz", "unknown"),
    ("https://example.org/archives/sample.wacz", "another host"),
    ("/elsewhere/sample.wacz", "isn't the path of an archive"),
    ("/archives/sample.wacz/../../x", "isn't the path of an archive"),
    ("", "no archive given"),
])
def test_unknown_archive_in_the_url_shows_a_message(shared_host_with_sample, shared_browser, archive, message):
    shared_browser.allow("404")
    page = shared_browser.page
    page.goto(f"{shared_host_with_sample.home}/?archive={archive}")
    expect(page.get_by_role("heading", name="This archive can't be opened")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text(re.compile(message, re.I))
    page.get_by_role("link", name="Open the library").click()
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()


def test_function_exists_before_any_module(host_with_sample, page):
    """Called before the first module loads, it resolves when the page is shown."""
    released = threading.Event()
    held = []
    page.route(APP_SCRIPT, lambda route: route.continue_() if released.is_set() else held.append(route))
    page.goto(f"{host_with_sample.home}/", wait_until="commit")
    wait_until(lambda: page.evaluate("typeof window.setArchiveURL === 'function'"), "the function exists")
    wait_until(lambda: held, "the first module is requested")
    page.evaluate("""() => {
        window.opened = "waiting";
        const settle = (result) => { window.opened = result; };
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
def test_function_resolves_when_the_page_is_shown(host_with_sample, page, form):
    """With a path or a full URL of this server. The page is readable when the promise resolves."""
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


@pytest.mark.parametrize("path, message", [
    ("/archives/unknown.wacz", "unknown"),
    ("https://example.org/archives/sample.wacz", "another host"),
    ("http://sample.replayhost.localhost:1/archives/sample.wacz", "another host"),
    ("javascript:alert(1)", "another host"),
    ("/api/archives/sample", "isn't the path of an archive"),
    ("", "no archive given"),
    (None, "no archive given"),
])
def test_function_rejects_other_urls(host_with_sample, browser, path, message):
    """The promise rejects with a message, and the open page stays."""
    browser.allow("404")
    page = browser.page
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#url={SITE}/&ts=20241121090000")
    expect_home(Viewer(page))
    with pytest.raises(Error, match=message):
        page.evaluate("path => setArchiveURL(path)", path)
    expect_home(Viewer(page))
