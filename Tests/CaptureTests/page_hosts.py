"""Capture servers with Chromium, and what they saved."""

import subprocess
import sys
import zipfile
from pathlib import Path

import contents
import pages
from capture_host import FAST_RETRIES, CaptureHost
from fake_tools import FakeTools


def make_host(folder, *options, has_walls=False, checks=False):
    """Without `checks`, archives aren't replayed, which takes seconds."""
    tools = FakeTools(folder / "tools")
    pages.give_chromium(tools, has_walls)
    return CaptureHost(folder, tools, *FAST_RETRIES, *([] if checks else ["--no-check"]), *options)


class Saved:
    """What a saved page's archive has."""

    def __init__(self, host, row):
        self.row = row
        status, _, self.data = host.request("GET", f"/download/{row['download_id']}/archive")
        assert status == 200
        self.path = host.folder / f"{row['download_id']}.wacz"
        self.path.write_bytes(self.data)
        self.records = contents.warc_records(self.data)

    def file(self, name):
        with zipfile.ZipFile(self.path) as package:
            return package.read(name)

    def of(self, uri, kind="response"):
        found = [record for record in self.records if record.rec_type == kind and record.uri == uri]
        assert len(found) == 1, (kind, uri, sorted((record.rec_type, record.uri) for record in self.records))
        return found[0]


def save(host, url, **fields):
    return Saved(host, host.wait_for(host.add(url, **fields), "completed"))


def expect_valid(host, saved):
    """For other programs, too."""
    programs = Path(sys.executable).parent
    warc = saved.path.with_suffix(".warc.gz")
    warc.write_bytes(saved.file("archive/data.warc.gz"))
    for command in ([programs / "wacz", "validate", "-f", saved.path], [programs / "warcio", "check", "-v", warc]):
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
    report = host.replayhost("verify", saved.row["archive"])[0]["report"]
    assert report["summary"]["code"] == "hashes-agree" and not report["result"]["findings"], report
