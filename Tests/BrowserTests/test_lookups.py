"""The replay modes: by lookups the server answers for each capture, by ranges the engine reads the file."""

import itertools
import re

import pytest

from support.archives import write_archive, write_captures
from support.browser import is_control
from support.expecting import expect
from support.film import lengthen
from support.journey import SITE, TITLE, expect_home, expect_species, read_all
from support.places import FIXTURES
from support.storages import CHANGE_SETTINGS
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

MODES = ["lookups", "ranges"]
UNCAPTURED = "This page isn't in"
EXAMPLE = "https://page.example"
CINEMA = b'<!doctype html><title>Film</title><h1>Film</h1><video id="film" muted preload="auto" src="/film.webm"></video>'


def open_by(page, host, mode, identifier="sample", fragment=""):
    """Opens an archive in a replay mode; an empty one means the default."""
    chosen = f"&replay={mode}" if mode else ""
    page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz{chosen}{fragment}")
    return Viewer(page)


def lookups(browser, identifier="sample"):
    """The captures that the engine requested from the server."""
    return [url for url in browser.requests if not is_control(url) and f"/c/{identifier}-" in url
        and re.search(r"/\d*ir_/", url)]


def forget(browser):
    browser.requests.clear()


def reads(browser):
    """Requests for bytes of an archive's file."""
    return [url for url in browser.requests if "/archives/" in url and "view=replay" in url]


def expect_mode(browser, mode):
    """By ranges, the file is read many times and no capture is requested. By lookups, only the file's existence is checked."""
    if mode == "ranges":
        assert lookups(browser) == []
        assert len(reads(browser)) > 3
    else:
        assert len(lookups(browser)) > 3
        assert len(reads(browser)) <= 2


@pytest.mark.few("ranges")
@pytest.mark.parametrize("mode", MODES)
def test_journey_in_each_mode(host_with_sample, browser, mode):
    """Everything that archived pages consist of, from the list of pages. The URL keeps the mode."""
    page = browser.page
    open_by(page, host_with_sample, mode, fragment="#view=pages")
    row = page.get_by_role("listitem").filter(has_text="21 November 2024, 09:00 UTC")
    row.get_by_role("link", name=TITLE, exact=True).click()
    read_all(Viewer(page))
    assert f"&replay={mode}#url=" in page.url
    expect_mode(browser, mode)


def test_lookups_are_the_default(host_with_sample, browser):
    expect_home(open_by(browser.page, host_with_sample, ""))
    expect_mode(browser, "lookups")
    assert "replay=" not in browser.page.url


def test_page_files_are_cached(host_with_sample, browser):
    """Fetched again, the style sheet comes from the browser's cache, and the page from the server."""
    viewer = open_by(browser.page, host_with_sample, "")
    expect_home(viewer)
    [style] = [url for url in lookups(browser) if url.endswith(".css")]
    home = next(url for url in lookups(browser) if url.endswith(f"ir_/{SITE}/"))
    # Bytes that came from the server, with header fields. Resource Timing §4.3: 0 if the browser had the answer.
    received = viewer.agent_frame.evaluate("""async (urls) => {
        const sizes = [];
        for (const url of urls) {
            performance.clearResourceTimings();
            await (await fetch(url)).arrayBuffer();
            sizes.push(performance.getEntriesByName(url)[0].transferSize);
        }
        return sizes;
    }""", [style, home])
    assert received[0] == 0
    assert received[1] > 0
    # A tab that goes to the style sheet doesn't get it from the cache (`Vary: Sec-Fetch-Mode`).
    tab = browser.context.new_page()
    session = browser.context.new_cdp_session(tab)
    answers = []
    session.on("Network.responseReceived", lambda event: answers.append(event["response"]))
    session.send("Network.enable")
    tab.goto(style)
    assert [(answer["url"], answer["fromDiskCache"]) for answer in answers][:1] == [(style, False)]


