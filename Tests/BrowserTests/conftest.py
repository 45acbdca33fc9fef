"""Fixtures: a server with an empty store, and browsers with new profiles. All end with the test."""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from support.browser import Browser
from support.engines import ENGINES
from support.host import Host
from support.places import FIXTURES, HEADLESS_CHROMIUM, ORIGINS, WEB_INTERFACE
from website import Website


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds what the page shows to the report of a failed test."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.failed and report.when == "call" and page is not None:
        try:
            report.sections.append((f"Page {page.url}", page.locator("body").aria_snapshot(timeout=5000)))
        except Exception as error:  # The browser may be what failed.
            report.sections.append(("Page", f"can't be read: {error}"))
    return report


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def origins():
    """The origin mode of the servers. A file can have this fixture in both modes."""
    return ORIGINS


@pytest.fixture(scope="module")
def site():
    """A website whose media the fake tools of a capture server save."""
    site = Website()
    yield site
    site.close()


@pytest.fixture
def host(tmp_path, origins):
    """A running server with an empty store."""
    with Host(tmp_path, origins=origins) as host:
        yield host


@pytest.fixture
def host_with_sample(tmp_path, origins):
    """A running server with Fixtures/sample.wacz in its store."""
    host = Host(tmp_path, origins=origins)
    host.add(FIXTURES / "sample.wacz")
    with host:
        yield host


@pytest.fixture(scope="module")
def shared_host_with_sample(tmp_path_factory):
    """A server for all tests of a file that don't change its store."""
    host = Host(tmp_path_factory.mktemp("shared"))
    host.add(FIXTURES / "sample.wacz")
    with host:
        yield host


@pytest.fixture
def own_assets(tmp_path):
    """A copy of the web app and the engine that a test can change."""
    return shutil.copytree(WEB_INTERFACE, tmp_path / "www")


@pytest.fixture
def host_with_own_assets(tmp_path, own_assets):
    with Host(tmp_path, assets=own_assets) as host:
        yield host


@contextmanager
def checked(make):
    """Opens browsers with `make(number, …)`, and checks at the end that nothing left this computer."""
    opened = []

    def open_one(*arguments, **options):
        opened.append(make(len(opened), *arguments, **options))
        return opened[-1]

    try:
        yield open_one
        for each in opened:
            each.check()
    finally:
        for each in opened:
            each.close()


@pytest.fixture(params=ENGINES)
def open_engine(request, playwright, tmp_path):
    """Opens a browser of one engine."""
    def make(number, **options):
        return ENGINES[request.param](tmp_path / f"browser-{number}", playwright=playwright, **options)

    with checked(make) as open_one:
        yield open_one


@pytest.fixture
def engine(open_engine):
    """A browser of each engine in turn."""
    return open_engine()


@pytest.fixture(scope="module", params=ENGINES)
def shared_engine(request, playwright, tmp_path_factory):
    """One run of each engine for all tests of a file."""
    def make(number):
        return ENGINES[request.param](tmp_path_factory.mktemp("browser"), playwright=playwright)

    with checked(make) as open_one:
        yield open_one()


@pytest.fixture
def tab(shared_engine):
    """A new tab in a shared run of each engine. With names, tests share no data if each has its own server, on another port."""
    shared_engine.open_tab()
    yield shared_engine
    # Until here, the test's server is there for the tab.
    shared_engine.go("about:blank")
    shared_engine.check()
    shared_engine.forget_errors()


@pytest.fixture
def open_browser(playwright, tmp_path):
    """Opens browsers, each with a new profile unless one is given."""
    def make(number, profile=None, **options):
        return Browser(playwright, profile or tmp_path / f"profile-{number}", **options)

    with checked(make) as open_one:
        yield open_one


@pytest.fixture
def browser(request, open_browser):
    """Its own run of Chromium, or in a file marked `one_chromium`, an in-memory profile in a shared run."""
    if request.node.get_closest_marker("one_chromium") and not request.node.get_closest_marker("own_chromium"):
        return open_browser(among=request.getfixturevalue("shared_browser"))
    return open_browser()


@pytest.fixture(scope="module")
def shared_browser(playwright, tmp_path_factory):
    """A browser for all tests of a file that don't depend on earlier state, or on Chromium's own windows and dialogs."""
    with checked(lambda number: Browser(playwright, tmp_path_factory.mktemp("profile"), program=HEADLESS_CHROMIUM)) as open_one:
        yield open_one()


@pytest.fixture
def page(browser):
    return browser.page
