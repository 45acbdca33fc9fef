"""Fixtures: a host with an empty store, and browsers with fresh profiles. All of it ends with the test."""

import shutil
import sys

import pytest
from playwright.sync_api import expect, sync_playwright

pytest.register_assert_rewrite("support")

from support.browser import MILLISECONDS, Browser
from support.host import Host
from support.places import CHECKOUT, FIXTURES, WEB_INTERFACE

expect.set_options(timeout=MILLISECONDS)
sys.path.append(str(CHECKOUT / "Scripts" / "lib"))


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture
def host(tmp_path):
    """A running server with an empty store."""
    host = Host(tmp_path)
    try:
        yield host.start()
    finally:
        host.stop()


@pytest.fixture
def host_with_sample(tmp_path):
    """A running server with Fixtures/sample.wacz in its store."""
    host = Host(tmp_path)
    host.add(FIXTURES / "sample.wacz")
    try:
        yield host.start()
    finally:
        host.stop()


@pytest.fixture
def own_assets(tmp_path):
    """A copy of the web interface and the engine that a test may change."""
    return shutil.copytree(WEB_INTERFACE, tmp_path / "www")


@pytest.fixture
def host_with_own_assets(tmp_path, own_assets):
    host = Host(tmp_path, assets=own_assets)
    try:
        yield host.start()
    finally:
        host.stop()


@pytest.fixture
def open_browser(playwright, tmp_path):
    """Opens further browsers, each with a fresh profile unless one is named; each is checked when the test ends."""
    opened = []

    def open_one(profile=None, **options):
        folder = profile or tmp_path / f"profile-{len(opened)}"
        opened.append(Browser(playwright, folder, **options))
        return opened[-1]

    try:
        yield open_one
        for browser in opened:
            browser.check()
    finally:
        for browser in opened:
            browser.close()


@pytest.fixture
def browser(open_browser):
    return open_browser()


@pytest.fixture
def page(browser):
    return browser.page
