"""Imports and replays all archives in some folders. Prints Markdown tables with the results, findings and pages.

    .venv/bin/python Tests/BrowserTests/replay_report.py FOLDER... [--seconds 20] [--pages 1]

One table for each FOLDER. Each archive is imported by the command line; then its main page, or else the first page
listed, or else the first captures that are HTML, is opened in Chromium by lookups and by ranges, each in a browser of
its own. The table says what a reader sees, and for both modes the requests to the server and the
time until the page was shown. Differences are listed below it. With `--pages`, more pages are opened: those listed, then
captures in the index.
"""

import argparse
import contextlib
import gzip
import json
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import sync_playwright

from support.browser import Browser
from support.host import Host
from support.visits import SECONDS, Recorder, differences, visit
from support.waiting import wait_until

MODES = ["lookups", "ranges"]

def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def import_file(host, file):
    """Imports one file. Returns its archive and the result, or `None` and the error."""
    result = host.run("import", file, "--json")
    if result.returncode == 0:
        answer = json.loads(result.stdout)
        return answer["archive"], "duplicate" if answer["duplicate"] else "imported"
    try:
        error = json.loads(result.stderr)["error"]
        return None, f"refused ({result.returncode}): {error.get('where', '')}: {error['what']}"
    except (ValueError, KeyError):
        return None, f"exit {result.returncode}: {result.stderr[-200:]}"


def index_lines(file):
    with zipfile.ZipFile(file) as package:
        for name in package.namelist():
            if name.startswith("indexes/") and name.endswith((".cdx", ".cdxj", ".cdx.gz")):
                data = package.read(name)
                yield from (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()


def captures(file):
    """Addresses and times that the index of the package lists, read independently of the host; HTML first."""
    found = []
    with contextlib.suppress(Exception):
        for line in index_lines(file):
            _, timestamp, fields = line.decode().split(" ", 2)
            with contextlib.suppress(KeyError, ValueError):
                entry = json.loads(fields)
                is_page = entry.get("mime") == "text/html" and str(entry.get("status")) == "200"
                found.append((not is_page, entry["url"], timestamp))
    return [(url, timestamp) for _, url, timestamp in sorted(found, key=lambda one: one[0])]


def start_pages(host, archive, file, count):
    """Returns URLs and times to open, and where each comes from: main page, list of pages or index."""
    found = {}
    if "mainPage" in archive:
        found.setdefault((archive["mainPage"]["url"], archive["mainPage"].get("timestamp", "")), "main page")
    _, _, body = host.request("GET", f"/api/archives/{archive['id']}/pages?limit={min(count, 1000)}")
    for page in json.loads(body).get("pages", []):
        found.setdefault((page["url"], page.get("timestamp", "")), "first page")
    for capture in captures(file):
        found.setdefault(capture, "first capture")
    return list(found.items())[:count]


def visit_in_both_modes(host, browsers, archive, start, seconds):
    url, timestamp = start
    return [visit(host, browser, recorder, archive["id"], url, timestamp, mode, seconds)
        for mode, (browser, recorder) in zip(MODES, browsers, strict=True)]


class Tally:
    """The totals of a table."""

    def __init__(self):
        self.kinds = Counter()
        self.same = 0
        self.lines = []
        self.first = []


def rows(host, browsers, folder, file, arguments, tally):
    archive, outcome = import_file(host, file)
    name = file.relative_to(folder)
    if not archive:
        tally.kinds["refused"] += 1
        yield f"| {name} | {cell(outcome)} | | not imported | | | |"
        return
    wait_until(lambda: archive["id"] in host.ids(), "the server knows the archive")
    findings = Counter(f"{one['severity']} {one['code']}" for one in archive.get("findings", []))
    codes = ", ".join(code + (f" ×{count}" if count > 1 else "") for code, count in sorted(findings.items()))
    starts = start_pages(host, archive, file, arguments.pages)
    if not starts:
        tally.kinds["no"] += 1
        yield f"| {name} | {outcome} | {codes} | no: it lists no page and no capture | | | |"
    differing = []
    for number, (start, which) in enumerate(starts):
        both = visit_in_both_modes(host, browsers, archive, start, arguments.seconds)
        found = differences(*both)
        differing += [f"- {name}: {start[0]} at {start[1]}: {cell(line)}" for line in found]
        tally.kinds[both[0].shown.split(":")[0]] += 1
        if number == 0 and all(one.shown.startswith("yes") for one in both):
            tally.first.append(both)
        costs = " | ".join(f"{one.requests} requests, {one.bytes // 1000} kB, {one.milliseconds} ms" for one in both)
        first = f"{name} | {outcome} | {codes}" if number == 0 else f"… {cell(start[0][:80])} | |"
        how = f" ({which})" if which != "main page" and number == 0 else ""
        yield f"| {first} | {cell(both[0].shown)}{how} | {costs} | {'no' if found else 'yes'} |"
    tally.lines += differing
    tally.same += not differing


def report(playwright, folder, arguments):
    files = sorted(folder.rglob("*.wacz"))
    print(f"\n## {folder.name}: {len(files)} files\n")
    print("| file | import | findings | replayed | by lookups | by ranges | same |\n" + "| --- " * 7 + "|")
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        host = Host(Path(temporary)).start()
        opened = [Browser(playwright, Path(temporary) / mode) for mode in MODES]
        browsers = [(browser, Recorder(browser.context)) for browser in opened]
        try:
            for file in files:
                for line in rows(host, browsers, folder, file, arguments, tally):
                    print(line, flush=True)
        finally:
            for browser in opened:
                browser.close()
            host.stop()
    summarize(tally, opened)


def summarize(tally, browsers):
    kinds = tally.kinds
    print(f"\nPages replayed {kinds['yes']}, not replayed {kinds['no']}; files refused {kinds['refused']}.")
    print(f"Archives that came to the same by lookups and by ranges: {tally.same}.")
    for number, mode in enumerate(MODES):
        visits = sorted(both[number].milliseconds for both in tally.first)
        requests = sum(both[number].requests for both in tally.first)
        if visits:
            print(f"By {mode}, first pages: {requests} requests, median {visits[len(visits) // 2]} ms.")
    if tally.lines:
        print("\nWhat differed (lookups / ranges):\n", *tally.lines, sep="\n")
    left = {name for browser in browsers for name in browser.sink.from_pages}
    if left:
        print(f"Left this computer: {sorted(left)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a page may take")
    parser.add_argument("--pages", type=int, default=1, help="how many pages of each archive are opened")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        if not folder.is_dir():
            sys.exit(f"error: {folder} isn't a folder")
    with sync_playwright() as playwright:
        for folder in arguments.folders:
            report(playwright, folder, arguments)


if __name__ == "__main__":
    main()
