"""Fixtures: capture servers with fake tools, and a website on this computer."""

import shutil

import pytest

from capture_host import CAPTURE_BINARY, FAST_RETRIES, CaptureHost
from fake_tools import FakeTools
from pages import PageSite
from website import Website


@pytest.fixture(scope="session", autouse=True)
def _programs():
    assert CAPTURE_BINARY.exists(), f"build the program first: {CAPTURE_BINARY}"
    assert shutil.which("curl"), "these tests need curl"


@pytest.fixture(scope="session")
def website():
    site = Website()
    yield site
    site.close()


@pytest.fixture(scope="module")
def site():
    """A website of pages for Chromium."""
    site = PageSite()
    yield site
    site.close()


@pytest.fixture
def tools(tmp_path):
    return FakeTools(tmp_path / "tools")


@pytest.fixture
def host(tmp_path, tools):
    """A capture server that tries again soon after transient failures. The test starts it."""
    host = CaptureHost(tmp_path, tools, *FAST_RETRIES)
    try:
        yield host
    finally:
        host.stop()


@pytest.fixture(scope="module")
def photo_host(tmp_path_factory):
    """A running server for the tests of a file, which has gallery-dl and no Chromium."""
    folder = tmp_path_factory.mktemp("gallery-dl")
    host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
    host.tools.give_gallery_dl()
    with host:
        yield host


@pytest.fixture(scope="module")
def shared(tmp_path_factory, website):
    """A running server for all tests of a file, which don't need an empty store."""
    folder = tmp_path_factory.mktemp("shared")
    with CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES) as host:
        yield host
