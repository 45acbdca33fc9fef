"""Import and replay in Chromium, Firefox and WebKit, in ordinary and in private windows."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from support.archives import write_archive, write_captures
from support.engines import ENGINES
from support.engines.engine import ScriptError
from support.host import Host
from support.journey import SITE, TITLE
from support.places import FIXTURES
from support.storages import LOOK, PLANT, STORAGES, STORED_TYPE
from support.waiting import wait_until
from support.website import WebSite

SUPPORT = Path(__file__).parent / "support"
ATTACKS = (SUPPORT / "attacks.js").read_text(encoding="utf-8")
MODES = ["lookups", "ranges"]
ADDRESS = "() => document.querySelector('.url-bar input').value"


@pytest.fixture(params=["names", "ports"])
def host(request, tmp_path):
    """A server in each origin mode, with sample.wacz and second.wacz, which have captures of the same URLs."""
    host = Host(tmp_path, origins=request.param)
    for name in ["sample.wacz", "second.wacz"]:
        host.add(FIXTURES / name)
    with host:
        yield host


def viewer_address(host, archive, url="", timestamp="", mode=""):
    chosen = f"&replay={mode}" if mode else ""
    page = f"#url={quote(url, safe='')}&ts={timestamp}" if url else ""
    return f"{host.home}/?archive=/archives/{archive}.wacz{chosen}{page}"


def expect_home(engine):
    """Checks text, style sheet, image, title, the URL field and the tab's URL."""
    engine.wait_for_text_in_page("Autumn edition", "#edition")
    engine.wait_for_text_in_page("every tide brings a new line of wrack", "main")
    color = "() => getComputedStyle(document.querySelector('header.bar')).backgroundColor === 'rgb(15, 76, 92)'"
    engine.wait_for(color, what="the style sheet has an effect", in_page=True)
    width = "() => { const shore = document.querySelector('#shore'); return shore.complete && shore.naturalWidth; }"
    assert engine.wait_for(width, what="the image is loaded", in_page=True) == 960
    expect_at(engine, f"{SITE}/", "20241121090000", TITLE)


def expect_species(engine):
    """Checks content from modules, fetch() and XMLHttpRequest."""
    engine.wait_for_text_in_page("Low water at Skerry Bay: 06:42, high water: 12:55.", "#tide")
    for name in ["Common limpet", "Beadlet anemone", "Shore crab"]:
        engine.wait_for_text_in_page(name, "#species li")
    expect_at(engine, f"{SITE}/species/", "20241121090006", f"Species - {TITLE}")


def expect_at(engine, url, timestamp, title):
    engine.wait_for(f"(url) => ({ADDRESS})() === url", url, what=f"the URL field shows {url}")
    ending = f"url={quote(url, safe='')}&ts={timestamp}"
    engine.wait_for("(ending) => location.hash.endsWith(ending)", ending, what=f"the tab's URL ends with {ending}")
    engine.wait_for("(title) => document.title.startsWith(title)", title, what=f"the tab has the title {title}")


def expect_mode(engine, mode):
    """Checks the replay mode in the engine's database."""
    assert engine.run_in_agent(STORED_TYPE) == {"lookups": "live", "ranges": "wacz"}[mode]


def open_from_library(engine, host):
    """Opens the library at the address that `serve` prints, and clicks Open."""
    engine.go(host.address)
    engine.wait_for_text(TITLE, "main a")
    engine.click(f'a[aria-label="Open {TITLE}"]')


# By lookups, which is the default, other tests replay in all engines.
@pytest.mark.few("firefox names ranges", "webkit ports ranges")
@pytest.mark.parametrize("mode", MODES)
def test_pages_replay(host, engine, mode):
    """Library, page, link, back, forward, reload, a URL in a new tab, and an uncaptured page."""
    open_from_library(engine, host)
    expect_home(engine)
    if mode == "ranges":
        engine.go(viewer_address(host, "sample", mode=mode))
        expect_home(engine)
    expect_mode(engine, mode)
    engine.follow("Species")
    expect_species(engine)
    engine.back()
    expect_home(engine)
    engine.forward()
    expect_species(engine)
    engine.reload()
    expect_species(engine)
    engine.open_tab()
    engine.go(viewer_address(host, "sample", f"{SITE}/species/", "20241121090006", mode))
    expect_species(engine)
    engine.follow(TITLE)
    expect_home(engine)
    engine.follow("The winter pages")
    engine.wait_for_text("This page isn't in", "h1")
    engine.wait_for_text(f"{SITE}/winter.html", ".panel")
    expect_mode(engine, mode)


