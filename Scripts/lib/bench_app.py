"""Measures the web app in Chromium. Called by `Scripts/bench 90-app` with an empty folder.

Imports COUNT archives (default 2000) of LIBRARY sizes, PAGES (50000) pages and URLS (1000000) captures, then measures, each in
a new profile: requests, bytes and scripts of the first load; seconds to the first rows; elements and JavaScript heap; a
keystroke in the filter until the list has changed; and frames longer than 32 ms while a list scrolls for 10 seconds.
"""

import os
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import serving
from writers import generated

COUNT = int(os.environ.get("COUNT", "2000"))
PAGES = int(os.environ.get("PAGES", "50000"))
URLS = int(os.environ.get("URLS", "1000000"))
WAIT = 120_000

# Notes when the first rows are in the document, and tasks longer than 50 ms.
OBSERVE = """
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
        .observe({ type: "longtask", buffered: true });
    new MutationObserver(() => {
        if (!window.firstRows && document.querySelector("main :is(.windowed, table) a")) window.firstRows = performance.now();
    }).observe(document, { childList: true, subtree: true });
"""
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


def measure(playwright, address, folder, word=None):
    context = playwright.chromium.launch_persistent_context(str(folder), **serving.CHROMIUM)
    page = context.pages[0]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.add_init_script(OBSERVE)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("Network.enable")
    requests = []
    sizes = {}
    page.on("request", lambda request: requests.append(request.url))
    session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    page.goto(address)
    page.locator("main :is(.windowed, table) a").first.wait_for(state="attached", timeout=WAIT)
    first = page.evaluate("firstRows")
    # What is loaded after the first rows counts, too. The page never gets idle, since it listens for events.
    page.wait_for_timeout(2000)
    scripts = page.evaluate("""() => performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"))
        .map(({ decodedBodySize }) => decodedBodySize)""")
    session.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    app = [url for url in requests if "/archives/" not in url]
    print(f"  first rows {first:.0f} ms; {len(app)} requests, {sum(sizes.values()) / 1000:.0f} kB; {len(scripts)} modules, "
        f"{sum(scripts) / 1000:.0f} kB; {metrics['Nodes']:.0f} nodes, {page.evaluate('document.querySelectorAll(`*`).length')} "
        f"elements; heap {metrics['JSHeapUsedSize'] / 1e6:.1f} MB", flush=True)
    if word:
        took, longest = page.evaluate(KEYSTROKE, word)
        print(f"  keystroke to result {took:.0f} ms, longest task {longest:.0f} ms", flush=True)
        page.goto("about:blank")
        page.goto(address)
        page.locator("main :is(.windowed, table) a").first.wait_for(state="attached", timeout=WAIT)
    frames, long, longest = page.evaluate(SCROLL)
    elements = page.evaluate("document.querySelectorAll('*').length")
    print(f"  scroll of 10 s: {frames} frames, {long} longer than 32 ms, longest {longest:.0f} ms; then {elements} elements", flush=True)
    context.close()


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
        for name, path, word in [
            ("library, cards", "/", "large"), ("library, list", "/#as=list", "large"),
            ("pages", "/?archive=/archives/pages.wacz#view=pages", "4999"),
            ("URLs", "/?archive=/archives/million.wacz#view=urls", None),
        ]:
            print(f"{name}:", flush=True)
            measure(playwright, home + path, folder / f"profile-{name.replace(', ', '-')}", word)


if __name__ == "__main__":
    main()
