"""A web server that serves what is in an archive, under the names and with the header fields of the captured sites."""

import base64
import contextlib
import ctypes
import ctypes.util
import hashlib
import io
import os
import re
import ssl
import subprocess
import threading
import zipfile
import zlib
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urljoin, urlsplit

from support import outside
from support.no_network import raise_interface
from warcio.archiveiterator import ArchiveIterator

# Looks public to the guard. In the network of the test, every address leads to this computer.
ADDRESS = "11.11.11.11"
# For what the archive doesn't have
MARK = b"not captured"
HOST_NAME = re.compile(rb"//([a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.[a-z]{2,})\b", re.I)
# Of one connection, and what the server says itself. RFC 9110, section 7.6.1
OWN_FIELDS = {
    "connection", "keep-alive", "transfer-encoding", "content-length", "trailer", "upgrade", "proxy-connection", "te",
}


def enter_network():
    """Moves this process into a new network namespace without a way out. Also as an ordinary user, if the system allows it."""
    new_user, new_network = 0x10000000, 0x40000000
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_network | (new_user if user else 0)) != 0:
        raise OSError(ctypes.get_errno(), "this system doesn't allow network namespaces (unshare)")
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    raise_interface("lo")
    outside.add_interface()
    outside.own_every_address()


def normal(url):
    """A URL as browsers send it, without the fragment."""
    parts = urlsplit(url.strip())
    port = f":{parts.port}" if parts.port not in (None, 80 if parts.scheme == "http" else 443) else ""
    query = f"?{parts.query}" if parts.query else ""
    safe = "!$%&'()*+,-./:;=?@[]_~|^`{}\\"
    return f"{parts.scheme.lower()}://{parts.hostname}{port}{quote(parts.path or '/', safe)}{quote(query, safe)}"


def without_order(url):
    """A URL whose query has its parts in one order."""
    start, mark, query = url.partition("?")
    return start + mark + "&".join(sorted(query.split("&")))


@dataclass
class Capture:
    """A response as it was captured."""

    url: str
    method: str
    sent: bytes
    status: int
    reason: str
    fields: list
    body: bytes

    def field(self, name):
        return next((value for field, value in self.fields if field.lower() == name), "")

    @property
    def media_type(self):
        return self.field("content-type").partition(";")[0].strip().lower()


class Captures:
    """The responses in a WACZ, WARC or ARC file."""

    def __init__(self, path):
        self.all = []
        responses, requests, revisits = [], {}, []
        for record in records(path):
            kind, field = record.rec_type, record.rec_headers.get_header
            uri = field("WARC-Target-URI") or ""
            if not uri.lower().startswith(("http://", "https://")) or not record.http_headers:
                continue
            # Either of the two names the other.
            names = {field("WARC-Record-ID"), field("WARC-Concurrent-To")} - {None}
            if kind == "request":
                requests.update(dict.fromkeys(names, (record.http_headers.protocol.upper(), record.raw_stream.read())))
            elif kind == "response":
                self.all.append(read(record, normal(uri)))
                responses.append((names, self.all[-1]))
            elif kind == "revisit":
                revisits.append((normal(field("WARC-Refers-To-Target-URI") or uri), read(record, normal(uri))))
        for names, capture in responses:
            capture.method, capture.sent = next((requests[name] for name in names if name in requests), ("GET", b""))
        # Without the first capture of the same payload, there is nothing to serve.
        for original, capture in revisits:
            found = [one for one in self.all if one.url == original and one.body]
            if found:
                capture.body = found[-1].body
                self.all.append(capture)
        self.exact, self.loose = {}, {}
        for capture in self.all:
            if not 200 <= capture.status < 600 or capture.status == 206:
                continue
            for table, url in ((self.exact, capture.url), (self.loose, without_order(capture.url))):
                # The last capture of a URL counts, but an error or a redirect doesn't replace what was there.
                for key in ((capture.method, url, capture.sent), (capture.method, url)):
                    if key not in table or capture.status < 300 or table[key].status >= 300:
                        table[key] = capture
        self.hosts = {urlsplit(capture.url).hostname for capture in self.all}
        self.secure = {urlsplit(capture.url).hostname for capture in self.all if capture.url.startswith("https:")}
        self.named = set(self.hosts)
        for capture in self.all:
            if capture.media_type.startswith(("text/", "application/")) or not capture.media_type:
                body = decoded(capture.body, capture.field("content-encoding"))
                self.named |= {name.decode("ascii").lower() for name in HOST_NAME.findall(body or b"")}
            if location := capture.field("location"):
                self.named.add((urlsplit(urljoin(capture.url, location)).hostname or "").lower())
        self.named.discard("")

    def find(self, method, url, sent=b""):
        """The capture for a request; `None` if there is none."""
        url = normal(url)
        for table, key in ((self.exact, url), (self.loose, without_order(url))):
            found = table.get((method, key, sent)) or table.get((method, key))
            if found is None and method == "HEAD":
                found = table.get(("GET", key))
            if found:
                return found
        return None

    def pages(self):
        """The URLs of pages, in the order of the file."""
        found = [capture.url for capture in self.exact.values()
            if capture.status == 200 and capture.method == "GET" and capture.body
            and capture.media_type in ("text/html", "application/xhtml+xml")]
        return list(dict.fromkeys(found))


