"""Measures the web app in Chromium. Called by `Scripts/bench 90-app` with an empty folder.

Imports COUNT archives (default 2000) of LIBRARY sizes, PAGES (50000) pages and URLS (1000000) captures, then measures, each in
a new profile of a browser that is open already: requests, bytes and scripts of the first load; milliseconds to the first rows,
the median of several times; elements and JavaScript heap; a keystroke in the filter until the list has changed; and frames
longer than 32 ms while a list scrolls for 10 seconds. Then a click in the library until the first tab of an archive's page, and
the activity while JOBS (600) verifications are queued and end.
"""

import os
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import serving
from writers import generated

COUNT = int(os.environ.get("COUNT", "2000"))
PAGES = int(os.environ.get("PAGES", "50000"))
URLS = int(os.environ.get("URLS", "1000000"))
JOBS = int(os.environ.get("JOBS", "600"))
WAIT = 120_000
TIMES = 9
ROWS = "main :is(.windowed, table) a"

# Notes when the first rows are in the document, and tasks longer than 50 ms.
OBSERVE = """
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: "longtask", buffered: true });
    new MutationObserver(() => {
        if (!window.firstRows && document.querySelector("%s")) window.firstRows = performance.now();
    }).observe(document, { childList: true, subtree: true });
""" % ROWS
CLICK = """(selector) => new Promise((resolve) => {
    const began = performance.now();
    new MutationObserver((_, observer) => {
        if (!document.querySelector("main .tab-content a")) return;
        observer.disconnect();
        resolve(performance.now() - began);
    }).observe(document, { childList: true, subtree: true });
    document.querySelector(selector).click();
})"""
KEYSTROKE = """(word) => new Promise((resolve) => {
    const input = document.querySelector("main input[type=search]");
    const list = document.querySelector("main .windowed");
    longTasks.length = 0;
    const began = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => resolve([performance.now() - began, Math.max(0, ...longTasks)]));
    }).observe(list, { childList: true, subtree: true });
    input.value = word;
    input.dispatchEvent(new Event("input", { bubbles: true }));
})"""
SCROLL = """() => new Promise((resolve) => {
    const frames = [];
    const began = performance.now();
    let last = began;
    requestAnimationFrame(function step(now) {
        frames.push(now - last);
        last = now;
        scrollBy(0, 60);
        if (now - began < 10000) requestAnimationFrame(step);
        else resolve([frames.length, frames.filter((length) => length > 32).length, Math.max(...frames)]);
    });
})"""


