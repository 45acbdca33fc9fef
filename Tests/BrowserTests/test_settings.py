"""The settings of this browser, the app bar, and the shortcuts."""

import re
import shutil

import pytest

from support.expecting import expect, expect_loaded
from support.journey import TITLE, expect_home
from support.places import FIXTURES
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium


@pytest.fixture
def browser(open_browser):
    """On a computer in India."""
    return open_browser(timezone_id="Asia/Kolkata")


@pytest.fixture
def page(browser):
    browser.context.route("**/api/facets*", lambda route: route.fulfill(json={
        "total": 1, "bytes": 185_000, "freeBytes": 70_000_000_000, "library": {"archives": 1, "collections": 0, "bytes": 61_000_000}}))
    return browser.page


def test_settings_apply_at_once_and_stay(host_with_sample, page):
    page.goto(f"{host_with_sample.home}/#settings")
    expect(page.get_by_text("These settings apply to this browser only.")).to_be_visible()
    expect(page.get_by_role("definition")).to_have_text(["61 MB", "70 GB"])
    background = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
    light = background()
    page.get_by_role("radio", name="Dark").check()
    assert background() != light
    page.get_by_role("radio", name="time zone (Asia/").check()
    page.get_by_role("radio", name="List", exact=True).check()
    page.get_by_role("radio", name="By ranges").check()
    page.reload()
    for name in ["Dark", "time zone (Asia/", "List", "By ranges"]:
        expect(page.get_by_role("radio", name=name, exact=name == "List")).to_be_checked()
    assert background() != light
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#view=pages")
    expect(page.get_by_text("21 November 2024, 14:30 GMT+5:30").first).to_be_visible()
    expect(page.get_by_text("UTC")).to_have_count(0)
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect(viewer.read("#edition")).to_have_text("Autumn edition")
    expect(page.get_by_role("button", name="21 Nov 2024 · 2 of 2")).to_be_visible()
    expect(page.locator(".capture-time time")).to_have_attribute("title", "21 November 2024, 14:30:00 GMT+5:30")
    assert "ranges" in viewer.agent_frame.url


def test_setting_of_another_tab_applies(host_with_sample, page):
    page.goto(f"{host_with_sample.home}/#settings")
    other = page.context.new_page()
    other.goto(f"{host_with_sample.home}/#settings")
    other.get_by_role("radio", name="Dark").check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    other.get_by_role("radio", name="Automatic").check()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


def test_replay_data_is_cleared(host_with_sample, page):
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect_home(viewer)
    origin = host_with_sample.replay_origin("sample")
    kept = lambda: page.evaluate("localStorage.getItem('replayhost-origins')")  # noqa: E731
    assert origin in kept()
    page.get_by_role("link", name="Library", exact=True).click()
    page.get_by_role("link", name="Settings").click()
    with page.expect_request(f"{origin}/clear"):
        page.get_by_role("button", name="Clear replay data…").click()
        page.get_by_role("dialog").get_by_role("button", name="Clear replay data").click()
    expect(page.locator(".toast")).to_contain_text("Replay data was cleared.")
    assert origin not in kept()
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect_home(viewer)


