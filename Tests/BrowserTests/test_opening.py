"""A page opens while the app still loads: what begins before it, what waits for it, and what the viewer adopts."""

import contextlib
import json
import re

import pytest

from support.archives import write_archive, write_captures
from support.engines.firefox import Firefox
from support.expecting import expect
from support.journey import SITE, TITLE, expect_home, expect_species
from support.places import APP_SCRIPT, IS_BUNDLED
from support.storages import CHANGE_SETTINGS
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

SPECIES = f"{SITE}/species/"
PAGE_FRAME, AGENT_FRAME = "___wb_replay_top_frame", "___replayhost_agent"
# What the page does not need. It is asked afterwards.
LATER = re.compile(r"/api/(?:events|health|jobs)|/favicon\.ico|/app/icon\.svg")
# The app waits 2 s for the page, and a page can be slower on a busy computer: the app never stops waiting here.
WITHOUT_LIMIT = "const wait = window.setTimeout; window.setTimeout = (call, time, ...rest) => time === 2000 ? (window.isWithoutLimit = true) : wait(call, time, ...rest);"
ATTRIBUTES = """(name) => {
    const frame = document.querySelector(`iframe[name="${name}"]`);
    return Object.fromEntries([...frame.attributes].filter(({ name }) => name !== "src").map(({ name, value }) => [name, value]));
}"""


class HeldApp:
    """Keeps the app's script from loading until it is released."""

    def __init__(self, page):
        self.page = page
        self.held = []
        self.is_released = False
        page.route(APP_SCRIPT, self.handle)

    def handle(self, route):
        if self.is_released:
            route.continue_()
        else:
            self.held.append(route)

    def wait(self):
        wait_until(lambda: self.page.wait_for_timeout(20) or self.held, "the app is requested")

    def release(self):
        self.is_released = True
        for route in self.held:
            route.continue_()


def address_of(host, url=SPECIES, archive="sample", timestamp="20241121090006"):
    return f"{host.home}/?archive=/archives/{archive}.wacz#url={url}&ts={timestamp}"


def visit(host, page, **parts):
    page.goto(address_of(host, **parts), wait_until="commit")
    return Viewer(page)


def documents(browser, host, archive="sample"):
    """The documents at the archive's origin that were requested: `/`, or `/COLLECTION/…mp_/…/`."""
    origin = host.replay_origin(archive)
    return [url.removeprefix(origin) for url in browser.requests if re.match(rf"{re.escape(origin)}/(?:[^/]+/\d+mp_/.*/)?$", url)]


def open_again(host, browser, **parts):
    """Opens a page in a new tab of a browser that has opened the archive before, without the app."""
    visit(host, browser.page)
    expect_species(Viewer(browser.page))
    browser.page.goto("about:blank")
    browser.requests.clear()
    app = HeldApp(browser.page)
    visit(host, browser.page, **parts)
    app.wait()
    return app


def wait_for_frame(page, name, path):
    def is_there():
        page.wait_for_timeout(20)
        frame = page.frame(name=name)
        return frame and re.search(path, frame.url)

    wait_until(is_there, f"{name} is at {path}")


def test_page_is_loaded_without_the_app(shared_host_with_sample, browser):
    """Unseen until the viewer adopts it, and only once. Then everything is as if the viewer had opened it."""
    host, page = shared_host_with_sample, browser.page
    app = open_again(host, browser)
    expect(page.frame_locator(f'iframe[name="{PAGE_FRAME}"]').locator("h1")).to_have_text("Species")
    expect(page.locator(f'iframe[name="{PAGE_FRAME}"]')).to_be_hidden()
    assert page.evaluate("document.querySelector('.toolbar')") is None
    early = {name: page.evaluate(ATTRIBUTES, name) for name in (PAGE_FRAME, AGENT_FRAME)}
    app.release()
    viewer = Viewer(page)
    expect_species(viewer)
    expect(page.locator(f'iframe[name="{PAGE_FRAME}"]')).to_be_visible()
    assert sorted(documents(browser, host)) == ["/", f"/{host.archive('sample')['replayCollection']}/20241121090006mp_/{SPECIES}"]
    adopted = {name: page.evaluate(ATTRIBUTES, name) for name in early}
    for name, attributes in early.items():
        assert attributes.items() <= adopted[name].items()

    # Frames that the viewer makes itself are the same.
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    page.get_by_role("listitem").filter(has_text="21 November 2024, 09:00 UTC").get_by_role("link", name=TITLE, exact=True).click()
    expect_home(viewer)
    assert {name: page.evaluate(ATTRIBUTES, name) for name in early} == adopted


