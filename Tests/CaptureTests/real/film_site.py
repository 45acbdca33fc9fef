"""A website on this computer, with films as websites have them. Serves byte ranges, as media need them.

`/data/NAME.json` is what the plugins in `plugins/` take for the sites of TikTok, Instagram and YouTube.
"""

import json
import re
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import films
from website import EPUB, PDF, SITES

TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".m3u8": "application/vnd.apple.mpegurl", ".mpd": "application/dash+xml",
    ".ts": "video/mp2t", ".m4s": "video/iso.segment", ".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".vtt": "text/vtt; charset=utf-8",
    ".jpg": "image/jpeg", ".pdf": "application/pdf", ".epub": "application/epub+zip", ".html": "text/html; charset=utf-8",
    ".css": "text/css", ".png": "image/png", ".json": "application/json", ".xml": "application/rss+xml"}


def page(title, head="", body=""):
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head><body>{body}</body></html>'


def pages(address):
    film = f"{address}/film-360.mp4"
    item = '<item><title>Episode {0}</title><guid>{0}</guid><enclosure url="{1}/sound.mp3?episode={0}" type="audio/mpeg"/></item>'
    return {
        "/video.html": page("The ferry", body=(
            '<video controls poster="/poster.jpg"><source src="/film-360.mp4" type="video/mp4">'
            '<track kind="subtitles" srclang="en" src="/film.en.vtt"></video>')),
        "/og.html": page("The heron", head=(
            f'<meta property="og:title" content="The heron &amp; the ferry"><meta property="og:type" content="video.other">'
            f'<meta property="og:video" content="{film}"><meta property="og:video:type" content="video/mp4">'
            f'<meta property="og:image" content="{address}/poster.jpg"><meta property="og:description" content="Birds of the quay">')),
        "/list.html": page("Three films", body="".join(
            f'<video src="/film-180.mp4?number={number}"></video>' for number in range(1, 4))),
        "/feed.xml": '<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour radio</title>'
        + "".join(item.format(number, address) for number in range(1, 4)) + "</channel></rss>",
        "/plain.html": page("No film", body="<p>Only text about ships."),
    }


def data(address):
    """The films of the sites that plugins replace. The id is the last part of the URL."""
    film = {
        "formats": [
            {"format_id": f"mp4-{height}", "url": f"{address}/film-{height}.mp4?signature=SECRETSIGNATURE", "ext": "mp4",
                "width": int(size.split("x")[0]), "height": height, "vcodec": "avc1.42c01f", "acodec": "mp4a.40.2"}
            for height, size in films.SIZES.items()],
        "thumbnail": f"{address}/poster.jpg", "duration": films.SECONDS, "timestamp": 1763433000,
        "subtitles": {language: [{"url": f"{address}/film.{language}.vtt", "ext": "vtt"}] for language in films.SUBTITLES},
    }
    dash = {"formats": [
        {"format_id": "137", "url": f"{address}/film-720.mp4", "ext": "mp4", "height": 720, "width": 1280, "vcodec": "avc1.42c01f",
            "acodec": "none"},
        {"format_id": "140", "url": f"{address}/sound.m4a", "ext": "m4a", "vcodec": "none", "acodec": "mp4a.40.2", "abr": 64}]}
    return {
        "7300000000000000001": {**film, "title": "Ferry dance #harbour", "uploader": "ana.quay", "uploader_id": "6811",
            "description": "Ferry dance #harbour with a cormorant"},
        "CxQuayReel01": {**film, "title": "Video by ana.quay", "uploader": "Ana Quay", "channel": "ana.quay",
            "description": "Puffins of the outer mole"},
        "harbour0001": {**film, **dash, "title": "灯台への道 / The way: \"to\" the lighthouse?", "uploader": "Quay Television",
            "channel": "Quay Television", "description": "A guillemot, filmed in one take.", "tags": ["harbour"]},
        "private0001": {"error": "Private video. Sign in if you've been granted access to this video", "expected": True},
        "members0001": {"login": "This video is only available for registered users"},
        "removed0001": {"error": "Video unavailable. This video has been removed by the uploader", "expected": True},
        "livenow0001": {**film, "formats": [], "hls": f"{address}/live.m3u8", "is_live": True, "title": "The quay, live"},
        "brokenn0001": {"error": "Unable to extract the player; the website has changed", "expected": False},
    }


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        site = self.server.site
        with site.lock:
            site.asked[self.path] += 1
            number = site.asked[self.path]
            site.cookies[self.path].append(self.headers.get("Cookie"))
        if path == "/live.m3u8":
            return self.send(site.live_playlist().encode(), TYPES[".m3u8"])
        if path == "/busy.mp4" and number == 1:
            return self.send(b"busy", "text/plain", 503, {"Retry-After": "3"})
        if path == "/busy.mp4":
            path = "/film-180.mp4"
        if path == "/slow.mp4":
            return self.send(site.contents["/film-720.mp4"], TYPES[".mp4"], seconds=8)
        content = site.contents.get(path)
        if content is None:
            return self.send(b"not found", "text/plain", 404)
        return self.send(content, TYPES.get(Path(path).suffix, TYPES[".html"]))

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass

    def send(self, content, kind, status=200, fields=None, seconds=0):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start, end = 0, len(content)
        if status == 200 and wanted:
            start, end = int(wanted[1]), min(int(wanted[2] or len(content) - 1) + 1, len(content))
            self.server.site.ranges[self.path].append(start)
            if start >= len(content):
                content, start, end, status = b"", 0, 0, 416
            else:
                status, fields = 206, {**(fields or {}), "Content-Range": f"bytes {start}-{end - 1}/{len(content)}"}
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": end - start, "Accept-Ranges": "bytes", **(fields or {})}.items():
            self.send_header(name, str(value))
        if self.close_connection:
            # RFC 9112 §9.6. Else a tool may send its next request on this connection.
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        step = max(1, (end - start) // 40) if seconds else max(1, end - start)
        try:
            for place in range(start, end, step):
                self.wfile.write(content[place:min(place + step, end)])
                self.server.site.stopped.wait(seconds / 40)
        except OSError:
            self.close_connection = True


class Site:
    """Listens until `close()`."""

    def __init__(self, folder):
        films.make(folder)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
        self.server.daemon_threads = True
        self.server.site = self
        self.lock, self.stopped, self.begin = threading.Lock(), threading.Event(), time.monotonic()
        # By path: how often it was requested, the starts of requested ranges, and the cookies that were sent.
        self.asked, self.ranges, self.cookies = Counter(), defaultdict(list), defaultdict(list)
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        SITES.add(f"127.0.0.1:{self.port}")
        self.contents = {f"/{path.name}": path.read_bytes() for path in folder.iterdir()}
        self.contents |= {"/guide.pdf": PDF, "/book.epub": EPUB}
        self.contents |= {path: text.encode() for path, text in pages(self.address).items()}
        for name, value in data(self.address).items():
            self.add_data(name, value)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __call__(self, path):
        return f"{self.address}{path}"

    def add_data(self, name, value):
        """What the plugins find for the film with this id."""
        self.contents[f"/data/{name}.json"] = json.dumps(value).encode()

    def live_playlist(self):
        """A window of three segments, which moves on each second and has no end."""
        first = int(time.monotonic() - self.begin)
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", f"#EXT-X-MEDIA-SEQUENCE:{first}"]
        for number in range(first, first + 3):
            lines += ["#EXTINF:1.0,", f"hls-180-{number % films.SECONDS}.ts"]
        return "\n".join(lines) + "\n"

    def close(self):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()
