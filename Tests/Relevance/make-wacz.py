"""Makes a WACZ file from a folder of HTML documentation, as if captured from a URL.

    make-wacz.py FOLDER BASE-URL OUTPUT [--title TITLE]

Captures HTML pages, style sheets and images. Lists every HTML page with its URL, time and title, but without text.
Needs warcio and cdxj-indexer. The output is reproducible.
"""

import argparse
import hashlib
import html
import io
import json
import re
import uuid
import zipfile
from pathlib import Path
from urllib.parse import quote

from cdxj_indexer.main import CDXJIndexer
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

TIME = "2024-01-01T00:00:00Z"
SOFTWARE = "make-wacz.py"
TYPES = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
    ".jpg": "image/jpeg", ".gif": "image/gif", ".ico": "image/x-icon",
}


def identifier(text):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


def title(body):
    found = re.search(r"(?is)<title\b[^>]*>(.*?)</title>", body.decode("utf-8"))
    return " ".join(html.unescape(found[1]).split()) if found else ""


def write_warc(captures, name):
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True, warc_version="1.1")
    info = {"software": SOFTWARE, "format": "WARC File Format 1.1"}
    first = writer.create_warcinfo_record(name, info)
    first.rec_headers.replace_header("WARC-Record-ID", f"<urn:uuid:{identifier(name)}>")
    first.rec_headers.replace_header("WARC-Date", TIME)
    writer.write_record(first)
    for url, kind, body in captures:
        fields = [("Content-Type", kind), ("Content-Length", str(len(body)))]
        writer.write_record(writer.create_warc_record(
            url, "response", payload=io.BytesIO(body), http_headers=StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": TIME, "WARC-Record-ID": f"<urn:uuid:{identifier(url)}>"},
        ))
    return buffer.getvalue()


def index(warc, name):
    output = io.StringIO()
    CDXJIndexer(output, [], filename=name).process_one(io.BytesIO(warc), output, name)
    return b"".join(sorted(line.encode() for line in output.getvalue().splitlines(keepends=True)))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("base")
    arguments.add_argument("output", type=Path)
    arguments.add_argument("--title")
    options = arguments.parse_args()
    captures, pages = [], [{"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": False}]
    for file in sorted(options.folder.rglob("*")):
        kind = TYPES.get(file.suffix)
        if not kind or not file.is_file():
            continue
        url, body = options.base + quote(file.relative_to(options.folder).as_posix()), file.read_bytes()
        captures.append((url, kind, body))
        if file.suffix == ".html":
            pages.append({"id": identifier("page " + url), "url": url, "ts": TIME, "title": title(body)})
    warc = write_warc(captures, "data.warc.gz")
    files = {
        "archive/data.warc.gz": warc,
        "indexes/index.cdxj": index(warc, "data.warc.gz"),
        "pages/pages.jsonl": "".join(json.dumps(page, ensure_ascii=False) + "\n" for page in pages).encode(),
    }

    def sha256(data):
        return "sha256:" + hashlib.sha256(data).hexdigest()

    package = json.dumps({
        "profile": "data-package", "wacz_version": "1.1.1", "title": options.title or options.output.stem, "created": TIME,
        "software": SOFTWARE, "mainPageUrl": options.base + "index.html", "mainPageDate": TIME,
        "resources": [{"name": Path(name).name, "path": name, "hash": sha256(data), "bytes": len(data)} for name, data in files.items()],
    }, indent=2, ensure_ascii=False).encode()
    files["datapackage.json"] = package
    files["datapackage-digest.json"] = json.dumps({"path": "datapackage.json", "hash": sha256(package)}).encode()
    with zipfile.ZipFile(options.output, "w") as output:
        for name, data in files.items():
            output.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data)
    print(f"{options.output.name}: {len(captures)} captures, {len(pages) - 1} pages")


main()
