"""Small files that could cost much memory or disk space when their text is indexed."""

import gzip
import json
import os
import subprocess
import sys
import zipfile

import pytest
from support.places import BINARY
from writers.wacz import response_head

MB = 1_000_000
URL = "http://reef.example/"
STAMP = "20240101000000"


def record(body, mime="text/html", fields=b""):
    return gzip.compress(response_head(URL, mime, len(body), fields=fields) + body + b"\r\n\r\n", mtime=0)


def write(path, records, pages, captures=None):
    """Writes a WACZ. `captures` are pairs of a path and the number of its record; by default, each record has one."""
    places, warc = [], b""
    for content in records:
        places.append((len(warc), len(content)))
        warc += content
    captures = captures or [(f"{number:04}", number) for number in range(len(records))]
    lines = [
        f"example,reef)/{name} {STAMP} " + json.dumps({
            "url": URL + name, "mime": "text/html", "status": "200", "filename": "data.warc.gz",
            "offset": str(places[number][0]), "length": str(places[number][1])}) + "\n"
        for name, number in captures
    ]
    header = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(zipfile.ZipInfo("archive/data.warc.gz"), warc)
        package.writestr("indexes/index.cdx", "".join(lines))
        package.writestr("pages/pages.jsonl", "".join(json.dumps(page) + "\n" for page in [header, *pages]))
        package.writestr("datapackage.json", json.dumps({"profile": "data-package", "wacz_version": "1.1.1", "resources": []}))
    assert path.stat().st_size < MB


def listed(names):
    return [{"url": URL + name, "ts": "2024-01-01T00:00:00Z"} for name in names]


def long_titles(path):
    """150 pages with a title of 4 MB each."""
    record_ = record(b"<title>" + b"title word " * 400_000 + b"</title>text")
    names = [f"{number:04}" for number in range(150)]
    write(path, [record_], listed(names), [(name, 0) for name in names])


def long_text(path):
    """One page with a text of 250 MB."""
    write(path, [record(b"<title>Long</title>" + b"long text " * 25_000_000)], listed(["0000"]))


def one_record(path):
    """3000 pages that show one record of 30 MB."""
    names = [f"{number:04}" for number in range(3000)]
    write(path, [record(b"<p>" + b"a text of this record " * 1_400_000)], listed(names), [(name, 0) for name in names])


# `make soak` runs the two that take long.
SHAPES = [long_titles, *([long_text, one_record] if os.environ.get("CASES") == "all" else [])]


MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def cost(store, *arguments):
    """Runs a command. Returns its peak memory in bytes, and its output."""
    # A small process starts it: the system counts the memory of the one that does.
    result = subprocess.run(
        [sys.executable, "-c", MEASURED, BINARY, *map(str, arguments)], env=store.environment(), cwd=store.folder, text=True,
        capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return int(result.stderr.splitlines()[-1]) * 1024, result.stdout


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_text_of_a_small_file_costs_little(store, tmp_path, shape):
    path = tmp_path / "small.wacz"
    shape(path)
    store.run_checked("import", path)
    memory, output = cost(store, "jobs", "run", "--json")
    jobs = [json.loads(line) for line in output.splitlines()]
    assert [job["state"] for job in jobs if job["kind"] == "text"][-1] == "done", output
    disk = sum(file.stat().st_size for file in store.root.rglob("*") if file.is_file())
    print(f"{shape.__name__}: {path.stat().st_size} bytes, {memory / MB:.0f} MB of memory, {disk / MB:.1f} MB of disk space")
    assert memory < 96 * MB
    assert disk < 100 * MB
    text = store.run_checked("info", "small", "--json").lines()[0]["text"]
    assert text["isComplete"] and text["pages"] == text["withText"] + sum(
        count for reason, count in text["withoutText"].items() if reason != "rest")
