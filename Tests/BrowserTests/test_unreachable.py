"""Browsers that resolve `replayhost.localhost` but not the names below it, or that send no referrer."""

import re

import pytest

from support.engines import ENGINES
from support.expecting import expect

WHAT = "The browser can't load anything from this archive's address."


def test_names_are_not_resolved(host_with_sample, browser, page):
    """As with a resolver that has a list of names. The page says so, and opens when it can."""
    archive = re.compile(r"^http://sample\.replayhost\.localhost")
    browser.context.route(archive, lambda route: route.abort("namenotresolved"))
    browser.allow("ERR_NAME_NOT_RESOLVED")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect(page.get_by_role("alert")).to_have_text(WHAT)
    expect(page.get_by_text("It must resolve sample.replayhost.localhost")).to_be_visible()
    browser.context.unroute(archive)
    page.get_by_role("button", name="Try again").click()
    expect(page.frame_locator('iframe[title="Archived page"]').locator("h1")).to_be_visible()


@pytest.mark.few()
def test_no_referrer_is_sent(host_with_sample, playwright, tmp_path):
    """As with a setting of Firefox."""
    engine = ENGINES["firefox"](tmp_path / "browser", blocks="referrers", playwright=playwright)
    try:
        engine.go(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
        engine.wait_for_text(WHAT)
        engine.check()
    finally:
        engine.close()