HOLD_IN_FIREFOX = """const held = [];
const observer = { observe(subject) {
    const channel = subject.QueryInterface(Ci.nsIHttpChannel);
    if (!channel.URI.spec.includes(SCRIPT)) return;
    channel.suspend();
    held.push(channel);
} };
Services.obs.addObserver(observer, "http-on-modify-request");
window.releaseHeld = () => {
    Services.obs.removeObserver(observer, "http-on-modify-request");
    for (const channel of held) channel.resume();
    return held.length;
};"""


def test_page_is_loaded_without_the_app_in_firefox(shared_host_with_sample, tmp_path):
    """What the page sends before the viewer listens is passed on in Firefox, too, where an event can't be made with its source."""
    with contextlib.closing(Firefox(tmp_path)) as engine:
        engine.go(address_of(shared_host_with_sample))
        engine.wait_for_text_in_page("Species", "h1")
        engine.wait_for("() => document.title.startsWith('Species')", what="the tab has the page's title")
        engine.go(f"{shared_host_with_sample.home}/vendor/NOTICE.txt")
        engine.run_in_window(HOLD_IN_FIREFOX.replace("SCRIPT", json.dumps(APP_SCRIPT.strip("*?"))))
        engine.run("(address) => { setTimeout(() => location.assign(address)); }", address_of(shared_host_with_sample))
        engine.wait_for_text_in_page("Species", "h1")
        # It has sent its report: the engine's script does so when the document is loaded.
        engine.wait_for("() => document.readyState === 'complete'", what="the page has loaded", in_page=True)
        assert engine.run("() => document.querySelector('.toolbar') === null && document.title.startsWith('replayhost')")
        assert engine.run_in_window("return window.releaseHeld();") > 0
        engine.wait_for("() => document.title.startsWith('Species')", what="the tab has the page's title")
        engine.check()


def test_what_the_page_does_not_need_is_asked_later(shared_host_with_sample, browser):
    """Each of the others once. In Chromium, an origin is cleared by one request."""
    host, page = shared_host_with_sample, browser.page
    page.add_init_script(f"if (window === top) {{ {WITHOUT_LIMIT} }}")
    visit(host, page)
    expect_species(Viewer(page))
    wait_until(lambda: page.wait_for_timeout(20) or any("/api/health" in url for url in browser.requests), "the shell has started")
    assert page.evaluate("window.isWithoutLimit")
    urls = browser.requests
    shown = next(place for place, url in enumerate(urls) if re.search(r"mp_/https", url))
    assert [url for url in urls[:shown] if LATER.search(url)] == []
    assert len([url for url in urls[:shown] if "/api/archives/sample/captures?" in url]) == 1
    for part in ["/clear", "/api/archives/sample", f"mp_/{SPECIES}"]:
        assert len([url for url in urls if url.endswith(part)]) == 1, part


def test_what_the_page_does_not_need_is_asked_though_the_page_is_late(shared_host_with_sample, browser):
    """After two seconds the app asks for the rest, so that it can say whether the server has ended."""
    page = browser.page
    held = []
    page.route("**/api/archives/sample/captures?*", lambda route: held.append(route))
    visit(shared_host_with_sample, page)
    for part in ["/api/events", "/api/health"]:
        wait_until(lambda part=part: page.wait_for_timeout(20) or any(part in url for url in browser.requests), f"{part} was asked")
    assert held and not [url for url in browser.requests if re.search(r"mp_/https", url)]
    held[0].continue_()
    expect_species(Viewer(page))


