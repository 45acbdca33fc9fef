"""The real yt-dlp, ffmpeg and curl, where the capture server looks for tools."""

import os
import shutil
from pathlib import Path

from fake_tools import FakeTools

PLUGINS = Path(__file__).parent / "plugins"
# The server passes --no-plugin-dirs, as nothing but yt-dlp itself is meant to run.
YTDLP = """#!/bin/bash
export CAPTURE_TEST_SITE={site}
arguments=()
for argument in "$@"; do [ "$argument" = --no-plugin-dirs ] || arguments+=("$argument"); done
exec {ytdlp} --plugin-dirs {plugins} "${{arguments[@]}}"
"""


GALLERYDL = """#!/bin/sh
exec {gallerydl} --extractors {plugins} "$@"
"""


def installed_ytdlp():
    tools = Path(os.environ.get("REPLAYHOST_TOOLS") or Path(
        os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "replayhost-tools"))
    places = [os.environ.get("YT_DLP"), str(tools / "current" / "bin" / "yt-dlp"), shutil.which("yt-dlp")]
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


class InstalledTools:
    """The environment that `make setup-capture` made, as it is, and bubblewrap."""

    def __init__(self, folder, ytdlp):
        self.root = Path(ytdlp).parents[2]
        self.path = Path(folder)
        self.path.mkdir(parents=True)
        for name in ("ffmpeg", "ffprobe", "curl", "bwrap", "pdftotext", "pdfinfo"):
            if found := shutil.which(name):
                (self.path / name).symlink_to(found)


class RealTools(FakeTools):
    """The real tools, and yt-dlp with our plugins."""

    def __init__(self, root, ytdlp, site):
        super().__init__(root)
        self.write("yt-dlp", YTDLP.format(ytdlp=ytdlp, plugins=PLUGINS, site=site.address))
        gallerydl = Path(ytdlp).with_name("gallery-dl")
        if gallerydl.exists():
            self.write("gallery-dl", GALLERYDL.format(gallerydl=gallerydl, plugins=PLUGINS / "gallery"))
        for name in ("ffmpeg", "ffprobe"):
            (self.bin / name).unlink()
            (self.bin / name).symlink_to(shutil.which(name))
        deno = Path(ytdlp).parent / "deno"
        if deno.exists():
            (self.bin / "deno").unlink()
            (self.bin / "deno").symlink_to(deno)
