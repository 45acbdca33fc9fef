"""Writes WARC files and indexes of described captures with warcio and cdxj-indexer. The output is reproducible."""

import gzip
import io
import uuid
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from cdxj_indexer.main import CDXJIndexer
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from .wacz import SOFTWARE

NAMESPACE = uuid.UUID("5f0c0f0e-7c2f-4b0e-9a53-3a1d3c1b7a10")
TYPES = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
    ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg",
    ".ico": "image/x-icon", ".webm": "video/webm", ".txt": "text/plain; charset=utf-8", ".pdf": "application/pdf", ".zip": "application/zip",
    ".xml": "application/xml", ".wav": "audio/wav",
}
REASONS = {200: "OK", 204: "No Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 404: "Not Found", 500: "Internal Server Error"}


class PageText(HTMLParser):
    """Extracts the title and the visible text of a page."""

    def __init__(self, html):
        super().__init__()
        self.title, self.parts, self.inside = "", [], []
        self.feed(html)
        self.text = " ".join(" ".join(self.parts).split())

    def handle_starttag(self, tag, attributes):
        if tag in ("title", "script", "style"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.parts.append(data)
        elif self.inside[-1] == "title":
            self.title += data


class WARC:
    """A WARC file in memory, with one gzip member per record."""

    def __init__(self, name, time):
        self.name, self.buffer, self.count, self.seen = name, io.BytesIO(), 0, {}
        self.writer = WARCWriter(self.buffer, gzip=True, warc_version="1.1")
        info = f"software: {SOFTWARE}\r\nformat: WARC File Format 1.1\r\n".encode()
        self.add("warcinfo", None, time, info, fields={"WARC-Filename": name}, content_type="application/warc-fields")

    def add(self, kind, url, time, payload, http=None, fields=None, content_type=None):
        self.count += 1
        headers = {
            "WARC-Date": time,
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(NAMESPACE, f'{self.name} {self.count} {url} {time}')}>",
            **(fields or {}),
        }
        record = self.writer.create_warc_record(
            url, kind, payload=io.BytesIO(payload), http_headers=http, warc_headers_dict=headers,
            warc_content_type=content_type or "",
        )
        self.writer.write_record(record)
        return record.rec_headers

    def add_capture(self, capture, body):
        """Writes the response and request records of a capture. `body` is the body before any encoding."""
        url, time = capture["url"], capture["time"]
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        response = self.add_response(capture, body)
        form = capture.get("form", "").encode()
        fields = [("Host", parts.netloc), ("User-Agent", "replayhost-fixtures"), ("Accept", "*/*")]
        if form:
            fields += [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", str(len(form)))]
        head = StatusAndHeaders(f"{'POST' if form else 'GET'} {target} HTTP/1.1", fields, is_http_request=True)
        self.add("request", url, time, form, http=head, fields={"WARC-Concurrent-To": response.get_header("WARC-Record-ID")})

    def add_response(self, capture, body):
        url, time, status = capture["url"], capture["time"], capture.get("status", 200)
        if "revisitOf" in capture:
            head, digest = self.seen[url, capture["revisitOf"]]
            return self.add(
                "revisit", url, time, b"", http=head,
                fields={
                    "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                    "WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": capture["revisitOf"],
                    "WARC-Payload-Digest": digest,
                },
            )
        suffix = Path(capture.get("file", "")).suffix or ".html"
        fields = [("Content-Type", capture.get("type", TYPES[suffix])), ("Server", "fieldguide/1.0"), ("Cache-Control", "max-age=3600")]
        if "location" in capture:
            fields.append(("Location", capture["location"]))
        if suffix == ".webm":
            fields.append(("Accept-Ranges", "bytes"))
        fields += capture.get("fields", [])
        if capture.get("encoding") == "gzip":
            body = gzip.compress(body, mtime=0)
            fields.append(("Content-Encoding", "gzip"))
        if capture.get("chunked"):
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in split(body, 400)) + b"0\r\n\r\n"
            fields.append(("Transfer-Encoding", "chunked"))
        else:
            fields.append(("Content-Length", str(len(body))))
        head = StatusAndHeaders(f"{status} {REASONS[status]}", fields, protocol="HTTP/1.1")
        record = self.add("response", url, time, body, http=head)
        self.seen[url, time] = head, record.get_header("WARC-Payload-Digest")
        return record

    def bytes(self):
        return self.buffer.getvalue()

    def add_to(self, package):
        """Adds the WARC file and a plain index of it to an archive."""
        package.add(f"archive/{self.name}", self.bytes())
        package.add("indexes/index.cdx", b"".join(index_lines([self])))


def split(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


def index_lines(warcs):
    """Returns the CDXJ lines of WARC files, as written by the indexer of pywb and py-wacz, sorted bytewise."""
    lines = []
    for warc in warcs:
        output = io.StringIO()
        indexer = CDXJIndexer(output, [], post_append=True, filename=warc.name)
        indexer.process_one(io.BytesIO(warc.bytes()), output, warc.name)
        lines += output.getvalue().splitlines(keepends=True)
    return sorted(line.encode() for line in lines)


def page_entry(capture, body):
    page = PageText(body.decode())
    identifier = uuid.uuid5(NAMESPACE, f"page {capture['url']} {capture['time']}")
    return {
        "id": str(identifier), "url": capture["url"], "ts": capture["time"], "title": page.title, "text": page.text,
        "mime": "text/html", "status": capture.get("status", 200),
    }
