"""Writes a large WACZ of generated captures: ZIP64, one stored WARC, ZipNum index, a page list of two pages.

    python3 Scripts/lib/large_wacz.py FILE SIZE_IN_BYTES [BYTES_PER_CAPTURE]

The first page stands at the beginning of the WARC, the last one at its end, so that a visit to both reads both ends of the
file. Memory stays small, whatever the size.
"""

import gzip
import hashlib
import json
import random
import sys
import zipfile

HOST = "https://large.example"
KEY = "example,large)"
BLOCK_LINES = 300


def record(url, mime, body):
    """A WARC response record, uncompressed."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (mime.encode(), len(body)) + body
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{hashlib.md5(url.encode()).hexdigest()}>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def page(title, text):
    return f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{text}</p><a href='/last'>last page</a>".encode()


def captures(size, bytes_each, seed):
    """Yields (path, mime, body): the first page, filler that does not compress, the last page."""
    yield "/", "text/html", page("First page", "The first capture of the file.")
    filler = random.Random(seed).randbytes(bytes_each)
    for number in range(max(1, size // bytes_each)):
        yield f"/data/{number:08}", "application/octet-stream", number.to_bytes(8, "big") + filler[8:]
    yield "/last", "text/html", page("Last page", "The last capture of the file.")


def zipnum(lines):
    """The two files of a ZipNum index: gzip members of some hundred lines each, and the list of these."""
    blocks, index = [], ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    offset = 0
    for start in range(0, len(lines), BLOCK_LINES):
        part = lines[start : start + BLOCK_LINES]
        block = gzip.compress("".join(part).encode(), mtime=0)
        key = " ".join(part[0].split(" ")[:2])
        digest = "sha256:" + hashlib.sha256(block).hexdigest()
        index.append(f"{key} " + json.dumps({"offset": offset, "length": len(block), "digest": digest}) + "\n")
        offset += len(block)
        blocks.append(block)
    return b"".join(blocks), "".join(index).encode()


def write(path, size, bytes_each=1 << 20, is_sorted=True, seed=7):
    """Files of another `seed` differ. With `is_sorted` false the index is a plain one, and in no order: lookups need a sorted copy of it."""
    lines, warc_hash, offset = [], hashlib.sha256(), 0
    fixed = (2024, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as package:
        with package.open(zipfile.ZipInfo("archive/data.warc", fixed), "w", force_zip64=True) as warc:
            for place, mime, body in captures(size, bytes_each, seed):
                block = record(HOST + place, mime, body)
                warc.write(block)
                warc_hash.update(block)
                entry = {
                    "url": HOST + place, "mime": mime, "status": "200", "length": str(len(block)), "offset": str(offset),
                    "filename": "data.warc",
                }
                lines.append(f"{KEY}{place} 20240101000000 {json.dumps(entry)}\n")
                offset += len(block)
        if is_sorted:
            compressed, index = zipnum(sorted(lines))
            indexes = [("indexes/index.cdx.gz", compressed), ("indexes/index.idx", index)]
        else:
            random.Random(11).shuffle(lines)
            indexes = [("indexes/index.cdx", "".join(lines).encode())]
        pages = '{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n' + "".join(
            json.dumps({"url": HOST + place, "ts": "2024-01-01T00:00:00Z", "title": title}) + "\n"
            for place, title in [("/", "First page"), ("/last", "Last page")]
        )
        resources = []
        for name, content in [*indexes, ("pages/pages.jsonl", pages.encode())]:
            package.writestr(zipfile.ZipInfo(name, fixed), content)
            resources.append((name, "sha256:" + hashlib.sha256(content).hexdigest(), len(content)))
        resources.append(("archive/data.warc", "sha256:" + warc_hash.hexdigest(), offset))
        package.writestr(
            zipfile.ZipInfo("datapackage.json", fixed),
            json.dumps(
                {
                    "profile": "data-package", "wacz_version": "1.1.1", "title": "A large archive",
                    "created": "2024-01-01T00:00:00Z", "mainPageUrl": HOST + "/", "mainPageDate": "2024-01-01T00:00:00Z",
                    "resources": [
                        {"name": name.rsplit("/", 1)[1], "path": name, "hash": digest, "bytes": length}
                        for name, digest, length in resources
                    ],
                }
            ),
        )


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 20)