def test_captures_and_the_database_are_read_once(host_with_sample, browser):
    """Opening a URL without a time looks up its captures once before the page loads, and once after. For the next page, the agent reads the engine's
    database once."""
    viewer = open_by(browser.page, host_with_sample, "", fragment=f"#url={SITE}/species/&ts=")
    expect_species(viewer)
    asked = lambda urls: len([url for url in urls if "/api/archives/sample/captures?" in url])
    assert asked(browser.requests[:next(place for place, url in enumerate(browser.requests) if "mp_/" in url)]) == 1
    wait_until(lambda: browser.page.wait_for_timeout(20) or asked(browser.requests) == 2, "the captures are looked up once more")
    viewer.agent_frame.evaluate("""() => {
        const { get } = IDBObjectStore.prototype;
        window.reads = 0;
        IDBObjectStore.prototype.get = function (...key) {
            window.reads += 1;
            return get.apply(this, key);
        };
    }""")
    viewer.open_url(f"{SITE}/")
    expect_home(viewer)
    assert viewer.agent_frame.evaluate("() => window.reads") == 1


def test_deep_link_at_the_replay_origin_uses_lookups(host_with_sample, browser):
    """In a browser with an empty profile."""
    collection = host_with_sample.archive("sample")["replayCollection"]
    browser.page.goto(f"{host_with_sample.replay_origin('sample')}/{collection}/20241121090006mp_/{SITE}/species/")
    expect_species(Viewer(browser.page))
    expect_mode(browser, "lookups")


@pytest.mark.parametrize("answer", ["503", "none"])
def test_ranges_are_used_when_the_server_answers_no_lookups(host_with_sample, browser, answer):
    """Even if the URL selects lookups."""
    def refuse(route):
        if answer == "503":
            route.fulfill(status=503, body="not now")
        else:
            route.abort()

    browser.context.route("**/c/sample-*/cdx?*", refuse)
    viewer = open_by(browser.page, host_with_sample, "lookups")
    expect_home(viewer)
    viewer.follow("Species")
    expect_species(viewer)
    expect_mode(browser, "ranges")


def test_ranges_are_used_when_the_engine_refuses_lookups(host_with_own_assets, own_assets, browser):
    script = own_assets / "vendor" / "sw.js"
    code = script.read_text(encoding="utf-8")
    assert code.count('case"live":') == 1, "the engine has another name for collections of lookups"
    script.write_text(code.replace('case"live":', 'case"unknown":'), encoding="utf-8")
    host_with_own_assets.add(FIXTURES / "sample.wacz")
    expect_home(open_by(browser.page, host_with_own_assets, ""))
    expect_mode(browser, "ranges")


def test_another_mode_replaces_the_collection(host_with_sample, browser):
    """In one browser profile. The engine doesn't use data of the previous mode."""
    for mode in ["lookups", "ranges", "lookups"]:
        browser.page.goto("about:blank")
        forget(browser)
        expect_home(open_by(browser.page, host_with_sample, mode))
        expect_mode(browser, mode)


def test_collection_that_a_page_changed_is_replaced(host_with_sample, browser):
    """Archived scripts can write to the engine's database. Their changes are gone when the archive is opened again."""
    page = browser.page
    agent_url = re.compile(rf"^{re.escape(host_with_sample.replay_origin('sample'))}/(\?replay=\w+)?$")

    def settings(changed={}):
        page.wait_for_timeout(20)
        agent = page.frame(url=agent_url)
        return agent and agent.evaluate(CHANGE_SETTINGS, changed)

    viewer = open_by(page, host_with_sample, "")
    expect_home(viewer)
    wait_until(lambda: settings({"csp": "default-src *"}) is not None, "the engine has the collection")
    assert settings()["csp"] == "default-src *"
    page.goto("about:blank")
    viewer = open_by(page, host_with_sample, "")
    # The page is loaded before the engine is set up, and again after it.
    wait_until(lambda: (now := settings()) is not None and "csp" not in now, "the collection is replaced")
    expect_home(viewer)


