"""Archived pages as the stock engine shows them, served by nginx, and as replayhost does, in the same browser.

`Scripts/soak 27-stock` starts this, in a network in which nothing can leave this computer. For each page of each archive it compares
the text, the images that have pixels, the style sheets, fonts and media that were loaded, and the statuses of resources. It fails when
replayhost shows less than the stock engine, and prints a table of all differences.
"""

import os
import re
import socket
import subprocess
import zipfile
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from outside import sites
from outside.attack import GONE
from replay_report import import_file, start_pages
from support.engines import ENGINES
from support.host import Host, die_with_parent
from support.places import WEB_INTERFACE
from support.waiting import wait_until

ENGINE = os.environ.get("STOCK_ENGINE", "chromium")
ORIGINS = os.environ.get("STOCK_ORIGINS", "names")


def holds_records(file):
    """Whether there is anything to replay, as another reader of ZIP sees it."""
    return zipfile.is_zipfile(file) and any(name.startswith("archive/") for name in zipfile.ZipFile(file).namelist())


FILES = [file for file in map(Path, os.environ["STOCK_FILES"].split(os.pathsep)) if holds_records(file)]
if os.environ.get("STOCK_SITES"):
    FILES.append(sites.write(Path(os.environ["STOCK_SITES"])))
PAGES_MAX = int(os.environ.get("STOCK_PAGES", "10"))
MODES = ["lookups", "ranges"]
REPLAY_PREFIX = re.compile(r"(?:https?://[\w.:-]+)?/(?:w/)?[\w.-]+/(?::[\w-]+/)?\d{4,17}(?:[a-z]+_)?/")
# A page is read when it is complete and nothing about it has changed in this many looks.
LOOKS = 4
# What the engine says where it has no page: nothing can be less.
STOCK_ABSENCE = "Archived Page Not Found"

STOCK_PAGE = """<!doctype html><title>Stock</title><iframe name="___wb_replay_top_frame" width=1200 height=700></iframe><script>
(async () => {
    const { file, collection, page } = Object.fromEntries(new URLSearchParams(location.search));
    await navigator.serviceWorker.register("/sw.js");
    const { active } = await navigator.serviceWorker.ready;
    const added = new Promise((resolve) => navigator.serviceWorker.addEventListener("message",
        ({ data }) => { if (data.msg_type === "collAdded") resolve(); }));
    active.postMessage({ msg_type: "addColl", name: collection, root: false, skipExisting: true,
        file: { sourceUrl: new URL(file, location).href } });
    await added;
    document.querySelector("iframe").src = `/w/${collection}/${page}`;
})();
</script>"""

NGINX = """daemon off; master_process off; user root; pid nginx.pid; error_log stderr;
events { worker_connections 256; }
http {
    types { text/html html; text/javascript js; } default_type application/octet-stream; access_log off;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    server { listen 127.0.0.1:PORT; root FOLDER; }
}
"""

# What a reader gets of a page, with all its frames. Resources go by path and query: hosts differ where nothing was rewritten.
GATHER = """() => {
    const captured = (href) => {
        const inside = /^https?:\\/\\/[^/]+\\/(?:w\\/)?[^/]+\\/(?::[\\w-]+\\/)?\\d*(?:[a-z]+_)?\\/(.+)$/s.exec(href)?.[1] ?? href;
        return inside.replace(/^(?:https?:)?\\/\\/[^/?]*/, "");
    };
    const found = { text: [], images: {}, styles: [], fonts: [], media: {}, statuses: {}, complete: true };
    const look = (view) => {
        const page = view.document;
        found.complete &&= page.readyState === "complete";
        found.text.push(page.title, page.body?.innerText ?? page.documentElement?.textContent ?? "");
        for (const image of page.images) {
            const name = captured(image.currentSrc || image.src);
            found.images[name] = Math.max(found.images[name] ?? 0, image.naturalWidth);
        }
        for (const sheet of page.styleSheets) {
            let count = -1;
            try { count = sheet.cssRules.length; } catch {}
            if (count > 0 && sheet.href) found.styles.push(captured(sheet.href));
        }
        for (const font of page.fonts ?? []) if (font.status === "loaded") found.fonts.push(font.family);
        for (const one of page.querySelectorAll("video, audio")) {
            found.media[captured(one.currentSrc)] = one.readyState;
        }
        for (const entry of view.performance.getEntriesByType("resource")) {
            if (entry.responseStatus) found.statuses[captured(entry.name)] = entry.responseStatus;
        }
        for (let index = 0; index < view.frames.length; index++) {
            try { if (view.frames[index].document) look(view.frames[index]); } catch {}
        }
    };
    look(window);
    return found;
}"""


