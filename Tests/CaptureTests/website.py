"""A website on this computer: documents for curl, and pages whose URLs tell the fake yt-dlp what to do."""

import contextlib
import io
import threading
import zipfile
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

# The sites of this test run, as HOST:PORT. The guard refuses all others on this computer.
SITES = set()


def pdf(text="The lighthouse of Quay Harbour", title="Harbour guide", size=0):
    """A PDF of one page with a line of text, padded to at least `size` bytes."""
    content = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", f"<< /Title ({title}) >>".encode(),
    ]
    data, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    data += b"".join(b"%% padding %089d\n" % number for number in range(max(0, size - len(data)) // 100))
    start = len(data)
    data += b"xref\n0 7\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"trailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


def epub(title="The harbour book"):
    """An EPUB 3 of one chapter."""
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier><dc:title>{title}</dc:title>'
        '<dc:language>en</dc:language></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml" '
        'properties="nav"/></manifest><spine><itemref idref="a"/></spine></package>')
    chapter = ('<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>A</title></head>'
        '<body><nav epub:type="toc"><ol><li><a href="a.xhtml">A</a></li></ol></nav><p>Ships.</p></body></html>')
    container = ('<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="p.opf" media-type="application/oebps-package+xml"/></rootfiles></container>')
    with io.BytesIO() as out:
        with zipfile.ZipFile(out, "w") as book:
            for name, text in (("mimetype", "application/epub+zip"), ("META-INF/container.xml", container), ("p.opf", package),
                    ("a.xhtml", chapter)):
                book.writestr(zipfile.ZipInfo(name, (2025, 1, 2, 3, 4, 4)), text)
        return out.getvalue()


PDF, EPUB = pdf(), epub()
LARGE_PDF = pdf(size=400_000)
PAGE = b"<!doctype html><title>A page</title><link rel=icon href=data:,><p>A page about ships"
PDF_TYPE, EPUB_TYPE = "application/pdf", "application/epub+zip"


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.parts = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(self.parts.query).items()}
        site = self.server.site
        with site.lock:
            site.asked[(self.command, self.path)] += 1
            self.number = site.asked[(self.command, self.path)]
            site.fields.setdefault(self.path, []).append(dict(self.headers.items()))
        first = self.parts.path.split("/")[1]
        getattr(self, "answer_" + first.replace("-", "_").partition(".")[0], self.answer_missing)()

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass

    def send(self, body, kind, status=200, length=None, **fields):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def redirect(self, target, status=302, **fields):
        self.send(b"moved", "text/plain", status, Location=target, **fields)

    # Documents

    def answer_guide(self):
        self.send(PDF, PDF_TYPE, Last_Modified=formatdate(1763433000, usegmt=True), Set_Cookie="visit=1")

    def answer_book(self):
        self.send(EPUB, EPUB_TYPE)

    def answer_document(self):
        """A PDF whose URL has no extension."""
        self.send(PDF, "application/pdf; charset=binary")

    def answer_named(self):
        self.send(PDF, PDF_TYPE, Content_Disposition='attachment; filename="../../../escape.pdf"; filename*=UTF-8\'\'..%2f..%2fescape.pdf')

    def answer_moved(self):
        """Two redirects to the guide: one absolute, one relative."""
        if self.parts.path == "/moved/once.pdf":
            self.redirect(f"{self.server.site.address}/moved/twice.pdf", 301)
        else:
            self.redirect("../guide.pdf", 307)

    def answer_loop(self):
        self.redirect(self.path)

    def answer_to(self):
        """A redirect to any place: `url` in the query."""
        self.redirect(self.query["url"])

    def answer_chunked(self):
        self.send_response(200)
        self.send_header("Content-Type", PDF_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.command == "HEAD":
            return
        for start in range(0, len(PDF), 100):
            part = PDF[start:start + 100]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def answer_slow(self):
        """A larger PDF in `seconds`, in pieces."""
        steps = 20
        self.send_response(200)
        self.send_header("Content-Type", PDF_TYPE)
        self.send_header("Content-Length", str(len(LARGE_PDF)))
        self.end_headers()
        if self.command == "HEAD":
            return
        size = len(LARGE_PDF) // steps + 1
        try:
            for start in range(0, len(LARGE_PDF), size):
                self.wfile.write(LARGE_PDF[start:start + size])
                self.wfile.flush()
                self.server.site.stopped.wait(float(self.query.get("seconds", 1)) / steps)
        except OSError:
            self.close_connection = True

    def answer_drip(self):
        """A PDF that never ends, one byte every 50 ms."""
        self.never_end(b" ", 0.05)

    def answer_endless(self):
        """A PDF that never ends, fast."""
        self.never_end(b" " * 100_000, 0)

    def never_end(self, piece, seconds):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", PDF_TYPE)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(PDF[:100])
            while self.command == "GET" and not self.server.site.stopped.wait(seconds):
                self.wfile.write(piece)

    def answer_cut(self):
        """Ends before its Content-Length."""
        self.close_connection = True
        self.send(PDF[:200], PDF_TYPE, length=len(PDF))

    def answer_empty(self):
        self.send(b"", PDF_TYPE)

    def answer_disguised(self):
        """A page at a URL that ends in .pdf: often a log-in."""
        self.send(PAGE, "text/html; charset=utf-8")

    def answer_gone(self):
        self.send(b"gone", "text/plain", 410)

    def answer_missing(self):
        self.send(b"not found", "text/plain", 404)

    def answer_private(self):
        self.send(b"who are you?", "text/plain", 401, WWW_Authenticate='Basic realm="x"')

    def answer_teapot(self):
        self.send(b"short and stout", "text/plain", 418)

    def answer_busy(self):
        """503 with Retry-After the first `times` times, then the guide. HEAD doesn't count."""
        if self.number <= int(self.query.get("times", 1)):
            self.send(b"busy", "text/plain", 503, Retry_After=self.query.get("after", "1"))
        else:
            self.send(PDF, PDF_TYPE)

    def answer_broken(self):
        """500 the first `times` times, then the guide."""
        if self.number <= int(self.query.get("times", 1)):
            self.send(b"broken", "text/plain", 500)
        else:
            self.send(PDF, PDF_TYPE)

    def answer_once(self):
        """A link that works once: a page, or a PDF."""
        if self.number > 1:
            self.send(b"this link was used", "text/plain", 404)
        elif self.parts.path.endswith("document"):
            self.send(PDF, PDF_TYPE)
        else:
            self.send(PAGE, "text/html; charset=utf-8")

    def answer_ordinary(self):
        """Any bytes as any type: `type` and `body` in the query."""
        self.send(self.query.get("body", "").encode("latin-1"), self.query["type"])

    # Pages

    def answer_page(self):
        self.send(PAGE, "text/html; charset=utf-8")

    answer_fake = answer_generic = answer_page


class Website:
    """Listens until `close()`."""

    def __init__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
        self.server.daemon_threads = True
        self.server.site = self
        self.lock, self.stopped = threading.Lock(), threading.Event()
        # How often each (method, path) was requested, and the header fields of each request.
        self.asked, self.fields = Counter(), {}
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        SITES.add(f"127.0.0.1:{self.port}")
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __call__(self, path):
        return f"{self.address}{path}"

    def fake(self, script, **query):
        """The URL of something that the fake yt-dlp downloads."""
        return f"{self.address}/fake/{script}" + (f"?{urlencode(query)}" if query else "")

    def close(self):
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()
