"""Drops a file of 2 GB on the web app. Called by `Scripts/soak 12-large-upload` with an empty folder.

Fails if the memory of Chromium or the server grows with the file. SIZE= sets the number of bytes.
"""

import os
import sys
import threading
import time

from playwright.sync_api import sync_playwright

os.environ.setdefault("SIZE", "2000000000")
import serving  # noqa: E402
import soak_large_record  # noqa: E402
from bench_browser_memory import browser_of, proportional  # noqa: E402

#: The limits for the server's resident memory, and for what all processes of the browser need more than before, in bytes.
SERVER_MAX = 96 << 20
BROWSER_MORE_MAX = 64 << 20
SECONDS_MAX = 900


class BrowserWatch(serving.Watch):
    """Samples the proportional set size of a browser's processes; `samples` are bytes."""

    def __init__(self, pid):
        self.pid, self.samples, self.done = pid, [], threading.Event()

    def look(self):
        while not self.done.wait(0.5):
            self.samples.append(proportional(self.pid))


def drop(page, path):
    """Drags a file onto the page, as from a file manager."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [path], "dragOperationsMask": 1}
    # The first makes the app show where to drop, which is below the pointer then.
    for kind in ["dragEnter", "dragOver", "dragOver", "drop"]:
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 400, "data": data})


def upload(page, path):
    """Returns the seconds that it takes until the server has checked the file and the archive is open."""
    began = time.monotonic()
    drop(page, path)
    page.get_by_role("progressbar", name="Progress").wait_for()
    page.get_by_role("heading", name="A large record", level=1).wait_for(timeout=SECONDS_MAX * 1000)
    return time.monotonic() - began


def main(folder):
    path = f"{folder}/large.wacz"
    soak_large_record.write(path, is_compressed=False)
    size = os.path.getsize(path)
    with serving.serve(f"{folder}/store") as (process, port), sync_playwright() as playwright:
        profile = f"{folder}/profile"
        context = playwright.chromium.launch_persistent_context(profile, **serving.CHROMIUM)
        page = context.pages[0]
        page.goto(f"http://localhost:{port}/")
        page.get_by_role("heading", name="No archives yet").wait_for()
        browser = browser_of(profile)
        time.sleep(5)
        before, server_before = proportional(browser), serving.resident(process.pid)
        with BrowserWatch(browser) as watch, serving.Watch(process.pid) as server:
            seconds = upload(page, path)
        context.close()
    samples = watch.samples
    thirds = [max(samples[start:start + max(1, len(samples) // 3)]) for start in range(0, len(samples), max(1, len(samples) // 3))][:3]
    print(f"  a file of {size:,} bytes: {seconds:.1f} s, {size / seconds / 1e6:.0f} MB/s; Chromium {before / 1e6:.0f} MB before, "
          f"peak {max(samples) / 1e6:.0f} MB (in each third {', '.join(f'{one / 1e6:.0f}' for one in thirds)}; PSS); "
          f"server {server_before / 1e6:.0f} MB before, peak {server.peak / 1e6:.0f} MB ({server.peak_private / 1e6:.0f} MB private)")
    assert max(samples) - before < BROWSER_MORE_MAX, f"the browser needed {max(samples) - before:,} bytes more"
    assert server.peak < SERVER_MAX, f"the server needed {server.peak:,} bytes"


if __name__ == "__main__":
    main(sys.argv[1])
