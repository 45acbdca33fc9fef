"""Imports WARC files, and reads what was made of them. Shares nothing with the program under test."""

import csv
import gzip
import io
import json
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from pathlib import Path

from program import SECONDS
from warcio.archiveiterator import ArchiveIterator

TOOLS = Path(sys.executable).parent


class Packed:
    """What an import made of a file."""

    def __init__(self, store, archive):
        self.id, self.path = archive["id"], store.root / "files" / f"{archive['sha256']}.wacz"
        self.codes = Counter(finding["code"] for finding in archive["findings"])
        with zipfile.ZipFile(self.path) as package:
            self.files = {name: package.read(name) for name in package.namelist()}
        self.warcs = {name[8:]: data for name, data in self.files.items() if name.startswith("archive/")}
        rows = [line.split(" ", 2) for line in gzip.decompress(self.files["indexes/index.cdx.gz"]).decode().splitlines()]
        self.index = sorted(({"key": key, "timestamp": stamp, **json.loads(rest)} for key, stamp, rest in rows), key=by_place)
        pages = self.files.get("pages/pages.jsonl", b"\n").decode().splitlines()
        self.pages = {page["url"]: page for page in map(json.loads, pages[1:])}
        # In the order of their records.
        self.urls = [line["url"] for line in self.index]


def by_place(line):
    return line["filename"], int(line["offset"])


def import_one(store, *arguments):
    return Packed(store, store.run_checked("import", "--json", *arguments).lines()[0]["archive"])


def import_all(store, files):
    """Imports files that are given by their names. Returns what was packed; `None` for refused files."""
    folder = store.folder / "files"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    run = store.run("import", "--json", "--report", "report.csv", *[f"files/{name}" for name in files])
    assert run.code in (0, 4) and "Fatal error" not in run.errors, run.errors[-2000:]
    archives = {line["archive"]["id"]: line["archive"] for line in run.lines()}
    with open(store.folder / "report.csv", newline="") as file:
        rows = {row["input"].removeprefix("files/"): row for row in csv.DictReader(file)}
    assert rows.keys() == files.keys()
    assert {row["code"] for row in rows.values() if row["result"] == "failed"} <= {"archive-refused"}
    return {name: None if row["result"] == "failed" else Packed(store, archives[row["id"]]) for name, row in rows.items()}


def records_of(data):
    """The records of a WARC file, as warcio reads them."""
    found = ArchiveIterator(io.BytesIO(data), no_record_parse=True)
    return [(record.rec_type, record.rec_headers.headers, record.raw_stream.read()) for record in found]


def tool(name, *arguments):
    return subprocess.run([TOOLS / name, *map(str, arguments)], capture_output=True, text=True)


def check_package(store, packed):
    """Checks a package with py-wacz and `replayhost verify`."""
    validated = tool("wacz", "validate", "-f", packed.path)
    assert validated.returncode == 0 and "Valid" in validated.stdout, validated.stdout + validated.stderr
    store.run_checked("verify", packed.id)


def imported_with_peak(store, *arguments):
    """Returns the exit code of an import, its peak memory in MB, and its output."""
    process = store.start("import", "--json", *arguments)
    # A bomb must end.
    watch = threading.Timer(SECONDS * 2, process.kill)
    watch.start()
    peaks, ended = [0], threading.Event()

    def measure():
        # The peak that `wait4` returns includes that of this process, from before the program started.
        while not ended.wait(0.01):
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            peaks.extend(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:"))

    sampler = threading.Thread(target=measure)
    sampler.start()
    output = process.stdout.read() + process.stderr.read()
    ended.set()
    sampler.join()
    watch.cancel()
    return process.wait(), max(peaks), output
