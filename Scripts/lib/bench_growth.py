"""Measures a library that grows. Called by `Scripts/bench 95-growth` with an empty folder.

Makes libraries of SIZES archives (default: 10 100 1000) of 31 captures each: of one site each, of one site for all, and with one
URL in all of them, each a day later. Prints for each the milliseconds (median of REQUESTS) of: the start of the server; a lookup in
all archives that hits one of them, one that hits none, and one of the URL in all; the same in a collection of all archives; the
TimeMap of the URL in all; `explain` of a captured URL and of one that isn't; the first part of the library's list; a search; one
import more, and its removal. Then the server's resident memory, before and after the TimeMap.

With PYWB, asks pywb the same three lookups, with a collection for each archive, up to PEER_MAX (1000) of them. NO_FILTERS=1 removes
the filters first, so that each archive is asked.
"""

import gzip
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import bench_report
import serving
from writers import generated

SIZES = [int(size) for size in os.environ.get("SIZES", "10 100 1000").split()]
SHAPES = os.environ.get("SHAPES", "sites site").split()
REQUESTS = int(os.environ.get("REQUESTS", "20"))
PEER_MAX = int(os.environ.get("PEER_MAX", "1000")) if os.environ.get("PYWB") else 0
CAPTURES = 31
NAMES = {"sites": "archives of a site each", "site": "archives of one site"}
COLUMNS = ["start", "hit", "miss", "in all", "collection", "TimeMap", "explain", "explain miss", "list", "search", "one more", "remove",
    "memory", "after TimeMap"]


def archive(path, number, shape):
    site = f"site{number}" if shape == "sites" else "news"
    day = (datetime(2015, 1, 1) + timedelta(days=number)).strftime("%Y%m%d120000")
    body = f"<!doctype html><title>Page of {number}</title>".encode()
    captures = [generated.Capture("https://news.example/", "example,news)/", body, timestamp=day)]
    for page in range(CAPTURES - 1):
        captures.append(generated.Capture(f"https://{site}.example/{number}/{page:02}", f"example,{site})/{number}/{page:02}", body, timestamp=day))
    captures.sort(key=lambda capture: capture.key)
    generated.write(str(path), f"Archive {number}", captures, [(captures[0].url, "Page")])


def lookups(shape, size):
    number = size // 2
    site = f"site{number}" if shape == "sites" else "news"
    return {
        "hit": f"2020id_/https://{site}.example/{number}/07", "miss": f"2020id_/https://{site}.example/none",
        "in all": "20160102id_/https://news.example/",
    }


def median(port, path, wanted, count=REQUESTS):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        status = serving.get(port, path)[0]
        times.append(time.perf_counter() - began)
        assert status in wanted, (path, status)
    return statistics.median(times)


def command(store, *arguments):
    """Returns the seconds of a command, the least of three times."""
    return min(serving.measured([serving.BINARY, *arguments, "--store", str(store)])[0] for _ in range(3))


def measure(store, shape, size, folder):
    paths = lookups(shape, size)
    ids = [f"{number}" for number in range(size)]
    subprocess.run([serving.BINARY, "collection", "create", "All", *ids, "--id", "all-of-them", "--quiet", "--store", store], check=True)
    began = time.perf_counter()
    with serving.serve(store) as (process, port):
        row = {"start": time.perf_counter() - began}
        for name, path in paths.items():
            row[name] = median(port, f"/c/all/{path}", [404] if name == "miss" else [302])
        row["collection"] = median(port, f"/c/all-of-them/{paths['hit']}", [200, 302])
        row["list"] = median(port, "/api/archives?offset=0&limit=50", [200])
        row["search"] = median(port, f"/api/search?q={size // 2}&limit=20", [200])
        url = paths["hit"].partition("/")[2]
        row["memory"] = serving.resident(process.pid)
        row["TimeMap"] = median(port, "/c/all/timemap/link/https://news.example/", [200], 3)
        row["after TimeMap"] = serving.resident(process.pid)
    row["explain"] = command(store, "explain", url, "--json")
    row["explain miss"] = command(store, "explain", paths["miss"].partition("/")[2], "--json")
    archive(folder / "more.wacz", size, shape)
    name, row["one more"], _ = serving.import_file(store, folder / "more.wacz")
    began = time.perf_counter()
    subprocess.run([serving.BINARY, "remove", name, "--yes", "--quiet", "--store", store], check=True)
    row["remove"] = time.perf_counter() - began
    return row


def measure_pywb(files, shape, size, folder):
    """A collection for each archive. Its folders are made here, since `wb-manager` takes a second for each."""
    import pywb_server

    for path in files.iterdir():
        collection = folder / "collections" / path.stem
        (collection / "archive").mkdir(parents=True)
        (collection / "indexes").mkdir()
        with zipfile.ZipFile(path) as package:
            (collection / "archive" / "data.warc").write_bytes(package.read("archive/data.warc"))
            (collection / "indexes" / "index.cdxj").write_bytes(gzip.decompress(package.read("indexes/index.cdx.gz")))
    (folder / "config.yaml").write_text("collections:\n  all: $all\n")
    with pywb_server.serve(folder) as (_, port):
        return {name: median(port, f"/all/{path}", [404] if name == "miss" else [200, 302, 307], 5) for name, path in lookups(shape, size).items()}


def main():
    folder = Path(sys.argv[1])
    for shape in SHAPES:
        for size in SIZES:
            files, store = folder / f"{shape}-{size}", folder / f"store-{shape}-{size}"
            files.mkdir()
            for number in range(size):
                archive(files / f"{number}.wacz", number, shape)
            subprocess.run([serving.BINARY, "import", "--quiet", "--store", store, files], check=True)
            subprocess.run([serving.BINARY, "jobs", "run", "--quiet", "--store", store], check=False)
            if os.environ.get("NO_FILTERS"):
                with sqlite3.connect(store / "catalog.sqlite") as catalog:
                    catalog.execute("UPDATE captureFilter SET hashes = NULL")
            row = measure(store, shape, size, folder)
            for line, names, unit in [(NAMES[shape], COLUMNS[:-2], 1e-3), (f"memory, {NAMES[shape]}", COLUMNS[-2:], 1e6)]:
                values = {f"{name} {'ms' if unit < 1 else 'MB'}": row[name] / unit for name in names}
                bench_report.add(line, f"{size:,} archives", {"replayhost": [values]}, size)
            if size <= PEER_MAX:
                peer = measure_pywb(files, shape, size, folder / f"pywb-{shape}-{size}")
                print("  pywb, the same: ", ", ".join(f"{name} {value * 1000:.1f}" for name, value in peer.items()), flush=True)
            shutil.rmtree(files)
            if not os.environ.get("KEEP"):
                shutil.rmtree(store)


if __name__ == "__main__":
    main()
