"""Published archives are served again under their own names, saved page by page, and replayed.

`Scripts/soak 23-live-archives` runs this. For each page it compares what the server was asked for with what is in the archive, and the
words of the page in a browser of its own with the words in the viewer. It prints a table, and fails below the goals.
"""

import collections
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pages
import pytest
from capture_host import CaptureHost
from fake_tools import FakeTools
from live_archives import ADDRESS, Captures, LiveServer, normal
from page_hosts import Saved
from playwright.sync_api import Error, sync_playwright
from support.browser import ARGUMENTS, Browser
from support.host import Host
from support.places import CHROMIUM
from support.viewer import Viewer
from support.visits import REPLAY_PATH, Recorder
from support.waiting import wait_until

FIXTURES = Path(os.environ.get("REPLAYHOST_FIXTURES", ""))
PAGES_MAX = int(os.environ.get("LIVE_PAGES", "5"))
SECONDS = 90
VIEW = {"width": 1920, "height": 1080}
# Goals
RECORDED_MIN, SAME_TEXT_MIN = 0.98, 0.9
# A page has the same text if this share of the words is the same.
SAME_WORDS_MIN = 0.9

# Archives by their place in REPLAYHOST_FIXTURES, with the URLs of pages; without, the first pages in the file.
PUBLISHED = {
    "bensteinberg__waczerciser/test/fixtures/example.wacz": [],
    "harvard-lil__scoop/assets/fixtures/example.com.wacz": [],
    "extua__wacksy/wacz_example.wacz": [],
    "ojauch__wacz/src/test/resources/valid-example.wacz": [],
    "starlinglab__integrity-preprocessor/tests/assets/wacz/good/domain-sig.wacz": [],
    "webrecorder__py-wacz/tests/fixtures/valid_example_2.wacz": [],
    "webrecorder__warcio/test/data/example-iana.org-chunked.warc": [],
    "webrecorder__warcio/test/data/space-in-url.arc": [],
    "webrecorder__warcio/test/data/example-space-in-url.arc": [],
    "iipc__jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz": [],
    "netarchivesuite__solrwayback/src/test/resources/compressions_warc/transfer_compression_gzip_chunked.warc.gz": [],
    "netarchivesuite__solrwayback/src/test/resources/compressions_warc/transfer_compression_brotli.warc.gz": [],
    "nla__outbackcdx/test-integration/test1.warc.gz": [],
    "oduwsdl__ipwb/samples/warcs/baconIpsum_chunked.warc": [],
    "oduwsdl__ipwb/samples/warcs/frogTest.warc": [],
    "oduwsdl__ipwb/samples/warcs/froggie.warc.gz": [],
    "oduwsdl__ipwb/samples/warcs/mkelly1.warc": [],
    "oduwsdl__ipwb/samples/warcs/salam-home.warc": [],
    "oduwsdl__ipwb/samples/warcs/5mementos.warc": [],
    "oduwsdl__ipwb/samples/warcs/2mementos_htmlXhtml.warc": [],
    "oduwsdl__ipwb/samples/warcs/2mementos_queryString.warc": [],
    "oduwsdl__ipwb/samples/warcs/slash.warc": [],
}
DOCS = "http://docs.python.test"
OURS = {
    "ours/behaviour/pr.wacz": [f"http://live.test/{name}" for name in ("index", "fset", "iframes", "srcdoc", "abs")],
    "ours/behaviour/xh.wacz": [],
    "ours/behaviour/wix.wacz": [],
    "ours/small.wacz": [
        *(f"{DOCS}/{name}" for name in ("", "search.html", "whatsnew/3.11.html", "py-modindex.html", "glossary.html")),
        *(f"http://edge.test/{name}" for name in (
            "", "gz", "br", "zstd", "deflate", "gz-chunked", "r301", "redirect-relative", "self-redirect", "q?b=2&a=1", "caf%C3%A9/%E6%97%A5%E6%9C%AC",
            "pct%2Fslash", "csp", "x-frame", "nul-header", "html-base", "frameset", "meta-refresh", "srcset", "utf16", "latin1", "wrong-charset",
            "no-content-type", "time")),
    ],
}
ARCHIVES = {**PUBLISHED, **OURS}

pytestmark = [
    pytest.mark.skipif(not os.environ.get("REPLAYHOST_FIXTURES"), reason="REPLAYHOST_FIXTURES isn't set"),
    pytest.mark.skipif(not pages.CHROMIUM, reason="pages need Chromium"),
]

