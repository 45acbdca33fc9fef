"""Measures Chromium's memory with a page of a million captures open, in both replay modes. Called by `Scripts/bench 30-browser-memory`.

For each mode, with an empty profile: seconds until the page is shown, bytes sent by the server, and the proportional set size
(PSS) of all Chromium processes ten seconds later, compared with an empty tab. COUNT= and MILLION= as in bench_million.py.
"""

import os
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import serving
from writers import generated

COUNT = int(os.environ.get("COUNT", "1000000"))


def descendants(pid):
    """Returns a process and its descendants."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                found += [int(word) for word in task.read_text().split()]
            except OSError:
                continue
    return found


def proportional(pid):
    """Returns the proportional set size of a process and its descendants, in bytes."""
    total = 0
    for each in descendants(pid):
        try:
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
    return total


def browser_of(profile):
    """Returns the browser process that uses a profile."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"--user-data-dir={profile}".encode() in arguments and not any(argument.startswith(b"--type=") for argument in arguments):
            return int(path.parent.name)
    raise SystemExit("no browser uses the profile")


def sent_by(server):
    with open(f"/proc/{server}/io") as file:
        return int(file.read().split("wchar:")[1].split()[0])


def open_page(playwright, profile, address, server):
    context = playwright.chromium.launch_persistent_context(profile, **serving.CHROMIUM)
    page = context.pages[0]
    browser = browser_of(profile)
    time.sleep(5)
    empty, sent, began = proportional(browser), sent_by(server), time.monotonic()
    requests = []
    context.on("request", lambda request: requests.append(request.url))
    if address:
        page.goto(address)
        frame = page.frame_locator('iframe[name="___wb_replay_top_frame"]')
        frame.get_by_role("heading").first.wait_for(timeout=300_000)
    seconds = time.monotonic() - began
    time.sleep(10)
    memory = proportional(browser)
    archived = [url for url in requests if "/archives/" in url or "/c/" in url]
    context.close()
    return seconds, empty, memory, sent_by(server) - sent, len(archived)


def main(folder):
    path = Path(os.environ.get("MILLION", folder)) / "million.wacz"
    if not path.exists():
        generated.write_million(path, COUNT)
    archive, _, _ = serving.import_file(f"{folder}/store", path)
    with serving.serve(f"{folder}/store") as (process, port), sync_playwright() as playwright:
        for mode in ["lookups", "ranges", "lookups", "ranges"]:
            address = (f"http://localhost:{port}/?archive=/archives/{archive}.wacz&replay={mode}"
                       f"#url=https://big.{generated.MILLION_DOMAIN}/page/{COUNT // 5:07}&ts=20240101000000")
            profile = f"{folder}/profile-{time.monotonic_ns()}"
            seconds, empty, memory, sent, requests = open_page(playwright, profile, address, process.pid)
            print(f"{mode}: page shown after {seconds:.1f} s, {requests} requests for the archive, {sent:,} bytes sent by the server, "
                  f"Chromium {empty / 1e6:.0f} MB before, {memory / 1e6:.0f} MB with the page (PSS); "
                  f"server {serving.resident(process.pid) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1])
