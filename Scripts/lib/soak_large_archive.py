"""Tests a 5 GB archive. Called by `Scripts/soak 10-large-archive` with an empty folder.

Fails if the import or the server needs more than 64 MB of memory, if a range differs from the file, or if opening the large
archive in Chromium takes more requests than a small one with as many captures.
"""

import hashlib
import http.client
import os
import random
import sys

from playwright.sync_api import sync_playwright

import serving
from writers.generated import write_large

MEMORY_MAX = 64 << 20
CAPTURES = 5_000
BYTES_EACH = {"small": 1_000, "large": 1_000_000}
MODES = ["lookups", "ranges"]


def check_ranges(port, name, path):
    """Compares random ranges with the file, half of them in the last 100 MB."""
    size = os.path.getsize(path)
    connection = http.client.HTTPConnection("localhost", port)
    chance = random.Random(20)
    with open(path, "rb") as file:
        for number in range(200):
            length = chance.choice([1, 100, 4096, 65_536, 1 << 20, 9 << 20])
            low = size - 100_000_000 if number % 2 else 0
            first = chance.randrange(low, size - length)
            requested = f"bytes={first}-{first + length - 1}" if number % 10 else f"bytes=-{length}"
            if not number % 10:
                first = size - length
            connection.request("GET", f"/archives/{name}.wacz", headers={"Range": requested})
            response = connection.getresponse()
            body = response.read()
            file.seek(first)
            assert response.status == 206, (requested, response.status)
            assert response.headers["Content-Range"] == f"bytes {first}-{first + length - 1}/{size}", requested
            assert hashlib.sha256(body).digest() == hashlib.sha256(file.read(length)).digest(), requested


def requests_to_open(browser, address, name, mode):
    """Counts the requests to show the first page in an empty browser, and then the last page in another tab."""
    context = browser.new_context()
    requests = []

    def note(request):
        if "view=replay" in request.url or f"/c/{name}-" in request.url:
            requests.append(request)

    context.on("request", note)
    counts = []
    for place, title in [("/", "First page"), ("/last", "Last page")]:
        page = context.new_page()
        archive = f"/archives/{name}.wacz&replay={mode}"
        page.goto(f"{address}/?archive={archive}#url=https://large.example{place}&ts=20240101000000")
        frame = page.frame_locator('iframe[name="___wb_replay_top_frame"]')
        frame.get_by_role("heading", name=title).wait_for(timeout=60_000)
        page.wait_for_load_state("networkidle")
        counts.append(len(requests))
    received = 0
    for request in requests:
        first, _, last = request.headers.get("range", "").removeprefix("bytes=").partition("-")
        if request.method == "GET" and last:
            received += int(last) - int(first) + 1 if first else int(last)
    context.close()
    return counts, received


def main(folder):
    store = f"{folder}/store"
    files = {"small": f"{folder}/small.wacz", "large": f"{folder}/large.wacz"}
    ids = {}
    for name, path in files.items():
        write_large(path, CAPTURES * BYTES_EACH[name], BYTES_EACH[name])
        ids[name], seconds, memory = serving.import_file(store, path)
        print(f"import of {name} ({os.path.getsize(path):,} bytes): {seconds:.1f} s, peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the import of {name} needed {memory} bytes"
    with serving.serve(store) as (server, port):
        check_ranges(port, ids["large"], files["large"])
        memory = serving.memory(server.pid, "VmHWM")
        print(f"200 ranges of the large archive are correct; server peak {memory / 1e6:.1f} MB")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(**serving.CHROMIUM)
            results = {
                (mode, name): requests_to_open(browser, f"http://localhost:{port}", ids[name], mode)
                for mode in MODES for name in files}
            browser.close()
        for (mode, name), (counts, received) in results.items():
            print(f"opening {name} by {mode}: {counts[0]} requests to the first page, {counts[1]} to the last, "
                f"{received:,} bytes of the file requested")
        for mode in MODES:
            large, small = results[mode, "large"][0][0], results[mode, "small"][0][0]
            assert large <= small, f"the large archive takes more requests to open by {mode}"
        memory = serving.memory(server.pid, "VmHWM")
        print(f"server peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the server needed {memory} bytes"


if __name__ == "__main__":
    main(sys.argv[1])