class Stock:
    """The engine as it comes, a page that starts it, and the archives, on nginx."""

    def __init__(self, folder, port=18090):
        self.address = f"http://localhost:{port}"
        folder.mkdir()
        (folder / "index.html").write_text(STOCK_PAGE, encoding="utf-8")
        (folder / "sw.js").write_bytes((WEB_INTERFACE / "vendor" / "sw.js").read_bytes())
        for number, file in enumerate(FILES):
            (folder / f"{number}.wacz").symlink_to(file)
        configuration = folder.parent / "nginx.conf"
        configuration.write_text(NGINX.replace("PORT", str(port)).replace("FOLDER", str(folder)), encoding="utf-8")
        self.process = subprocess.Popen(["nginx", "-p", folder.parent, "-c", configuration], preexec_fn=die_with_parent)
        wait_until(lambda: self.answers(port), "nginx answers")

    def answers(self, port):
        assert self.process.poll() is None, "nginx did not start"
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", port)) == 0

    def page(self, file, url, timestamp):
        number = FILES.index(file)
        values = {"file": f"/{number}.wacz", "collection": f"c{number}", "page": f"{timestamp}mp_/{url}"}
        return f"{self.address}/?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in values.items())

    def close(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    server = Stock(tmp_path_factory.mktemp("nginx") / "root")
    yield server
    server.close()


def read(engine):
    """What a reader gets once the page has come to rest; of a page that never does, what is there in the end."""
    last, equal = None, 0

    def rests():
        nonlocal last, equal
        try:
            now = engine.run_in_page(GATHER)
        except GONE:
            return False
        equal = equal + 1 if now == last and now["complete"] and "".join(now["text"]).strip() else 0
        last = now
        return equal >= LOOKS

    try:
        wait_until(rests, "the page rests", seconds=20)
    except AssertionError:
        pass
    return last


def plain(text):
    """One line, without the part of addresses that says where the replay is, and the scale at which Firefox shows an image."""
    return re.sub(r"\(\d+%\)", "", REPLAY_PREFIX.sub("", " ".join(" ".join(text).split())))


def look(engine, function):
    try:
        return engine.run(function)
    except GONE:
        return ""


def shows(engine):
    return look(engine, "() => document.querySelector('.panel h1, [role=alert]')?.innerText ?? ''")


def shows_pdf(engine):
    """A PDF has a frame of its own, in which no script can look."""
    return look(engine, "() => Boolean(document.querySelector('.pdf-panel iframe'))")


def compare(stock, ours):
    """(what is less, what is more), as text."""
    if stock is None or ours is None:
        return (["no page"] if stock else []), (["a page"] if ours else [])
    less, more = [], []
    if STOCK_ABSENCE in " ".join(stock["text"]):
        return less, more

    def note(is_less, words):
        (less if is_less else more).append(words)

    ours_text, stock_text = plain(ours["text"]), plain(stock["text"])
    if ours_text != stock_text:
        missing = [*(Counter(stock_text.split()) - Counter(ours_text.split()))]
        added = [*(Counter(ours_text.split()) - Counter(stock_text.split()))]
        if missing:
            note(True, f"text without {' '.join(missing[:12])}")
        if added:
            note(False, f"text with {' '.join(added[:12])}")
    for kind, words in [("images", "image"), ("media", "media")]:
        for name in {*stock[kind], *ours[kind]}:
            theirs, own = stock[kind].get(name, 0), ours[kind].get(name, 0)
            if bool(theirs) != bool(own):
                note(bool(theirs), f"{words} {name}")
    for kind, words in [("styles", "style sheet"), ("fonts", "font")]:
        for name in {*stock[kind]} ^ {*ours[kind]}:
            note(name in stock[kind], f"{words} {name}")
    for name in {*stock["statuses"], *ours["statuses"]}:
        theirs, own = stock["statuses"].get(name), ours["statuses"].get(name)
        if theirs and own and (theirs < 400) != (own < 400):
            note(theirs < 400, f"status {own} for {theirs} of {name}")
    return less, more


def differences(engine, theirs):
    """What is less and more once the page has come to rest. A page that waits for something may seem to rest before."""
    ours = read(engine)
    if shows_pdf(engine):
        return [], []
    found = compare(theirs, ours)

    def is_enough():
        nonlocal found
        if found[0]:
            found = compare(theirs, read(engine))
        return not found[0]

    try:
        wait_until(is_enough, "nothing is less", seconds=20)
    except AssertionError:
        pass
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_nowhere_less_than_stock(outside, playwright, stock, tmp_path, file):
    host = Host(tmp_path, origins=ORIGINS).start()
    engine = None
    try:
        archive, words = import_file(host, file)
        assert archive, words
        wait_until(lambda: archive["id"] in host.ids(), "the server knows the archive")
        engine = ENGINES[ENGINE](tmp_path / "browser", playwright=playwright)
        failures, count = [], Counter()
        for (url, timestamp), _ in start_pages(host, archive, file, PAGES_MAX):
            engine.go(stock.page(file, url, timestamp))
            theirs = read(engine)
            for mode in MODES:
                engine.go("about:blank")
                address = f"{host.home}/?archive=/archives/{archive['id']}.wacz&replay={mode}"
                engine.go(f"{address}#url={quote(url, safe='')}&ts={timestamp}")
                less, more = differences(engine, theirs)
                count["less" if less else "more" if more else "same"] += 1
                line = f"{ENGINE}, {ORIGINS}, {mode} | {file.name} | {url} {timestamp} | {shows(engine)}"
                if less or more:
                    print(f"| {line} | less: {'; '.join(less[:6])} | more: {'; '.join(more[:6])} |", flush=True)
                if less:
                    failures.append(line)
        print(f"{ENGINE}, {ORIGINS}, {file.name}: {dict(count)}")
        assert not failures, "\n".join(failures)
    finally:
        if engine:
            engine.close()
        host.stop()