TEXT = """() => {
    const body = document.body
    return { complete: document.readyState === 'complete',
        text: body ? body.innerText : document.documentElement?.textContent ?? '' }
}"""
SCROLL = """async () => {
    const page = document.scrollingElement ?? document.documentElement
    for (let place = 0; place < page.scrollHeight && place < 200_000; place += innerHeight) {
        window.scrollTo({ top: place, behavior: 'instant' })
        await new Promise(requestAnimationFrame)
    }
    window.scrollTo({ top: 0, behavior: 'instant' })
}"""


@dataclass
class Row:
    """What was measured about a page."""

    archive: str
    url: str
    # Distinct URLs, with the method, for which the server was asked while the page was recorded; of these, what wasn't captured.
    requested: set = field(default_factory=set)
    absent: set = field(default_factory=set)
    recorded: set = field(default_factory=set)
    # Words of the live page, and the shares that are the same in the recorded text and in the replayed page
    words: int = 0
    text_share: float = 0
    replay_share: float = 0
    # URLs that the replayed page requested; those that it didn't get although the site had them; and those not in the archive
    replayed: set = field(default_factory=set)
    missing: set = field(default_factory=set)
    outside: set = field(default_factory=set)
    said: str = ""
    seconds: float = 0
    notes: list = field(default_factory=list)

    @property
    def lost(self):
        return self.requested - self.recorded

    @property
    def has_same_text(self):
        return self.replay_share >= SAME_WORDS_MIN

    @property
    def replays(self):
        """By the same rule as the program's."""
        return self.has_same_text and len(self.missing) <= len(self.replayed) * 0.1

    @property
    def is_told_truly(self):
        return self.said.startswith("Replays") == self.replays and bool(self.said)


def share(one, other):
    """The share of words that two texts have in common, whatever their order."""
    first, second = (collections.Counter(text.split()) for text in (one, other))
    most = max(first.total(), second.total())
    return (first & second).total() / most if most else 1


def differing(one, other, limit=12):
    first, second = (collections.Counter(text.split()) for text in (one, other))
    return list((first - second).elements())[:limit], list((second - first).elements())[:limit]


class Quiet:
    """Whether a page requests something."""

    def __init__(self, context):
        self.open, self.last = set(), time.monotonic()
        context.on("request", self.begin)
        context.on("requestfinished", self.end)
        context.on("requestfailed", self.end)

    def begin(self, request):
        self.open.add(request)
        self.last = time.monotonic()

    def end(self, request):
        self.open.discard(request)
        self.last = time.monotonic()

    def is_so(self):
        silence = time.monotonic() - self.last
        return silence > (1 if not self.open else 10)


def read(page, top, quiet):
    """The text of a frame and the frames in it, once nothing changes."""
    last, looks = None, 0

    def rests():
        nonlocal last, looks
        page.wait_for_timeout(50)
        frames, texts = [top()], []
        try:
            for frame in frames:
                frames += frame.child_frames
                found = frame.evaluate(TEXT)
                if not found["complete"]:
                    return None
                texts.append(found["text"])
        except (Error, AttributeError):
            return None  # A frame that is on its way to another page
        looks = looks + 1 if texts == last else 0
        last = texts
        return looks > 4 and quiet.is_so()

    wait_until(rests, "the page rests", SECONDS)
    return "\n".join(last)


def scroll(frame):
    try:
        frame.evaluate(SCROLL)
    except Error:
        pass  # It went to another page.


def whole(url):
    """A URL in the replay's path, which may have no scheme."""
    return f"//{normal('http:' + url).partition('//')[2]}" if url.startswith("//") else normal(url)


def without_scheme(urls):
    return {url[url.index("//"):] for url in urls}


