"""compare_versions.py OLD NEW [ROUNDS]: page loads, ranges and lookups of two builds of replayhost, in turn.

OLD and NEW are each PROGRAM:WWW, a program and the folder `www` that belongs to it. Prints the median and quartiles of each, and the
ratio of NEW to OLD. Run it from a checkout whose tests are set up, with nothing else running: .venv/bin/python Scripts/lib/compare_versions.py
"""

import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT / "Tests" / "BrowserTests"))

from support.browser import Browser  # noqa: E402
from support.viewer import Viewer  # noqa: E402

SITE = "https://fieldguide.example"
RANGES, LOOKUPS = 2000, 500


class Version:
    def __init__(self, name, place, folder, playwright):
        self.name = name
        program, www = place.split(":")
        store = folder / name
        subprocess.run([program, "import", "--store", store, CHECKOUT / "Fixtures" / "sample.wacz"], check=True, capture_output=True)
        self.process = subprocess.Popen(
            [program, "serve", "--store", store, "--assets", www, "--port", "0", "--json"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.port = int(json.loads(self.process.stdout.readline())["address"].rsplit(":", 1)[1])
        self.size = (CHECKOUT / "Fixtures" / "sample.wacz").stat().st_size
        self.browser = Browser(playwright, folder / f"{name}-profile")
        self.seconds = {}

    def note(self, what, seconds):
        self.seconds.setdefault(what, []).append(seconds)

    def page(self, what, way):
        """From the viewer's address to the page, with its picture."""
        page = self.browser.page
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(f"http://replayhost.localhost:{self.port}/?archive=/archives/sample.wacz&replay={way}")
        viewer = Viewer(page)
        viewer.read("#edition").wait_for()
        viewer.read("#shore").evaluate("image => image.decode()")
        self.note(f"{what}, by {way}", time.perf_counter() - start)

    def link(self, way):
        """From a click to the next page, which modules and fetch() fill."""
        viewer = Viewer(self.browser.page)
        start = time.perf_counter()
        viewer.follow("Species")
        viewer.read("#species li").nth(2).wait_for()
        self.note(f"a link, by {way}", time.perf_counter() - start)

    def requests(self, what, count, host, path, fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        start = time.perf_counter()
        for _ in range(count):
            connection.request("GET", path, headers={"Host": f"{host}:{self.port}", **fields()})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status in (200, 206) and body, (path, answer.status)
        self.note(f"{what}, each", (time.perf_counter() - start) / count)
        connection.close()

    def round(self):
        for way in ["lookups", "ranges"]:
            self.page("archive opened again", way)
            self.link(way)

        def any_range():
            first = random.randrange(self.size - 4096)
            return {"Range": f"bytes={first}-{first + 4095}"}

        self.requests("range of 4 KiB", RANGES, "sample.replayhost.localhost", "/archives/sample.wacz", any_range)
        self.requests(
            "lookup", LOOKUPS, "sample.replayhost.localhost", f"/c/sample/20241121090000ir_/{SITE}/", dict)

    def close(self):
        self.browser.close()
        self.process.terminate()
        self.process.wait()


def main(old, new, rounds=12):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        versions = [Version(name, place, Path(folder), playwright) for name, place in [("old", old), ("new", new)]]
        for version in versions:
            version.page("first visit", "lookups")
        for _ in range(int(rounds)):
            for version in random.sample(versions, 2):
                version.round()
        print(f"{'':32} {'old ms':>9} {'quartiles':>17} {'new ms':>9} {'quartiles':>17}  new/old")
        for what in versions[0].seconds:
            cells, medians = [], []
            for version in versions:
                values = [1000 * value for value in version.seconds[what]]
                low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
                medians.append(middle)
                cells.append(f"{middle:9.3f} {f'{low:.3f} – {high:.3f}':>17}")
            print(f"{what:32} {' '.join(cells)}  {medians[1] / medians[0]:7.2f}")
        for version in versions:
            version.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
