"""The browser's history and random walks, in each engine."""

import os
import random
import re
import signal

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.host import Host
from support.viewer import Viewer
from support.waiting import wait_until
from support.walk import PAGES, SITE, UNCAPTURED, address_of, html_of, walk_host  # noqa: F401

pytestmark = pytest.mark.one_chromium

# The number of random walks for each engine. `WALKS=30 SEED=7` takes more, and others.
WALKS = int(os.environ.get("WALKS", "1"))
SEED = int(os.environ.get("SEED", "1"))
STEPS = 14
IS_WHOLE = os.environ.get("CASES") == "all"


@pytest.fixture
def engine(tab):
    """Each test has its own server, so the engines needn't start for each."""
    return tab


# In the browser -----------------------------------------------------------------------------------------------------

AT = """(url, isMissing, others) => {
    const panel = document.querySelector(".panel");
    const shown = {
        address: document.querySelector(".url-bar input").value,
        own: decodeURIComponent(/#url=([^&]*)/.exec(location.hash)?.[1] ?? ""),
        busy: document.querySelector(".toolbar").classList.contains("busy"),
        panel: panel?.querySelector("h1").textContent ?? "",
        title: document.title,
    };
    const name = /\\/(\\w+)(#.*)?$/.exec(url)[1];
    const wanted = {
        address: url, own: url, busy: false, panel: isMissing ? "This page isn't in “Walk”" : "",
        title: isMissing ? "Not captured – Walk" : `Page ${name} – Walk`,
        ...others,
    };
    const isThere = JSON.stringify(shown) === JSON.stringify(wanted);
    window.lastSeen = JSON.stringify(shown);
    return isThere;
}"""
FIELD = ".url-bar input"


def expect_at(engine, url):
    """The page, the URL bar, the title and the tab's URL agree."""
    is_missing = url == UNCAPTURED
    try:
        engine.wait_for(AT, url, is_missing, what=f"the viewer is at {url}")
        if not is_missing:
            name = url.removeprefix(f"{SITE}/").split("#")[0]
            engine.wait_for_text_in_page(f"Page {name}", "h1")
    except AssertionError as error:
        raise AssertionError(f"{error}; seen: {engine.run('() => window.lastSeen')}") from None


def open_walk(engine, host, name="a", mode=""):
    archive = f"{host.home}/?archive=/archives/walk.wacz{mode and f'&replay={mode}'}"
    engine.go(f"{archive}#url={address_of(name)}&ts=".replace("https://", "https%3A%2F%2F"))
    expect_at(engine, address_of(name))


class Walk:
    """Random actions, and the expected result: a list of history entries, and which of them is shown."""

    def __init__(self, engine, seed):
        self.engine = engine
        self.random = random.Random(seed)
        self.steps = [address_of("a")]
        self.now = 0
        self.actions = []

    @property
    def url(self):
        return self.steps[self.now]

    def go_to(self, url):
        if url != self.url:
            self.steps[self.now + 1:] = [url]
            self.now += 1

    def take(self):
        actions = ["type", "type uncaptured", "reload", "reload the tab", "retype"]
        if self.url != UNCAPTURED:
            actions += ["link", "link", "link", "link uncaptured", "link to a part"]
        if self.now > 0:
            actions += ["back", "back", "back"]
        if self.now < len(self.steps) - 1:
            actions += ["forward", "forward"]
        action = self.random.choice(actions)
        name = self.random.choice([each for each in PAGES if not self.url.startswith(address_of(each))])
        self.actions.append(f"{action} {name}")
        match action:
            case "type":
                self.engine.type(FIELD, address_of(name))
                self.go_to(address_of(name))
            case "retype":
                self.engine.type(FIELD, self.url)
            case "type uncaptured":
                self.engine.type(FIELD, UNCAPTURED)
                self.go_to(UNCAPTURED)
            case "link":
                self.engine.follow(f"To {name}")
                self.go_to(address_of(name))
            case "link uncaptured":
                self.engine.follow("To nowhere")
                self.go_to(UNCAPTURED)
            case "link to a part":
                self.engine.follow("To the note")
                self.go_to(f"{self.url.split('#')[0]}#note")
            case "back":
                self.engine.back()
                self.now -= 1
            case "forward":
                self.engine.forward()
                self.now += 1
            case "reload":
                self.engine.click('button[aria-label="Reload this page"]')
            case "reload the tab":
                self.engine.reload()
        try:
            expect_at(self.engine, self.url)
        except AssertionError as error:
            raise AssertionError(f"after {', '.join(self.actions)}: {error}") from None


@pytest.mark.few("chromium", "firefox")
def test_random_walks(walk_host, engine):
    """Links, typed and uncaptured URLs, Back, Forward and both kinds of reload: everything agrees after each step."""
    for seed in range(SEED, SEED + WALKS):
        engine.open_tab()
        open_walk(engine, walk_host)
        walk = Walk(engine, seed)
        for _ in range(STEPS):
            walk.take()
        engine.go("about:blank")
    engine.allow("404")


@pytest.mark.few("firefox")
def test_uncaptured_url_has_a_history_entry(walk_host, engine):
    """It reloads and goes back like a page. Typing or clicking the URL of the page below the panel shows that page again."""
    open_walk(engine, walk_host)
    engine.follow("To b")
    expect_at(engine, address_of("b"))
    engine.type(FIELD, UNCAPTURED)
    expect_at(engine, UNCAPTURED)
    engine.back()
    expect_at(engine, address_of("b"))
    engine.forward()
    expect_at(engine, UNCAPTURED)
    engine.reload()
    expect_at(engine, UNCAPTURED)
    engine.back()
    expect_at(engine, address_of("b"))
    engine.type(FIELD, UNCAPTURED)
    expect_at(engine, UNCAPTURED)
    engine.type(FIELD, address_of("b"))
    expect_at(engine, address_of("b"))
    engine.type(FIELD, UNCAPTURED)
    expect_at(engine, UNCAPTURED)
    engine.wait_for_text("Page b", ".panel a")
    engine.click('.panel a[href*="walk.example%2Fb"]')
    expect_at(engine, address_of("b"))
    engine.type(FIELD, UNCAPTURED)
    expect_at(engine, UNCAPTURED)
    engine.type(FIELD, address_of("b", "#note"))
    expect_at(engine, address_of("b", "#note"))


@pytest.mark.few("firefox")
def test_back_after_a_reload(walk_host, engine):
    """History entries of links survive a reload of the tab."""
    open_walk(engine, walk_host)
    for name in ["b", "c"]:
        engine.follow(f"To {name}")
        expect_at(engine, address_of(name))
    engine.reload()
    expect_at(engine, address_of("c"))
    for name in ["b", "a"]:
        engine.back()
        expect_at(engine, address_of(name))
    engine.reload()
    expect_at(engine, address_of("a"))
    for name in ["b", "c"]:
        engine.forward()
        expect_at(engine, address_of(name))


@pytest.mark.few("chromium")
def test_back_after_a_part_of_a_page_and_another(walk_host, engine):
    """In Chromium, the frame's own entries can hold another part of the page than the viewer's."""
    open_walk(engine, walk_host)
    engine.follow("To the note")
    expect_at(engine, address_of("a", "#note"))
    engine.follow("To nowhere")
    expect_at(engine, UNCAPTURED)
    engine.back()
    expect_at(engine, address_of("a", "#note"))
    engine.back()
    expect_at(engine, address_of("a"))
    engine.forward()
    expect_at(engine, address_of("a", "#note"))
    engine.allow("404")


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
@pytest.mark.few("lookups")
def test_back_and_forward_wait_for_no_timer(walk_host, page, mode):
    """The browser's own entries of the frame, which it can navigate too, differ from the viewer's after links."""
    page.add_init_script("""
        const start = setTimeout;
        window.setTimeout = (act, milliseconds, ...others) => milliseconds >= 1000 ? 0 : start(act, milliseconds, ...others);
    """)
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz&replay={mode}")
    viewer = Viewer(page)
    names = ["a", "b", "c", "d", "a", "b"]
    for name in names[1:]:
        viewer.follow(f"To {name}")
        expect(page).to_have_title(f"Page {name} – Walk")
    for step, shown in [(page.go_back, names[-2::-1]), (page.go_forward, names[1:])] * (2 if IS_WHOLE else 1):
        for name in shown:
            step()
            expect(viewer.read("h1")).to_have_text(f"Page {name}")
            expect(viewer.address).to_have_value(address_of(name))
            expect(page).to_have_title(f"Page {name} – Walk")


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
@pytest.mark.few("chromium lookups", "firefox ranges")
def test_page_moves_in_the_history(walk_host, engine, mode):
    """As on the live web, also to other pages."""
    open_walk(engine, walk_host, mode=mode)
    for name in ["b", "c", "d"]:
        engine.follow(f"To {name}")
        expect_at(engine, address_of(name))
    for call, name in [("back()", "c"), ("go(-2)", "a"), ("forward()", "b"), ("go(2)", "d"), ("go(-1)", "c")]:
        engine.run_in_page(f"() => {{ history.{call}; }}")
        expect_at(engine, address_of(name))


@pytest.mark.few("webkit")
def test_page_moves_only_among_the_pages_of_its_viewer(walk_host, engine):
    """It can't leave the archive, even with several calls at once."""
    engine.go(f"{walk_host.home}/?archive=/archives/walk.wacz#view=pages")
    engine.wait_for_text("Page b", ".page-list")
    engine.click('.page-list a[href*="walk.example%2Fa"]')
    expect_at(engine, address_of("a"))
    for call in ["back()", "go(-2)", "go(1e9)"]:
        engine.run_in_page(f"() => {{ history.{call}; }}")
        engine.follow("To b")
        expect_at(engine, address_of("b"))
        engine.run_in_page("() => { for (let count = 0; count < 5; count += 1) history.back(); }")
        expect_at(engine, address_of("a"))


@pytest.mark.few("firefox")
def test_page_goes_back_while_it_loads(tmp_path, engine):
    """Its own entry isn't made yet."""
    host = Host(tmp_path)
    host.add(write_archive(tmp_path / "walk.wacz", "Walk", {
        **{address_of(name): html_of(name) for name in PAGES},
        address_of("start"): '<!doctype html><title>Page start</title><h1>Page start</h1><a href="/bounce">To bounce</a>',
        address_of("bounce"): "<!doctype html><title>Page bounce</title><h1>Page bounce</h1><script>history.back()</script>"}))
    with host:
        open_walk(engine, host)
        engine.type(FIELD, address_of("start"))
        expect_at(engine, address_of("start"))
        engine.run("() => addEventListener('popstate', () => { window.hasMoved = true; })")
        engine.follow("To bounce")
        engine.wait_for("() => window.hasMoved", what="the page goes back")
        expect_at(engine, address_of("start"))
        engine.back()
        expect_at(engine, address_of("a"))


@pytest.mark.few("chromium")
def test_move_waits_for_the_entries_that_the_page_saw(walk_host, engine):
    """The viewer's process can learn of an entry after the message of the page that added it."""
    open_walk(engine, walk_host)
    engine.run_in_page("""() => {
        addEventListener("popstate", () => { document.title = "Moved back"; });
        parent.postMessage({ replayhost: "page", kind: "history", text: `-1 ${history.length + 1}` }, "*");
        setTimeout(() => history.pushState({}, "", "added"), 100);
    }""")
    engine.wait_for("() => document.title === 'Moved back'", what="the page moves back", in_page=True)


@pytest.mark.parametrize("shared_engine", ["chromium", "firefox"], indirect=True)
def test_back_restores_the_scroll_position(walk_host, engine):
    """In WebKitGTK it doesn't always (docs/replay.md)."""
    open_walk(engine, walk_host)
    engine.run("""() => addEventListener("message", ({ data }) => {
        if (data.replayhost === "scroll") window.lastScroll = data.y;
    })""")
    engine.run_in_page("() => scrollTo(0, 123)")
    engine.wait_for("() => window.lastScroll === 123", what="the viewer knows the scroll position")
    engine.follow("To b")
    expect_at(engine, address_of("b"))
    assert engine.run_in_page("() => scrollY") == 0
    engine.back()
    expect_at(engine, address_of("a"))
    engine.wait_for("() => Math.abs(scrollY - 123) < 2", what="the scroll position is restored", in_page=True)


@pytest.mark.few("firefox", "webkit")
def test_links_to_other_programs(walk_host, engine):
    """The page stays, and a hint shows the link's target."""
    open_walk(engine, walk_host)
    engine.run_in_page("() => { document.body.dataset.before = 'click'; }")
    for name, hint in [
        ("Write to us", "This link opens an email to press@walk.example"),
        ("Call us", "This link calls the number +43123"),
        ("Find us", "This link opens in another app: geo:48,16"),
    ]:
        engine.follow(name)
        engine.wait_for_text(hint, ".hint-bar")
        expect_at(engine, address_of("a"))
        assert engine.run_in_page("() => document.body.dataset.before") == "click"


def test_copy_button_copies_what_is_shown(walk_host, page):
    """Also of a URL that is long, and has characters that can't be seen."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=walk_host.home)
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Page a")
    bar = page.locator(".hint-bar")
    for url, shown in [
        ("geo:48,16", "geo:48,16"), ("mailto:press@walk.example?subject=x", "press@walk.example"),
        ("app:" + "a" * 250 + "&hidden=1", "app:" + "a" * 250 + "&hidden=1"),
        ("mailto:you%E2%80%8B@walk.example%C2%A0", "you%E2%80%8B@walk.example%C2%A0"),
        ("app:a\u2028b\u00ad\u3164c", None),
    ]:
        viewer.archived_frame.evaluate(
            """(url) => {
                const link = document.createElement("a");
                link.setAttribute("href", url);
                document.body.append(link);
                link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true }));
            }""", url)
        if shown:
            expect(bar).to_contain_text(shown)
        else:
            expect(bar).to_contain_text("app:a")
        text = bar.evaluate("(bar) => bar.firstElementChild.textContent")
        # What it looks like is what it is.
        assert text.isascii() and " " not in text
        bar.get_by_role("button", name="Copy").click()
        wait_until(lambda: page.evaluate("navigator.clipboard.readText()") == text, "the text is copied")
        assert bar.inner_text().split("\n")[0].removesuffix("Copy").rstrip().endswith(text)


def test_refused_reload_navigates(walk_host, page):
    """The browser shows a page of its own in the frame, which nothing can reload."""
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Page a")
    viewer.open_url(f"{address_of('a')}#part")
    expect(page).to_have_url(re.compile("%23part"))
    frame = viewer.archived_frame
    frame.evaluate("setTimeout(() => { location.href = 'https://outside.example/'; })")
    wait_until(lambda: not viewer.archived_frame.url.startswith(f"{walk_host.home}") and (
        page.wait_for_timeout(1), viewer.archived_frame.url.startswith("chrome-error:"))[1], "the browser shows an error")
    page.get_by_role("button", name="Reload this page").click()
    expect(viewer.read("h1")).to_have_text("Page a")


def test_slow_page_times_out_and_is_shown_when_it_arrives(walk_host, page):
    """The server is paused during a lookup: the busy bar ends, and the page isn't lost."""
    page.clock.install()
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Page a")
    expect(page).to_have_title("Page a – Walk")
    busy = page.locator(".toolbar.busy")
    walk_host.process.send_signal(signal.SIGSTOP)
    try:
        viewer.open_url(address_of("b"))
        expect(busy).to_be_visible()
        page.clock.fast_forward(31_000)
        expect(page.get_by_text("The page didn't load within 30 seconds.")).to_be_visible()
        expect(busy).to_have_count(0)
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
    finally:
        walk_host.process.send_signal(signal.SIGCONT)
    expect(viewer.read("h1")).to_have_text("Page b")
    expect(page.locator(".panel")).to_have_count(0)
    expect(page).to_have_title("Page b – Walk")
    page.go_back()
    expect(viewer.read("h1")).to_have_text("Page a")


@pytest.mark.few("chromium")
def test_viewer_reconnects_to_a_stopped_server(walk_host, engine):
    """Until then it shows the link's URL. Afterwards the page opens by itself, and Back opens the previous page."""
    engine.allow("ERR_CONNECTION_REFUSED|502|503|504")
    open_walk(engine, walk_host)
    walk_host.stop()
    engine.follow("To b")
    engine.wait_for_text("replayhost has stopped", ".panel")
    for _ in range(2):
        engine.wait_for(AT, address_of("b"), None, {"panel": "“Walk” can't be opened", "title": "Can't show page – Walk"},
            what="the viewer shows the link's URL")
        # Fails, but the viewer still waits for the server.
        engine.click(".panel button.primary")
    walk_host.start()
    expect_at(engine, address_of("b"))
    engine.back()
    expect_at(engine, address_of("a"))


def test_f6_moves_the_focus_between_page_and_toolbar(walk_host, page):
    """An opened page has the focus."""
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    viewer.read("button").focus()
    page.keyboard.press("F6")
    expect(viewer.address).to_be_focused()
    page.keyboard.press("F6")
    expect(page.locator("iframe[title='Archived page']")).to_be_focused()
    page.keyboard.press("F6")
    expect(viewer.address).to_be_focused()
