"""Writes archives for tests, with the writers of the fixtures."""

import json
import zipfile
from base64 import b64decode
from pathlib import Path

from writers.captures import WARC, page_entry
from writers.wacz import Package, page_list

TIME = "2024-11-21T09:00:00Z"
# A PNG of one pixel
PIXEL = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def write_archive(path, title, pages):
    """Writes a WACZ of HTML pages: `pages` maps URLs to HTML. The first is the main page."""
    captures = [({"url": url}, html.encode()) for url, html in pages.items()]
    return write_captures(path, title, captures)


def write_captures(path, title, captures, seen=None, lists_text=True):
    """Writes a WACZ of captures in the format of the fixtures' writer, each with its body. The first is the main page.

    Archives with the same `seen` dict can contain revisits of each other's captures. `lists_text`: the page list has the
    text of the pages.
    """
    warc = WARC(f"{Path(path).stem}.warc.gz", TIME)
    warc.seen = warc.seen if seen is None else seen
    captures = [({"time": TIME, **capture}, body) for capture, body in captures]
    for capture, body in captures:
        warc.add_capture(capture, body)
    pages = [page_entry(capture, body) for capture, body in captures if "file" not in capture]
    if not lists_text:
        pages = [{key: value for key, value in page.items() if key != "text"} for page in pages]
    main = captures[0][0]
    with Package(path, title, created=TIME, main_page=(main["url"], main["time"])) as package:
        warc.add_to(package)
        package.add("pages/pages.jsonl", page_list(pages))
    return path


def name_requirement(path, filename, sha256):
    """Makes an archive state that it requires another file. WACZ 1.2.0 draft, `relation.requires`"""
    with zipfile.ZipFile(path) as before:
        files = {name: before.read(name) for name in before.namelist()}
    package = json.loads(files["datapackage.json"])
    package["relation"] = {"requires": [{"filename": filename, "hash": f"sha256:{sha256}"}]}
    files["datapackage.json"] = json.dumps(package).encode()
    files.pop("datapackage-digest.json", None)
    with zipfile.ZipFile(path, "w") as after:
        for name, content in files.items():
            after.writestr(name, content)