class Bench:
    """The live server, the capture server, the library and the browsers."""

    def __init__(self, folder, playwright):
        self.archives = {name: Captures(FIXTURES / name) for name in ARCHIVES}
        hosts = set().union(*(captures.named for captures in self.archives.values()))
        (folder / "authority").mkdir()
        self.live = LiveServer(folder / "authority", hosts)
        flag = f"--ignore-certificate-errors-spki-list={self.live.authority.fingerprint}"
        tools = FakeTools(folder / "tools")
        self.has_walls = shutil.which("bwrap") is not None
        pages.give_chromium(tools, self.has_walls)
        wrapper = tools.bin / "chromium"
        wrapper.write_text(wrapper.read_text(encoding="utf-8").replace('"$@"', f'{flag} "$@"'), encoding="utf-8")
        shutil.copy(self.live.authority.root, tools.root / "ca.pem")
        self.capture = CaptureHost(folder, tools)
        with open(folder / "hosts", "a", encoding="utf-8") as file:
            file.writelines(f"{ADDRESS} {host}\n" for host in sorted(hosts))
        self.library = Host(folder)
        rules = ",".join([*(f"MAP {host} {ADDRESS}" for host in sorted(hosts)), "MAP * ~NOTFOUND"])
        self.direct = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=[*ARGUMENTS, flag, f"--host-resolver-rules={rules}"])
        self.viewer = None
        try:
            self.capture.start(SSL_CERT_FILE=str(tools.root / "ca.pem"))
            self.library.start()
            self.viewer = Browser(playwright, folder / "profile", viewport=VIEW)
            self.recorder, self.quiet = Recorder(self.viewer.context), Quiet(self.viewer.context)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.capture.stop()
        self.library.stop()
        self.live.close()
        self.direct.close()
        if self.viewer:
            self.viewer.close()

    def text_of_live(self, url):
        """The words of the page without this project, and the URLs that failed."""
        context = self.direct.new_context(viewport=VIEW, service_workers="block")
        quiet, failed = Quiet(context), set()
        context.on("requestfailed", lambda request: failed.add(normal(request.url)))
        page = context.new_page()
        try:
            page.goto(url, wait_until="commit")
            read(page, lambda: page.main_frame, quiet)
            scroll(page.main_frame)
            return read(page, lambda: page.main_frame, quiet), set(failed)
        finally:
            context.close()

    def text_of_replay(self, archive):
        """The words of the page in the viewer, and the statuses of what it requested."""
        result = self.recorder.begin()
        page = self.viewer.context.new_page()
        viewer = Viewer(page)

        def top():
            frame = viewer.archived_frame
            return frame if frame and REPLAY_PATH.match(urlsplit(frame.url).path) else None

        try:
            page.goto(f"{self.library.home}/?archive=/archives/{archive}.wacz")
            read(page, top, self.quiet)
            scroll(top())
            text = read(page, top, self.quiet)
            statuses = collections.defaultdict(set)
            for (_, url), found in result.resources.items():
                statuses[whole(url)] |= found
            return text, statuses
        finally:
            page.close()

    def measure(self, name, url):
        row = Row(name, url)
        self.live.captures = self.archives[name]
        text, failed = self.text_of_live(url)
        row.words = len(text.split())
        self.live.take()
        start = time.monotonic()
        identifier = self.capture.add(url, options={"mode": "page"})
        saved = self.capture.wait_for(identifier, seconds=300)
        row.seconds = time.monotonic() - start
        asked = self.live.take()
        row.requested = {(one.method, one.url) for one in asked if one.method in ("GET", "POST")}
        row.absent = {(one.method, one.url) for one in asked if not one.is_captured} & row.requested
        others = {(one.method, one.url) for one in asked} - row.requested
        if others:
            row.notes.append(f"not recorded by design: {sorted(others)}")
        if saved["state"] != "completed":
            row.said = f"{saved['state']}: {saved['error_code']}: {saved['error_message']}"
            row.notes += self.capture.lines(identifier)
            return row
        row.said = saved["replay_check"] or ""
        if saved["incomplete"]:
            row.notes.append(f"incomplete: {saved['incomplete']}")
        archive = Saved(self.capture, saved)
        methods = {record.rec_headers.get_header("WARC-Concurrent-To"): record.http_headers.protocol.upper()
            for record in archive.records if record.rec_type == "request"}
        row.recorded = {(methods.get(record.rec_headers.get_header("WARC-Record-ID"), "GET"), normal(record.uri))
            for record in archive.records if record.rec_type in ("response", "revisit")}
        recorded_text = next(record.body for record in archive.records if (record.uri or "").startswith("urn:text:")).decode()
        row.text_share = share(text, recorded_text)
        wait_until(lambda: saved["archive"] in self.library.ids(), "the library knows the archive")
        replayed, statuses = self.text_of_replay(saved["archive"])
        row.replay_share = share(text, replayed)
        for what, other, value in (("recorded text", recorded_text, row.text_share), ("replay", replayed, row.replay_share)):
            if value < 1:
                row.notes.append("{}: only live {}, only there {}".format(what, *differing(text, other)))
        errors = without_scheme({one.url for one in asked if one.status >= 400} | failed)
        row.replayed = set(statuses)
        row.missing = {url for url, found in statuses.items() if min(found) >= 400 and not without_scheme([url]) & errors}
        row.outside = {url for url in row.replayed if not without_scheme([url]) & without_scheme(url for _, url in row.recorded)}
        if found := re.search(r"(\d+) of (\d+) files", row.said):
            own = len(row.replayed) - len(row.outside), len(row.replayed)
            if own != tuple(map(int, found.groups())):
                plain = sorted(url for url in row.replayed if url.startswith("//"))
                row.notes.append(f"said {found[0]}; seen {own[0]} of {own[1]}. Not in the archive: {sorted(row.outside)}; without a scheme: {plain}")
        row.notes += [f"not in the archive: {method} {url}" for method, url in sorted(row.lost)]
        row.notes += [f"recorded, but the server wasn't asked: {method} {url}" for method, url in sorted(row.recorded - row.requested)]
        row.notes += [f"missing in replay: {url}" for url in sorted(row.missing)]
        if row.said.startswith("Differs"):
            row.notes += [f"log: {line}" for line in self.capture.lines(identifier) if "not in the archive: " in line]
        return row


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    for tool in ("openssl", "zstd"):
        assert shutil.which(tool), f"this test needs {tool}"
    with sync_playwright() as playwright:
        bench = Bench(tmp_path_factory.mktemp("live"), playwright)
        try:
            yield bench
        finally:
            bench.close()


