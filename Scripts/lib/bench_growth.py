"""Measures a library that grows. Called by `Scripts/bench 95-growth` with an empty folder.

Makes libraries of SIZES archives (default: 10 100 1000) of 31 captures each: of one site each, of one site for all, and with one
URL in all of them, each a day later. Prints for each the milliseconds (median of 20) of a lookup in all archives that hits one of
them, of one that hits none, of the URL in all, of the TimeMap of that, of `explain`, of the first part of the library's list, of
one import more and of the start of the server; and its resident memory after that. NO_FILTERS=1 removes the filters first, so
that each archive is asked.
"""

import os
import shutil
import statistics
import sqlite3
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import serving
from writers import generated

SIZES = [int(size) for size in os.environ.get("SIZES", "10 100 1000").split()]
SHAPES = os.environ.get("SHAPES", "sites site").split()
REQUESTS = int(os.environ.get("REQUESTS", "20"))
CAPTURES = 31


def archive(path, number, shape):
    site = f"site{number}" if shape == "sites" else "news"
    day = (datetime(2015, 1, 1) + timedelta(days=number)).strftime("%Y%m%d120000")
    body = f"<!doctype html><title>Page of {number}</title>".encode()
    captures = [generated.Capture("https://news.example/", "example,news)/", body, timestamp=day)]
    for page in range(CAPTURES - 1):
        captures.append(generated.Capture(f"https://{site}.example/{number}/{page:02}", f"example,{site})/{number}/{page:02}", body, timestamp=day))
    captures.sort(key=lambda capture: capture.key)
    generated.write(str(path), f"Archive {number}", captures, [(captures[0].url, "Page")])


def measure(store, shape, size):
    number = size // 2
    site = f"site{number}" if shape == "sites" else "news"
    questions = {
        "hit": f"/c/all/2020id_/https://{site}.example/{number}/07",
        "miss": f"/c/all/2020id_/https://{site}.example/none",
        "in all": "/c/all/20160102id_/https://news.example/",
        "TimeMap": "/c/all/timemap/link/https://news.example/",
        "list": "/api/archives?offset=0&limit=50",
    }
    began = time.perf_counter()
    with serving.serve(store) as (process, port):
        row = {"start": time.perf_counter() - began}
        for name, path in questions.items():
            times = []
            for _ in range(REQUESTS if name != "TimeMap" else 3):
                began = time.perf_counter()
                status = serving.get(port, path)[0]
                times.append(time.perf_counter() - began)
                assert status == (404 if name == "miss" else 302 if name in ("hit", "in all") else 200), (name, status)
            row[name] = statistics.median(times)
        row["memory"] = serving.resident(process.pid)
    return row


def explained(store, number, shape):
    site = f"site{number}" if shape == "sites" else "news"
    return min(serving.measured([serving.BINARY, "explain", f"https://{site}.example/{number}/07", "--store", str(store), "--json"])[0]
        for _ in range(3))


def main():
    folder = Path(sys.argv[1])
    print("shape  archives  start   hit  miss  in all  TimeMap  list  explain  import one more  memory")
    for shape in SHAPES:
        for size in SIZES:
            files, store = folder / f"{shape}-{size}", folder / f"store-{shape}-{size}"
            files.mkdir()
            for number in range(size):
                archive(files / f"{number}.wacz", number, shape)
            serving.subprocess.run([serving.BINARY, "import", "--quiet", "--store", store, files], check=True)
            serving.subprocess.run([serving.BINARY, "jobs", "run", "--quiet", "--store", store], check=False)
            if os.environ.get("NO_FILTERS"):
                with sqlite3.connect(store / "catalog.sqlite") as catalog:
                    catalog.execute("UPDATE captureFilter SET hashes = NULL")
            row = measure(store, shape, size)
            row["explain"] = explained(store, size // 2, shape)
            archive(folder / "more.wacz", size, shape)
            row["one more"] = serving.import_file(store, folder / "more.wacz")[1]
            ms = {name: f"{value * 1000:.1f}" for name, value in row.items() if name != "memory"}
            print(f"{shape:5} {size:9} {ms['start']:>6} {ms['hit']:>5} {ms['miss']:>5} {ms['in all']:>7} {ms['TimeMap']:>8} {ms['list']:>5} "
                f"{ms['explain']:>8} {ms['one more']:>16} {row['memory'] / 1e6:>5.0f} MB", flush=True)
            shutil.rmtree(files)


if __name__ == "__main__":
    main()
