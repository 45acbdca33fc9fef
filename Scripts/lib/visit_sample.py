"""Opens an address of Fixtures/sample.wacz in Chromium, and follows a link of the archived page. Exits 1 when it does not show."""

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "Tests" / "BrowserTests"))

from playwright.sync_api import expect, sync_playwright
from support.browser import MILLISECONDS, Browser
from support.journey import expect_home, expect_species
from support.viewer import Viewer

expect.set_options(timeout=MILLISECONDS)
with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    browser = Browser(playwright, Path(folder) / "profile")
    try:
        browser.page.goto(sys.argv[1])
        viewer = Viewer(browser.page)
        expect_home(viewer)
        viewer.follow("Species")
        expect_species(viewer)
        browser.check()
    finally:
        browser.close()
print(f"visit: {sys.argv[1]} shows the archived page, and its link leads to the next")
