"""Pages, recorded by Chromium from a website on this computer."""

import subprocess
import sys
import zipfile
from pathlib import Path

import contents
import pages
import pytest
from capture_host import FAST_RETRIES, CaptureHost
from fake_tools import FakeTools

pytestmark = pytest.mark.skipif(not pages.CHROMIUM, reason="pages need Chromium")


@pytest.fixture(scope="module")
def site():
    site = pages.PageSite()
    yield site
    site.close()


@pytest.fixture(scope="module")
def host(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    tools = FakeTools(folder / "tools")
    pages.give_chromium(tools)
    host = CaptureHost(folder, tools, *FAST_RETRIES)
    try:
        yield host.start()
    finally:
        host.stop()


class Saved:
    """What a saved page's archive has."""

    def __init__(self, host, row):
        self.row = row
        status, _, self.data = host.request("GET", f"/download/{row['download_id']}/archive")
        assert status == 200
        self.path = host.folder / f"{row['download_id']}.wacz"
        self.path.write_bytes(self.data)
        self.records = contents.warc_records(self.data)

    def of(self, uri, kind="response"):
        found = [record for record in self.records if record.rec_type == kind and record.uri == uri]
        assert len(found) == 1, (kind, uri, sorted((record.rec_type, record.uri) for record in self.records))
        return found[0]


def save(host, url):
    return Saved(host, host.wait_for(host.add(url), "completed"))


def expect_valid(host, saved):
    """For other programs, too."""
    programs = Path(sys.executable).parent
    warc = saved.path.with_suffix(".warc.gz")
    with zipfile.ZipFile(saved.path) as package:
        warc.write_bytes(package.read("archive/data.warc.gz"))
    for command in ([programs / "wacz", "validate", "-f", saved.path], [programs / "warcio", "check", "-v", warc]):
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


def test_page_with_images(host, site):
    saved = save(host, site("/images"))
    assert saved.row["title"] == "Boats" and saved.row["file_path"] is None
    for number in (1, 2, 3):
        assert saved.of(site(f"/img/{number}.png")).body == pages.image_at(f"/img/{number}.png")
    expect_valid(host, saved)
