"""Two captures of a URL compared: the words of their text, the lines of their source, their pages and their pictures."""

import difflib
import html
import random
import re
import subprocess

import pytest

from support.archives import write_captures
from support.expecting import expect
from support.host import Host

pytestmark = pytest.mark.one_chromium

URL = "https://tide.example/"
MAY, JUNE = "20240503101500", "20240612090000"
PAGES = {
    "2024-05-03T10:15:00Z": """<!doctype html><title>Tide table</title><style>p { color: red }</style><h1>Tides</h1>
<p>High water is at nine in the morning.</p><p>Bring <b>old</b>shoes &amp; a net.</p><script>window.ran = true</script>
<p>Limpets, crabs and mussels.</p>""",
    "2024-06-12T09:00:00Z": """<!doctype html><title>Tide table</title><style>p { color: blue }</style><h1>Tides</h1>
<p>High water is at ten in the morning.</p><p>Bring <b>old</b>shoes &amp; a net.</p><script>window.ran = 2</script>
<p>Limpets and mussels. No dogs &lt;b onclick=alert(1)&gt;.\u202e</p>""",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    host = Host(folder)
    host.add(write_captures(folder / "tides.wacz", "Tides", [({"url": URL, "time": time}, text.encode()) for time, text in PAGES.items()]))
    with host:
        yield host


def compare(library, page, way, a=MAY, b=JUNE, url=URL, target="archive=/archives/tides.wacz"):
    page.goto(f"{library.home}/?{target}#compare={url}&a={a}&b={b}&as={way}")
    expect(page.get_by_role("heading", name="Compare captures", level=1)).to_be_visible()


def test_words_of_two_captures(library, page):
    compare(library, page, "text")
    expect(page.locator(".compare-count")).to_have_text("3 changes")
    text = page.locator(".changed-text")
    page.screenshot(path="/tmp/c1/text.png", full_page=True)
    expect(text.locator("del")).to_have_text(["nine", "Limpets, crabs"])


def test_lines_of_two_captures(library, page):
    compare(library, page, "source")
    page.wait_for_timeout(1000)
    page.screenshot(path="/tmp/c1/source.png", full_page=True)
