"""The server's events, which these tests send in its place: the library updates."""

import re

import pytest

from support.expecting import expect, expect_loaded
from support.jobs import FakeJobs
from support.journey import TITLE
from support.places import FIXTURES
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

@pytest.fixture
def fake(browser):
    return FakeJobs(browser.context)


def test_library_shows_what_others_import_and_remove(host, fake, page):
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    host.add(FIXTURES / "sample.wacz")
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    host.run("remove", "--yes", "sample")
    fake.events.append(("archives", {"revision": 3}))
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()


def test_updates_keep_the_focus(host_with_sample, fake, page):
    host = host_with_sample
    page.goto(host.home)
    page.get_by_role("button", name=f"More actions for {TITLE}").focus()
    host.add(FIXTURES / "second.wacz")
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name="Harbour Notebook", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=f"More actions for {TITLE}")).to_be_focused()


def test_update_during_a_click_does_not_lose_it(host_with_sample, fake, page):
    """The row changes between the press and the release of the mouse."""
    host = host_with_sample
    page.goto(host.home)
    page.get_by_role("link", name=TITLE, exact=True).hover()
    page.mouse.down()
    assert host.run("edit", "sample", "--tag", "tidal").returncode == 0
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("navigation", name="Tags, sites, years").get_by_text("tidal")).to_be_visible()
    page.mouse.up()
    expect(page).to_have_url(re.compile("archive="))


def test_library_reconnects_to_a_stopped_server(host_with_sample, browser):
    host, page = host_with_sample, browser.page
    browser.allow("Failed to load resource|net::ERR")
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect_loaded(page)
    stopped = page.locator(".banners").get_by_text("replayhost has stopped")
    expect(stopped).to_have_count(0)
    host.stop()
    expect(stopped).to_be_visible()
    page.get_by_role("link", name=f"Open {TITLE}").click()
    expect(page.locator("#announcements")).to_have_text("replayhost has stopped.")
    expect(stopped).to_be_visible()
    host.add(FIXTURES / "second.wacz")
    host.start()
    expect(stopped).to_have_count(0)
    expect(page.get_by_role("link", name="Harbour Notebook", exact=True)).to_be_visible()


def test_server_without_events_is_asked_once(host_with_sample, browser):
    """The library works without events, and shows no error."""
    # The page of an archive that is being verified, or will be, asks for events too.
    wait_until(lambda: "verificationSummary" in host_with_sample.archive("sample"), "the archive is verified")
    requested = []
    browser.allow("404")
    browser.context.route("**/api/events", lambda route: requested.append(route.request.url) or route.fulfill(status=404))
    page = browser.page
    page.add_init_script("""window.EventSource = class extends EventSource {
        constructor(url) {
            super(url);
            this.addEventListener("error", () => { window.eventsFailed = true; });
        }
    };""")
    page.goto(host_with_sample.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    wait_until(lambda: page.evaluate("window.eventsFailed"), "the page was told that there are no events")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("link", name=TITLE, exact=True).click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert len(requested) == 1
    expect(page.get_by_role("alert")).to_have_count(0)
