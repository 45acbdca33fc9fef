"""Awkward pages show the same live, in the viewer in both replay modes, and in pywb; and the archive has what they need."""

import subprocess
from hashlib import sha256
from typing import Callable, NamedTuple
from urllib.parse import quote

import pytest
import pywb_server
from awkward_site import COLOURS, graphql
from page_hosts import expect_valid
from support.expecting import expect
from support.viewer import Viewer
from support.waiting import wait_until

SECONDS = 60
LATIN, JAPANESE = "Crème brûlée à la façon du port", "灯台の波止場"


# What a page must show. `root` is the page, or the frame that replays it.

def words(root, *, within=None, **expected):
    """The elements with these ids have these texts."""
    place = root.frame_locator(within) if within else root
    for name, text in expected.items():
        expect(place.locator(f"#{name}")).to_have_text(text)


def middle(element):
    """The colour in the middle of what is drawn for an element."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-vf", "crop=2:2,scale=1:1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return tuple(subprocess.run(command, input=element.screenshot(), capture_output=True, check=True, timeout=SECONDS).stdout)


def is_drawn(element, name):
    wait_until(lambda: max(abs(one - two) for one, two in zip(middle(element), COLOURS[name])) < 60,
        f"{element} is {name}", SECONDS)


def cross_site_frame(root):
    expect(root.locator("h1")).to_have_text("The harbour")
    words(root, within="iframe", words="words from another site")
    is_drawn(root.frame_locator("iframe").locator("img"), "lime")


def nested_frames(root):
    outer = root.frame_locator("#outer")
    words(outer, own="The outer frame")
    words(outer, within="#inner", words="words in srcdoc")
    is_drawn(outer.frame_locator("#inner").locator("img"), "blue")


def shadow_styles(root):
    is_drawn(root.locator("#box"), "lime")
    # Without the font, the letter is about 70 pixels wide.
    wait_until(lambda: root.locator("#wide").evaluate("e => e.getBoundingClientRect().width") == 300, "the font is used", SECONDS)


def lazy_images(root):
    expect(root.locator("h1")).to_have_text("Top")
    root.locator("p").scroll_into_view_if_needed()
    is_drawn(root.locator("img[loading=lazy]"), "yellow")
    is_drawn(root.locator("#seen"), "blue")


SEEK = """async (medium, time) => {
    if (medium.readyState < 1) await new Promise((done, failed) => {
        medium.addEventListener("loadedmetadata", done, { once: true });
        medium.addEventListener("error", () => failed(new Error(medium.error.message)), { once: true });
        setTimeout(() => failed(new Error(`no metadata, network state ${medium.networkState}`)), 60_000);
    });
    await new Promise((done, failed) => {
        medium.addEventListener("seeked", done, { once: true });
        medium.addEventListener("error", () => failed(new Error(medium.error.message)), { once: true });
        setTimeout(() => failed(new Error(`nothing came for ${time} s`)), 60_000);
        medium.currentTime = time;
    });
    return [Math.round(medium.duration), Math.round(medium.currentTime)];
}"""


def film_with_ranges(root):
    """Its end is seen first, then its start."""
    film = root.locator("#film")
    assert film.evaluate(SEEK, 38) == [40, 38]
    is_drawn(film, "blue")
    assert film.evaluate(SEEK, 2) == [40, 2]
    is_drawn(film, "red")


def sound(root):
    assert root.locator("#sound").evaluate(SEEK, 25) == [30, 25]


def chain(root):
    expect(root.locator("h1")).to_have_text("The end of the chain")
    is_drawn(root.locator("img"), "lime")


def refresh(root):
    expect(root.locator("h1")).to_have_text("The page behind the refresh")
    is_drawn(root.locator("img"), "lime")


def showing(images=None, **texts):
    """Checks texts by their ids, and colours by CSS selectors."""
    def check(root):
        words(root, **texts)
        for selector, name in (images or {}).items():
            is_drawn(root.locator(selector), name)
    return check


class Case(NamedTuple):
    # Also the start of its URLs
    name: str
    check: Callable
    # What the archive must have: the paths of responses whose bodies never change
    needs: str = ""
    path: str = ""
    # Why something can't be: the step ("recorded", "lookups", "ranges", "pywb"), and the reason
    limits: dict = {}

    @property
    def start(self):
        return self.path or f"/{self.name}/"


def replay_limits(reason, *further):
    """The same limit in both replay modes, and in further steps."""
    return dict.fromkeys(("lookups", "ranges", *further), reason)


POLICY = "Replay takes away the site's Content-Security-Policy, since it adds scripts of its own. Inline scripts run, which the site forbade."
MARK = "The replay engine removes the byte order mark, and doesn't name the charset that it said."
MODULE = "pywb puts the code of a module into a block, where it can't import anything."
SCOPE = "pywb puts the code of each script into a block. Other scripts don't see its constants."
COOKIE = "In pywb, a script doesn't see a cookie that it has set with a path."
SERVICE = "Replay doesn't run the service workers of sites. What one answers by itself isn't shown."

CASES = [
    Case("cross", cross_site_frame),
    Case("nested", nested_frames, "outer words.txt blue.png"),
    Case("worker", showing(file="imported: words for a worker", blob="words for a worker"), "worker.js part.js words.txt?file words.txt?blob"),
    Case("shared", showing(words="words for a shared worker"), "shared.js words.txt"),
    Case("modules", showing(static="a static import", dynamic="a dynamic import, two.js"), "main.js one.js two.js",
        limits={"pywb": MODULE}),
    Case("map", showing(words="from the import map"), "library/tide-1.js", limits={"pywb": MODULE}),
    # The window is 800 pixels wide. The recorder's is 1920.
    Case("sizes", showing({"#set": "lime", "#picture": "yellow"}), "lime.png blue.png yellow.png"),
    Case("shadow", shadow_styles, "fonts.css wide.ttf first.css parts/second.css parts/lime.png"),
    Case("lazy", lazy_images, "yellow.png blue.png"),
    Case("svg", showing({"#used": "red", "#image": "blue"}), "shapes.svg boat.svg"),
    Case("form", showing(words="ordered: boat=Puffin&crew=Ana+%26+Jo%C3%A9")),
    Case("json", showing(words="2 seats on Puffin")),
    Case("graphql", showing(first="Cormorant", second="Puffin")),
    Case("stream", showing(words="ebb and flow at noon")),
    Case("film", film_with_ranges, "film.mp4"),
    Case("sound", sound, "sound.wav"),
    Case("coded", showing(brotli="from brotli: é", zstd="from zstd: é"), "brotli.js zstd.js"),
    Case("latin", showing(words=LATIN)),
    Case("japanese", showing(words=JAPANESE, script=JAPANESE), "words.js"),
    Case("utf16", showing(words=f"{LATIN}, {JAPANESE}"), limits=replay_limits(MARK)),
    Case("bom", showing(words=f"{LATIN}, {JAPANESE}"), limits=replay_limits(MARK)),
    Case("gone", showing({"#image": "lime"}, words="404 words of an error page"), "gone.png gone.txt"),
    Case("error", showing(words="500 words of a broken site"), "gone.txt"),
    Case("chain", chain, "end/ end/lime.png", "/chain/start"),
    Case("refresh", refresh, "next/ next/lime.png"),
    Case("push", showing({"img": "lime"}, words="words of the new place", place="/push/deep/er"), "deep/words.txt deep/lime.png"),
    Case("write", showing(words="from a written script", more="and more", after="written after it"), "written.js"),
    Case("base", showing({"img": "blue"}, words="words from elsewhere"), "else/where/blue.png else/where/words.txt"),
    Case("policy", showing(words="the script of the site has run"), "own.js"),
    Case("scopes", showing(words="a constant of another script"), "const.js", limits={"pywb": SCOPE}),
    Case("inline", showing(words="the inline script is stopped"), limits=replay_limits(POLICY, "pywb")),
    Case("cookie", showing(theme="dark", script="the script sees its cookie"), limits={"pywb": COOKIE}),
    Case("store", showing({"#first": "red", "#second": "blue"}, again="image/png"), "red.png"),
    Case("straße", showing(query="Übung", hash="#größe", words="Wörter der Straße"), "wörter.txt?name=groß",
        "/straße/?wort=Übung#größe"),
    Case("offline", showing(words="words that a service worker passes on"), "words.txt"),
    Case("invented", showing(words="words of the service worker"), limits=replay_limits(SERVICE, "pywb")),
]


def cases(step):
    """All cases, those with a limit in this step as expected failures."""
    marked = [pytest.param(case, id=case.name, marks=[pytest.mark.xfail(strict=True, reason=case.limits[step])] if step in case.limits else [])
        for case in CASES]
    return pytest.mark.parametrize("case", marked)


def as_sent(site, case, path=""):
    """The URL as browsers send it: in ASCII, and without a fragment."""
    url = site(f"/{case.name}/{path}" if path else case.start)
    return quote(url.partition("#")[0], safe=":/?&=")


@cases("live")
def test_live(site, browser, case):
    browser.page.goto(site(case.start))
    case.check(browser.page)


@cases("recorded")
def test_recorded(site, archives, case):
    """The archive has what the page needs, as the site sent it, and other programs take it for valid."""
    saved = archives[case]
    for path in case.needs.split():
        url = as_sent(site, case, path)
        route = site.routes[f"/{case.name}/{path}".partition("?")[0]]
        found = [record for record in saved.records if record.rec_type in ("response", "revisit") and record.uri == url]
        assert [(record.status, digest_of(record)) for record in found] == [(str(route.status), sha256(route.body).hexdigest())], url
    assert saved.row["error_code"] is None
    expect_valid(archives.capture, saved)


def digest_of(record):
    """Of the body. A body that is in the archive already, under another URL, isn't there again."""
    if record.rec_type == "revisit":
        return record.rec_headers.get_header("WARC-Payload-Digest").removeprefix("sha256:")
    return sha256(record.body).hexdigest()


