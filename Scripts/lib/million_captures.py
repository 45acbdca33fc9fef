"""Writes a WACZ of very many small captures: one WARC of gzip members and an index of as many lines.

    python3 Scripts/lib/million_captures.py FILE [COUNT] [--deflated]

Half of the captures are of one host, two captures for each address; the rest are spread over a thousand hosts. One capture in
100,000 is a 404. The index is ZipNum, or with `--deflated` one plain file that is deflated in the ZIP, which no reader can
search in place. Captures are written in the order of their keys, so that memory stays small whatever the number.
"""

import argparse
import gzip
import hashlib
import json
import shutil
import tempfile
import zipfile
import zlib

DOMAIN = "million.example"
TIMES = ["20240101000000", "20240601120000"]
HOSTS = 1_000
BLOCK_LINES = 300
RARE = 100_000
FIXED = (2024, 1, 1, 0, 0, 0)


def captures(count):
    """(url, urlkey, timestamp) of each capture, in the order of the index."""
    half = count // 2
    for number in range(half):
        path = f"/page/{number // 2:07}"
        yield f"https://big.{DOMAIN}{path}", f"example,million,big){path}", TIMES[number % 2]
    left = count - half
    for number in range(left):
        host, path = f"host{number * HOSTS // left:04}", f"/page/{number:07}"
        yield f"https://{host}.{DOMAIN}{path}", f"example,million,{host}){path}", TIMES[0]


def body(url, timestamp):
    name = hashlib.md5(f"{url} {timestamp}".encode()).hexdigest()
    return f"<!doctype html><title>{name}</title><h1>{url}</h1><p>Captured {timestamp}, {name}.</p>\n".encode()


def status(number):
    return 404 if number % RARE == RARE // 2 else 200


def record(number, url, timestamp):
    """A gzip member that holds a WARC response record, and the digest of its payload."""
    payload = body(url, timestamp)
    digest = "sha256:" + hashlib.sha256(payload).hexdigest()
    reason = "OK" if status(number) == 200 else "Not Found"
    http = (f"HTTP/1.1 {status(number)} {reason}\r\nContent-Type: text/html\r\nContent-Length: {len(payload)}\r\n\r\n").encode()
    date = f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}T{timestamp[8:10]}:{timestamp[10:12]}:{timestamp[12:]}Z"
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\nWARC-Payload-Digest: {digest}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http) + len(payload)}\r\n\r\n"
    ).encode()
    deflater = zlib.compressobj(1, zlib.DEFLATED, 31)
    return deflater.compress(head + http + payload + b"\r\n\r\n") + deflater.flush(), digest


class Hashed:
    """A file that is written, with its SHA-256 and size."""

    def __init__(self, file):
        self.file, self.sha256, self.size = file, hashlib.sha256(), 0

    def write(self, data):
        self.file.write(data)
        self.sha256.update(data)
        self.size += len(data)


class ZipNum:
    """The two files of a ZipNum index: gzip members of some hundred lines, and the list of these."""

    def __init__(self, blocks):
        self.blocks, self.lines = Hashed(blocks), []
        self.idx = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']

    def add(self, line):
        self.lines.append(line)
        if len(self.lines) == BLOCK_LINES:
            self.flush()

    def flush(self):
        if not self.lines:
            return
        block = gzip.compress("".join(self.lines).encode(), compresslevel=6, mtime=0)
        place = {"offset": self.blocks.size, "length": len(block), "digest": "sha256:" + hashlib.sha256(block).hexdigest()}
        self.idx.append(" ".join(self.lines[0].split(" ", 2)[:2]) + f" {json.dumps(place)}\n")
        self.blocks.write(block)
        self.lines = []


def write(path, count=1_000_000, is_deflated=False):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as package, tempfile.TemporaryFile() as temporary:
        zipnum, plain = ZipNum(temporary), Hashed(temporary)
        with package.open(zipfile.ZipInfo("archive/data.warc.gz", FIXED), "w", force_zip64=True) as file:
            warc = Hashed(file)
            for number, (url, key, timestamp) in enumerate(captures(count)):
                member, digest = record(number, url, timestamp)
                entry = {
                    "url": url, "mime": "text/html", "status": str(status(number)), "digest": digest,
                    "length": str(len(member)), "offset": str(warc.size), "filename": "data.warc.gz",
                }
                line = f"{key} {timestamp} {json.dumps(entry)}\n"
                if is_deflated:
                    plain.write(line.encode())
                else:
                    zipnum.add(line)
                warc.write(member)
        zipnum.flush()
        files = [("archive/data.warc.gz", warc.sha256.hexdigest(), warc.size)]
        temporary.seek(0)
        index = plain if is_deflated else zipnum.blocks
        name = "indexes/index.cdx" if is_deflated else "indexes/index.cdx.gz"
        info = zipfile.ZipInfo(name, FIXED)
        info.compress_type = zipfile.ZIP_DEFLATED if is_deflated else zipfile.ZIP_STORED
        with package.open(info, "w", force_zip64=True) as file:
            shutil.copyfileobj(temporary, file, 1 << 20)
        files.append((name, index.sha256.hexdigest(), index.size))
        small = [] if is_deflated else [("indexes/index.idx", "".join(zipnum.idx).encode())]
        first = next(captures(count))[0]
        pages = '{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n' + json.dumps(
            {"url": first, "ts": "2024-01-01T00:00:00Z", "title": "The first page"}) + "\n"
        for name, content in [*small, ("pages/pages.jsonl", pages.encode())]:
            package.writestr(zipfile.ZipInfo(name, FIXED), content)
            files.append((name, hashlib.sha256(content).hexdigest(), len(content)))
        package.writestr(zipfile.ZipInfo("datapackage.json", FIXED), json.dumps({
            "profile": "data-package", "wacz_version": "1.1.1", "title": f"{count:,} captures",
            "created": "2024-01-01T00:00:00Z",
            "resources": [
                {"name": name.rsplit("/", 1)[1], "path": name, "hash": "sha256:" + digest, "bytes": size}
                for name, digest, size in files
            ],
        }))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("count", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--deflated", action="store_true")
    given = parser.parse_args()
    write(given.file, given.count, given.deflated)