def test_pages_that_set_up_the_engine_wait_for_each_other(host_with_sample, browser):
    """The agent, and a page that the server got a request for: the second one finds what the first one added."""
    viewer = open_by(browser.page, host_with_sample, "")
    expect_home(viewer)
    agent = viewer.agent_frame
    set_up_twice = """(url) => Promise.all([1, 2].map(() => new Promise((done) => {
        const frame = document.createElement("iframe");
        addEventListener("message", ({ source, data: { replayhost: kind, isKept } }) => {
            if (source === frame.contentWindow && ["ready", "failed"].includes(kind)) done([kind, isKept]);
        });
        frame.src = url;
        document.body.append(frame);
    })))"""
    assert browser.page.evaluate(set_up_twice, agent.url) == [["ready", True], ["ready", True]]
    assert agent.evaluate(CHANGE_SETTINGS, {"csp": "default-src *"}) is not None
    assert sorted(browser.page.evaluate(set_up_twice, agent.url)) == [["ready", False], ["ready", True]]
    assert "csp" not in agent.evaluate(CHANGE_SETTINGS, {})
    # An archived script that keeps the lock delays the setup, but doesn't prevent it.
    agent.evaluate("() => { navigator.locks.request('replayhost-setup', () => new Promise(() => {})); }")
    assert browser.page.evaluate(set_up_twice, agent.url) == [["ready", True], ["ready", True]]


@pytest.mark.few("lookups")
@pytest.mark.parametrize("mode", MODES)
def test_mode_stays_when_the_browser_cleared_its_storage(host_with_sample, browser, mode):
    """For the next link, the server's page in the frame sets up the mode in the viewer's URL."""
    viewer = open_by(browser.page, host_with_sample, mode)
    expect_home(viewer)
    browser.clear_storage(host_with_sample.replay_origin("sample"))
    forget(browser)
    viewer.follow("Species")
    expect_species(viewer)
    viewer.follow("Film")
    expect(viewer.read("#film")).to_be_visible()
    expect_mode(browser, mode)


@pytest.fixture
def odd_archive(host, tmp_path):
    """Captured errors, documents without the engine's script, and links to uncaptured URLs."""
    def page(title, body):
        return f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{body}".encode()

    links = "".join(f'<p><a href="{path}">{path}</a>' for path in [
        "/broken", "/gone", "/moved", "/picture.png", "/words.json", "/missing.png", "/missing", "/missing?x=1#part",
        "/tide?_=1732180000001"])
    picture = (FIXTURES / "site" / "media" / "anemone.png").read_bytes()
    host.add(write_captures(tmp_path / "odd.wacz", "Odd", [
        ({"url": f"{EXAMPLE}/"}, page("Odd", links)),
        ({"url": f"{EXAMPLE}/broken", "status": 500}, page("Broken then", "<p id=own>The database was away that day.")),
        ({"url": f"{EXAMPLE}/gone", "status": 404}, page("Gone then", "<p id=own>It was away already.")),
        ({"url": f"{EXAMPLE}/moved", "status": 301, "location": "/gone"}, page("Moved", "")),
        ({"url": f"{EXAMPLE}/tide?_=1732179600000"}, page("Tide", "<p id=own>Low water at six.</p>")),
        ({"url": f"{EXAMPLE}/picture.png", "file": "picture.png"}, picture),
        ({"url": f"{EXAMPLE}/words.json", "file": "words.json"}, b'{"tide": "low"}'),
    ]))
    return host


def open_odd(page, host, mode):
    viewer = open_by(page, host, mode, "odd")
    expect(viewer.read("h1")).to_have_text("Odd")
    return viewer


@pytest.mark.few("lookups")
@pytest.mark.parametrize("mode", MODES)
def test_archived_errors_and_redirects_show_what_was_archived(odd_archive, page, mode):
    viewer = open_odd(page, odd_archive, mode)
    for path, text in [
        ("/broken", "The database was away that day."), ("/gone", "It was away already."),
        ("/moved", "It was away already."),
    ]:
        viewer.follow(path)
        expect(viewer.read("#own")).to_have_text(text)
        expect(viewer.address).to_have_value(f"{EXAMPLE}{path}".replace("moved", "gone"))
        expect(page.get_by_role("heading", name=UNCAPTURED)).to_have_count(0)
        page.reload()
        expect(viewer.read("#own")).to_have_text(text)
        page.get_by_role("button", name="Back", exact=True).click()
        expect(viewer.read("h1")).to_have_text("Odd")


