"""Lists what the browser requests when an archived page opens, and when. Called by `Scripts/bench 93-waterfall`.

A page of 15 resources is opened in a new profile, and again in a new tab, ROUNDS (3) times. Prints the requests of the round with the
median time: when each begins and ends, as a share of the time from the navigation to the end of the archived page's load event. So
runs on a busy machine can be compared. The page's own parts are one line.
"""

import os
import re
import shutil
import sys
import time
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

import bench_pages
import serving

ROUNDS = int(os.environ.get("ROUNDS", "3"))
COUNT = 15


def visit(context, address):
    """Opens a page in a new tab; returns the time in milliseconds, and its requests with the share of it at which they begin and end."""
    requests = []
    note = lambda request: requests.append(request)
    context.on("request", note)
    page = context.new_page()
    page.goto(address, wait_until="commit")
    until = time.monotonic() + 120
    while not (loaded := bench_pages.loaded_at(page)):
        assert time.monotonic() < until, address
        page.wait_for_timeout(25)
    origin = page.evaluate("() => performance.timeOrigin")
    # What is asked after the page.
    page.wait_for_timeout(2000)
    context.remove_listener("request", note)
    total = loaded - origin
    rows = []
    for request in requests:
        try:
            timing = request.timing
        except Error:
            continue
        begin = (timing["startTime"] - origin) / total
        # The times of a request that the browser answers itself aren't known.
        if begin >= 0:
            who = "worker" if request.service_worker else request.resource_type
            rows.append((begin, begin + max(timing["responseEnd"], 0) / total, who, request.method, request.url))
    page.close()
    return total, sorted(rows)


def shortened(rows):
    """Puts the parts of the page into one row."""
    is_part = lambda url: f"{bench_pages.HOST}/p{COUNT}/" in url
    parts = [row for row in rows if is_part(row[4])]
    rest = [row for row in rows if not is_part(row[4])]
    if parts:
        rest.append((min(row[0] for row in parts), max(row[1] for row in parts), "all", "GET", f"//pages/…/p{COUNT}/… ({len(parts)} requests)"))
    return sorted(rest)


def show(name, total, rows):
    before = sum(row[0] < 1 for row in rows)
    print(f"\n{name}: {total:.0f} ms, {before} requests until the page has loaded, {len(rows)} in all\n")
    print("begins   ends  by           request")
    for begin, end, who, method, url in shortened(rows):
        place = re.sub(r"^\w*:?//([^./:]*)[^/]*", r"\1 ", url)
        print(f"{begin:6.0%} {end:6.0%}  {who:<12} {method} {place[:100]}")


def main(folder):
    archive = Path(folder, "pages.wacz")
    bench_pages.write_archive(archive)
    store = f"{folder}/store"
    identifier, _, _ = serving.import_file(store, archive)
    runs = []
    with serving.serve(store) as (_, port), sync_playwright() as playwright:
        address = f"http://replayhost.localhost:{port}/?archive=/archives/{identifier}.wacz#ts={bench_pages.TIME}&url={bench_pages.HOST}/p{COUNT}.html"
        for number in range(ROUNDS):
            profile = f"{folder}/profile-{number}"
            context = playwright.chromium.launch_persistent_context(profile, **serving.CHROMIUM)
            try:
                time.sleep(1)
                first = visit(context, address)
                # The browser writes what it keeps.
                time.sleep(2)
                runs.append((first, visit(context, address)))
            finally:
                context.close()
                shutil.rmtree(profile, ignore_errors=True)
    for number, name in enumerate(["First visit", "Another visit"]):
        show(name, *sorted((run[number] for run in runs), key=lambda one: one[0])[len(runs) // 2])


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
