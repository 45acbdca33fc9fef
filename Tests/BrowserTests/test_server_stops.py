"""The server stops: every view says so, and repeats what failed when the server is back. No test clicks for that."""

import re

import pytest

from support.archives import write_archive
from support.expecting import expect, expect_loaded
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

URL = "https://lamp.example/"


@pytest.fixture
def lamp_host(host, tmp_path):
    host.add(write_archive(tmp_path / "lamp.wacz", "Lamps", {
        URL + name: f"<!doctype html><title>Lamp {name}</title><h1>Lamp {name}</h1><p>An oil lamp, and lampword{name}."
        for name in ["one", "two"]}))
    wait_until(lambda: "verificationSummary" in host.archive("lamp"), "the archive is verified")
    return host.wait_until_indexed()


@pytest.fixture
def page(browser):
    browser.allow("Failed to load resource|net::ERR")
    return browser.page


def stopped(page):
    return page.get_by_role("status").filter(has_text="replayhost has stopped")


@pytest.mark.parametrize("address", [
    "", "#search=lamp", "#activity", "#settings", "?archive=/archives/lamp.wacz#view=pages", "?archive=/archives/lamp.wacz"])
def test_each_view_says_that_the_server_has_stopped(lamp_host, page, address):
    page.goto(f"{lamp_host.home}/{address}")
    expect(page.get_by_text({"#activity": "No active jobs", "#settings": "Appearance"}.get(address, "Lamps")).first).to_be_visible()
    if address.endswith(".wacz"):
        # While the viewer opens a page, its panel says it instead.
        expect(Viewer(page).read("h1")).to_have_text("Lamp one")
    expect_loaded(page)
    lamp_host.stop()
    banner = stopped(page).filter(has_text="replayhost serve")
    expect(banner).to_be_visible()
    expect(page.locator("#announcements")).to_have_text("replayhost has stopped.")
    lamp_host.start()
    expect(banner).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text("replayhost is running again.")


def test_view_loads_when_the_server_is_back(lamp_host, page):
    """The server stops before the view was ever shown."""
    page.goto(lamp_host.home)
    expect(page.get_by_role("link", name="Lamps", exact=True)).to_be_visible()
    expect_loaded(page)
    lamp_host.stop()
    page.get_by_role("link", name="Activity", exact=True).click()
    expect(page.get_by_role("heading", name="This view can't be loaded")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("replayhost has stopped")
    lamp_host.start()
    expect(page.get_by_text("No active jobs")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_library_says_once_that_the_server_has_stopped(lamp_host, page):
    """The banner is enough. The list is read when the server is back."""
    page.goto(lamp_host.home)
    expect(page.get_by_role("link", name="Lamps", exact=True)).to_be_visible()
    expect_loaded(page)
    lamp_host.stop()
    page.get_by_label("Filter archives").fill("lamp")
    banner = stopped(page).filter(has_text="replayhost serve")
    expect(banner).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    lamp_host.start()
    expect(page.get_by_role("link", name="Lamps", exact=True)).to_be_visible()
    expect(banner).to_have_count(0)


def test_search_is_repeated(lamp_host, page):
    page.goto(f"{lamp_host.home}/#search=lampwordone")
    expect(page.get_by_role("link", name="Lamp one")).to_be_visible()
    expect_loaded(page)
    lamp_host.stop()
    page.evaluate("location.hash = '#search=lampwordtwo'")
    expect(page.get_by_role("alert")).to_contain_text("Can't search")
    lamp_host.start()
    expect(page.get_by_role("link", name="Lamp two")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_more_results_are_repeated(host, tmp_path, page):
    host.add(write_archive(tmp_path / "lamp.wacz", "Lamps", {
        f"{URL}{number}": f"<!doctype html><title>Lamp {number}</title><p>A lampword {number}." for number in range(25)}))
    host.wait_until_indexed()
    page.goto(f"{host.home}/#search=lampword")
    hits = page.locator(".hits > li")
    expect(hits).to_have_count(20)
    expect_loaded(page)
    host.stop()
    page.get_by_role("button", name="More results").click()
    expect(page.get_by_role("alert")).to_contain_text("Can't load more results")
    expect(hits).to_have_count(20)
    host.start()
    expect(hits).to_have_count(25)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_verification_is_repeated(lamp_host, page):
    page.goto(f"{lamp_host.home}/?archive=/archives/lamp.wacz#view=details")
    section = page.get_by_role("region", name="Verification")
    button = section.get_by_role("button", name="Verify again")
    expect(button).to_be_visible()
    expect_loaded(page)
    lamp_host.stop()
    button.click()
    expect(section.get_by_role("alert")).to_contain_text("Couldn't start the verification")
    lamp_host.start()
    expect(section).to_contain_text("The result is the same as before.")
    expect(section.get_by_role("alert")).to_have_count(0)
    expect(button).to_have_attribute("aria-disabled", "false")


def test_result_of_a_verification_is_read_again(lamp_host, page):
    """The server stops after the verification has finished, before the page reads the result."""
    page.goto(f"{lamp_host.home}/?archive=/archives/lamp.wacz#view=details")
    section = page.get_by_role("region", name="Verification")
    button = section.get_by_role("button", name="Verify again")
    expect(button).to_be_visible()
    page.route("**/api/archives/lamp", lambda route: route.abort("connectionrefused"))
    button.click()
    expect(section.get_by_role("alert")).to_contain_text("Can't read the result")
    page.unroute("**/api/archives/lamp")
    expect(section).to_contain_text("The result is the same as before.")
    expect(section.get_by_role("alert")).to_have_count(0)
    expect(button).to_have_attribute("aria-disabled", "false")


@pytest.mark.parametrize(("view", "field", "found"), [
    ("pages", "Filter by title or URL", ".page-line"), ("urls", "Text in the URL", "table.urls tbody tr")])
def test_lists_are_repeated(lamp_host, page, view, field, found):
    page.goto(f"{lamp_host.home}/?archive=/archives/lamp.wacz#view={view}")
    rows = page.locator(found)
    expect(rows).to_have_count(2)
    expect_loaded(page)
    lamp_host.stop()
    page.get_by_label(field).fill("two")
    problem = page.get_by_role("alert").filter(has_text=re.compile("Can't (load the pages|list the URLs)"))
    expect(problem).to_be_visible()
    lamp_host.start()
    expect(problem).to_have_count(0)
    expect(rows).to_have_count(1)


def test_archive_is_read_again(lamp_host, page):
    """A request fails while the page opens."""
    page.route("**/api/archives/lamp", lambda route: route.abort("connectionrefused"))
    page.goto(f"{lamp_host.home}/?archive=/archives/lamp.wacz")
    expect(page.get_by_role("heading", name="This archive can't be opened")).to_be_visible()
    page.unroute("**/api/archives/lamp")
    expect(Viewer(page).read("h1")).to_have_text("Lamp one")
    expect(page.get_by_role("heading", name="This archive can't be opened")).to_have_count(0)


def test_command_that_starts_the_server_is_the_one_it_names(lamp_host, page):
    """The store isn't the default one: the server hands the command to the page."""
    page.goto(f"{lamp_host.home}/?archive=/archives/lamp.wacz")
    expect(Viewer(page).read("h1")).to_have_text("Lamp one")
    command = f"replayhost serve --store {lamp_host.store}"
    expect_loaded(page)
    lamp_host.stop()
    expect(stopped(page).locator("code")).to_have_text(command)
    Viewer(page).open_url(URL + "two")
    expect(page.locator(".panel code")).to_have_text(command)
