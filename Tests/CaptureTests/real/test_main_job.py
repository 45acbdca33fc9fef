"""A chapter of a manual, a page with a film and a post of photos are saved. The site goes down; all are found and replayed.

SCREENSHOTS names a folder for pictures of the live and the replayed pages.
"""

import os
import zipfile
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import contents
import pages
import pytest
from capture_host import CaptureHost
from film_site import Site, page
from playwright.sync_api import sync_playwright
from real_tools import RealTools
from support.browser import CHROMIUM
from support.engines import ENGINES
from support.host import Host
from support.pictures import plain
from support.places import FIXTURES
from support.waiting import wait_until

CHAPTER = "/doc/manuals/debian-faq/ftparchives.en.html"


def add_manual(site):
    """The Debian FAQ, from its archive, at the paths that it has at www.debian.org."""
    for record in contents.warc_records((FIXTURES / "debian-faq.wacz").read_bytes()):
        if record.rec_type == "response" and record.status == "200":
            path = urlsplit(record.uri).path
            site.contents[path + ("index.en.html" if path.endswith("/") else "")] = record.body


def add_film(site):
    site.add_data("ferry", {
        "title": "The ferry at dusk", "uploader": "Quay Television", "description": "A guillemot on the rail",
        "formats": [{"format_id": "mp4", "url": site("/film-360.mp4"), "ext": "mp4", "vcodec": "avc1.42c01f", "acodec": "mp4a.40.2"}]})
    site.contents["/watch/ferry"] = page("The ferry at dusk", body=(
        "<h1>The ferry at dusk</h1><video controls src=/film-360.mp4></video><p>Comments: a fine evening for cormorants.")).encode()


def add_post(site):
    for number in (1, 2, 3):
        site.contents[f"/photo{number}.png"] = plain((80 * number, 120, 255 - 80 * number), 400, 300)
    photos = {"id": "boats", "title": "Three boats", "username": "ana.quay", "description": "At low tide, seen from the mole",
        "photos": [site(f"/photo{number}.png") for number in (1, 2, 3)]}
    site.add_data("boats", {"error": "There is no video in this post", "expected": True, **photos})
    images = "".join(f"<img src=/photo{number}.png>" for number in (1, 2, 3))
    site.contents["/post/boats"] = page("Three boats", body=f"<h1>Three boats</h1>{images}<p>Twelve people like this.").encode()


@pytest.fixture(scope="module")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def saved(tmp_path_factory, ytdlp, playwright):
    folder = tmp_path_factory.mktemp("job")
    (folder / "site").mkdir()
    site, library = Site(folder / "site"), Host(folder)
    for add in (add_manual, add_film, add_post):
        add(site)
    urls = {"chapter": site(CHAPTER), "film": site("/watch/ferry"), "post": site("/post/boats")}
    tools = RealTools(folder / "tools", ytdlp, site)
    pages.give_chromium(tools)
    capture = CaptureHost(folder, tools).start()
    try:
        library.start()
        if os.environ.get("SCREENSHOTS"):
            shoot_live(playwright, urls)
        ids = {name: capture.add(url, username="ana") for name, url in urls.items()}
        rows = {name: capture.wait_for(identifier, "completed") for name, identifier in ids.items()}
        site.close()
        wait_until(lambda: {row["archive"] for row in rows.values()} <= set(library.ids()), "the library knows them")
        yield SimpleNamespace(capture=capture, library=library, rows=rows, urls=urls)
    finally:
        capture.stop()
        library.stop()
        site.close()


def shoot_live(playwright, urls):
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    for name, url in urls.items():
        tab.goto(url)
        tab.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"live-{name}.png")
    browser.close()


def test_rows_say_what_was_seen(saved):
    checks = {name: row["replay_check"] for name, row in saved.rows.items()}
    assert {row["incomplete"] for row in saved.rows.values()} == {None}, saved.rows
    assert checks["chapter"].startswith("Replays: same text, "), checks
    assert checks["film"].startswith("Replays: the media file plays, same text, "), checks
    assert checks["post"].startswith("Replays: 3 of 3 photos, same text, "), checks


def test_files_are_in_the_folder(saved):
    film, post = (saved.capture.file(saved.rows[name]) for name in ("film", "post"))
    assert film.read_bytes()[4:8] == b"ftyp"
    with zipfile.ZipFile(post) as package:
        assert package.namelist() == ["photo-01.png", "photo-02.png", "photo-03.png"] and package.testzip() is None
        assert package.read("photo-02.png") == plain((160, 120, 95), 400, 300)


@pytest.mark.parametrize("words, name", [
    ("source packages are kept", "chapter"), ("cormorants", "film"), ("guillemot", "film"), ("mole", "post"), ("twelve people", "post")])
def test_words_find_them(saved, words, name):
    assert saved.rows[name]["archive"] in saved.capture.search(words)


@pytest.mark.parametrize("engine_name", ["chromium", "firefox"])
def test_all_replay(saved, tmp_path, engine_name, playwright):
    engine = ENGINES[engine_name](tmp_path / "engine", playwright=playwright)
    expected = {"chapter": "There are three major distributions", "film": "Comments: a fine evening for cormorants.", "post": "Twelve people like this."}
    try:
        for name, url in saved.urls.items():
            archive = f"{saved.library.home}/?archive=/archives/{saved.rows[name]['archive']}.wacz"
            if name != "chapter":
                # Its main page is ours: the film, or the photos.
                engine.go(archive)
                shown = "document.querySelector('video')?.readyState >= 1" if name == "film" else (
                    "document.images.length === 3 && [...document.images].every((image) => image.complete && image.naturalWidth === 400)")
                engine.wait_for(f"() => {shown}", what=f"the {name} is shown", in_page=True)
                shoot(engine, engine_name, f"{name}-own")
            engine.go(f"{archive}#url={url.replace(':', '%3A').replace('/', '%2F')}&ts=")
            engine.wait_for_text_in_page(expected[name])
            shoot(engine, engine_name, name)
        engine.check()
    finally:
        engine.close()


def shoot(engine, engine_name, name):
    if os.environ.get("SCREENSHOTS"):
        engine.screenshot(str(Path(os.environ["SCREENSHOTS"]) / f"{engine_name}-{name}.png"))