FRAMES = """<!doctype html><title>Frames</title><h1>Frames</h1><iframe id="property"></iframe><iframe id="attribute"></iframe>
<iframe id="written"></iframe><iframe srcdoc="<p>In markup</p>"></iframe><script>
const frame = (id) => document.getElementById(id);
frame("property").srcdoc = "<p>By property</p>";
frame("attribute").setAttribute("srcdoc", "<p>By attribute</p>");
frame("written").contentDocument.open();
frame("written").contentDocument.write("<p>By writing</p>");
frame("written").contentDocument.close();
</script>"""
FRAME_TEXTS = """() => [...document.querySelectorAll("iframe")]
    .map((frame) => frame.contentDocument?.body?.innerText.trim() ?? "").sort().join(", ")"""


@pytest.mark.few("firefox names ranges")
@pytest.mark.parametrize("open_engine", ["chromium", "firefox"], indirect=True)
@pytest.mark.parametrize("mode", MODES)
def test_frames_without_a_url_are_shown(host, engine, tmp_path, mode):
    """Frames that a script fills have no capture of their own. WebKitGTK doesn't show all of them (docs/replay.md)."""
    host.add(write_archive(tmp_path / "frames.wacz", "Frames", {"https://frames.example/": FRAMES}))
    engine.go(viewer_address(host, "frames", "https://frames.example/", mode=mode))
    engine.wait_for_text_in_page("Frames", "h1")
    shown = "By attribute, By property, By writing, In markup"
    engine.wait_for(f"(wanted) => ({FRAME_TEXTS})() === wanted", shown, what="all frames are filled", in_page=True)


# Resource Timing §4.3: transferSize is 0 if the browser had the response.
IS_CACHED = """async (url) => {
    await (await fetch(url)).arrayBuffer();
    performance.clearResourceTimings();
    await (await fetch(url)).arrayBuffer();
    return performance.getEntriesByName(url)[0].transferSize === 0;
}"""
REGISTER = """async (script) => {
    const { scope } = await navigator.serviceWorker.register(script, { scope: new URL(".", script).href, updateViaCache: "all" });
    return scope;
}"""


# Resource Timing in WebKit shows no cached responses here.
@pytest.mark.few("chromium names", "firefox names")
@pytest.mark.parametrize("open_engine", ["chromium", "firefox"], indirect=True)
def test_cached_script_does_not_become_a_worker(host, engine, tmp_path):
    """Even if the browser already has it in its cache, it asks the server, which refuses."""
    host.add(write_captures(tmp_path / "worker.wacz", "Worker", [
        ({"url": "https://worker.example/"}, b"<!doctype html><title>Worker</title><h1>Worker</h1>"),
        ({"url": "https://worker.example/worker.js", "type": "text/javascript"}, b"addEventListener('fetch', () => {});")]))
    engine.go(viewer_address(host, "worker"))
    engine.wait_for_text_in_page("Worker", "h1")
    origin, collection = host.replay_origin("worker"), host.archive("worker")["replayCollection"]
    page, script = [f"{origin}/c/{collection}/20241121090000ir_/https://worker.example/{name}" for name in ["", "worker.js"]]
    assert [engine.run_in_agent(IS_CACHED, url) for url in [script, page]] == [True, False]
    engine.allow("service worker|403")
    with pytest.raises(ScriptError, match="403|encountered an error"):
        engine.run_in_agent(REGISTER, script)
    # The same call registers a script that the server offers as a worker.
    assert engine.run_in_agent(REGISTER, f"{origin}/sw.js?again") == f"{origin}/"


@pytest.mark.few("firefox names", "webkit ports")
def test_archives_do_not_see_what_others_stored(host, engine):
    """Data of an archived page and of the agent's page isn't visible to another archive in the same tab."""
    engine.go(viewer_address(host, "sample"))
    expect_home(engine)
    for run in [engine.run_in_page, engine.run_in_agent]:
        run(PLANT)
        assert sorted(run(LOOK)) == sorted(STORAGES)
    origin = engine.run_in_agent("() => origin")
    engine.go(viewer_address(host, "second"))
    engine.wait_for_text_in_page("This archive must never show a tidepool.", "#shared")
    assert engine.run_in_agent("() => origin") != origin
    for run in [engine.run_in_page, engine.run_in_agent]:
        assert run(LOOK) == []
    engine.go(viewer_address(host, "sample"))
    expect_home(engine)
    # Firefox may forget a frame's sessionStorage when the tab has been elsewhere.
    assert {*STORAGES} - {*engine.run_in_agent(LOOK)} <= {"sessionStorage"}