def test_shortcuts_are_listed_and_can_be_turned_off(host_with_sample, page):
    page.goto(host_with_sample.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    field = page.get_by_role("combobox", name="Search text, titles and URLs")
    expect_loaded(page)
    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type("?/")
    expect(field).to_have_value("?/")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).focus()
    expect_loaded(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("Move between the toolbar and the page")
    dialog.get_by_role("button", name="Close").press("Enter")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("checkbox", name="Single-key shortcuts").uncheck()
    page.get_by_role("heading", level=1).focus()
    expect_loaded(page)
    page.keyboard.press("/")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Show all shortcuts").click()
    expect(dialog).to_contain_text("Single-key shortcuts are turned off in the settings.")


def test_skip_link_leads_past_the_app_bar(host_with_sample, page):
    page.goto(f"{host_with_sample.home}/#settings")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_focused()
    expect(page).to_have_url(re.compile("#settings$"))


def test_search_box_of_an_archive_searches_it_or_the_library(host_with_sample, page):
    host = host_with_sample
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    field = page.get_by_role("combobox", name="Search this archive")
    field.fill("limpet")
    options = page.get_by_role("option")
    expect(options.nth(0)).to_have_text("Search this archive for “limpet”")
    expect(options.nth(1)).to_have_text("Search the library for “limpet”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{host.home}/#search=limpet")
    page.go_back()
    field.fill("limpet")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{host.home}/#search=limpet&in=sample")


def add_by_path(page, path):
    """Returns the dialog, which stays open while the path is refused."""
    page.get_by_role("button", name="More actions", exact=True).click()
    page.get_by_role("menuitem", name="Add by path…").click()
    dialog = page.get_by_role("dialog", name="Add by path")
    dialog.get_by_label("Path").fill(str(path))
    page.keyboard.press("Enter")
    return dialog


def test_files_of_this_computer_are_added(host, browser, tmp_path):
    """By the path of a folder, and left where they are. An empty library offers it, too."""
    page = browser.page
    browser.allow("404")
    (tmp_path / "drive").mkdir()
    for name in ["sample", "second"]:
        shutil.copy(FIXTURES / f"{name}.wacz", tmp_path / "drive")
    page.goto(host.home)
    page.get_by_role("button", name="Add by path…").click()
    dialog = page.get_by_role("dialog", name="Add by path")
    for path, message in [("drive", "Write the whole path, beginning with /."),
            (f"{tmp_path}/nowhere", f"There is no file or folder {tmp_path}/nowhere")]:
        dialog.get_by_label("Path").fill(path)
        page.keyboard.press("Enter")
        expect(dialog.get_by_role("alert")).to_contain_text(message)
    dialog.get_by_label("Path").fill(f"{tmp_path}/drive")
    dialog.get_by_role("checkbox", name="Leave the file where it is (link)").check()
    dialog.get_by_role("button", name="Add").click()
    expect(page.locator(".toast")).to_contain_text("2 added")
    for title in ["Tidepool Field Guide", "Harbour Notebook"]:
        expect(page.get_by_role("link", name=title, exact=True)).to_be_visible()
    assert sorted(archive.get("linkedPath", "") for archive in host.archives()) == [f"{tmp_path}/drive/sample.wacz", f"{tmp_path}/drive/second.wacz"]


def test_result_of_each_path_is_told(host_with_sample, page, tmp_path):
    """Of a new file, a duplicate, and a file that is no archive. The activity lists duplicates and failures."""
    host = host_with_sample
    shutil.copy(FIXTURES / "second.wacz", tmp_path / "new.wacz")
    shutil.copy(FIXTURES / "sample.wacz", tmp_path / "copy.wacz")
    (tmp_path / "bad.wacz").write_bytes(b"no archive")
    failure = "This isn't a web archive; choose a WACZ, WARC or ARC file, as ArchiveWeb.page, Browsertrix or wget make them."
    page.goto(host.home)
    for name, message in [("new", "Added “Harbour Notebook”."), ("copy", "Already in your library: “Tidepool Field Guide”. Nothing was added."),
            ("bad", f"Couldn't add “bad.wacz”. {failure}")]:
        add_by_path(page, tmp_path / f"{name}.wacz")
        expect(page.locator(".toast p")).to_have_text(message)
    page.locator(".toast").get_by_role("button", name="Show").click()
    duplicates = page.get_by_role("region", name="Already in your library (1)")
    expect(duplicates.get_by_role("listitem")).to_contain_text("copy.wacz")
    expect(duplicates.get_by_role("link", name="Tidepool Field Guide")).to_have_attribute("href", re.compile("archive=/archives/sample.wacz"))
    expect(page.get_by_role("region", name="Failures").locator(".reason")).to_have_text(failure)
    duplicates.get_by_role("button", name="Dismiss").click()
    expect(duplicates).to_have_count(0)
    page.reload()
    expect(page.get_by_role("region", name="Failures")).to_be_visible()
    expect(duplicates).to_have_count(0)
