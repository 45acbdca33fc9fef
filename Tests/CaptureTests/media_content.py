"""What the fake yt-dlp downloads from a URL."""

import importlib.util
from urllib.parse import parse_qs, urlsplit

from fake_tools import FAKES

_spec = importlib.util.spec_from_file_location("fake_media", FAKES / "media.py")
_media = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_media)


def of(url, ext="mp4"):
    query = parse_qs(urlsplit(url).query)
    return _media.content(url, int(query.get("size", ["200000"])[-1]), ext)
