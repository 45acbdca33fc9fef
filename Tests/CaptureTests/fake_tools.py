"""Puts fake tools where the capture server looks for tools: `$REPLAYHOST_TOOLS/current/bin`."""

import json
import shutil
import sys
import time
from pathlib import Path

FAKES = Path(__file__).parent / "fakes"
CURL = """#!/bin/sh
exec {curl} "$@"
"""
PYTHON = """#!/bin/sh
exec {python} -E -s -S -B {script} {folder} "$@"
"""
PRINTS = """#!/bin/sh
echo "{line}"
"""


class FakeTools:
    """A folder for REPLAYHOST_TOOLS."""

    def __init__(self, root):
        self.root = Path(root)
        self.notes = self.root / "notes"
        self.bin = self.root / "yt-dlp-1" / "bin"
        self.bin.mkdir(parents=True)
        self.notes.mkdir()
        # For PATH: what isn't a tool of the capture server, but read by others.
        self.path = self.root / "path"
        self.path.mkdir()
        for name in ("pdftotext", "pdfinfo"):
            if found := shutil.which(name):
                (self.path / name).symlink_to(found)
        (self.root / "current").symlink_to("yt-dlp-1")
        self.set_version(time.strftime("%Y.%m.%d"))
        for name, script in (("yt-dlp", "yt_dlp.py"), ("ffmpeg", "ffmpeg.py"), ("ffprobe", "ffprobe.py")):
            self.write(name, PYTHON.format(python=sys.executable, script=FAKES / script, folder=self.notes))
        self.write("deno", PRINTS.format(line="deno 2.9.8 (stable, release, x86_64-unknown-linux-gnu)"))
        curl = shutil.which("curl")
        if curl:
            self.write("curl", CURL.format(curl=curl))

    def give_gallery_dl(self):
        self.write("gallery-dl", PYTHON.format(python=sys.executable, script=FAKES / "gallery_dl.py", folder=self.notes))

    def write(self, name, text):
        path = self.bin / name
        # A program that runs, here to tell its version, can't be written into (ETXTBSY), but replaced.
        new = path.with_name(path.name + ".new")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o755)
        new.replace(path)

    def set_version(self, version):
        """What `yt-dlp --version` prints: its date."""
        (self.notes / "yt-dlp-version").write_text(version, encoding="utf-8")

    def remove(self, name):
        """Returns a function that puts the tool back."""
        path = self.bin / name
        aside = path.rename(self.notes / name)
        return lambda: aside.rename(path)

    def calls(self, url=None, what="called"):
        """What the fakes noted: each call with its arguments, the starts and ends of downloads, what was resumed."""
        path = self.notes / "calls.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        noted = [json.loads(line) for line in lines]
        return [each for each in noted if each["what"] == what and (url is None or url in (each.get("url"), *each.get("arguments", [])))]