@pytest.mark.parametrize("mode", MODES)
def test_fuzzy_match_is_shown_with_its_own_url(odd_archive, page, mode):
    """A link and a typed URL with another cache buster open the capture, and the URL field shows its URL."""
    viewer = open_odd(page, odd_archive, mode)
    captured = f"{EXAMPLE}/tide?_=1732179600000"
    viewer.follow("/tide?_=1732180000001")
    expect(viewer.read("#own")).to_have_text("Low water at six.")
    expect(viewer.address).to_have_value(captured)
    hint = page.locator(".hint-bar")
    said = "This URL wasn't captured: {}. A capture of a similar URL is shown.".format
    expect(hint).to_have_text(said(f"{EXAMPLE}/tide?_=1732180000001"))
    page.get_by_role("button", name="Back", exact=True).click()
    expect(viewer.read("h1")).to_have_text("Odd")
    expect(hint).to_be_hidden()
    viewer.open_url("page.example/tide?_=5")
    expect(viewer.read("#own")).to_have_text("Low water at six.")
    expect(viewer.address).to_have_value(captured)
    expect(hint).to_have_text(said("https://page.example/tide?_=5"))


@pytest.fixture
def sending_archive(host, tmp_path):
    """A page that sends data by a script and by forms. Of one URL, one answer was captured; of another, two."""
    def form(path, words):
        return f'<form method=post action="{path}"><input type=hidden name=q value="{words}"><button>{path}</button></form>'

    script = """<script>
        const send = async (path, q) => {
            const answer = await fetch(path, { method: "POST", body: new URLSearchParams({ q, nonce: Math.random() }) });
            document.querySelector("#answer").textContent = path + " " + (answer.ok ? await answer.text() : answer.status);
        };
    </script><p id=answer></p>"""
    captures = [("/", "", "<h1>Start</h1>" + script + form("/one", "seal") + form("/several", "seal")),
        ("/one", "q=sea&nonce=1", "<h1>Sea</h1>"), ("/several", "q=sea&nonce=1", "<h1>Sea</h1>"),
        ("/several", "q=shore&nonce=2", "<h1>Shore</h1>")]
    host.add(write_captures(tmp_path / "sending.wacz", "Sending", [
        ({"url": EXAMPLE + path, "form": data}, f"<!doctype html><title>{path}</title>{body}".encode()) for path, data, body in captures]))
    return host


@pytest.mark.parametrize("mode", MODES)
def test_answer_to_other_data_is_shown_only_if_it_is_the_only_one(sending_archive, browser, mode):
    """And then the viewer says so, for a script's request and for a form's."""
    page = browser.page
    browser.allow("404")
    viewer = open_by(page, sending_archive, mode, "sending")
    expect(viewer.read("h1")).to_have_text("Start")
    hint = page.locator(".hint-bar")
    said = "This page sent other data than when it was captured. It got the answer to a similar request."
    frame = viewer.archived_frame
    frame.evaluate("send('/several', 'sea')")
    expect(viewer.read("#answer")).to_have_text("/several 404")
    expect(hint).to_be_hidden()
    frame.evaluate("send('/one', 'sea')")
    expect(viewer.read("#answer")).to_contain_text("Sea")
    expect(hint).to_have_text(said)
    viewer.read("button:text-is('/one')").click()
    expect(viewer.read("h1")).to_have_text("Sea")
    expect(hint).to_contain_text(said)
    # The agent can see a page before it reports itself, so a second report can differ. Here it follows the page's own reports.
    again = """([url, title]) => parent.postMessage({ wb_type: "load", url, ts: "20241121090000", title, icons: [] }, "*")"""
    titles = (f"Reported again {number}" for number in itertools.count())
    wait_until(lambda: viewer.archived_frame.evaluate(again, [f"{EXAMPLE}/one", next(titles)]) or page.wait_for_timeout(100)
        or page.title().startswith("Reported again"), "the page is reported again")
    expect(hint).to_contain_text(said)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(viewer.read("h1")).to_have_text("Start")
    viewer.read("button:text-is('/several')").click()
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()


