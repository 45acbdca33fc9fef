"""Fixtures: a capture server with the real yt-dlp, ffmpeg and curl, and a website with films on this computer.

yt-dlp is that of `make setup-capture`; YT_DLP names another one. Nothing leaves this computer: tools reach loopback only.
"""

import shutil

import pytest

pytest.register_assert_rewrite("capture_host", "decoders")

from capture_host import CAPTURE_BINARY, CaptureHost
from film_site import Site
from real_tools import RealTools, installed_ytdlp


@pytest.fixture(scope="session")
def ytdlp():
    assert CAPTURE_BINARY.exists(), f"build the program first: {CAPTURE_BINARY}"
    missing = [name for name in ("ffmpeg", "ffprobe", "curl") if shutil.which(name) is None]
    found = installed_ytdlp()
    assert found and not missing, f"yt-dlp or {missing} is missing; run `make setup-capture`"
    return found


@pytest.fixture(scope="session")
def site(tmp_path_factory, ytdlp):
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


@pytest.fixture
def make_host(tmp_path_factory, ytdlp, site):
    """Makes servers with real tools, which end with the test."""
    hosts = []

    def make(*options):
        folder = tmp_path_factory.mktemp("host")
        hosts.append(CaptureHost(folder, RealTools(folder / "tools", ytdlp, site), *options))
        return hosts[-1]

    yield make
    for host in hosts:
        host.stop()
