"""Opens the address VISIT of Fixtures/sample.wacz, and follows a link of the archived page. `Scripts/check-dist` starts this."""

import os

from support.journey import expect_home, expect_species
from support.viewer import Viewer


def test_the_page_and_its_link(page):
    page.goto(os.environ["VISIT"])
    viewer = Viewer(page)
    expect_home(viewer)
    viewer.follow("Species")
    expect_species(viewer)
