"""Writes small WACZ files whose every hash can be made wrong. Shares nothing with the program under test."""

import base64
import gzip
import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field

TIME = "2024-01-02T03:04:05Z"
STAMP = "20240102030405"


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


@dataclass
class Record:
    url: str
    body: bytes = b""
    kind: str = "response"
    time: str = TIME
    head: str = "HTTP/1.1 200 OK\r\nContent-Type: text/html"
    headers: dict = field(default_factory=dict)
    digest: callable = sha256
    # What the payload's digest is made of, if that isn't the body as stored.
    payload: bytes = None
    mime: str = "text/html"
    # Changes of the index line; None leaves it out.
    line: dict = field(default_factory=dict)

    def block(self):
        return (self.head + "\r\n\r\n").encode() + self.body if self.head else self.body

    def bytes(self):
        block = self.block()
        payload = self.body if self.payload is None else self.payload
        headers = {"WARC-Type": self.kind, "WARC-Target-URI": self.url, "WARC-Date": self.time,
            "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000000>",
            "Content-Type": "application/http;msgtype=response" if self.head else "text/plain",
            "WARC-Block-Digest": self.digest(block), "WARC-Payload-Digest": self.digest(payload),
            "Content-Length": str(len(block)), **self.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)
        return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def unchanged(value):
    return value


@dataclass
class Package:
    """A WACZ. Each function changes one step, after everything before it and before the hashes that follow."""

    records: list
    pages: list = None
    is_gzipped: bool = False
    change_warc: callable = unchanged
    change_files: callable = unchanged
    change_description: callable = unchanged
    change_digest: callable = unchanged
    change_packed: callable = unchanged
    change_zip: callable = unchanged

    def write(self, path):
        path.write_bytes(self.bytes())
        return path

    def bytes(self):
        name = "data.warc.gz" if self.is_gzipped else "data.warc"
        warc, lines = b"", []
        for record in self.records:
            stored = gzip.compress(record.bytes(), mtime=0) if self.is_gzipped else record.bytes()
            if record.line is not None and record.kind in ("response", "revisit", "resource"):
                lines.append(self.line(record, name, len(warc), len(stored)))
            warc += stored
        pages = [{"url": record.url, "ts": record.time} for record in self.records[:1]] if self.pages is None else self.pages
        list_lines = ['{"format":"json-pages-1.0","id":"pages","title":"All"}', *map(json.dumps, pages)]
        files = self.change_files({f"archive/{name}": self.change_warc(warc),
            "indexes/index.cdx": "".join(sorted(lines)).encode(), "pages/pages.jsonl": "\n".join(list_lines).encode()})
        description = json.dumps(self.change_description({"profile": "data-package", "wacz_version": "1.1.1", "resources": [
            {"name": path.split("/")[-1], "path": path, "hash": sha256(data), "bytes": len(data)}
            for path, data in files.items()]})).encode()
        digest = self.change_digest({"path": "datapackage.json", "hash": sha256(description)})
        packed = {**files, "datapackage.json": description}
        if digest is not None:
            packed["datapackage-digest.json"] = json.dumps(digest).encode()
        with io.BytesIO() as out:
            with zipfile.ZipFile(out, "w") as archive:
                for path, data in self.change_packed(packed).items():
                    archive.writestr(zipfile.ZipInfo(path, (2024, 1, 2, 3, 4, 4)), data)
            return self.change_zip(out.getvalue())

    @staticmethod
    def line(record, name, offset, length):
        host, _, path = record.url.split("://", 1)[1].partition("/")
        members = {"url": record.url, "mime": "warc/revisit" if record.kind == "revisit" else record.mime, "status": "200",
            "digest": record.digest(record.body), "length": str(length), "offset": str(offset), "filename": name, **record.line}
        stamp = members.pop("timestamp", "".join(character for character in record.time if character.isdigit()))
        return f"{','.join(reversed(host.split('.')))})/{path} {stamp} {json.dumps(members)}\n"
