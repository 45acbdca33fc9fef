"""Measures how long an archived page takes in Chromium, beside the stock engine over nginx and pywb. Called by `Scripts/bench 92-pages`.

Two pages, of 15 and 150 resources, are opened in a new profile, and again in a new tab of the same profile, by each way in turn,
ROUNDS (3) times. Prints medians: milliseconds from the navigation to the end of the archived page's load event, requests,
and the processor time of the browser and of the server.
"""

import contextlib
import os
import random
import shutil
import struct
import sys
import time
import zipfile
import zlib
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

import bench_lines
import bench_report
import pywb_server
import serving
from bench_browser_memory import browser_of, descendants
from writers import generated

ROUNDS = int(os.environ.get("ROUNDS", "3"))
PAGES = {15: (2, 3), 150: (10, 30)}
HOST, TIME = "https://pages.example", "20240101000000"
STOCK_PAGE = """<!doctype html><title>Stock</title><iframe name="___wb_replay_top_frame" width=1200 height=700></iframe><script>
(async () => {
    const { file, page } = Object.fromEntries(new URLSearchParams(location.search));
    await navigator.serviceWorker.register("/sw.js");
    const { active } = await navigator.serviceWorker.ready;
    const added = new Promise((resolve) => navigator.serviceWorker.addEventListener("message",
        ({ data }) => { if (data.msg_type === "collAdded") resolve(); }));
    active.postMessage({ msg_type: "addColl", name: "pages", root: false, skipExisting: true,
        file: { sourceUrl: new URL(file, location).href, name: "pages.wacz" } });
    await added;
    document.querySelector("iframe").src = `/w/pages/${page}`;
})();
</script>"""
# When the load event of the archived page ended, in milliseconds since 1970; null until then, and in other documents.
LOADED = """() => {
    const [entry] = performance.getEntriesByType("navigation");
    return document.title.startsWith("Page of") && entry?.loadEventEnd > 0 ? performance.timeOrigin + entry.loadEventEnd : null;
}"""


def picture(noise):
    """A PNG of 48 × 48 pixels, about 7 kB."""
    rows = b"".join(b"\0" + noise.randbytes(144) for _ in range(48))
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 48, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_archive(path):
    noise = random.Random(17)
    captures, pages = [], []

    def add(name, body, mime):
        captures.append(generated.Capture(f"{HOST}/{name}", f"example,pages)/{name}", body, mime))
        return name

    for count, (styles, scripts) in PAGES.items():
        lines = "".join(f".c{number} {{ color: #{number:06x}; margin: {number % 9}px }}\n" for number in range(150))
        code = "".join(f"window.f{number} = function (a) {{ return a.length + {number}; }};\n" for number in range(120))
        head = "".join(f'<link rel="stylesheet" href="/{add(f"p{count}/s{number}.css", lines.encode(), "text/css")}">' for number in range(styles))
        body = "".join(f'<script src="/{add(f"p{count}/j{number}.js", code.encode(), "text/javascript")}"></script>' for number in range(scripts))
        body += "".join(f'<img src="/{add(f"p{count}/i{number}.png", picture(noise), "image/png")}" alt="">'
            for number in range(count - styles - scripts))
        text = "<p>" + "A paragraph of an archived page with <b>marks</b> and <a href='/elsewhere'>links</a>. " * 60 + "</p>"
        html = f"<!doctype html><html><head><title>Page of {count}</title>{head}</head><body><h1>Page of {count}</h1>{text}{body}</body></html>"
        pages.append((f"{HOST}/{add(f'p{count}.html', html.encode(), 'text/html')}", f"Page of {count}"))
    streamed = path.with_suffix(".streamed")
    generated.write(streamed, "Pages", sorted(captures, key=lambda one: one.key.encode()), pages, is_gzipped=True)
    # The stock engine needs local headers that are as long as those in the ZIP's directory.
    with zipfile.ZipFile(streamed) as parts, zipfile.ZipFile(path, "w") as plain:
        for part in parts.infolist():
            plain.writestr(part.filename, parts.read(part))