@pytest.mark.parametrize("mode", MODES)
def test_unchanged_answer_without_an_earlier_state_is_not_recorded(host, tmp_path, page, mode):
    """A later state doesn't stand for it, neither in the frame nor in the toolbar."""
    later = "2024-11-22T09:00:00Z"
    host.add(write_captures(tmp_path / "unchanged.wacz", "Unchanged", [
        ({"url": f"{EXAMPLE}/"}, b"<!doctype html><title>Start</title><h1>Start</h1>"),
        ({"url": f"{EXAMPLE}/news", "status": 304, "file": "news.html", "type": "text/html"}, b""),
        ({"url": f"{EXAMPLE}/news", "time": later}, b"<!doctype html><title>News</title><h1>Later news</h1>")]))
    viewer = open_by(page, host, mode, "unchanged", f"#url={EXAMPLE}/news&ts=20241121090000")
    expect(page.get_by_role("heading", name=re.compile(f"{UNCAPTURED}|This capture can't be shown"))).to_be_visible()
    expect(page.get_by_text("Captured 22 November")).to_have_count(0)
    viewer = open_by(page, host, mode, "unchanged", f"#url={EXAMPLE}/news&ts=20241122090000")
    expect(viewer.read("h1")).to_have_text("Later news")


@pytest.mark.few("lookups")
@pytest.mark.parametrize("mode", MODES)
def test_documents_without_a_script_are_shown_with_their_url(odd_archive, page, mode):
    """An image and a JSON file in the frame. Back shows the page again."""
    viewer = open_odd(page, odd_archive, mode)
    for path, selector in [("/picture.png", "img"), ("/words.json", "pre")]:
        viewer.follow(path)
        expect(viewer.read(selector)).to_be_visible()
        expect(viewer.address).to_have_value(f"{EXAMPLE}{path}")
        expect(page.locator(".panel")).to_have_count(0)
        page.get_by_role("button", name="Back", exact=True).click()
        expect(viewer.read("h1")).to_have_text("Odd")
        expect(viewer.address).to_have_value(f"{EXAMPLE}/")


@pytest.mark.few("ranges")
@pytest.mark.parametrize("mode", MODES)
def test_link_to_an_uncaptured_url(odd_archive, page, mode):
    """Shows the panel; Back, Forward and the panel's button work."""
    viewer = open_odd(page, odd_archive, mode)
    panel = page.get_by_role("heading", name=UNCAPTURED)
    for path in ["/missing", "/missing?x=1#part", "/missing.png"]:
        viewer.follow(path)
        expect(panel).to_be_visible()
        expect(page.get_by_text(f"{EXAMPLE}{path}").first).to_be_visible()
        expect(page).to_have_title(re.compile("^Not captured"))
        page.get_by_role("button", name="Back", exact=True).click()
        expect(panel).to_have_count(0)
        expect(viewer.read("h1")).to_have_text("Odd")
        page.get_by_role("button", name="Forward", exact=True).click()
        expect(panel).to_be_visible()
        page.get_by_role("button", name="Go back").click()
        expect(panel).to_have_count(0)
        expect(viewer.address).to_have_value(f"{EXAMPLE}/")


@pytest.mark.few("ranges")
@pytest.mark.parametrize("mode", MODES)
def test_typed_uncaptured_url(odd_archive, page, mode):
    """"Go back" shows the page behind the panel."""
    viewer = open_odd(page, odd_archive, mode)
    viewer.open_url("page.example/nowhere")
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    page.get_by_role("button", name="Go back").click()
    expect(viewer.read("h1")).to_be_visible()
    expect(viewer.address).to_have_value(f"{EXAMPLE}/")


