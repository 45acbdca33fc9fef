"""Measures a library that grows. Called by `Scripts/bench 95-growth` with an empty folder.

Makes libraries of SIZES archives (default: 10 100 1000) of 31 captures each: of one site each, of one site for all, and with one
URL in all of them, each a day later. Prints for each the milliseconds (median of REQUESTS) of: the start of the server; a lookup in
all archives that hits one of them, one that hits none, and one of the URL in all; the same in a collection of all archives; the
TimeMap of the URL in all; `explain` of a captured URL and of one that isn't; the first part of the library's list; a search; one
import more, and its removal. Then the server's resident memory, before and after the TimeMap.

With PYWB, asks pywb the same three lookups, with a collection for each archive, up to PEER_MAX (1000) of them. NO_FILTERS=1 removes
the filters first, so that each archive is asked. PLOT=FILE.svg draws the times against the size.
"""

import gzip
import math
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


def plot(rows, path):
    """Draws milliseconds against archives, both on logarithmic scales: a line for each column, a picture for each shape."""
    shown = ["hit", "miss", "in all", "collection", "explain", "list", "search", "start", "one more"]
    colours = ["#1b5876", "#8a5a00", "#a2382e", "#3f6b2a", "#6a4a8c", "#555555", "#00798c", "#b5651d", "#c2185b"]
    shapes = list(dict.fromkeys(shape for shape, _ in rows))
    sizes = sorted({size for _, size in rows})
    x = lambda size: 80 + 280 * (math.log10(size) - math.log10(sizes[0])) / max(1e-9, math.log10(sizes[-1]) - math.log10(sizes[0]))
    y = lambda seconds: 300 - 62 * (math.log10(max(seconds * 1000, 0.5)) + 0.3)
    parts = []
    for number, shape in enumerate(shapes):
        parts.append(f'<g transform="translate({number * 520} 0)"><text x="80" y="24" font-weight="600">{NAMES[shape]}</text>')
        for power in range(0, 4):
            parts.append(f'<path d="M80 {y(10 ** power / 1000):.0f}H360" stroke="#ddd"/><text x="74" y="{y(10 ** power / 1000) + 4:.0f}" '
                f'text-anchor="end">{10 ** power} ms</text>')
        for size in sizes:
            parts.append(f'<text x="{x(size):.0f}" y="336" text-anchor="middle">{size}</text>')
        for index, (name, colour) in enumerate(zip(shown, colours)):
            points = [(x(size), y(rows[shape, size][name])) for size in sizes if (shape, size) in rows]
            line = " ".join(f"{left:.1f},{top:.1f}" for left, top in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
                f'<path d="M376 {44 + 22 * index}h18" stroke="{colour}" stroke-width="2"/><text x="400" y="{48 + 22 * index}">{name}</text>')
        parts.append("</g>")
    Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {520 * len(shapes)} 350" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n')


def main():
    folder = Path(sys.argv[1])
    print("milliseconds; memory in MB")
    print(f"{'shape':5} {'archives':>8}", *(f"{name:>{max(7, len(name))}}" for name in COLUMNS))
    rows = {}
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
            row = rows[shape, size] = measure(store, shape, size, folder)
            values = [row[name] / 1e6 if "mem" in name or name == "after TimeMap" else row[name] * 1000 for name in COLUMNS]
            print(f"{shape:5} {size:8}", *(f"{value:>{max(7, len(name))}.1f}" for name, value in zip(COLUMNS, values)), flush=True)
            if size <= PEER_MAX:
                peer = measure_pywb(files, shape, size, folder / f"pywb-{shape}-{size}")
                print("  pywb, the same: ", ", ".join(f"{name} {value * 1000:.1f}" for name, value in peer.items()), flush=True)
            shutil.rmtree(files)
            if not os.environ.get("KEEP"):
                shutil.rmtree(store)
    if os.environ.get("PLOT"):
        plot(rows, os.environ["PLOT"])


if __name__ == "__main__":
    main()
