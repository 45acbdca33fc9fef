"""Measures requests beside background work. Called by `Scripts/bench 97-background` with an empty folder.

Imports ARCHIVES archives (default: 500) of PAGES pages (default: 200) with text. Prints the median and the 95th percentile, in
milliseconds, of a lookup in all archives, a search and a replayed page: when nothing else runs, beside another program that uses one
processor at the priority of jobs, while all archives are verified, and while their text is indexed. The filters of captures stay, so
that lookups ask the same archives. Requests are sent one after the other. The part fails if work more than doubles a 95th percentile.
ROUNDS (default: 300) is the number of requests of each kind.
"""

import json
import os
import random
import sqlite3
import statistics
import sys
import time
from pathlib import Path

import serving
from writers import generated

ARCHIVES = int(os.environ.get("ARCHIVES", "500"))
PAGES = int(os.environ.get("PAGES", "200"))
ROUNDS = int(os.environ.get("ROUNDS", "300"))
WORDS = [f"word{number}" for number in range(5000)]


def archive(path, number):
    chosen = random.Random(number)
    captures = []
    for page in range(PAGES):
        text = " ".join(chosen.choices(WORDS, k=300))
        body = f"<!doctype html><title>Page {page} of {number}</title><p>{text}</p>".encode()
        captures.append(generated.Capture(f"https://site{number}.example/{page:05}", f"example,site{number})/{page:05}", body))
    generated.write(str(path), f"Archive {number}", captures, [(capture.url, f"Page {page}") for page, capture in enumerate(captures)])


def questions():
    number, page = random.randrange(ARCHIVES), random.randrange(PAGES)
    url = f"https://site{number}.example/{page:05}"
    return {
        "lookup": (f"/c/all/2024id_/{url}", 302),
        "search": (f"/api/search?q={random.choice(WORDS)}", 200),
        "replay": (f"/c/{number}/20240101000000id_/{url}", 200),
    }


def active(port, kind):
    kinds = json.loads(serving.get(port, "/api/jobs/summary")[2])["kinds"]
    return sum(counts["waiting"] + counts["running"] for counts in kinds if counts["kind"] == kind)


def measure(port, kind):
    """Returns the milliseconds by question; with a kind of jobs, only of requests while there are such jobs."""
    times = {}
    for round_number in range(ROUNDS):
        if kind and round_number % 20 == 0 and not active(port, kind):
            break
        for name, (path, expected) in questions().items():
            began = time.perf_counter()
            status = serving.get(port, path)[0]
            times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
            assert status == expected, (path, status)
    return times


def show(what, times, quiet=None):
    """Prints a line; returns the questions that take more than twice as long as in `quiet`."""
    slow, columns = [], []
    for name, values in times.items():
        highest = statistics.quantiles(values, n=20)[-1]
        columns.append(f"{name} {statistics.median(values):7.1f} {highest:7.1f}")
        if quiet and highest > 2 * statistics.quantiles(quiet[name], n=20)[-1]:
            slow.append(f"{name} beside {what}")
    print(f"{what:10} {min(map(len, times.values())):5}   {'   '.join(columns)}", flush=True)
    return slow


def forget(store, kind):
    """Makes all archives look as if no job of a kind had ended."""
    if kind == "verify":
        with sqlite3.connect(store / "catalog.sqlite") as catalog:
            catalog.execute("UPDATE archive SET verification = NULL")
    else:
        for file in store.glob("search.sqlite*"):
            file.unlink()


def main():
    folder = Path(sys.argv[1])
    files, store = folder / "files", folder / "store"
    files.mkdir()
    for number in range(ARCHIVES):
        archive(files / f"{number}.wacz", number)
    serving.subprocess.run([serving.BINARY, "import", "--quiet", "--move", "--store", store, files], check=True)
    serving.run_jobs(store)
    print("beside     rounds   median and 95th percentile in ms")
    with serving.serve(store) as (_, port):
        measure(port, None)
        quiet = measure(port, None)
        slow = show("nothing", quiet)
        # What any program costs that uses one processor at the jobs' priority.
        loop = serving.subprocess.Popen(["nice", "-n", "5", sys.executable, "-c", "while True: pass"])
        try:
            show("a loop", measure(port, None))
        finally:
            loop.kill()
            loop.wait()
    for kind in ("verify", "text"):
        forget(store, kind)
        with serving.serve(store) as (_, port):
            began = time.monotonic()
            while not active(port, kind) and time.monotonic() - began < 60:
                time.sleep(0.1)
            times = measure(port, kind)
            if not times:
                sys.exit(f"error: there was no job of the kind {kind}")
            slow += show(kind, times, quiet)
    if slow:
        sys.exit(f"error: more than twice as slow: {', '.join(slow)}")


if __name__ == "__main__":
    main()