@pytest.mark.few("webkit names")
def test_archive_is_opened_by_the_function(host, engine):
    """`setArchiveURL` resolves when the page is shown, and rejects URLs that aren't archives in this library."""
    engine.go(f"{host.home}/")
    engine.wait_for_text(TITLE, "main a")
    assert engine.run("(path) => setArchiveURL(path)", "/archives/sample.wacz") is None
    assert engine.run_in_page("() => document.querySelector('#edition').textContent") == "Autumn edition"
    expect_home(engine)
    origin = host.replay_origin("sample")
    scope, script = engine.run_in_agent("""async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        return [registration.scope, registration.active.scriptURL];
    }""")
    assert scope == f"{origin}/"
    assert script.startswith(f"{origin}/sw.js?")
    assert engine.run_in_agent("() => self.origin") == origin
    # The engine hides the replay origin from the page's scripts, but not from this API.
    shown = engine.run_in_page("() => performance.getEntriesByType('navigation')[0].name")
    assert shown.startswith(f"{origin}/{host.archive('sample')['replayCollection']}/")
    engine.allow("404")
    for path, message in [
        ("/archives/nobody.wacz", 'no archive has the id or file name "nobody"'),
        ("https://example.org/archives/sample.wacz", "another host"),
    ]:
        with pytest.raises(ScriptError, match=message):
            engine.run("(path) => setArchiveURL(path)", path)
        expect_home(engine)


@pytest.mark.few("firefox ports")
def test_private_window_replays(host, open_engine):
    """Replay in a private window, by lookups and by ranges."""
    engine = open_engine(private=True)
    open_from_library(engine, host)
    expect_home(engine)
    engine.follow("Species")
    expect_species(engine)
    engine.reload()
    expect_species(engine)
    engine.open_tab()
    engine.go(viewer_address(host, "sample", mode="ranges"))
    expect_home(engine)
    expect_mode(engine, "ranges")


def blocking(what):
    """The engines in which a user can block this."""
    return pytest.mark.parametrize(
        "open_engine", [name for name in ENGINES if what in ENGINES[name].can_block], indirect=True)


def expect_refusal(engine, host, what):
    """The library works. The viewer shows the message and a hint, also for a replay URL. Returns the hint."""
    engine.go(f"{host.home}/")
    engine.wait_for_text(TITLE, "main a")
    engine.go(viewer_address(host, "sample"))
    engine.wait_for_text(f"“{TITLE}” can't be opened", ".failure-panel h1")
    engine.wait_for_text(what, ".failure-panel [role=alert]")
    hint = "() => document.querySelector('.failure-panel [role=alert] + p').innerText"
    text = engine.run(hint)
    collection = host.archive("sample")["replayCollection"]
    engine.go(f"{host.replay_origin('sample')}/{collection}/20241121090000id_/{SITE}/")
    engine.wait_for_text(what, ".failure-panel [role=alert]")
    assert engine.run(hint) == text
    return text


@pytest.mark.few("firefox names", "webkit ports")
@blocking("workers")
def test_browser_without_workers(host, open_engine):
    """Turned off in the settings."""
    hint = expect_refusal(
        open_engine(blocks="workers"), host, "Replay needs service workers, which are turned off in this browser.")
    assert "ordinary window" in hint and "dom.serviceWorkers.enabled" in hint


@pytest.mark.few("chromium ports")
@blocking("site data")
def test_browser_that_blocks_site_data(host, open_engine):
    """Allowing exactly the sites in the hint makes replay work."""
    engine = open_engine(blocks="site data")
    hint = expect_refusal(engine, host, "The browser blocked the replay engine.")
    names = re.search(r"Allow it for (\S+) \(in Firefox: for (\S+)\)", hint)
    engine = open_engine(blocks="site data", allows=names[2 if engine.name == "firefox" else 1])
    engine.go(viewer_address(host, "sample"))
    expect_home(engine)


