"""The soak test of a 5 GB archive; called by `Scripts/soak 10-large-archive` with an empty folder.

Fails when the import or the server needs more than 64 MB of memory, when a range is not the file's bytes, or when opening the
large archive in Chromium takes more requests than opening a small one with as many captures.
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
WAYS = ["lookups", "ranges"]


def check_ranges(port, name, path):
    """Random ranges, half of them in the last 100 MB, compared with the file itself."""
    size = os.path.getsize(path)
    connection = http.client.HTTPConnection("localhost", port)
    chance = random.Random(20)
    with open(path, "rb") as file:
        for number in range(200):
            length = chance.choice([1, 100, 4096, 65_536, 1 << 20, 9 << 20])
            low = size - 100_000_000 if number % 2 else 0
            first = chance.randrange(low, size - length)
            asked = f"bytes={first}-{first + length - 1}" if number % 10 else f"bytes=-{length}"
            if not number % 10:
                first = size - length
            connection.request("GET", f"/archives/{name}.wacz", headers={"Range": asked})
            answer = connection.getresponse()
            body = answer.read()
            file.seek(first)
            assert answer.status == 206, (asked, answer.status)
            assert answer.headers["Content-Range"] == f"bytes {first}-{first + length - 1}/{size}", asked
            assert hashlib.sha256(body).digest() == hashlib.sha256(file.read(length)).digest(), asked


def requests_to_open(browser, address, name, way):
    """The requests made to show the first page, in an empty browser, and then the last in a tab of its own."""
    context = browser.new_context()
    asked = []

    def note(request):
        if "view=replay" in request.url or f"/c/{name}/" in request.url:
            asked.append(request)

    context.on("request", note)
    counts = []
    for place, title in [("/", "First page"), ("/last", "Last page")]:
        page = context.new_page()
        archive = f"/archives/{name}.wacz&replay={way}"
        page.goto(f"{address}/?archive={archive}#url=https://large.example{place}&ts=20240101000000")
        frame = page.frame_locator('iframe[name="___wb_replay_top_frame"]')
        frame.get_by_role("heading", name=title).wait_for(timeout=60_000)
        page.wait_for_load_state("networkidle")
        counts.append(len(asked))
    received = 0
    for request in asked:
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
        print(f"200 ranges of the large archive are right; server peak {memory / 1e6:.1f} MB")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(**serving.CHROMIUM)
            results = {
                (way, name): requests_to_open(browser, f"http://localhost:{port}", ids[name], way)
                for way in WAYS for name in files}
            browser.close()
        for (way, name), (counts, received) in results.items():
            print(f"opening {name} by {way}: {counts[0]} requests to the first page, {counts[1]} to the last, "
                f"{received:,} bytes of the file asked for")
        for way in WAYS:
            large, small = results[way, "large"][0][0], results[way, "small"][0][0]
            assert large <= small, f"the large archive takes more requests to open by {way}"
        memory = serving.memory(server.pid, "VmHWM")
        print(f"server peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the server needed {memory} bytes"


if __name__ == "__main__":
    main(sys.argv[1])
