"""Audits a library for two days by a shifted clock. Called by `Scripts/soak 51-audits` with an empty folder.

Of COUNT archives (2,000), 20 lose their file, so that their texts and verifications fail. Then a server with `--audit 1` is
started for each of 48 hours. Each archive must be verified again once a day, those that failed never, and the failures must
still be listed at the end. Needs `faketime`.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

from serving import BINARY, get, serve
from writers.generated import write_large

COUNT = int(os.environ.get("COUNT", 2000))
LOST = 20
HOURS = 50


def run(store, *arguments):
    return subprocess.run([BINARY, *arguments, "--store", store], capture_output=True, text=True, check=True).stdout


def failures(store):
    return {(job["id"], job["kind"], job["archive"]) for job in map(json.loads, run(store, "jobs", "--failed", "--json").splitlines())}


def newest_job(store):
    with sqlite3.connect(f"file:{store}/catalog.sqlite?mode=ro", uri=True) as catalog:
        return catalog.execute("SELECT seq FROM sqlite_sequence WHERE name = 'job'").fetchone()[0]


def queued_in_hour(store, hour):
    """Runs a server at that hour until its jobs are done, and returns how many it queued."""
    before = newest_job(store)
    with serve(store, "--audit", "1", command=["faketime", "-f", f"+{hour}h", BINARY]) as (clock, port):
        quiet_since = time.monotonic()
        # The audit begins with the server, and nothing tells that it found nothing to do.
        while time.monotonic() - quiet_since < 3:
            if json.loads(get(port, "/api/jobs?state=waiting,running")[2])["jobs"]:
                quiet_since = time.monotonic()
            time.sleep(0.2)
        # `faketime` doesn't pass signals on. It ends with the server.
        with open(f"{store}/server.json", encoding="utf-8") as about:
            os.kill(json.load(about)["pid"], signal.SIGTERM)
        clock.wait(timeout=60)
    return newest_job(store) - before


def main():
    folder = sys.argv[1]
    files, store = f"{folder}/files", f"{folder}/store"
    os.mkdir(files)
    for number in range(COUNT):
        write_large(f"{files}/file-{number}.wacz", 20_000, 3_000, seed=number)
    run(store, "import", "--quiet", files)
    archives = [json.loads(line) for line in run(store, "list", "--json").splitlines()]
    assert len(archives) == COUNT
    for archive in archives[:LOST]:
        os.rename(f"{store}/files/{archive['sha256']}.wacz", f"{folder}/{archive['sha256']}.wacz")
    subprocess.run([BINARY, "jobs", "run", "--quiet", "--store", store], capture_output=True, check=False)
    failed = failures(store)
    lost = {archive["id"] for archive in archives[:LOST]}
    print(f"{COUNT} archives; failed: {len(failed)} jobs of {len({archive for *_, archive in failed})} archives", flush=True)
    assert {archive for *_, archive in failed} == lost and len(failed) == 2 * LOST
    queued = {}
    for hour in range(1, HOURS + 1):
        count = queued_in_hour(store, hour)
        if count > 0:
            queued[hour] = count
            print(f"hour {hour:2}: {count} verifications", flush=True)
    assert list(queued.values()) == [COUNT - LOST] * 2, queued
    assert failures(store) == failed, "the failures are still listed, and there are no new ones"
    print(f"after {HOURS} hours: {len(failed)} failures are listed")


if __name__ == "__main__":
    main()
