"""The soak test of a 5 GB archive; called by Scripts/soak.d/10-large-archive with an empty folder.

Fails when the import or the server needs more than 64 MB of memory, when a range is not the file's bytes, or when opening the
large archive in Chromium takes more requests than opening a small one with as many captures.
"""

import hashlib
import http.client
import json
import os
import random
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

import large_wacz

BINARY = os.environ.get("REPLAYHOST_BINARY", ".build/release/replayhost")
MEMORY_MAX = 64 << 20
CAPTURES = 5_000
BYTES_EACH = {"small": 1_000, "large": 1_000_000}
WAYS = ["lookups", "ranges"]
CHROMIUM = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]


def import_measured(store, path):
    """Imports a file; returns its id, the seconds it took and the peak of resident memory in bytes."""
    began = time.monotonic()
    process = subprocess.Popen([BINARY, "import", "--json", "--store", store, path], stdout=subprocess.PIPE)
    line = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"the import of {path} failed"
    return json.loads(line)["archive"]["id"], time.monotonic() - began, usage.ru_maxrss * 1024


def peak_memory(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")


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
        large_wacz.write(path, CAPTURES * BYTES_EACH[name], BYTES_EACH[name])
        ids[name], seconds, memory = import_measured(store, path)
        print(f"import of {name} ({os.path.getsize(path):,} bytes): {seconds:.1f} s, peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the import of {name} needed {memory} bytes"
    server = subprocess.Popen(
        [BINARY, "serve", "--store", store, "--port", "0", "--json"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    try:
        address = json.loads(server.stdout.readline())["address"]
        check_ranges(int(address.rsplit(":", 1)[1]), ids["large"], files["large"])
        print(f"200 ranges of the large archive are right; server peak {peak_memory(server.pid) / 1e6:.1f} MB")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
            results = {
                (way, name): requests_to_open(browser, address, ids[name], way) for way in WAYS for name in files}
            browser.close()
        for (way, name), (counts, received) in results.items():
            print(f"opening {name} by {way}: {counts[0]} requests to the first page, {counts[1]} to the last, "
                f"{received:,} bytes of the file asked for")
        for way in WAYS:
            large, small = results[way, "large"][0][0], results[way, "small"][0][0]
            assert large <= small, f"the large archive takes more requests to open by {way}"
        memory = peak_memory(server.pid)
        print(f"server peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the server needed {memory} bytes"
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    main(sys.argv[1])
