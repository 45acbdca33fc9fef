"""Fixtures: a website of awkward pages, what was saved of it, and browsers that replay it. Nothing leaves this computer."""

import shutil

import pytest

pytest.register_assert_rewrite("capture_host", "decoders", "page_hosts")

import pages
import pywb_server
from awkward_site import AwkwardSite
from capture_host import CAPTURE_BINARY
from page_hosts import Saved, make_host
from playwright.sync_api import sync_playwright
from support.browser import Browser
from support.host import Host
from support.waiting import wait_until


@pytest.fixture(scope="session", autouse=True)
def _programs():
    assert CAPTURE_BINARY.exists(), f"build the program first: {CAPTURE_BINARY}"
    missing = [name for name in ("curl", "ffmpeg", "zstd") if shutil.which(name) is None]
    assert pages.CHROMIUM and not missing, f"Chromium or {missing} is missing; run `make setup-capture`"


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    site = AwkwardSite(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


class Archives:
    """The archives of all cases, made on first use, and the library that has them."""

    def __init__(self, folder, site, cases):
        self.capture, self.library = make_host(folder, checks=True), Host(folder)
        try:
            self.capture.start()
            ids = {case.name: self.capture.add(site(case.start)) for case in cases}
            self.rows = {name: self.capture.wait_for(identifier, seconds=1800) for name, identifier in ids.items()}
            for name, row in self.rows.items():
                print(f"{name}: {row['replay_check'] or row['error_message']}")
            self.made = {row["archive"] for row in self.rows.values()} - {None}
            self.saved = {name: Saved(self.capture, row) for name, row in self.rows.items() if row["archive"]}
            self.library.start()
            wait_until(lambda: self.made <= set(self.library.ids()), "the library knows them")
        except BaseException:
            self.close()
            raise

    def __getitem__(self, case):
        """What was saved of a case. It failed if there's nothing."""
        assert case.name in self.saved, self.rows[case.name]
        return self.saved[case.name]

    def close(self):
        self.capture.stop()
        self.library.stop()


@pytest.fixture(scope="session")
def archives(tmp_path_factory, site):
    from test_awkward_pages import CASES

    archives = Archives(tmp_path_factory.mktemp("archives"), site, CASES)
    yield archives
    archives.close()


@pytest.fixture(scope="session")
def pywb(tmp_path_factory, archives):
    """pywb with all archives."""
    server = pywb_server.PywbServer(tmp_path_factory.mktemp("pywb"), *(saved.path for saved in archives.saved.values()))
    yield server
    server.close()


@pytest.fixture
def browser(playwright, tmp_path):
    """Chromium with an empty profile and a window that is smaller than the recorder's. Nothing may leave this computer."""
    browser = Browser(playwright, tmp_path / "profile", viewport={"width": 800, "height": 700})
    # What a page shows decides, not the errors of its scripts.
    browser.allow("^uncaught")
    try:
        yield browser
        browser.check()
    finally:
        browser.close()
