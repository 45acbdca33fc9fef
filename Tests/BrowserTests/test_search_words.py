"""Words that Chromium shows on an archived page are found by a search, and the hit opens that page.

The expected words are those of the rendered pages, not of replayhost's own text. Words that only a script draws are left out,
since nothing but running the page finds them. With CASES=all and REPLAYHOST_FIXTURES, the archives of that folder are
read too.
"""

import json
import os
import random
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from support.expecting import expect
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

WORDS = 20
PAGES = 3


def archives():
    found = [FIXTURES / name for name in ("sample.wacz", "second.wacz", "debian-faq.wacz", "no-pages.wacz")]
    more = os.environ.get("REPLAYHOST_FIXTURES")
    if more and os.environ.get("CASES") == "all":
        names = ["scoop", "jwarc", "py-wacz", "wacz2car", "solrwayback"]
        found += [path for path in sorted(Path(more).rglob("*.wacz")) if any(name in str(path) for name in names)]
    return found


def ask(host, path):
    status, _, body = host.request("GET", path)
    assert status == 200, body
    return json.loads(body)


def is_indexed(host):
    return ask(host, "/api/search?q=x")["coverage"]["pending"] == 0


def shown_words(body):
    """The words of the page as Chromium shows it."""
    return set(re.findall(r"\b[^\W\d_]{4,}\b", body.inner_text()))


def key(url):
    """What all spellings of a URL that are one hit have in common."""
    return re.sub(r"^https?://(www\.)?", "", url).rstrip("/").lower()


def test_words_of_rendered_pages_are_found(host, open_browser, shared_browser):
    browser = open_browser(among=shared_browser)
    without_scripts = open_browser(among=shared_browser, java_script_enabled=False).page
    chooser = random.Random(20261123)
    page = browser.page
    checked = 0
    for path in archives():
        result = host.run("import", path, "--json")
        if result.returncode != 0 or "archive" not in json.loads(result.stdout):
            continue
        archive = json.loads(result.stdout)["archive"]["id"]
        wait_until(lambda: archive in host.ids() and is_indexed(host), f"{archive} is indexed")
        pages = [item for item in ask(host, f"/api/archives/{archive}/pages?limit=100")["pages"]
            if item["url"].startswith("http")]
        for item in chooser.sample(pages, min(PAGES, len(pages))):
            link = f"/?archive=/archives/{archive}.wacz#url={quote(item['url'], safe='')}&ts={item.get('timestamp', '')}"
            page.goto("about:blank")
            page.goto(host.home + link)
            viewer = Viewer(page)
            expect(viewer.read("body")).to_be_attached()
            without_scripts.goto(f"{host.replay_origin(archive)}/c/{archive}/{item.get('timestamp', '')}id_/{item['url']}")
            words = sorted(shown_words(viewer.read("body")) & shown_words(without_scripts.locator("body")))
            for word in chooser.sample(words, min(WORDS, len(words))):
                hits = ask(host, f"/api/search?q={quote(word)}&in={archive}&limit=100")["hits"]
                assert key(item["url"]) in [key(hit["url"]) for hit in hits], f"{word} of {item['url']} in {archive}"
                checked += 1
    assert checked >= 100