def test_agent_starts_without_the_app(shared_host_with_sample, browser):
    """At the first visit, the page waits until the engine is set up."""
    host, page = shared_host_with_sample, browser.page
    app = HeldApp(page)
    visit(host, page)
    app.wait()
    wait_for_frame(page, AGENT_FRAME, r"/$")
    agent = page.frame(name=AGENT_FRAME)
    wait_until(lambda: page.wait_for_timeout(20) or agent.evaluate("Boolean(navigator.serviceWorker.controller)"), "the engine runs")
    assert documents(browser, host) == ["/"]
    app.release()
    expect_species(Viewer(page))
    assert len(documents(browser, host)) == 2


@pytest.mark.parametrize("change", ["other files", "another mode", "no memory"])
def test_page_waits_if_the_engine_may_be_another(shared_host_with_sample, browser, change):
    """It may have been set up by another version of replayhost, or for the other replay mode."""
    host, page = shared_host_with_sample, browser.page
    visit(host, page)
    expect_species(Viewer(page))
    page.evaluate("""(change) => {
        const name = "replayhost-origins";
        const known = JSON.parse(localStorage.getItem(name));
        const [setup, mode] = known.at(-1)[3].split(" ");
        known.at(-1)[3] = change === "other files" ? `0123456789abcdef ${mode}` : change === "another mode" ? `${setup} ranges` : null;
        localStorage.setItem(name, JSON.stringify(known));
    }""", change)
    page.goto("about:blank")
    browser.requests.clear()
    app = HeldApp(page)
    visit(host, page)
    app.wait()
    wait_for_frame(page, AGENT_FRAME, r"/$")
    wait_until(lambda: page.wait_for_timeout(20) or any("/captures?" in url for url in browser.requests), "the captures are asked")
    assert page.frame(name=PAGE_FRAME) is None
    app.release()
    expect_species(Viewer(page))
    assert len(documents(browser, host)) == 2


@pytest.mark.parametrize("url", [f"{SITE}/never-captured.html", f"{SITE}/data/tides.json"])
def test_other_than_pages_wait_for_the_viewer(shared_host_with_sample, browser, url):
    browser.allow("404")
    app = open_again(shared_host_with_sample, browser, url=url)
    page = browser.page
    wait_for_frame(page, AGENT_FRAME, r"/$")
    wait_until(lambda: page.wait_for_timeout(20) or any("/captures?" in url for url in browser.requests), "the captures are asked")
    assert page.frame(name=PAGE_FRAME) is None
    app.release()
    expect(Viewer(page).address).to_have_value(url)


def test_page_that_the_browser_saves_waits_for_no_page(host, browser, tmp_path):
    """The worker tells the agent, which may load later than the page."""
    url = "https://file.example/report"
    fields = [("Content-Disposition", "attachment")]
    host.add(write_captures(tmp_path / "file.wacz", "Files", [
        ({"url": "https://file.example/"}, b"<!doctype html><title>Files</title><h1>Files</h1>"),
        ({"url": url, "fields": fields}, b"<!doctype html><title>Report</title>")]))
    page = browser.page
    page.goto(f"{host.home}/?archive=/archives/file.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Files")
    page.goto("about:blank")
    held = []
    page.route(f"{host.replay_origin('file')}/", lambda route: held.append(route))
    with page.expect_download():
        visit(host, page, url=url, archive="file", timestamp="")
    for route in held:
        route.continue_()
    expect(page.get_by_role("heading", name="Not a page")).to_be_visible()


def test_frames_go_if_something_else_is_shown(shared_host_with_sample, browser):
    """The URL changed before the app was there."""
    app = open_again(shared_host_with_sample, browser)
    page = browser.page
    wait_for_frame(page, PAGE_FRAME, "species")
    page.evaluate("location.hash = '#view=urls'")
    app.release()
    expect(page.get_by_role("tab", selected=True).or_(page.locator("[aria-current=page]")).first).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)
    page.goto(address_of(shared_host_with_sample))
    expect_species(Viewer(page))


def test_another_url_replaces_the_page(shared_host_with_sample, browser):
    """The viewer adopts the frame, and navigates it. What the first page reported isn't shown."""
    app = open_again(shared_host_with_sample, browser)
    page = browser.page
    wait_for_frame(page, PAGE_FRAME, "species")
    page.evaluate("(url) => { location.hash = `#url=${url}&ts=20241121090000`; }", f"{SITE}/")
    app.release()
    expect_home(Viewer(page))
    expect(page.locator("iframe")).to_have_count(2)


def test_engine_that_the_browser_deleted_is_set_up_again(shared_host_with_sample, browser):
    """The page's own frame does it, since the server gets its request."""
    host, page = shared_host_with_sample, browser.page
    visit(host, page)
    expect_species(Viewer(page))
    page.goto("about:blank")
    browser.clear_storage(host.replay_origin("sample"))
    visit(host, page)
    expect_species(Viewer(page))


def test_page_that_floods_and_takes_the_focus_before_the_app(host, browser, tmp_path):
    """The viewer shows its URL and title, and a field that the user types in keeps the focus."""
    url = "https://flood.example/"
    script = """let count = 0;
        const flood = setInterval(() => {
            for (let one = 0; one < 50; one += 1) parent.postMessage({ wb_type: "title", title: `Flood ${one}` }, "*");
            window.focus();
            if (++count > 200) clearInterval(flood);
        }, 5);"""
    host.add(write_archive(tmp_path / "flood.wacz", "Flood", {url: f"<!doctype html><title>Calm</title><h1>Flood</h1><script>{script}</script>"}))
    page = browser.page
    address = f"{host.home}/?archive=/archives/flood.wacz#url={url}&ts="
    page.goto(address)
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Flood")
    expect(viewer.address).to_have_value(url)
    page.goto("about:blank")
    app = HeldApp(page)
    page.goto(address, wait_until="commit")
    app.wait()
    wait_for_frame(page, PAGE_FRAME, "flood")
    app.release()
    expect(viewer.address).to_have_value(url)
    viewer.address.focus()
    page.keyboard.type("typed here")
    expect(viewer.address).to_have_value("typed here")


MOVING = """<!doctype html><title>Moving</title><h1></h1><script>
    addEventListener("popstate", () => { document.querySelector("h1").textContent = `Back at ${location.pathname}`; });
    history.pushState({}, "", "/a"); history.pushState({}, "", "/b"); history.go(-2);
</script>"""


# What Chromium does at times if another frame arrives while a page adds entries: no frame sees them until one more arrives.
COUNT_LATE = """if (window === top) {
    const { get } = Object.getOwnPropertyDescriptor(History.prototype, "length");
    const before = history.length;
    let isLate = true;
    Object.defineProperty(history, "length", { get: () => isLate ? before : get.call(history) });
    document.addEventListener("load", ({ target }) => { if (/\\/mark$/.test(target.src)) isLate = false; }, true);
}"""


@pytest.mark.parametrize("case", ["app is late", "entries are counted late"])
def test_page_that_moves_in_the_history_early(host, browser, tmp_path, case):
    """It moves back as it did live."""
    url = "https://moving.example/start"
    host.add(write_archive(tmp_path / "moving.wacz", "Moving", {url: MOVING}))
    page = browser.page
    visit(host, page, url=url, archive="moving", timestamp="")
    moved = page.frame_locator(f'iframe[name="{PAGE_FRAME}"]').locator("h1")
    expect(moved).to_have_text("Back at /start")
    page.goto("about:blank")
    if case == "app is late":
        app = HeldApp(page)
        visit(host, page, url=url, archive="moving", timestamp="")
        app.wait()
        wait_for_frame(page, PAGE_FRAME, "/b$")
        app.release()
    else:
        page.add_init_script(COUNT_LATE)
        visit(host, page, url=url, archive="moving", timestamp="")
    expect(moved).to_have_text("Back at /start")


def test_page_that_states_too_many_entries_moves_nothing(host, browser, tmp_path):
    """The app looks for the entries 60 times, and then moves nothing."""
    url = "https://stating.example/"
    host.add(write_archive(tmp_path / "stating.wacz", "Stating", {
        url: '<!doctype html><title>Stating</title><h1>Stating</h1><a href="/next">Next</a>',
        f"{url}next": "<!doctype html><title>Next</title><h1>Next</h1>",
    }))
    page = browser.page
    page.goto(host.home)
    viewer = visit(host, page, url=url, archive="stating", timestamp="")
    expect(viewer.address).to_have_value(url)
    viewer.read("h1").evaluate("""() => {
        for (let one = 1; one <= 25; one += 1) parent.postMessage({ replayhost: "page", kind: "history", text: `-${one} 9999` }, "*");
    }""")
    marks = lambda: [one for one in browser.requests if one.endswith("/mark")]
    wait_until(lambda: page.wait_for_timeout(20) or len(marks()) >= 60, "the app has looked for the entries")
    expect(viewer.read("h1")).to_have_text("Stating")
    expect(viewer.address).to_have_value(url)
    viewer.read("a").click()
    expect(viewer.read("h1")).to_have_text("Next")
    expect(viewer.address).to_have_value(f"{url}next")
    assert len(marks()) == 60


def test_page_loads_again_if_the_engine_was_changed(shared_host_with_sample, browser):
    """Archived scripts can change the engine's settings. The next page isn't the one that these settings lead to."""
    host, page = shared_host_with_sample, browser.page
    viewer = visit(host, page)
    expect_species(viewer)
    assert viewer.agent_frame.evaluate(CHANGE_SETTINGS, {"archivePrefix": "/nothing/"}) is not None
    page.goto("about:blank")
    # The worker has read its settings already, and ends with the browser.
    session = browser.context.new_cdp_session(page)
    states = {}
    session.on("ServiceWorker.workerVersionUpdated", lambda event: states.update(
        {version["versionId"]: version["runningStatus"] for version in event["versions"]}))
    session.send("ServiceWorker.enable")
    session.send("ServiceWorker.stopAllWorkers")
    # The command only asks for it. Until then, the page would be answered by the worker that knows the former settings.
    wait_until(lambda: page.wait_for_timeout(20) or states and {*states.values()} == {"stopped"}, "the workers have stopped")
    session.detach()
    browser.requests.clear()
    visit(host, page)
    expect_species(viewer)
    wait_until(lambda: page.wait_for_timeout(20) or len(documents(browser, host)) == 3, "the page is loaded again")
    expect_species(viewer)


@pytest.mark.skipif(not IS_BUNDLED, reason="the app isn't bundled")
def test_app_is_loaded_only_where_it_stays(shared_host_with_sample, browser):
    """The page at `localhost` moves to `replayhost.localhost`, and loads no more than it needs for that."""
    host, page = shared_host_with_sample, browser.page
    page.goto(f"{host.address}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    left = [url.removeprefix(host.address) for url in browser.requests if url.startswith(f"{host.address}/")]
    assert [url for url in left if re.search(r"/app/(?!icon|opening\.js|core/(?:theme|set-archive-url)\.js)|/api/|/bundle/app\.", url)] == []


@pytest.mark.parametrize("times", [1, None], ids=["once", "always"])
def test_archive_whose_file_was_hashed_meanwhile_is_opened_again(shared_host_with_sample, browser, times):
    """The engine's name for it changes with its hash. It's asked for again, but only once."""
    host, page = shared_host_with_sample, browser.page
    earlier = {**host.archive("sample"), "replayCollection": "sample-000000000000"}
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=earlier), times=times)
    viewer = visit(host, page)
    if times:
        expect_species(viewer)
    else:
        expect(page.get_by_text("This archive's file was replaced")).to_be_visible()
