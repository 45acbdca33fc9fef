"""Opens the URL in VISIT, a page of Fixtures/sample.wacz, and follows a link. `Scripts/check-dist` runs this."""

import os

from support.journey import expect_home, expect_species
from support.viewer import Viewer


def test_page_and_link(page):
    page.goto(os.environ["VISIT"])
    viewer = Viewer(page)
    expect_home(viewer)
    viewer.follow("Species")
    expect_species(viewer)