# test_views.py has all views, in Chromium.
@pytest.mark.few("firefox", "webkit")
@pytest.mark.parametrize("host", ["names"], indirect=True)
def test_views_fit_a_narrow_window(host, engine):
    """The library and the viewer don't scroll horizontally in the narrowest window."""
    narrow = "() => [innerWidth, document.documentElement.scrollWidth]"
    engine.go(f"{host.home}/")
    engine.wait_for_text(TITLE, "main a")
    engine.resize(360, 740)
    width, needed = engine.run(narrow)
    assert needed <= width <= 500
    engine.go(viewer_address(host, "sample"))
    expect_home(engine)
    width, needed = engine.run(narrow)
    assert needed <= width <= 500


def open_and_expect(engine, tab, text, selector):
    """Opens a tab of the archive's page by a click."""
    engine.click(f'.tabs a[href*="view={tab}"]')
    engine.wait_for_text(text, selector)


# test_imports.py, test_search.py and others do this in Chromium.
@pytest.mark.few("firefox names", "webkit ports")
@pytest.mark.parametrize("open_engine", ["firefox", "webkit"], indirect=True)
def test_archive_is_added_searched_and_looked_through(host, engine):
    """A file that is chosen, a search that leads to a page, and the tabs of its archive."""
    engine.go(f"{host.home}/")
    engine.wait_for_text(TITLE, "main a")
    # What loads after the first view is there, too.
    engine.wait_for_text("replayhost", "#footer")
    engine.choose_file("input[type=file]", FIXTURES / "no-pages.wacz")
    engine.wait_for_text("Added “", ".toast")
    engine.wait_for("() => location.hash === '#view=overview'", what="the archive opens")
    # A click while the view is replaced would hit two elements, and open nothing.
    engine.wait_for_text("A single leaf", "main h1")
    engine.click(".wordmark")
    engine.wait_for_text("3 archives", ".library-summary")
    host.wait_until_indexed()
    engine.type(".search-field", "limpet")
    engine.wait_for_text(f"Common limpet - {TITLE}", ".hits h2 a")
    engine.click('.hits h2 a[href*="limpet.html"]')
    engine.wait_for_text_in_page("Its teeth are harder than any other known living thing.", "main")
    engine.click(".archive-name")
    engine.wait_for_text(f"Species - {TITLE}", ".page-line a")
    open_and_expect(engine, "urls", f"{SITE}/tides.html", ".urls td.url a")
    open_and_expect(engine, "files", "anemone.png", ".files .name")
    open_and_expect(engine, "timeline", "Nov", ".bars .tick")
    open_and_expect(engine, "details", "Verification", "main h2, main h3")
    open_and_expect(engine, "overview", "media.fieldguide.example", ".counted a")
    engine.click(".main-card")
    expect_home(engine)


CALL_OUT = f"() => {{ {ATTACKS}\nreturn attackNetwork(); }}"


# test_escapes.py tries more in all engines.
@pytest.mark.few("chromium")
@pytest.mark.parametrize("host", ["names"], indirect=True)
def test_archived_page_cannot_call_the_network(host, engine, tmp_path):
    """Requests of markup and scripts to other hosts are blocked."""
    markup = (SUPPORT / "leaks.html").read_text(encoding="utf-8")
    host.add(write_archive(tmp_path / "leaks.wacz", "Leaks", {"https://leaks.example/": markup}))
    engine.go(viewer_address(host, "leaks"))
    engine.wait_for_text_in_page("A page that calls out", "h1")
    assert len(engine.run_in_page(CALL_OUT)) == 8
    engine.follow("A link with a ping")
    engine.wait_for_text("This page isn't in", "h1")
    assert engine.sink.from_pages == []


@pytest.mark.parametrize("name", ENGINES)
def test_control_the_sink_receives_requests(playwright, tmp_path, name):
    """The control: the same calls from a page without replay all reach the sink."""
    site = WebSite()
    engine = ENGINES[name](tmp_path / "browser", playwright=playwright)
    try:
        engine.go(f"http://localhost:{site.port}/")
        engine.run(CALL_OUT)
        wanted = ["leak-fetch.example", "leak-socket.example", "leak-beacon.example", "leak-image.example"]
        wait_until(lambda: set(wanted) <= set(engine.sink.from_pages), f"the sink receives {wanted}")
    finally:
        engine.close()
        site.close()