def records(path):
    """All records of a file. What follows a record that can't be read is left out."""
    with contextlib.suppress(Exception):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as package:
                for name in package.namelist():
                    if re.search(r"\.w?arc(\.gz)?$", name):
                        yield from ArchiveIterator(io.BytesIO(package.read(name)))
        else:
            with open(path, "rb") as file:
                yield from ArchiveIterator(file, arc2warc=True)


def read(record, url):
    """A capture of a response record, its body as stored but not chunked."""
    head = record.http_headers
    body = record.raw_stream.read()
    if "chunked" in (head.get_header("Transfer-Encoding") or "").lower():
        body = without_chunks(body)
    status, _, reason = head.statusline.partition(" ")
    return Capture(url, "GET", b"", int(status) if status.isdigit() else 0, reason.strip(), list(head.headers), body)


def without_chunks(body):
    """The content of a chunked body. Many archives have the header field, but no chunks."""
    rest, content = body, b""
    while match := re.match(rb"([0-9A-Fa-f]{1,8})[^\r\n]*\r?\n", rest):
        size = int(match[1], 16)
        if size == 0:
            return content
        content += rest[match.end():match.end() + size]
        rest = re.sub(rb"^\r?\n", b"", rest[match.end() + size:], count=1)
    return content if not rest else body


def decoded(body, coding):
    """The content of a body; `None` if it isn't coded like that."""
    coding = coding.strip().lower()
    try:
        if coding in ("", "identity"):
            return body
        if coding in ("gzip", "x-gzip"):
            return zlib.decompressobj(31).decompress(body)
        if coding == "deflate":
            return zlib.decompress(body, 15 if body[:1] == b"\x78" else -15)
        if coding == "br":
            return without_brotli(body)
        return subprocess.run(["zstd", "-dcq"], input=body, capture_output=True, check=True).stdout if coding == "zstd" else None
    except (zlib.error, OSError, subprocess.CalledProcessError):
        return None


def without_brotli(body):
    library = ctypes.CDLL(ctypes.util.find_library("brotlidec"))
    size = ctypes.c_size_t(64 << 20)
    out = ctypes.create_string_buffer(size.value)
    came = library.BrotliDecoderDecompress(ctypes.c_size_t(len(body)), body, ctypes.byref(size), out)
    return out.raw[:size.value] if came == 1 else None


