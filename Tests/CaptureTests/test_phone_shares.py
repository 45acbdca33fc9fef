"""The main job from a phone: `setup`, then a film and a page are shared as docs/network.md tells for the iOS Shortcut, and play offline.

The phone is in a network namespace of its own, and trusts only the root that it got from /server.crt. It sends what the page says, by curl.
"""

import contextlib
import hashlib
import json
import ssl
import subprocess
from types import SimpleNamespace

import contents
import media_content
import pages
import pytest
from home_network import SERVER, request
from home_server import Home, wait_until
from pages import PageSite
from support.needs import lacking
from support.places import BINARY

pytestmark = pytest.mark.needs("network namespaces")
# The sandbox of Chromium doesn't work for root, who is needed for the network.
PAGES_NEED = ("Chromium", "bubblewrap")
needs_pages = pytest.mark.needs(*PAGES_NEED)
LAMPS = ("<h1>Two lamps on the mole</h1><img src=/img/lamp.png>", "Lamps")
BASE = f"https://{SERVER}:8443"


class Phone:
    """Knows docs/network.md and docs/saving.md, and what `setup` showed."""

    def __init__(self, home, name, key=None):
        self.place, self.key = home.network.phone, key
        self.root = home.host.folder / f"{name}.crt"

    def curl(self, url, *options, with_key=True):
        """Returns the status and the body."""
        key = ["--header", f"Authorization: Bearer {self.key}"] if self.key and with_key else []
        command = [
            *self.place.command, "curl", "--silent", "--show-error", "--cacert", self.root, "--write-out", "\n%{http_code}", *key, *options, url]
        result = subprocess.run(command, capture_output=True, timeout=600)
        assert result.returncode == 0, result.stderr
        body, _, status = result.stdout.rpartition(b"\n")
        return int(status), body

    def install_certificate(self):
        """The browser warns that it doesn't know the server yet: continue. Returns the fingerprint that the phone shows."""
        assert self.curl(f"{BASE}/server.crt", "--insecure", "--output", str(self.root))[0] == 200
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.root.read_text())).hexdigest()

    def share(self, url):
        """The shortcut: Method POST, one header, and a JSON body with one text field. Returns the status and the answer."""
        status, body = self.curl(f"{BASE}/download", "--request", "POST", "--header", "Content-Type: application/json", "--data-binary",
            json.dumps({"url": url}))
        return status, json.loads(body)

    def get(self, path):
        status, body = self.curl(BASE + path)
        return status, json.loads(body)


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A film and a page, both saved by Ana's phone."""
    folder = tmp_path_factory.mktemp("phone")
    home = Home(folder, "downloads:\n  max_concurrent: 2\n")
    site = home.network.server.run(PageSite)
    can_save_pages = not any(map(lacking, PAGES_NEED))
    if can_save_pages:
        pages.give_chromium(home.host.tools)
    with home, contextlib.closing(site):
        made = {name: set_up(home, name) for name in ("ana", "ben")}
        ana = Phone(home, "ana", made["ana"]["key"])
        wait_until(lambda: answers(ana), "the server listens")
        assert ana.install_certificate() == made["ana"]["fp"].replace(":", "").lower()
        urls = {"film": site.fake("ok", title="The ferry at dusk")}
        if can_save_pages:
            urls["page"] = site.make("lamps", LAMPS[0], title=LAMPS[1])
        shared = {name: share(ana, url) for name, url in urls.items()}
        rows = {name: wait_for(ana, identifier) for name, identifier in shared.items()}
        # What was saved doesn't need it any more.
        site.close()
        yield SimpleNamespace(home=home, ana=ana, ben=Phone(home, "ana", made["ben"]["key"]), stranger=Phone(home, "ana"), urls=urls, rows=rows)


def set_up(home, user):
    """Returns the content of the first QR code."""
    made = home.host.command("setup", "--name", f"{user}'s phone", "--user", user, "--yes", "--json")
    assert made.returncode == 0, made.stderr
    payload = json.loads(json.loads(made.stdout)["payload"])
    assert (payload["lan"], payload["protocol"]) == (f"{SERVER}:8443", "https")
    return payload


def answers(phone):
    try:
        return phone.curl(f"{BASE}/health", "--insecure")[0] == 200
    except AssertionError:
        return False


def share(phone, url):
    status, answer = phone.share(url)
    # What the notification shows
    assert (status, answer["message"]) == (201, "Download queued successfully")
    return answer["download_id"]


def wait_for(phone, identifier):
    """Asks for the status until the download has ended. Returns the last answer."""
    found = {}

    def has_ended():
        found.update(phone.get(f"/status/{identifier}")[1])
        return found["status"] in ("completed", "failed")

    wait_until(has_ended, f"{identifier} has ended")
    assert found["status"] == "completed", found
    return found


