"""Builds the archives of Fixtures/. See Scripts/make-fixtures and Fixtures/README.md."""

import argparse
import io
import json
import re
import struct
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

from writers.captures import WARC, index_lines, page_entry
from writers.wacz import Package, page_list, write_zipnum, zip_entry

FIXTURES = Path("Fixtures")
SITE = FIXTURES / "site"


def make_site(name):
    """Writes a WACZ of a site: a WARC for each host, a plain sorted index, all stored."""
    description = json.loads((SITE / f"{name}.json").read_text())
    warcs, pages = {}, []
    for capture in description["captures"]:
        host = urlsplit(capture["url"]).netloc
        warc = warcs.setdefault(host, WARC(f"{host}.warc.gz", description["created"]))
        body = (SITE / capture["file"]).read_bytes() if "file" in capture else b""
        warc.add_capture(capture, body)
        if capture.get("page"):
            pages.append(page_entry(capture, body))
    with described(FIXTURES / f"{name}.wacz", description) as package:
        for warc in warcs.values():
            package.add(f"archive/{warc.name}", warc.bytes())
        package.add("indexes/index.cdx", b"".join(index_lines(warcs.values())))
        if pages:
            package.add("pages/pages.jsonl", page_list(pages))


def described(path, description):
    page = description.get("mainPage")
    return Package(path, description["title"], description["description"], description["created"], page and (page["url"], page["time"]))


def make_debian_faq(folder):
    """Writes a WACZ of the Debian FAQ as if captured from its URL, with a ZipNum index and two page lists, as Browsertrix does."""
    base, time = "https://www.debian.org/doc/manuals/debian-faq/", "2024-06-15T08:{:02}:{:02}Z"
    description = {
        "title": "The Debian GNU/Linux FAQ",
        "description": "Copyright (C) 1996-2021 Software in the Public Interest; the permission notice is on the first page.",
        "created": "2024-06-15T09:00:00Z",
        "mainPage": {"url": base, "time": time.format(0, 0)},
    }
    warc = WARC("debian-faq-0.warc.gz", description["created"])
    pages, extra = [], []
    html = sorted(folder.glob("*.en.html"))
    used = set(re.findall(r'images/[\w-]+\.png', "".join(file.read_text() for file in html)))
    front = folder / "index.en.html"
    names = [("", front), *((file.name, file) for file in html), ("debian.css", folder / "debian.css")]
    names += [(image, folder / image) for image in sorted(used)]
    for number, (name, file) in enumerate(names):
        capture = {"url": base + name, "time": time.format(*divmod(number, 60)), "file": file.name}
        if file.suffix == ".html":
            capture["encoding"] = "gzip"
            (pages if name == "" else extra).append(page_entry(capture, file.read_bytes()))
        warc.add_capture(capture, file.read_bytes())
    with described(FIXTURES / "debian-faq.wacz", description) as package:
        package.add(f"archive/{warc.name}", warc.bytes())
        blocks = io.BytesIO()
        idx = write_zipnum(index_lines([warc]), blocks, block=8)
        package.add("indexes/index.cdx.gz", blocks.getvalue())
        package.add("indexes/index.idx", idx, deflated=True)
        package.add("pages/pages.jsonl", page_list(pages, title="Seed Pages"), deflated=True)
        package.add("pages/extraPages.jsonl", page_list(extra, "extraPages", "Other Pages"), deflated=True)


def make_damaged():
    """Writes small damaged files based on no-pages.wacz. Fixtures/README.md describes them."""
    folder = FIXTURES / "damaged"
    folder.mkdir(exist_ok=True)
    good = (FIXTURES / "no-pages.wacz").read_bytes()
    description = json.loads((SITE / "no-pages.json").read_text())
    capture = description["captures"][0]
    body = (SITE / capture["file"]).read_bytes()
    warc = WARC("leaf.example.warc.gz", description["created"])
    warc.add_capture(capture, body)
    for part in ("b", "a"):
        warc.add_capture(capture | {"url": f"https://leaf.example/{part}"}, body)
    lines = index_lines([warc])

    def write(name, index):
        with described(folder / name, description) as package:
            package.add(f"archive/{warc.name}", warc.bytes())
            if index:
                package.add("indexes/index.cdx", b"".join(index))

    def write_zip(name, files):
        with zipfile.ZipFile(folder / name, "w") as package:
            for each, data in files.items():
                package.writestr(zip_entry(each, description["created"]), data)

    (folder / "truncated.wacz").write_bytes(good[: len(good) * 2 // 3])
    (folder / "not-a-zip.wacz").write_bytes(b"<!doctype html>\n<title>Sign in</title>\n<p>Sign in to download this file.</p>\n")
    write_zip("no-datapackage.wacz", {f"archive/{warc.name}": warc.bytes(), "indexes/index.cdx": b"".join(lines)})
    write("index-past-the-end.wacz", [re.sub(rb'"offset": "\d+"', b'"offset": "99999999"', line) for line in lines])
    write("unsorted-index.wacz", reversed(lines))
    write("no-index.wacz", [])
    other = WARC(warc.name, description["created"])
    other.add_capture(capture, body.replace(b"A single leaf", b"A single lead"))
    with described(folder / "wrong-hash.wacz", description) as package:
        package.add(f"archive/{warc.name}", other.bytes(), listed=warc.bytes())
        package.add("indexes/index.cdx", b"".join(index_lines([other])))
    (folder / "nul-name.wacz").write_bytes(with_nul_in_name(good, b"indexes/index.cdx"))
    (folder / "encrypted.wacz").write_bytes(with_encrypted_flag(good))
    multi = {
        "profile": "multi-wacz-package",
        "resources": [{"name": "a.wacz", "path": "https://leaf.example/a.wacz", "hash": "sha256:" + "0" * 64, "bytes": 1}],
    }
    write_zip("multi-wacz.wacz", {"datapackage.json": json.dumps(multi, indent=2)})


def with_nul_in_name(data, name):
    """Replaces the dot in an entry's name with NUL, in its local header and in the central directory."""
    changed = name.replace(b".", b"\0")
    for place in (data.find(name), data.rfind(name)):
        data = data[:place] + changed + data[place + len(name) :]
    return data


def with_encrypted_flag(data):
    """Sets bit 0 of the general purpose flags in all local headers and central directory entries."""
    data = bytearray(data)
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.find(signature)
        while start >= 0:
            (flags,) = struct.unpack_from("<H", data, start + place)
            struct.pack_into("<H", data, start + place, flags | 1)
            start = data.find(signature, start + 4)
    return bytes(data)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--debian-faq", type=Path, metavar="DIR")
    options = arguments.parse_args()
    for name in ("sample", "second", "no-pages"):
        make_site(name)
    make_damaged()
    if options.debian_faq:
        make_debian_faq(options.debian_faq)


main()