@dataclass(frozen=True)
class Asked:
    method: str
    url: str
    status: int
    is_captured: bool


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        # A browser opens connections ahead of time, and says nothing on them.
        self.request.settimeout(300)
        super().setup()

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, *_):
        pass

    def answer(self):
        live = self.server.live
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = f"{self.server.scheme}://{(self.headers.get('Host') or ADDRESS).lower()}{self.path}"
        capture = live.captures.find(self.command, url, sent)
        status = capture.status if capture else 404
        # Before the response, so that a test that has it finds the request here.
        live.note(Asked(self.command, normal(url), status, bool(capture)))
        if capture is None:
            return self.send(404, "Not Found", [("Content-Type", "text/plain")], MARK)
        fields = [(name, value) for name, value in capture.fields if name.lower() not in OWN_FIELDS]
        body, coding = capture.body, capture.field("content-encoding").strip().lower()
        content = decoded(body, coding)
        accepted = {part.partition(";")[0].strip() for part in self.headers.get("Accept-Encoding", "").lower().split(",")}
        if coding and (content is None or coding not in accepted):
            # It was stored without its coding, or the browser didn't ask for it.
            body = body if content is None else content
            fields = [(name, value) for name, value in fields if name.lower() != "content-encoding"]
        self.send(status, capture.reason, fields, body)

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = answer

    def send(self, status, reason, fields, body):
        has_body = status not in (204, 304) and self.command != "HEAD"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in fields)]
        if status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join(lines).replace("\0", "") + "\r\n\r\n"
        self.wfile.write(head.encode("utf-8", "surrogateescape") + (body if has_body else b""))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100
    block_on_close = False

    def __init__(self, live, scheme):
        super().__init__(("0.0.0.0", 443 if scheme == "https" else 80), _Answer)
        self.live, self.scheme = live, scheme

    def finish_request(self, request, client_address):
        if self.scheme == "https":
            try:
                request.settimeout(300)
                request = self.live.context.wrap_socket(request, server_side=True)
            except OSError:
                return
        super().finish_request(request, client_address)
        if self.scheme == "https":
            with contextlib.suppress(OSError):
                request.close()

    def handle_error(self, request, client_address):
        pass


class LiveServer:
    """Serves one archive after the other, at ports 80 and 443."""

    def __init__(self, folder, hosts):
        self.captures = None
        self.lock = threading.Lock()
        self.asked = []
        self.has_https = False
        self.authority = Authority(folder, hosts)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.authority.chain, self.authority.key)
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.sni_callback = self.refuse_plain_hosts
        self.servers = [_Server(self, scheme) for scheme in ("http", "https")]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def refuse_plain_hosts(self, _, name, __):
        """A site that was captured by http only has no https, unless `has_https`."""
        if self.has_https or name not in self.captures.hosts or name in self.captures.secure:
            return None
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    def note(self, asked):
        with self.lock:
            self.asked.append(asked)

    def take(self):
        """Returns what was asked for since the last call."""
        with self.lock:
            asked, self.asked = self.asked, []
        return asked

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Authority:
    """A certificate for all hosts, and the authority that issued it, both of this run only."""

    def __init__(self, folder, hosts):
        self.root, self.chain, self.key = folder / "ca.pem", folder / "sites.pem", folder / "sites.key"
        names = ",".join(f"DNS:{host}" for host in sorted(hosts))
        extensions = folder / "extensions"
        extensions.write_text(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\n", encoding="ascii")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.openssl("req", "-x509", *key, "-keyout", folder / "ca.key", "-out", self.root, "-days", "30",
            "-subj", "/CN=Test authority")
        self.openssl("req", *key, "-keyout", self.key, "-out", folder / "sites.csr", "-subj", "/CN=Sites of an archive")
        self.openssl("x509", "-req", "-in", folder / "sites.csr", "-CA", self.root, "-CAkey", folder / "ca.key",
            "-CAcreateserial", "-days", "30", "-extfile", extensions, "-out", self.chain)
        public = self.openssl("pkey", "-in", self.key, "-pubout", "-outform", "DER")
        # For Chromium's --ignore-certificate-errors-spki-list
        self.fingerprint = base64.b64encode(hashlib.sha256(public).digest()).decode()

    @staticmethod
    def openssl(*arguments):
        return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, check=True).stdout