def test_film_plays_on_the_phone(job):
    """With a ticket, as a player reads it: its first bytes, its end, then the rest. A player sends no key."""
    row, film = job.rows["film"], media_content.of(job.urls["film"])
    assert (row["username"], row["file_size"], row["file_path"].endswith("_The_ferry_at_dusk.mp4")) == ("ana", len(film), True)
    status, body = job.ana.curl(f"{BASE}/download/{row['download_id']}/ticket", "--request", "POST")
    ticket = json.loads(body)["url"]
    assert status == 200 and ticket.startswith(f"{BASE}/download/") and job.ana.key not in ticket
    parts = [(0, 1), (len(film) - 1000, len(film) - 1), (2, 99_999), (100_000, len(film) - 1001)]
    got = {start: job.ana.curl(ticket, "--range", f"{start}-{end}", with_key=False) for start, end in parts}
    assert {status for status, _ in got.values()} == {206}
    assert b"".join(got[start][1] for start in sorted(got)) == film
    # The file in the folder is the same.
    assert job.home.host.file(row).read_bytes() == film


@needs_pages
def test_page_is_saved_whole(job):
    row = job.rows["page"]
    assert (row["username"], row["title"], row["incomplete"]) == ("ana", "Lamps", None)
    assert row["replay_check"] == "Replays: same text, 2 of 2 files"


@needs_pages
def test_page_is_looked_at_on_the_phone(job):
    """Without replay: its text, and its image as it is in the archive."""
    row = job.rows["page"]
    status, page = job.ana.get(f"/download/{row['download_id']}/page")
    records = contents.warc_records(job.ana.curl(f"{BASE}/download/{row['download_id']}/archive")[1])
    stored = {record.uri: record.body for record in records if record.rec_type == "resource"}
    assert (status, page["url"], page["title"]) == (200, job.urls["page"], "Lamps")
    assert page["text"] == stored[f"urn:text:{page['url']}"].decode() != ""
    screenshot = job.ana.curl(f"{BASE}/download/{row['download_id']}/screenshot")
    assert screenshot == (200, stored[f"urn:view:{page['url']}"]) and screenshot[1].startswith(b"\x89PNG")
    # Of a film, it's the page around it.
    assert job.ana.get(f"/download/{job.rows['film']['download_id']}/page")[1]["url"] == job.urls["film"]


def test_another_key_sees_neither(job):
    assert {row["download_id"] for row in job.ana.get("/history")[1]} == {row["download_id"] for row in job.rows.values()}
    assert job.ben.get("/history") == (200, [])
    for row in job.rows.values():
        for path in ("/status/{}", "/download/{}/file", "/download/{}/archive", "/download/{}/log", "/download/{}/page", "/download/{}/screenshot"):
            status, answer = job.ben.get(path.format(row["download_id"]))
            assert (status, answer["detail"]) == (404, "Download not found"), path


def test_stranger_gets_nothing(job):
    before = len(job.ana.get("/history")[1])
    assert job.stranger.share("https://example.org/film")[0] == 401
    for row in job.rows.values():
        for path in ("/history", f"/status/{row['download_id']}", f"/download/{row['download_id']}/file"):
            assert job.stranger.get(path)[0] == 401, path
    assert len(job.ana.get("/history")[1]) == before


def test_both_replay_on_the_computer(job):
    """The site is gone. The library, which listens on loopback, has each file as it was."""
    archives = {archive["saved"]["url"]: archive for archive in job.home.host.replayhost("list")}
    assert {url: archive["id"] for url, archive in archives.items()} == {url: job.rows[name]["archive"] for name, url in job.urls.items()}
    assert {archive["saved"]["user"] for archive in archives.values()} == {"ana"}
    place = job.home.network.server
    library = subprocess.Popen(
        [*place.command, BINARY, "serve", "--store", str(job.home.host.store), "--port", "0", "--json"], stdout=subprocess.PIPE,
        env=job.home.host.environment())
    try:
        address = json.loads(library.stdout.readline())["address"]

        def captures(name, prefix):
            """All captures whose URLs begin so. docs/cdx.md"""
            status, _, body = request(
                place, "GET", f"{address}/c/{job.rows[name]['archive']}/cdx?url={prefix}&matchType=prefix&output=json")
            assert status == 200, body
            return {found["url"]: found for found in map(json.loads, body.decode().splitlines())}

        def replay(name, capture, **fields):
            """The bytes as they were sent: docs/pywb.md, the modifier `id_`."""
            path = f"/c/{job.rows[name]['archive']}/{capture['timestamp']}id_/{capture['url']}"
            status, head, body = request(place, "GET", address + path, fields)
            return status, head.get_content_type(), body

        # What we made has no real URL.
        found = captures("film", f"https://replayhost.invalid/{job.rows['film']['download_id']}/")
        film, content = next(capture for capture in found.values() if capture["mime"] == "video/mp4"), media_content.of(job.urls["film"])
        assert replay("film", film) == (200, "video/mp4", content)
        assert replay("film", film, Range="bytes=1000-1999") == (206, "video/mp4", content[1000:2000])
        if "page" in job.urls:
            page = job.urls["page"]
            image = page.replace("/made/lamps", "/img/lamp.png")
            found = captures("page", page.replace("/made/lamps", "/"))
            assert replay("page", found[page]) == (200, "text/html", pages.html(*LAMPS))
            assert replay("page", found[image]) == (200, "image/png", pages.image_at("/img/lamp.png"))
            assert replay("page", {**found[image], "url": image.replace("lamp", "other")})[0] == 404
    finally:
        library.terminate()
        library.wait()
        library.stdout.close()

