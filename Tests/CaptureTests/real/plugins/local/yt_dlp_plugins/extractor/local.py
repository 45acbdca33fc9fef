"""yt-dlp plugins that take TikTok, Instagram and YouTube from a website on this computer: CAPTURE_TEST_SITE.

The real extractors decide which URLs are theirs, and name the results. Only their requests are replaced.
"""

import os

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.extractor.instagram import InstagramIE
from yt_dlp.extractor.tiktok import TikTokIE
from yt_dlp.extractor.youtube import YoutubeIE, YoutubeTabIE
from yt_dlp.utils import ExtractorError


def extract(extractor, url):
    identifier = extractor._match_id(url)
    found = extractor._download_json(f"{os.environ['CAPTURE_TEST_SITE']}/data/{identifier}.json", identifier)
    if "error" in found:
        raise ExtractorError(found["error"], expected=found["expected"], video_id=identifier)
    if "login" in found:
        extractor.raise_login_required(found["login"])
    live = found.pop("hls", None)
    if live:
        found["formats"] = extractor._extract_m3u8_formats(live, identifier, "mp4", live=True)
    return {"id": identifier, "webpage_url": url, **found}


def initialize(extractor):
    """Some extractors ask their site for cookies first."""


# yt-dlp replaces the class that comes first among those that a plugin inherits from.

class HarbourIE(InfoExtractor):
    """Films and posts of the tests' site."""

    _VALID_URL = r"http://127\.0\.0\.1:\d+/(?:watch|post)/(?P<id>\w+)"
    _real_extract = extract


class LocalTikTokIE(TikTokIE, plugin_name="local"):
    _real_initialize = initialize
    _real_extract = extract


class LocalInstagramIE(InstagramIE, plugin_name="local"):
    _real_initialize = initialize
    _real_extract = extract


class LocalYoutubeIE(YoutubeIE, plugin_name="local"):
    _real_initialize = initialize
    _real_extract = extract


class LocalYoutubeTabIE(YoutubeTabIE, plugin_name="local"):
    _real_initialize = initialize

    def _real_extract(self, url):
        videos = [self.url_result(f"https://www.youtube.com/watch?v=harbour{number:04}", YoutubeIE) for number in range(1, 4)]
        return self.playlist_result(videos, "PLharbour", "Films of the harbour")