def exchanges(saved, url, kind):
    return [record for record in saved.records if record.rec_type == kind and record.uri == url]


def test_redirects_are_recorded(site, archives):
    saved = archives[next(case for case in CASES if case.name == "chain")]
    steps = [(step, saved.of(site(f"/chain/{step}")).status) for step in ("start", "second", "third", "end/")]
    assert steps == [("start", "301"), ("second", "302"), ("third", "307"), ("end/", "200")]


def test_both_questions_are_recorded(site, archives):
    """Two bodies that were sent to one URL, each with its answer."""
    saved = archives[next(case for case in CASES if case.name == "graphql")]
    url = site("/graphql/api")
    sent = [record.body.decode() for record in exchanges(saved, url, "request")]
    assert [record.body.decode() for record in exchanges(saved, url, "response")] == [graphql(text) for text in sent]
    assert sorted(len(text) > 0 for text in sent) == [True, True]


@pytest.fixture
def untouched(site):
    """Replay requests nothing from the site."""
    before = site.asked.total()
    yield
    assert site.asked.total() == before, "replay asked the site"


def viewer_address(library, archive, mode):
    return f"{library.home}/?archive=/archives/{archive}.wacz" + (f"&replay={mode}" if mode != "lookups" else "")


@cases("lookups")
def test_replay_by_lookups(archives, browser, untouched, case):
    replay(archives, browser, case, "lookups")


@cases("ranges")
def test_replay_by_ranges(archives, browser, untouched, case):
    replay(archives, browser, case, "ranges")


def replay(archives, browser, case, mode):
    # What isn't in an archive is answered with 404, and so are the errors of sites.
    browser.allow(r"Failed to load resource.*(404|500)")
    browser.page.goto(viewer_address(archives.library, archives[case].row["archive"], mode))
    case.check(Viewer(browser.page).archived)


@pytest.mark.skipif(not pywb_server.is_installed(), reason="pywb isn't installed; `Scripts/bench 20-pywb-answers` installs it")
@cases("pywb")
def test_pywb_replays_it(site, archives, pywb, browser, untouched, case):
    browser.page.goto(f"http://127.0.0.1:{pywb.port}/saved/2/{as_sent(site, case)}{''.join(case.start.partition('#')[1:])}")
    case.check(browser.page.frame_locator("#replay_iframe"))
