"""Archives are seen to replay: what their rows say, and media with their pages."""

import subprocess

import media_content
import pytest
import website
from capture_host import SECONDS
from page_hosts import expect_valid, make_host, save
from support.places import BINARY

pytestmark = pytest.mark.needs("Chromium")


@pytest.fixture(scope="module")
def host(site, tmp_path_factory):
    host = make_host(tmp_path_factory.mktemp("checked"), checks=True)
    with host:
        yield host


@pytest.fixture(scope="module")
def quick(site, tmp_path_factory):
    """Archives aren't replayed."""
    host = make_host(tmp_path_factory.mktemp("unchecked"))
    with host:
        yield host


def test_page_replays(host, site):
    saved = save(host, site.make("lamps", "<h1>Two lamps</h1><img src=/img/lamp.png><img src=/gone-image/lamp.png>"))
    assert (saved.row["incomplete"], saved.row["replay_check"]) == (None, "Replays: same text, 3 of 3 files")
    assert "replay:        Replays: same text, 3 of 3 files\n" in host.command("show", saved.row["download_id"]).stdout
    # Once more
    assert host.command("check", saved.row["download_id"]).stdout.endswith(": Replays: same text, 3 of 3 files\n")
    assert host.replayhost("info", saved.row["archive"])[0]["saved"]["replayCheck"] == "Replays: same text, 3 of 3 files"
    host.expect_no_leftovers()


def test_page_differs(host, site):
    """Each load has other words and other URLs. The site isn't asked for those."""
    body = """<h1>Dice</h1><img src=/img/dice.png><script>
        const number = () => crypto.getRandomValues(new Uint32Array(1))[0]
        for (let count = 0; count < 7; count++) fetch('/text/' + number())
        document.body.append(Array.from({length: 39}, number).join(' '))
        </script>"""
    saved = save(host, site.make("dice", body))
    # One word of forty; page and image of nine.
    assert saved.row["replay_check"] == "Differs: 2% of the words are the same, 2 of 9 files"
    with site.lock:
        assert sum(count for (_, path), count in site.asked.items() if path.startswith("/text/")) == 7
    missing = [line for line in host.lines(saved.row["download_id"]) if "not in the archive: " in line]
    assert len(missing) == 7 and all(f"not in the archive: {site.address}/text/" in line for line in missing)


@pytest.mark.parametrize("code", [
    # Without a response: the engine's error page isn't a style sheet.
    "const link = document.createElement('link'); link.rel = 'stylesheet'; link.href = '/text/' + number(); document.head.append(link)",
    "fetch('//' + location.host + '/text/' + number())",
], ids=["style sheets", "URLs without a scheme"])
def test_missing_files_are_counted(host, site, code):
    """Each load has other URLs, but the same words."""
    saved = save(host, site.make("others", f"""<h1>Others</h1><img src=/img/others.png><script>
        const number = () => crypto.getRandomValues(new Uint32Array(1))[0]
        for (let count = 0; count < 7; count++) {{ {code} }}
        </script>"""), options={"mode": "page"})
    assert saved.row["replay_check"] == "Differs: same text, 2 of 9 files"


def test_medium_that_does_not_play(host, site):
    """The film is none."""
    row = host.wait_for(host.add(site.fake("ok", title="Film"), options={"mode": "media"}), "completed")
    assert row["replay_check"] == "Differs: the media file doesn't play"


def test_film_that_its_page_plays_is_stored_once(quick, site):
    """What the page got is a revisit of the film. It replays with the film's bytes."""
    url = site.fake("ok", plays=1)
    film, played = media_content.of(url), url.replace("/fake/", "/played/")
    saved = save(quick, url)
    (original,) = [record for record in saved.records if film in record.body]
    assert (original.rec_type, original.uri) == ("resource", f"https://replayhost.invalid/{saved.row['download_id']}/media.mp4")
    revisit, first = saved.of(played, "revisit").rec_headers, original.rec_headers
    for name, of in [("Refers-To", "Record-ID"), ("Refers-To-Target-URI", "Target-URI"), ("Refers-To-Date", "Date"),
            ("Payload-Digest", "Payload-Digest")]:
        assert revisit.get_header(f"WARC-{name}") == first.get_header(f"WARC-{of}") is not None, name
    replayed = subprocess.run(
        [BINARY, "get", played, saved.row["archive"], "--store", quick.store], capture_output=True, timeout=SECONDS)
    assert replayed.stdout == film, replayed.stderr
    expect_valid(quick, saved)


def test_medium_with_its_page(quick, site):
    url = site.fake("ok", title="A film of the harbour")
    saved = save(quick, url)
    assert (saved.row["incomplete"], saved.row["replay_check"]) == (None, None)
    assert quick.file(saved.row).stat().st_size == saved.row["file_size"]
    # The film is on a page of ours, and the page is as the site sent it.
    assert saved.of(f"https://replayhost.invalid/{saved.row['download_id']}/", "resource").status is None
    assert saved.of(url).body == website.PAGE
    listed = quick.replayhost("info", saved.row["archive"])[0]
    assert listed["pageCount"] == 2 and listed["mainPage"]["url"].startswith("https://replayhost.invalid/")
    expect_valid(quick, saved)


def test_medium_without_its_page(quick, site):
    url = site.fake("ok", title="Only a film", status=500)
    row = quick.wait_for(quick.add(url), "completed")
    assert row["incomplete"].startswith("The page isn't saved: ") and row["file_path"]
    assert row["incomplete"] in quick.replayhost("info", row["archive"])[0]["description"]


def test_page_without_its_medium(quick, site):
    row = quick.wait_for(quick.add(site.fake("drm")), "completed")
    assert row["incomplete"].startswith("The media isn't saved: ") and "DRM" in row["incomplete"]
    assert (row["file_path"], row["genre"]) == (None, "unknown")


def test_neither_medium_nor_page(quick, site):
    """The cause is that of the medium."""
    row = quick.wait_for(quick.add(site.fake("drm", status=500)), "failed")
    assert row["error_code"] == "drm"


@pytest.mark.parametrize("script, code", [("private", "private"), ("removed", "removed")])
def test_no_page_of_what_is_not_there(quick, site, script, code):
    row = quick.wait_for(quick.add(site.fake(script)), "failed")
    assert row["error_code"] == code


def test_page_only(quick, site):
    url = site.fake("ok", title="Unwanted")
    row = quick.wait_for(quick.add(url, options={"mode": "page"}), "completed")
    assert (row["file_path"], row["options"]) == (None, {"mode": "page"})
    assert quick.tools.calls(url) == []