@pytest.fixture(scope="module")
def rows():
    rows = []
    yield rows
    print_table(rows)


def print_table(rows):
    print("\n| archive | page | requested (not captured) | recorded | words | recorded text | replay | replay_check | true | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row.archive.split('/')[0]}/{row.archive.rsplit('/', 1)[1]} | {row.url[:80]} | {len(row.requested)} ({len(row.absent)}) "
            f"| {len(row.requested & row.recorded)} | {row.words} | {row.text_share:.1%} | {row.replay_share:.1%} | {row.said} "
            f"| {'yes' if row.is_told_truly else 'NO'} | {row.seconds:.0f} |")
    for row in rows:
        for note in row.notes:
            print(f"- {row.archive.split('/')[0]} {row.url[:80]}: {note}")
    print(totals(rows))


def totals(rows):
    requested, recorded = sum(len(row.requested) for row in rows), sum(len(row.requested & row.recorded) for row in rows)
    same, true = sum(row.has_same_text for row in rows), sum(row.is_told_truly for row in rows)
    return (f"{len({row.archive for row in rows})} archives, {len(rows)} pages: {recorded} of {requested} URLs recorded, the same text on "
        f"{same} pages, true verdicts on {true}, {sum(row.seconds for row in rows):.0f} s")


@pytest.mark.parametrize("name", ARCHIVES)
def test_archive_is_saved_again(bench, rows, name):
    urls = ARCHIVES[name] or bench.archives[name].pages()[:PAGES_MAX]
    assert urls, "the archive has no pages"
    for url in urls:
        row = bench.measure(name, url)
        rows.append(row)
        print(f"{name} {url}: {len(row.requested & row.recorded)}/{len(row.requested)}, {row.words} words, {row.text_share:.3f}, "
            f"{row.replay_share:.3f}, {row.said}, {row.seconds:.0f} s", *row.notes, sep="\n    ", flush=True)


def test_http_page_is_requested_as_pasted(bench):
    """The site answers by https too, but doesn't have the page there."""
    bench.live.captures, bench.live.has_https = bench.archives["oduwsdl__ipwb/samples/warcs/frogTest.warc"], True
    try:
        row = bench.capture.wait_for(bench.capture.add("http://matkelly.com/frogsLeft", options={"mode": "page"}))
        asked = bench.live.take()
        assert (row["state"], row["error_code"]) == ("completed", None), asked
        assert [one.url for one in asked if one.url.startswith("https:")] == []
    finally:
        bench.live.has_https = False


def test_goals(rows):
    published = [row for row in rows if row.archive in PUBLISHED]
    for some in (published, rows):
        requested = sum(len(row.requested) for row in some)
        assert sum(len(row.requested & row.recorded) for row in some) >= RECORDED_MIN * requested, totals(some)
        assert sum(row.has_same_text for row in some) >= SAME_TEXT_MIN * len(some), totals(some)
    assert [row.url for row in rows if not row.is_told_truly] == []
