"""The site that attacks: it leads each tool to forbidden places. Also whatever listens at these places, and a name server."""

import base64
import contextlib
import hashlib
import json
import socket
import ssl
import struct
import subprocess
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from network import METADATA, NAME_SERVER
from ways import HOST, NAMES, SERVER_PORT, WAYS

SCRIPT = (Path(__file__).parent / "ways.js").read_text(encoding="utf-8")
SECONDS = 60


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SECONDS

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        site, self.place = self.server.site, parts.path.strip("/").split("/")
        if name := self.query.get("way"):
            site.tried |= {name, "media-poster"} if name == "media-subtitles" else {name}
        self.to = self.query.get("to", "")
        getattr(self, "answer_" + self.place[0].partition(".")[0].replace("-", "_"), self.answer_other)()

    do_HEAD = do_POST = do_OPTIONS = do_GET

    def log_message(self, *arguments):
        pass

    def send(self, body, kind="text/html", status=200, **fields):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        fields = {"Content-Type": kind, "Content-Length": str(len(body)), "Access-Control-Allow-Origin": "*",
            "Cache-Control": "no-store", **fields}
        if self.server.alternative:
            fields["Alt-Svc"] = self.server.alternative(self.headers.get("Host", ""))
        for name, value in fields.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def target(self, name):
        return WAYS[name].url.replace("{secret}", str(self.server.site.secret(name)))

    def answer_other(self):
        self.send("OK", "text/plain")

    # Pages

    def answer_page(self):
        """Tries all ways of a page, then says so."""
        by = self.query["by"]
        ways = [{"name": way.name, "kind": way.kind, "url": self.target(way.name)} for way in WAYS.values() if way.by == by]
        icon = f'<link rel=icon href="{self.target("favicon")}">' if by == "page" else ""
        self.send(f"<!doctype html><meta charset=utf-8><title>Ways</title>{icon}<body><h1>Ways</h1><img src='/hold.png?by={quote(by)}'>"
            f"<script>{SCRIPT}\ntryAll({json.dumps(ways)}, {json.dumps(by)});</script>")

    def answer_hold(self):
        """Keeps the page loading until it has tried everything."""
        self.server.site.done[self.query["by"]].wait(SECONDS)
        self.answer_other()

    def answer_tried(self):
        self.answer_other()

    def answer_done(self):
        self.server.site.done[self.query["by"]].set()
        self.answer_other()

    def answer_redirect(self):
        self.send("moved", "text/plain", int(self.query.get("status", 301)), Location=self.to)

    def answer_frame(self):
        """A page that leaves for another, at the top or in a frame."""
        to = json.dumps(self.to)
        self.send({
            "meta": f'<meta http-equiv=refresh content="0;url={self.to}">',
            "location": f"<script>location = {to}</script>",
            "get": f"<form action={to}><input name=a></form><script>document.forms[0].submit()</script>",
            "post": f"<form action={to} method=post><input name=a></form><script>document.forms[0].submit()</script>",
            "ping": f'<a id=a href="/other" ping={to}>x</a><script>document.getElementById("a").click()</script>',
            "download": f"<a id=a href={to} download>x</a><script>document.getElementById('a').click()</script>",
            "policy": "<script>1</script>",
            "link": "<p>x",
        }[self.place[1]], **{
            "policy": {"Content-Security-Policy": f"script-src 'none'; report-uri {self.to}"},
            "link": {"Link": f"<{self.to}>; rel=preload; as=image"},
        }.get(self.place[1], {}))

    def answer_script(self):
        """Scripts of workers."""
        to = json.dumps(self.to)
        self.send({
            "fetch": f"fetch({to}, {{mode: 'no-cors'}}).catch(() => 0).then(() => postMessage(1))",
            "import": f"try {{ importScripts({to}) }} catch (e) {{}} postMessage(1)",
            "shared": f"onconnect = e => fetch({to}, {{mode: 'no-cors'}}).catch(() => 0).then(() => e.ports[0].postMessage(1))",
            "service": f"oninstall = e => e.waitUntil(fetch({to}, {{mode: 'no-cors'}}).catch(() => 0))",
        }[self.place[1]], "text/javascript")

    # Documents and media

    def answer_document(self):
        self.send("moved", "text/plain", 302, Location=self.target(self.query["way"]))

    def answer_film(self):
        self.send(bytes(range(256)) * 100, "video/mp4")

    def answer_media(self):
        """What leads yt-dlp to a place: /media/KIND/FILE."""
        kind, target = self.place[1], self.target(self.query["way"])
        # ffmpeg wants an extension that it knows.
        with_ending = target if target.endswith(".ts") or not target.startswith("http") else f"{target}.ts"
        film, segment = f"http://{HOST}/film.mp4", f"http://{HOST}/film.ts"
        playlists = {
            "hls-segment": f"#EXTINF:2,\n{target}",
            "hls-key": f'#EXT-X-KEY:METHOD=AES-128,URI="{target}"\n#EXTINF:2,\n{segment}',
            # yt-dlp leaves this kind of key to ffmpeg.
            "hls-ffmpeg": f'#EXTINF:2,\n{with_ending}\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI="http://{HOST}/other"\n#EXTINF:2,\n{segment}',
            "disguised": f"#EXTINF:2,\n{with_ending}",
        }
        pages = {
            "video-element": f"<video src={target}.mp4></video>",
            "subtitles": f"<video src={film} poster={self.target('media-poster')}.jpg>"
                f"<track kind=subtitles srclang=en src={target}.vtt></video>",
        }
        if kind in playlists:
            text = f"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n{playlists[kind]}\n#EXT-X-ENDLIST\n"
            self.send(text, "video/mp4" if kind == "disguised" else "application/vnd.apple.mpegurl")
        elif kind == "hls-variant":
            self.send(f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n{target}\n", "application/vnd.apple.mpegurl")
        elif kind == "dash-segment":
            self.send(
                '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period><AdaptationSet '
                'mimeType="video/mp4"><Representation id="1" bandwidth="1000" codecs="avc1.42c00d" width="16" height="16">'
                f'<SegmentList duration="2"><SegmentURL media="{target}"/></SegmentList></Representation></AdaptationSet></Period></MPD>',
                "application/dash+xml")
        elif kind == "video-redirect":
            self.send("moved", "text/plain", 302, Location=target)
        else:
            self.send(f"<!doctype html><title>A film</title>{pages[kind]}")


MEDIA_FILES = {"dash-segment": "film.mpd", "video-redirect": "film.mp4", "disguised": "film.mp4", "video-element": "film.html",
    "subtitles": "film.html"}


def start_url(way):
    """The URL with which a download begins."""
    if way.by == "top":
        return url(way.kind, way, to=way.url, **({"status": way.name[-3:]} if way.kind == "redirect" else {}))
    if way.by == "curl":
        return url("document/a.pdf", way)
    if way.kind == "poster":
        return start_url(WAYS["media-subtitles"])
    return url(f"media/{way.kind}/{MEDIA_FILES.get(way.kind, 'film.m3u8')}", way)


class Site:
    """Everything that listens in the namespaces."""

    def __init__(self, network, folder):
        self.network, self.servers, self.sockets = network, [], []
        self.tried, self.questions = set(), Counter()
        self.rebinds = 0
        self.begin()
        folder.mkdir()
        self.secrets = folder / "secrets"
        self.secrets.mkdir()
        self.certificate(folder)
        for port in (80, 8080):
            self.serve(port)
        self.serve(443, folder)
        for port in (22, 3478):
            self.listen("public", "0.0.0.0", port)
        for port in (22, 80, 443, 8080, SERVER_PORT):
            self.listen("lan", "::", port)
        self.listen("metadata", METADATA, 80)
        self.listen("server", "::", 80)
        for address in (NAME_SERVER, "8.8.8.8"):
            one = network.public.listen(socket.SOCK_DGRAM, address, 53)
            self.start(self.answer_names, one)

    def begin(self):
        self.tried.clear()
        self.done = {by: threading.Event() for by in ("page", "secure page")}
        self.rebinds = 0

    def secret(self, name):
        """The path of a file to which only this way leads."""
        path = self.secrets / f"{name}.ts"
        if not path.exists():
            path.write_bytes(b"G" + bytes(187))
        return path

    def certificate(self, folder):
        """Makes a certificate. Chromium accepts it by its hash, so that service workers and HTTP/3 work."""
        self.key, self.pem = folder / "key.pem", folder / "certificate.pem"
        names = ",".join(f"DNS:{name}" for name in (HOST, "*.example"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "10",
            "-subj", f"/CN={HOST}", "-addext", f"subjectAltName={names}", "-keyout", self.key, "-out", self.pem],
            check=True, capture_output=True)
        public = subprocess.run(["openssl", "x509", "-in", self.pem, "-pubkey", "-noout"], check=True, capture_output=True).stdout
        binary = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
        self.fingerprint = base64.b64encode(hashlib.sha256(binary).digest()).decode()

    def serve(self, port, tls=None):
        server = ThreadingHTTPServer(("0.0.0.0", port), _Answer, bind_and_activate=False)
        server.socket.close()
        server.socket = self.network.public.listen(socket.SOCK_STREAM, "0.0.0.0", port)
        server.daemon_threads, server.site, server.alternative = True, self, None
        server.handle_error = lambda *_: None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.pem, self.key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.alternative = self.alternative
        self.servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    @staticmethod
    def alternative(host):
        """Where HTTP/3 is, as two hosts say it."""
        if host.startswith("way-alt-svc-other"):
            return f'h3="{WAYS["alt-svc-other"].address}:443"; ma=600'
        return 'h3=":443"; ma=600' if host.startswith("way-alt-svc") else None

    def start(self, action, one):
        self.sockets.append(one)
        threading.Thread(target=action, args=[one], daemon=True).start()

    def listen(self, place, address, port):
        self.start(self.accept, getattr(self.network, place).listen(socket.SOCK_STREAM, address, port))

    def accept(self, own):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.converse, args=[own.accept()[0]], daemon=True).start()

    @staticmethod
    def converse(client):
        with client, contextlib.suppress(OSError):
            client.settimeout(SECONDS)
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/plain\r\n"
                b"Content-Length: 2\r\nConnection: close\r\n\r\nOK")

    def answer_names(self, own):
        with contextlib.suppress(OSError):
            while True:
                question, client = own.recvfrom(4096)
                with contextlib.suppress(IndexError):
                    own.sendto(self.answer(question), client)

    def answer(self, question):
        """RFC 1035 §4. The name `rebind` leads to the site once, and then into the local network."""
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode("latin-1").lower())
            at += 1 + question[at]
        name, kind, end = ".".join(labels), int.from_bytes(question[at + 1:at + 3]), at + 5
        self.questions[name] += 1
        addresses = NAMES.get(name)
        if name.startswith("way-rebind") and kind == 1:
            self.rebinds += 1
            addresses = addresses[:1] if self.rebinds == 1 else addresses[1:]
        families = {1: socket.AF_INET, 28: socket.AF_INET6}
        found = [socket.inet_pton(families[kind], address) for address in addresses or [] if (":" in address) == (kind == 28)] if (
            kind in families) else []
        data = b"".join(struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(address)) + address for address in found)
        return question[:2] + struct.pack(">HHHHH", 0x8180 if addresses else 0x8183, 1, len(found), 0, 0) + question[12:end] + data

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def url(path, way=None, scheme="http", host=HOST, **query):
    """A URL of the site."""
    query |= {"way": way.name} if way else {}
    text = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"{scheme}://{host}/{path}" + (f"?{text}" if text else "")
