"""A website of pages for Chromium, and Chromium as a tool of the capture server."""

import ctypes.util
import gzip
import os
import struct
import subprocess
import zlib
from ctypes import CDLL, byref, c_int, c_size_t, create_string_buffer

import media_content
import website
from support.needs import BUBBLEWRAP, CHROMIUM
from support.pictures import plain

ROOT = """#!/bin/sh
# Chromium's sandbox doesn't work for root.
PATH=/usr/bin:/bin exec bwrap --unshare-user --uid 1000 --gid 1000 --bind / / --dev-bind /dev /dev -- {chromium} "$@"
"""
USER = """#!/bin/sh
PATH=/usr/bin:/bin exec {chromium} "$@"
"""


UNSUPPORTED = """#!/bin/sh
echo 'ERROR: Unsupported URL: it' >&2
exit 1
"""


def give_chromium(tools, has_walls=False, arguments=""):
    """Puts Chromium where the capture server looks for tools, also bubblewrap if workers should be confined."""
    script = ROOT if os.geteuid() == 0 and not has_walls else USER
    tools.write("chromium", script.format(chromium=f"{CHROMIUM} {arguments}".strip()))
    if has_walls:
        tools.write("bwrap", USER.format(chromium=BUBBLEWRAP))
        # The fake needs files that aren't there inside.
        tools.write("yt-dlp", UNSUPPORTED)


def image_at(path):
    """The image at a path: each has its own color."""
    return plain(struct.pack(">I", zlib.crc32(path.encode()))[:3])


def brotli(data):
    library = ctypes.util.find_library("brotlienc")
    size = c_size_t(len(data) + 1000)
    out = create_string_buffer(size.value)
    assert CDLL(library).BrotliEncoderCompress(c_int(5), c_int(22), c_int(0), c_size_t(len(data)), data, byref(size), out)
    return out.raw[:size.value]


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def html(body, title="A page", head=""):
    return f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


FILM = bytes(range(256)) * 4000
CODED = {coding: f"Ebb and flow with {coding}. ".encode() * 200 for coding in ("gzip", "br", "zstd")}
LATIN = "<!doctype html><title>Café</title><p>Crème brûlée".encode("latin-1")
ONES = {"large": b"x" * 26_000_000}