def seconds_of(pids):
    """Returns the processor time of processes that still run."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += serving.processor_seconds(pid)
    return total


def loaded_at(page):
    """Returns when the page in the frame of a viewer was complete, or `None`."""
    for frame in page.frames[1:]:
        # A frame may be replaced meanwhile.
        with contextlib.suppress(Error):
            if found := frame.evaluate(LOADED):
                return found
    return None


def visit(context, server, address):
    """Opens a page in a new tab; returns what it cost."""
    browser = browser_of(context.profile)
    used, own = seconds_of(descendants(browser)), serving.processor_seconds(server)
    requests = []
    note = lambda request: requests.append(request.url)
    context.on("request", note)
    page = context.new_page()
    page.goto(address, wait_until="commit")
    until = time.monotonic() + 60
    while not (loaded := loaded_at(page)):
        assert time.monotonic() < until, address
        # Not time.sleep(), during which Playwright hears nothing of frames.
        page.wait_for_timeout(50)
    found = {
        "ms": loaded - page.evaluate("() => performance.timeOrigin"), "requests": len(requests), "browser s": seconds_of(descendants(browser)) - used,
        "server ms": (serving.processor_seconds(server) - own) * 1000,
    }
    context.remove_listener("request", note)
    page.close()
    return found


def visits(playwright, folder, server, address):
    """The first visit in a new profile, and another one."""
    profile = f"{folder}/profile-{time.monotonic_ns()}"
    context = playwright.chromium.launch_persistent_context(profile, **serving.CHROMIUM)
    context.profile = profile
    try:
        time.sleep(1)
        first = visit(context, server, address)
        # The browser writes what it keeps. docs/benchmarks.md names these seconds: Chromium checks for updates of a worker meanwhile.
        time.sleep(2)
        return [first, visit(context, server, address)]
    finally:
        context.close()
        shutil.rmtree(profile, ignore_errors=True)


def main(folder):
    archive = Path(folder, "pages.wacz")
    write_archive(archive)
    store, root = f"{folder}/store", Path(folder, "root")
    root.mkdir()
    (root / "index.html").write_text(STOCK_PAGE, encoding="utf-8")
    shutil.copy("www/vendor/sw.js", root / "sw.js")
    shutil.copy(archive, root)
    identifier, _, _ = serving.import_file(store, archive)
    with contextlib.ExitStack() as stack:
        process, port = stack.enter_context(serving.serve(store))
        start = f"http://localhost:{port}/?archive=/archives/{identifier}.wacz&replay="
        ways = {f"replayhost, {mode}": (process.pid, f"{start}{mode}#ts={TIME}&url=") for mode in ["lookups", "ranges"]}
        if bench_lines.peer("nginx", "apt-get install nginx-light"):
            port = pywb_server.free_port()
            process, _ = stack.enter_context(bench_lines.running(bench_lines.nginx_command(folder, root, port), port))
            ways["stock engine, nginx"] = process.pid, f"http://localhost:{port}/?file=/pages.wacz&page={TIME}mp_/"
        if "PYWB" in os.environ:
            pywb_server.add(folder, "pages", archive)
            process, port = stack.enter_context(pywb_server.serve(folder))
            ways["pywb"] = process.pid, f"http://localhost:{port}/pages/{TIME}/"
        else:
            bench_report.skip("pywb", "pip install pywb==2.10.0")
        playwright = stack.enter_context(sync_playwright())
        for count in PAGES:
            runs = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, (server, address) in ways.items():
                    runs[name].append(visits(playwright, folder, server, f"{address}{HOST}/p{count}.html"))
            for number, when in enumerate(["first", "again"]):
                bench_report.add("pages", f"{count} resources, {when}", {name: [found[number] for found in all] for name, all in runs.items()})


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
