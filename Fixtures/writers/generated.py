"""Writes generated archives of any size in little memory. Needs only the Python standard library.

    cd Fixtures; python3 -m writers.generated large FILE SIZE_IN_BYTES [BYTES_PER_CAPTURE]
    cd Fixtures; python3 -m writers.generated million FILE [COUNT] [deflated]
"""

import hashlib
import json
import random
import shutil
import sys
import tempfile
import zlib
from dataclasses import dataclass

from .wacz import TIME, Package, page_list, response_head, sha256, write_zipnum

LARGE_HOST = "https://large.example"
MILLION_DOMAIN = "million.example"
MILLION_HOSTS = 1_000
MILLION_TIMES = ["20240101000000", "20240601120000"]
# One capture in so many is a 404.
RARE = 100_000


@dataclass
class Capture:
    url: str
    key: str
    body: bytes
    mime: str = "text/html"
    timestamp: str = "20240101000000"
    status: str = "200 OK"


def write(file, title, captures, pages=(), index="zipnum", is_gzipped=False):
    """Writes a WACZ of captures, which must be sorted by key. `pages` are (URL, title) or (URL, title, text); the first is the
    main page.

    The index is "zipnum", or one that can't be searched in place: "deflated-idx", which is "zipnum" with a compressed .idx file,
    a "deflated" file, or an "unsorted" one.
    """
    warc = "data.warc.gz" if is_gzipped else "data.warc"
    with Package(file, title, main_page=(pages[0][0], TIME) if pages else None) as package, tempfile.TemporaryFile() as lines:
        with package.open(f"archive/{warc}") as out:
            for capture in captures:
                digest = sha256(capture.body)
                record = record_of(capture, digest, is_gzipped)
                entry = {
                    "url": capture.url, "mime": capture.mime, "status": capture.status[:3], "digest": digest,
                    "length": str(len(record)), "offset": str(out.size), "filename": warc,
                }
                lines.write(f"{capture.key} {capture.timestamp} {json.dumps(entry)}\n".encode())
                out.write(record)
        lines.seek(0)
        if index in ("zipnum", "deflated-idx"):
            with package.open("indexes/index.cdx.gz") as out:
                idx = write_zipnum(lines, out)
            package.add("indexes/index.idx", idx, deflated=index != "zipnum")
        elif index == "deflated":
            with package.open("indexes/index.cdx", deflated=True) as out:
                shutil.copyfileobj(lines, out, 1 << 20)
        else:
            shuffled = list(lines)
            random.Random(11).shuffle(shuffled)
            package.add("indexes/index.cdx", b"".join(shuffled))
        names = ("url", "title", "text")
        package.add("pages/pages.jsonl", page_list([{"ts": TIME, **dict(zip(names, page))} for page in pages]))


def record_of(capture, digest, is_gzipped):
    stamp = capture.timestamp
    time = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}T{stamp[8:10]}:{stamp[10:12]}:{stamp[12:]}Z"
    head = response_head(capture.url, capture.mime, len(capture.body), time, capture.status, digest=digest)
    record = head + capture.body + b"\r\n\r\n"
    if not is_gzipped:
        return record
    deflater = zlib.compressobj(1, zlib.DEFLATED, 31)
    return deflater.compress(record) + deflater.flush()


def write_large(file, size, bytes_each=1 << 20, index="zipnum", seed=7):
    """Writes an archive of about `size` incompressible bytes. Its first page is at the start of the WARC file and its last page
    at the end, so that opening both reads both ends of the file. Another `seed` gives a different file.
    """
    filler = random.Random(seed).randbytes(bytes_each)

    def capture(path, body, mime="text/html"):
        return Capture(LARGE_HOST + path, f"example,large){path}", body, mime)

    def page(title, text):
        return f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{text}</p><a href='/last'>last page</a>".encode()

    def captures():
        yield capture("/", page("First page", "The first capture of the file."))
        for number in range(max(1, size // bytes_each)):
            yield capture(f"/data/{number:08}", number.to_bytes(8, "big") + filler[8:], "application/octet-stream")
        yield capture("/last", page("Last page", "The last capture of the file."))

    pages = [(f"{LARGE_HOST}/", "First page"), (f"{LARGE_HOST}/last", "Last page")]
    write(file, "A large archive", captures(), pages, index)


def write_million(file, count=1_000_000, index="zipnum"):
    """Writes an archive of many small captures. Half are of one host, two for each URL; the others are of a thousand hosts."""
    write(file, f"{count:,} captures", million_captures(count), [(million_capture(0, count).url, "The first page")], index, True)


def million_captures(count):
    return (million_capture(number, count) for number in range(count))


def million_capture(number, count):
    half = count // 2
    if number < half:
        host, path, timestamp = "big", f"/page/{number // 2:07}", MILLION_TIMES[number % 2]
    else:
        host = f"host{(number - half) * MILLION_HOSTS // (count - half):04}"
        path, timestamp = f"/page/{number - half:07}", MILLION_TIMES[0]
    url = f"https://{host}.{MILLION_DOMAIN}{path}"
    name = hashlib.md5(f"{url} {timestamp}".encode()).hexdigest()
    body = f"<!doctype html><title>{name}</title><h1>{url}</h1><p>Captured {timestamp}, {name}.</p>\n".encode()
    status = "404 Not Found" if number % RARE == RARE // 2 else "200 OK"
    return Capture(url, f"example,million,{host}){path}", body, timestamp=timestamp, status=status)


if __name__ == "__main__":
    kind, path, *rest = sys.argv[1:]
    if kind == "large":
        write_large(path, *map(int, rest))
    else:
        write_million(path, int(rest[0]) if rest else 1_000_000, rest[1] if len(rest) > 1 else "zipnum")