def open_profile(browser):
    """A new profile, with an empty cache. Returns its only page."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(OBSERVE)
    page.wait_for_timeout(500)
    return page


def first_rows(page, address):
    page.goto(address)
    page.locator(ROWS).first.wait_for(state="attached", timeout=WAIT)
    return page.evaluate("firstRows")


def report(what, values):
    print(f"  {what} {statistics.median(values):.0f} ms, the median of {', '.join(f'{value:.0f}' for value in sorted(values))}", flush=True)


def measure(browser, address, word=None):
    values = []
    for _ in range(TIMES - 1):
        page = open_profile(browser)
        values.append(first_rows(page, address))
        page.context.close()
    page = open_profile(browser)
    context = page.context
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("Network.enable")
    requests = []
    sizes = {}
    page.on("request", lambda request: requests.append(request.url))
    session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    report("first rows", [*values, first_rows(page, address)])
    # What is loaded after the first rows counts, too. The page never gets idle, since it listens for events.
    page.wait_for_timeout(2000)
    scripts = page.evaluate("""() => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"))
        .map(({ decodedBodySize }) => decodedBodySize)""")
    session.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    app = [url for url in requests if "/archives/" not in url]
    print(f"  {len(app)} requests, {sum(sizes.values()) / 1000:.0f} kB; {len(scripts)} modules, "
        f"{sum(scripts) / 1000:.0f} kB; {metrics['Nodes']:.0f} nodes, {page.evaluate('document.querySelectorAll(`*`).length')} "
        f"elements; heap {metrics['JSHeapUsedSize'] / 1e6:.1f} MB", flush=True)
    if word:
        took, longest = page.evaluate(KEYSTROKE, word)
        print(f"  keystroke to result {took:.0f} ms, longest task {longest:.0f} ms", flush=True)
        page.goto("about:blank")
        first_rows(page, address)
    frames, long, longest = page.evaluate(SCROLL)
    elements = page.evaluate("document.querySelectorAll('*').length")
    print(f"  scroll of 10 s: {frames} frames, {long} longer than 32 ms, longest {longest:.0f} ms; then {elements} elements", flush=True)
    context.close()


def measure_click(browser, home, title):
    """From the library, in which what its view needs has loaded."""
    values = []
    for _ in range(TIMES):
        page = open_profile(browser)
        first_rows(page, f"{home}/#q={title}")
        page.wait_for_timeout(2000)
        values.append(page.evaluate(CLICK, "main .windowed h2 a"))
        page.context.close()
    report("its first tab", values)


def measure_jobs(browser, home):
    """The large archive is verified first, so that the others wait while the view loads."""
    page = open_profile(browser)
    page.goto(home)
    page.evaluate("""async (count) => {
        const api = await import("/app/core/api.js");
        const { items } = await api.filteredArchives({ tag: [], sort: "-size" }, { offset: 0, limit: count });
        for (const item of items) await api.verify(item);
    }""", JOBS)
    page.context.close()
    page = open_profile(browser)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    began = time.monotonic()
    page.goto(f"{home}/#activity")
    page.locator("main .jobs li").first.wait_for()
    rows = time.monotonic() - began
    text = page.locator("main .jobs").inner_text().split("\n")[0]
    frames, elements, heap = [], [], []
    while page.locator("main .jobs li").count():
        frames.append(page.evaluate(SCROLL))
        elements.append(page.evaluate("document.querySelectorAll('*').length"))
        heap.append(page.evaluate("performance.memory.usedJSHeapSize"))
    print(f"  “{text}” after {rows * 1000:.0f} ms; until all had ended, {time.monotonic() - began:.0f} s later: {len(requests)} requests, at most "
        f"{max(elements)} elements, {max(heap) / 1e6:.1f} MB heap; {sum(long for _, long, _ in frames)} of {sum(count for count, _, _ in frames)} "
        f"frames longer than 32 ms, longest {max(longest for _, _, longest in frames):.0f} ms", flush=True)
    page.context.close()


def captures(count):
    body = b"<!doctype html><title>A page</title>"
    for number in range(count):
        host = f"s{number % 500:03}.many.example"
        yield generated.Capture(f"https://{host}/{number:07}", f"example,many,s{number % 500:03})/{number:07}", body)


def main():
    folder = Path(sys.argv[1])
    files, store = folder / "files", folder / "store"
    files.mkdir()
    for number in range(COUNT):
        generated.write_large(f"{files}/file-{number}.wacz", 3_000, 1_500, seed=number)
    rows = sorted(captures(PAGES), key=lambda capture: capture.key)
    generated.write(str(folder / "pages.wacz"), "Many pages", rows, [(capture.url, f"Page {index}") for index, capture in enumerate(rows)])
    generated.write_million(str(folder / "million.wacz"), URLS)
    began = time.monotonic()
    serving.subprocess.run([serving.BINARY, "import", "--quiet", "--store", store, files, folder / "pages.wacz", folder / "million.wacz"], check=True)
    serving.subprocess.run([serving.BINARY, "jobs", "run", "--quiet", "--store", store], check=False)
    print(f"{COUNT} archives, {PAGES} pages, {URLS} captures; imported and indexed in {time.monotonic() - began:.0f} s", flush=True)
    with serving.serve(store) as (_, port), sync_playwright() as playwright:
        home = f"http://replayhost.localhost:{port}"
        browser = playwright.chromium.launch(**serving.CHROMIUM)
        # While a browser starts, it takes both processors.
        time.sleep(5)
        for name, path, word in [
            ("library, cards", "/", "large"), ("library, list", "/#as=list", "large"),
            ("pages", "/?archive=/archives/pages.wacz#view=pages", "4999"),
            ("URLs", "/?archive=/archives/million.wacz#view=urls", None),
        ]:
            print(f"{name}:", flush=True)
            measure(browser, home + path, word)
        print("an archive's page, by a click in the library:", flush=True)
        measure_click(browser, home, "Many pages")
        print(f"activity, {JOBS} verifications:", flush=True)
        measure_jobs(browser, home)
        browser.close()


if __name__ == "__main__":
    main()
