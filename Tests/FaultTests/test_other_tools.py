"""Captures are found by their URL in archives of other tools: py-wacz, and cdxj-indexer with all its index formats."""

import io
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from program import Server
from support.places import FIXTURES
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
from writers.wacz import Package

TOOLS = Path(sys.executable).parent
ROWS = [line.split("\t") for line in (FIXTURES / "url-keys.tsv").read_text("utf-8").splitlines()]
# warcio escapes spaces in the URLs of WARC headers.
URLS = [row[0].replace(" ", "%20") for row in ROWS[1:]]


@pytest.fixture(scope="module")
def warc(tmp_path_factory):
    """A WARC file with a capture and a revisit record for each URL."""
    path = tmp_path_factory.mktemp("warc") / "data.warc.gz"
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, url in enumerate(URLS):
            def head():
                return StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
            record = writer.create_warc_record(
                url, "response", payload=io.BytesIO(f"body {number}".encode()), http_headers=head(),
                warc_headers_dict={"WARC-Date": "2024-01-01T00:00:00Z"})
            writer.write_record(record)
            writer.write_record(writer.create_revisit_record(
                f"http://revisits.example/{number}", record.rec_headers.get_header("WARC-Payload-Digest"), url,
                "2024-01-01T00:00:00Z", http_headers=head(), warc_headers_dict={"WARC-Date": "2024-03-01T00:00:00Z"}))
    return path


def pack(path, warc, index):
    with Package(path, "Another tool's index") as package:
        package.add("archive/data.warc.gz", warc.read_bytes())
        for name, content in index.items():
            package.add(f"indexes/{name}", content)


def indexed(warc, *arguments):
    return subprocess.run(
        [TOOLS / "cdxj-indexer", *arguments, warc], check=True, capture_output=True, cwd=warc.parent).stdout


def write(writer, path, warc):
    """Writes an archive with the index of a tool."""
    if writer == "py-wacz":
        subprocess.run([TOOLS / "wacz", "create", "-f", warc, "-o", path], check=True, capture_output=True)
    elif writer == "cdxj-indexer":
        pack(path, warc, {"index.cdxj": indexed(warc, "-s", "-p")})
    elif writer == "cdxj-indexer, in blocks":
        blocks = warc.parent / "blocks.cdxj.gz"
        idx = indexed(warc, "-s", "-c", blocks, "-l", "7")
        pack(path, warc, {"index.idx": idx.replace(b"blocks.cdxj.gz", b"index.cdx.gz"), "index.cdx.gz": blocks.read_bytes()})
    else:
        # The lines of cdxj-indexer with the keys of another writer.
        keys = {url: row[ROWS[0].index(writer)] for url, row in zip(URLS, ROWS[1:])}
        lines = []
        for line in indexed(warc).decode().splitlines():
            key, rest = line.split(" ", 1)
            url = json.loads(rest.split(" ", 1)[1])["url"]
            lines.append(f"{keys.get(url, key)} {rest}\n".encode())
        pack(path, warc, {"index.cdx": b"".join(sorted(lines))})


@pytest.mark.parametrize("writer", ["py-wacz", "cdxj-indexer", "cdxj-indexer, in blocks", *ROWS[0][3:]])
def test_every_capture_is_found_by_its_url(store, tmp_path, warc, writer):
    file = tmp_path / "archive.wacz"
    write(writer, file, warc)
    store.run_checked("import", file)
    lost = []
    with Server(store) as server:
        archive = store.run_checked("list", "--json").lines()[0]["id"]
        for number, url in enumerate(URLS):
            status, _, body = server.get(f"/c/{archive}/cdx?url={quote(url, safe='')}&matchType=exact&output=json")
            if status != 200 or url not in [json.loads(line)["url"] for line in body.splitlines()]:
                lost.append(f"cdx: {url}")
            status, _, body = server.get(f"/c/{archive}/20240301000000id_/http://revisits.example/{number}")
            if (status, body) != (200, f"body {number}".encode()):
                lost.append(f"revisit: {url}: {status}")
    # Only some, since each needs a process.
    for number, url in list(enumerate(URLS))[::6]:
        result = store.run("get", url)
        if result.output != f"body {number}":
            lost.append(f"get: {url}: {result.errors}")
    assert lost == []