class _Page(website._Answer):
    """The rest is answered as on other sites."""

    def do_POST(self):
        self.sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def answer_images(self):
        self.send(html("<h1>Three boats</h1><img src=/img/1.png><img src=/img/2.png><img src=/img/3.png>", "Boats"), "text/html")

    def answer_img(self):
        self.send(image_at(self.path), "image/png")

    def answer_gone_image(self):
        self.send(b"no image", "text/plain", 404)

    def answer_text(self):
        self.send(f"text of {self.path}".encode(), "text/plain; charset=utf-8", Access_Control_Allow_Origin="*")

    def answer_coded(self):
        coding = self.parts.path.rsplit("/", 1)[1]
        data = {"gzip": gzip.compress, "br": brotli, "zstd": zstd}[coding](CODED[coding])
        self.send(data, "text/plain", Content_Encoding=coding)

    def answer_posted(self):
        self.send(b"got " + self.sent, "text/plain")

    def answer_hop(self):
        self.redirect("/text/after-hop?" + self.parts.query)

    def answer_error(self):
        self.send(b"sorry", "text/plain", 500)

    def answer_module(self):
        scripts = {"a.js": "import {word} from './b.js'; document.getElementById('module').textContent = word", "b.js": "export const word = 'from-a-module'",
            "worker.js": "fetch('/text/in-worker').then(r => r.text()).then(t => postMessage(t))",
            "shared.js": "onconnect = e => fetch('/text/in-shared-worker').then(r => r.text()).then(t => e.ports[0].postMessage(t))",
            "service.js": "addEventListener('fetch', e => e.respondWith(new Response('from the service worker')))"}
        self.send(scripts[self.parts.path.rsplit("/", 1)[1]].encode(), "text/javascript")

    def answer_film(self):
        """With ranges."""
        field = self.headers.get("Range")
        if not field:
            return self.send(FILM, "video/mp4", Accept_Ranges="bytes")
        first, _, last = field.partition("=")[2].partition("-")
        start, end = int(first), min(int(last or len(FILM)), len(FILM) - 1)
        self.send(FILM[start:end + 1], "video/mp4", 206, Content_Range=f"bytes {start}-{end}/{len(FILM)}")

    def answer_latin(self):
        self.send(LATIN, "text/html; charset=iso-8859-1")

    def answer_frame(self):
        self.send(html("<p>Words of a frame<img src=/img/in-frame.png>", "A frame"), "text/html", Set_Cookie="frame=1")

    def answer_large(self):
        self.send(ONES["large"], "application/octet-stream")

    def stream(self, kind, pieces, **fields):
        """Chunks without an end, until the other side closes or the site is stopped."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", kind)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        try:
            for piece, pause in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                if self.server.site.stopped.wait(pause):
                    break
        except OSError:
            pass

    def answer_cut(self):
        """Less than its Content-Length says, or nothing."""
        kind = self.query["kind"]
        data = {"html": b"<title>Cut</title><p>The first words", "css": b"h1 { color: red } /*", "js": b"window.cut = 1 /*",
            "png": image_at("/img/cut.png")[:60], "empty": b""}[kind]
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", {"css": "text/css", "js": "text/javascript", "png": "image/png"}.get(kind, "text/html"))
        self.send_header("Content-Length", str(len(data) + 1000))
        self.end_headers()
        self.wfile.write(data)

    def answer_events(self):
        self.stream("text/event-stream", ((b"data: tide\n\n", 0.2) for _ in iter(int, 1)))

    def answer_endless(self):
        """As fast as it's read, or in drips."""
        if "drip" in self.query:
            self.stream("text/html" if self.query["drip"] == "html" else "text/plain", ((b"<p>A drop of water</p>\n" * (60 if not n else 1), 0.3) for n in iter(int, 1)))
        else:
            self.stream("text/plain", ((b"flood " * 10_000, 0) for _ in iter(int, 1)))

    def answer_bomb(self):
        """300 MB of zeros in 300 kB."""
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        data = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(300)) + packer.flush()
        self.send(data, "text/plain", Content_Encoding="gzip")

    def answer_nothing(self):
        self.send_response(204)
        self.end_headers()

    def answer_silent(self):
        self.server.site.stopped.wait()
        self.close_connection = True

    def answer_fake(self):
        """The page of something that the fake yt-dlp downloads. With `plays`, it plays that itself."""
        page = website.PAGE
        if "plays" in self.query:
            source = f"{self.parts.path.replace('/fake/', '/played/')}?{self.parts.query}"
            page = html(f'<h1>The harbour film</h1><video src="{source}"></video>')
        self.send(page, "text/html; charset=utf-8", int(self.query.get("status", 200)))

    def answer_played(self):
        self.send(media_content.of(self.server.site(self.path.replace("/played/", "/fake/"))), "video/mp4")

    def answer_made(self):
        """A page that the test wrote."""
        self.send(self.server.site.made[self.parts.path.rsplit("/", 1)[1]], "text/html; charset=utf-8")


class PageSite(website.Website):
    """The same site by two names, which browsers take for two sites."""

    def __init__(self):
        super().__init__()
        self.server.RequestHandlerClass = _Page
        self.server.request_queue_size = 100
        self.made = {}
        self.other = f"http://localhost:{self.port}"
        website.SITES.add(f"localhost:{self.port}")

    def make(self, name, body, **parts):
        """A page with this body. Returns its URL."""
        self.made[name] = html(body, **parts)
        return self(f"/made/{name}")