@pytest.mark.few("lookups")
@pytest.mark.parametrize("mode", MODES)
def test_unreadable_capture_shows_a_panel(host, page, mode):
    """The server's error page isn't shown as an archived page."""
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    viewer = open_by(page, host, mode, "index-past-the-end", "#url=https://leaf.example/")
    expect(page.get_by_role("heading", name="This capture can't be shown")).to_be_visible()
    expect(page.get_by_text("The file may be damaged")).to_be_visible()
    expect(viewer.read("h1")).to_be_hidden()


def test_page_that_changes_its_own_url_stays(host, page, tmp_path):
    """No panel covers a page that pushes an uncaptured URL, as web apps do."""
    html = "<!doctype html><title>App</title><h1>App</h1><script>history.pushState(null, '', '/made-up');</script>"
    host.add(write_archive(tmp_path / "app.wacz", "App", {f"{EXAMPLE}/": html}))
    viewer = open_by(page, host, "lookups", "app")
    expect(page.get_by_text("This page changed its URL to one that wasn't captured.")).to_be_visible()
    expect(viewer.read("h1")).to_be_visible()
    expect(page.get_by_role("heading", name=UNCAPTURED)).to_have_count(0)
    expect(viewer.address).to_have_value(f"{EXAMPLE}/")


def test_stopped_server_is_not_reported_as_uncaptured(host_with_sample, browser):
    """A link to a captured page shows that the server has stopped. "Try again" opens the page."""
    page = browser.page
    browser.allow("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE")
    viewer = open_by(page, host_with_sample, "lookups")
    expect_home(viewer)
    host_with_sample.stop()
    viewer.follow("Species")
    expect(page.get_by_role("alert")).to_contain_text("replayhost has stopped")
    viewer.block_restart_detection()
    host_with_sample.start()
    page.get_by_role("button", name="Try again").click()
    expect_species(viewer)


@pytest.mark.parametrize("mode", MODES)
def test_long_film_seeks(host, browser, tmp_path, mode):
    """Ten minutes, 8 MB: a time near the end plays soon. By lookups, the engine forwards the range and skips the part before
    it. By ranges, it reads the film's record from its start at every seek.
    """
    film = lengthen((FIXTURES / "site" / "media" / "waves.webm").read_bytes(), 100)
    host.add(write_captures(tmp_path / "cinema.wacz", "Cinema", [
        ({"url": f"{EXAMPLE}/"}, CINEMA), ({"url": f"{EXAMPLE}/film.webm", "file": "film.webm"}, film)]))
    asked = []
    browser.context.on("request", lambda request: "film.webm" in request.url and "/c/" in request.url
        and asked.append(request.headers.get("range", "")))
    viewer = open_by(browser.page, host, mode, "cinema")
    expect(viewer.read("h1")).to_have_text("Film")
    seek = """async (video, time) => {
        await new Promise((done, failed) => {
            video.addEventListener("seeked", done, { once: true });
            video.addEventListener("error", () => failed(new Error(video.error.message)), { once: true });
            video.currentTime = time;
        });
        const ranges = video.buffered;
        const buffered = [...Array(ranges.length).keys()].map((i) => [ranges.start(i), ranges.end(i)]);
        return { time: video.currentTime, state: video.readyState, width: video.videoWidth, buffered };
    }"""
    video = viewer.read("#film")
    wait_until(lambda: video.evaluate("film => film.readyState") >= 1, "the film says how long it is")
    assert round(video.evaluate("film => film.duration")) == 600
    for time in [580, 30, 300]:
        came = video.evaluate(seek, time)
        assert came["time"] == time and came["state"] >= 2 and came["width"] == 640
        assert any(start <= time <= end for start, end in came["buffered"])
    if mode == "lookups":
        starts = [int(number) for number in re.findall(r"bytes=(\d+)-", " ".join(asked))]
        assert max(starts) > 0.8 * len(film), "the end was requested separately"
        assert not any(start <= 100 and end >= 500 for start, end in came["buffered"])
    else:
        assert asked == []
