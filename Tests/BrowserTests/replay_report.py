"""What happens to each archive of some folders, as Markdown tables: imported or refused, findings, and its main page.

    .venv/bin/python Tests/BrowserTests/replay_report.py FOLDER... [--seconds 20]

One table for each FOLDER. Each archive is imported by the command line; then its main page, or else the first page
listed, or else the first captures that are HTML, is opened in Chromium, and the table says what a reader sees.
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
from urllib.parse import quote

from playwright.sync_api import Error, sync_playwright

from support.browser import Browser
from support.host import Host
from support.viewer import Viewer
from support.waiting import wait_until

WORDS_SHOWN = 70


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def shorten(text):
    line = " ".join(text.split())
    return line if len(line) <= WORDS_SHOWN else f"{line[:WORDS_SHOWN]}…"


def import_file(host, file):
    """Imports one file. Returns its archive, or nothing and the words of the refusal."""
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


def first_capture(file):
    """The first HTML answer that the index of the package lists, read independently of the host."""
    with contextlib.suppress(Exception):
        for line in index_lines(file):
            _, timestamp, fields = line.decode().split(" ", 2)
            entry = json.loads(fields)
            if entry.get("mime") == "text/html" and str(entry.get("status")) == "200":
                return entry["url"], timestamp
    return None


def start_page(host, archive, file):
    """Where a visit starts: address, time, and which of the three ways named it."""
    if "mainPage" in archive:
        return archive["mainPage"]["url"], archive["mainPage"].get("timestamp", ""), "main page"
    _, _, body = host.request("GET", f"/api/archives/{archive['id']}/pages?limit=1")
    pages = json.loads(body).get("pages", [])
    if pages:
        return pages[0]["url"], pages[0].get("timestamp", ""), "first page"
    found = first_capture(file)
    return (*found, "first HTML capture") if found else None


def seen(page, viewer):
    """What the reader sees now, or nothing as long as it is not settled."""
    if page.get_by_role("alert").count():
        return f"no: {page.get_by_role('alert').first.inner_text()}"
    for heading in ["This address was not captured", "This capture cannot be shown", "A PDF document"]:
        if page.get_by_role("heading", name=heading).count():
            return f"{'yes' if 'PDF' in heading else 'no'}: {heading}"
    frame = viewer.archived_frame
    if not frame or page.locator(".panel").count() or page.locator(".toolbar.busy").count():
        return None
    if frame.evaluate("document.readyState") != "complete":
        return None
    text = frame.evaluate("`${document.title}: ${document.body?.innerText ?? ''}`")
    if not text.strip(" :\n"):
        pictures = frame.evaluate("document.images.length")
        return f"yes: no text, {pictures} pictures" if pictures else None
    return f"yes: “{shorten(text)}”"


def visit(host, browser, archive, start, seconds):
    page = browser.context.new_page()
    viewer = Viewer(page)
    url, timestamp, _ = start
    try:
        page.goto(f"{host.home}/?archive=/archives/{archive['id']}.wacz#url={quote(url, safe='')}&ts={timestamp}")
        return wait_until(lambda: with_retry(page, viewer), "something to read", seconds)
    except (Error, AssertionError) as error:
        state = shorten(page.locator("main").first.inner_text() or "an empty page")
        return f"no: {cell(str(error))[:120]}; shown: {state}"
    finally:
        page.close()


def with_retry(page, viewer):
    """A frame that moves on while it is read is read again."""
    try:
        return seen(page, viewer)
    except Error:
        page.wait_for_timeout(50)
        return None


def row(host, browser, folder, file, seconds):
    archive, outcome = import_file(host, file)
    name = file.relative_to(folder)
    if not archive:
        return f"| {name} | {cell(outcome)} | | not imported |", "refused"
    wait_until(lambda: archive["id"] in host.ids(), "the server knows the archive")
    findings = Counter(f"{one['severity']} {one['code']}" for one in archive.get("findings", []))
    codes = ", ".join(code + (f" ×{count}" if count > 1 else "") for code, count in sorted(findings.items()))
    start = start_page(host, archive, file)
    shown = visit(host, browser, archive, start, seconds) if start else "no: it lists no page and no HTML capture"
    which = f" ({start[2]})" if start and start[2] != "main page" else ""
    return f"| {name} | {outcome} | {codes} | {cell(shown)}{which} |", shown.split(":")[0]


def report(playwright, folder, seconds):
    files = sorted(folder.rglob("*.wacz"))
    print(f"\n## {folder.name}: {len(files)} files\n")
    print("| file | import | findings | replayed |\n| --- | --- | --- | --- |")
    counts = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        host = Host(Path(temporary)).start()
        browser = Browser(playwright, Path(temporary) / "profile")
        try:
            for file in files:
                line, kind = row(host, browser, folder, file, seconds)
                counts[kind] += 1
                print(line, flush=True)
        finally:
            browser.close()
            host.stop()
    print(f"\nReplayed {counts['yes']}, not replayed {counts['no']}, refused {counts['refused']}.")
    if browser.sink.from_pages:
        print(f"Left this computer: {sorted(set(browser.sink.from_pages))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=20, help="how long a page may take")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        if not folder.is_dir():
            sys.exit(f"error: {folder} is no folder")
    with sync_playwright() as playwright:
        for folder in arguments.folders:
            report(playwright, folder, arguments.seconds)


if __name__ == "__main__":
    main()
