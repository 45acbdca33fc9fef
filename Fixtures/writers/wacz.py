"""Writes reproducible WACZ files, ZipNum indexes and page lists. Needs only the Python standard library."""

import contextlib
import gzip
import hashlib
import itertools
import json
import re
import zipfile
from pathlib import Path

TIME = "2024-01-01T00:00:00Z"
SOFTWARE = "replayhost Scripts/make-fixtures"


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def response_head(url, mime, length, time=TIME, status="200 OK", fields=b"", digest=None):
    """Returns the WARC header and HTTP head of a response record. The body and CR LF CR LF must follow.

    `length` is the length of the body, `fields` are additional HTTP fields, and `digest` is the payload digest.
    """
    http = f"HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\n".encode() + fields + b"\r\n"
    identifier = hashlib.md5(f"{url} {time}".encode()).hexdigest()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {time}\r\n"
        f"WARC-Record-ID: <urn:uuid:{identifier}>\r\n" + (f"WARC-Payload-Digest: {digest}\r\n" if digest else "") +
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http) + length}\r\n\r\n")
    return head.encode() + http


def page_list(pages, identifier="pages", title="All Pages"):
    head = {"format": "json-pages-1.0", "id": identifier, "title": title, "hasText": any("text" in page for page in pages)}
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [head, *pages]).encode()


def write_zipnum(lines, file, block=300):
    """Writes sorted CDXJ lines to a file, `block` lines per gzip member. Returns the .idx, which lists the members."""
    lines, offset = iter(lines), 0
    idx = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    while part := list(itertools.islice(lines, block)):
        member = gzip.compress(b"".join(part), mtime=0)
        key = b" ".join(part[0].split(b"\n", 1)[0].split(b" ", 2)[:2]).decode()
        idx.append(f"{key} {json.dumps({'offset': offset, 'length': len(member), 'digest': sha256(member)})}\n")
        file.write(member)
        offset += len(member)
    return "".join(idx).encode()


class Package:
    """A WACZ file, written from start to end. It's complete when the `with` block ends."""

    def __init__(self, file, title, description="", created=TIME, main_page=None):
        """`main_page` is a URL and a time."""
        self.created, self.resources = created, []
        self.head = {
            "profile": "data-package", "wacz_version": "1.1.1", "title": title, "description": description, "created": created,
            "software": SOFTWARE,
        }
        if main_page:
            self.head |= {"mainPageUrl": main_page[0], "mainPageDate": main_page[1]}
        self.zip = zipfile.ZipFile(file, "w")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            package = (json.dumps(self.head | {"resources": self.resources}, indent=2, ensure_ascii=False) + "\n").encode()
            digest = (json.dumps({"path": "datapackage.json", "hash": sha256(package)}, indent=2) + "\n").encode()
            self.zip.writestr(zip_entry("datapackage.json", self.created), package)
            self.zip.writestr(zip_entry("datapackage-digest.json", self.created), digest)
        self.zip.close()

    def add(self, name, data, deflated=False, listed=None):
        """Adds a file. If `listed` is given, datapackage.json describes these bytes instead."""
        self.zip.writestr(zip_entry(name, self.created, deflated), data)
        data = data if listed is None else listed
        self.list(name, sha256(data), len(data))

    @contextlib.contextmanager
    def open(self, name, deflated=False):
        """Returns a file of any size, to be written in parts."""
        with self.zip.open(zip_entry(name, self.created, deflated), "w", force_zip64=True) as file:
            hashed = Hashed(file)
            yield hashed
        self.list(name, "sha256:" + hashed.sha256.hexdigest(), hashed.size)

    def list(self, name, digest, size):
        self.resources.append({"name": Path(name).name.lower(), "path": name, "hash": digest, "bytes": size})


class Hashed:
    """An output file that tracks its SHA-256 and size."""

    def __init__(self, file):
        self.file, self.sha256, self.size = file, hashlib.sha256(), 0

    def write(self, data):
        self.file.write(data)
        self.sha256.update(data)
        self.size += len(data)


def zip_entry(name, time, deflated=False):
    entry = zipfile.ZipInfo(name, tuple(int(part) for part in re.findall(r"\d+", time)[:6]))
    entry.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry
