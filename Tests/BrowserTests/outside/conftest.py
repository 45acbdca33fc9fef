"""The watched network that the tests of this folder run in. support/outside.py"""

import pytest
from playwright.sync_api import sync_playwright

from support.outside import Outside


@pytest.fixture(scope="module")
def outside():
    network = Outside()
    yield network
    network.close()


@pytest.fixture(scope="module")
def playwright():
    with sync_playwright() as running:
        yield running
