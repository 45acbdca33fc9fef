"""Where the viewer is: its states, the steps of the browser's history, and random walks, in each engine."""

import os
import random
import signal

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.host import Host
from support.viewer import Viewer

SITE = "https://walk.example"
PAGES = ["a", "b", "c", "d"]
UNCAPTURED = f"{SITE}/nowhere"
# How many random walks each engine takes. `WALKS=30 SEED=7` takes others, and more.
WALKS = int(os.environ.get("WALKS", "2"))
SEED = int(os.environ.get("SEED", "1"))
STEPS = 14


def address_of(name, fragment=""):
    return f"{SITE}/{name}{fragment}"


def html_of(name):
    links = "".join(f'<p><a href="/{other}">To {other}</a></p>' for other in [*PAGES, "nowhere"])
    return (f'<!doctype html><title>Page {name}</title><h1>Page {name}</h1><p><a href="#note">To the note</a></p>{links}'
            '<p><a href="mailto:press%40walk.example?subject=Tides">Write to us</a> <a href="tel:+43123">Call us</a>'
            ' <a href="geo:48,16">Find us</a> <button>A button</button></p>'
            '<div style="height: 3000px"></div><h2 id="note">The note</h2><div style="height: 3000px"></div>')


@pytest.fixture
def walk_host(tmp_path):
    host = Host(tmp_path)
    host.add(write_archive(tmp_path / "walk.wacz", "Walk", {address_of(name): html_of(name) for name in PAGES}))
    try:
        yield host.start()
    finally:
        host.stop()


# The state machine --------------------------------------------------------------------------------------------------

# What an event makes of each state; while something is opened it is about that, else about what the frame did. "-": it means nothing there; "+": a panel is over what the frame holds; "*": the
# next page makes a step.
TABLE = """
event     empty     opening+  opening   page      file+     file      absent+   absent    failed+   failed
visit     opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+
send      -         opening   opening   -         -         -         -         -         opening   opening
leave     -         -         -         page*     file+     file*     absent+   absent*   failed+   failed*
arrive    -         opening+  page      page      file+     page      absent+   page      failed+   page
uncover   -         page      page      -         -         -         -         -         page      page
showFile  -         file+     file      file      file+     file      absent+   file      failed+   file
miss      -         absent+   absent    absent    file+     absent    absent+   absent    failed+   absent
fail      failed+   failed+   failed    failed    file+     failed    absent+   failed    failed+   failed
"""

RUN_TABLE = """async () => {
    const { next, nowhere } = await import("/app/viewer/navigation.js");
    const page = (url) => ({ url, claim: url, fragment: "", capture: { url, timestamp: "2024" }, list: {} });
    const [a, b] = [page("a"), page("b")];
    const run = (...steps) => steps.reduce((place, [event, details]) => next(place, event, details), nowhere);
    const ask = ["visit", { url: "a", timestamp: "", step: "push" }];
    const open = [ask, ["send"]];
    const shown = [...open, ["arrive", { page: a }]];
    const again = [...shown, ["visit", { url: "b", timestamp: "", step: "push" }]];
    const panel = {};
    const states = {
        "empty": [], "opening+": again, "opening": open, "page": shown,
        "file+": [...again, ["showFile", { page: b, panel }]],
        "file": [...shown, ["showFile", { page: b, panel, inFrame: true }]],
        "absent+": [...again, ["miss", { url: "b", timestamp: "", panel }]],
        "absent": [...shown, ["miss", { url: "b", timestamp: "", panel, inFrame: true }]],
        "failed+": [...again, ["fail", { panel }]],
        "failed": [...open, ["fail", { panel }]],
    };
    const events = {
        visit: { url: "c", timestamp: "", step: "push" }, send: {}, leave: {}, arrive: { page: b }, uncover: { page: b },
        showFile: { page: b, panel }, miss: { url: "b", timestamp: "", panel }, fail: { panel },
    };
    const result = {};
    for (const [state, steps] of Object.entries(states)) {
        const before = run(...steps);
        for (const [event, details] of Object.entries(events)) {
            // In a page that is shown, what the frame reports is meant; while something is opened, what was looked up.
            const after = next(before, event, { ...details, inFrame: before.name !== "opening" && before !== nowhere });
            const { name, over, step, made, held, page: last, url } = after;
            result[`${event} ${state}`] = after === before ? { name: "-" }
                : { name, over, step, made, held: held?.url ?? null, page: last?.url ?? null, url, panel: after.panel === panel };
        }
    }
    return result;
}"""


@pytest.fixture
def table(walk_host, page):
    page.goto(walk_host.home)
    return page.evaluate(RUN_TABLE)


def test_each_event_in_each_state(table):
    """The table above, cell by cell."""
    lines = [line.split() for line in TABLE.strip().splitlines()]
    states = lines[0][1:]
    expected = {f"{event} {state}": cell for event, *cells in lines[1:] for state, cell in zip(states, cells, strict=True)}
    shown = {}
    for key, after in table.items():
        is_leaving = key.startswith("leave") and after.get("step") == "push"
        shown[key] = f"{after['name']}{'+' if after.get('over') else ''}{'*' if is_leaving else ''}"
    differences = {key: (expected[key], shown[key]) for key in expected if expected[key] != shown[key]}
    assert differences == {}


def test_what_is_seen_makes_one_step(table):
    """Every place that is shown changes the browser's history once, and as it was asked to."""
    for key in ["arrive opening", "uncover opening+", "showFile opening+", "miss opening+", "fail opening+"]:
        assert (table[key]["made"], table[key]["step"]) == ("push", "replace"), key
    for key in ["arrive page", "miss page", "showFile page"]:
        assert table[key]["made"] == "replace", key
    for key, after in table.items():
        if after["name"] == "opening" or after.get("over") and key.startswith(("arrive", "leave")):
            assert after["made"] is None, key


def test_a_page_that_leaves_may_still_tell_of_itself(walk_host, page):
    """The step that it announced is for where it goes."""
    page.goto(walk_host.home)
    made = page.evaluate("""async () => {
        const { next, nowhere } = await import("/app/viewer/navigation.js");
        const pageOf = (url) => ({ url, claim: url, fragment: "", capture: { url, timestamp: "2024" }, list: {} });
        let place = nowhere;
        return [
            ["visit", { url: "a", timestamp: "", step: "replace" }], ["send"], ["arrive", { page: pageOf("a") }],
            ["leave"], ["arrive", { page: pageOf("a") }], ["arrive", { page: pageOf("b") }], ["arrive", { page: pageOf("c") }],
        ].map(([event, details]) => (place = next(place, event, details)).made);
    }""")
    assert made == [None, None, "replace", None, "replace", "push", "replace"]


def test_a_panel_goes_when_a_page_is_shown(table):
    """And only then; what the frame holds below is known all the time."""
    for key, after in table.items():
        if after["name"] == "page":
            assert not after["panel"], key
            assert after["held"] is not None or key.startswith("leave"), key
        if after["name"] in {"file", "absent", "failed"} and not key.startswith("leave"):
            assert after["panel"], key
    assert table["arrive absent+"]["held"] == "b"


# In the browser -----------------------------------------------------------------------------------------------------

AT = """(url, isMissing, others) => {
    const panel = document.querySelector(".panel");
    const shown = {
        address: document.querySelector(".address-bar input").value,
        own: decodeURIComponent(/#url=([^&]*)/.exec(location.hash)?.[1] ?? ""),
        busy: document.querySelector(".toolbar").classList.contains("busy"),
        panel: panel?.querySelector("h1").textContent ?? "",
        title: document.title,
    };
    const name = /\\/(\\w+)(#.*)?$/.exec(url)[1];
    const wanted = {
        address: url, own: url, busy: false, panel: isMissing ? "This address was not captured" : "",
        title: isMissing ? "Not captured – Walk" : `Page ${name} – Walk`,
        ...others,
    };
    const isThere = JSON.stringify(shown) === JSON.stringify(wanted);
    window.lastSeen = JSON.stringify(shown);
    return isThere;
}"""
FIELD = ".address-bar input"


def expect_at(engine, url):
    """The page, the address bar, the title and the browser's own address agree."""
    is_missing = url == UNCAPTURED
    try:
        engine.wait_for(AT, url, is_missing, what=f"the viewer is at {url}")
        if not is_missing:
            name = url.removeprefix(f"{SITE}/").split("#")[0]
            engine.wait_for_text_in_page(f"Page {name}", "h1")
    except AssertionError as error:
        raise AssertionError(f"{error}; seen: {engine.run('() => window.lastSeen')}") from None


def open_walk(engine, host, name="a"):
    engine.go(f"{host.home}/?archive=/archives/walk.wacz#url={address_of(name)}&ts=".replace("https://", "https%3A%2F%2F"))
    expect_at(engine, address_of(name))


class Walk:
    """What a person does at random, and where that should lead: a list of steps, and which of them is shown."""

    def __init__(self, engine, seed):
        self.engine = engine
        self.random = random.Random(seed)
        self.steps = [address_of("a")]
        self.now = 0
        self.told = []

    @property
    def url(self):
        return self.steps[self.now]

    def go_to(self, url):
        if url != self.url:
            self.steps[self.now + 1:] = [url]
            self.now += 1

    def take(self):
        ways = ["type", "type uncaptured", "reload", "load anew", "retype"]
        if self.url != UNCAPTURED:
            ways += ["link", "link", "link", "link uncaptured", "link to a part"]
        if self.now > 0:
            ways += ["back", "back", "back"]
        if self.now < len(self.steps) - 1:
            ways += ["forward", "forward"]
        way = self.random.choice(ways)
        name = self.random.choice([each for each in PAGES if not self.url.startswith(address_of(each))])
        self.told.append(f"{way} {name}")
        match way:
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
            case "load anew":
                self.engine.reload()
        try:
            expect_at(self.engine, self.url)
        except AssertionError as error:
            raise AssertionError(f"after {', '.join(self.told)}: {error}") from None


def test_random_walks(walk_host, engine):
    """Links, typed and uncaptured URLs, Back, Forward and both kinds of reload: everything agrees after each step."""
    for seed in range(SEED, SEED + WALKS):
        engine.open_tab()
        open_walk(engine, walk_host)
        walk = Walk(engine, seed)
        for _ in range(STEPS):
            walk.take()
    engine.allow("404")


def test_uncaptured_urls_have_an_address(walk_host, engine):
    """Reloaded, shared and stepped back from like a page; and left by typing, or clicking, what is below the panel."""
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
    engine.click(".panel li:nth-child(2) a")
    expect_at(engine, address_of("b"))
    engine.type(FIELD, UNCAPTURED)
    expect_at(engine, UNCAPTURED)
    engine.type(FIELD, address_of("b", "#note"))
    expect_at(engine, address_of("b", "#note"))


def test_back_after_a_reload(walk_host, engine):
    """Steps that links made survive a reload of the tab."""
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


@pytest.mark.parametrize("open_engine", ["chromium", "firefox"], indirect=True)
def test_back_leads_to_the_same_place_of_a_page(walk_host, engine):
    """A page is scrolled as it was when it is stepped back to. In WebKitGTK it isn't always (docs/replay.md)."""
    open_walk(engine, walk_host)
    engine.run("""() => addEventListener("message", ({ data }) => {
        if (data.replayhost === "scroll") window.lastScroll = data.y;
    })""")
    engine.run_in_page("() => scrollTo(0, 123)")
    engine.wait_for("() => window.lastScroll === 123", what="the viewer knows how far the page is scrolled")
    engine.follow("To b")
    expect_at(engine, address_of("b"))
    assert engine.run_in_page("() => scrollY") == 0
    engine.back()
    expect_at(engine, address_of("a"))
    engine.wait_for("() => Math.abs(scrollY - 123) < 2", what="the page is scrolled as it was", in_page=True)


def test_links_to_other_programs(walk_host, engine):
    """The page stays, and the toolbar says where the link leads."""
    for name, said in [
        ("Write to us", "This link opens an email to press@walk.example"),
        ("Call us", "This link calls the number +43123"),
        ("Find us", "This link opens in another app: geo:48,16"),
    ]:
        engine.open_tab()
        open_walk(engine, walk_host)
        engine.run_in_page("() => { document.body.dataset.before = 'click'; }")
        engine.follow(name)
        engine.wait_for_text(said, ".hint-bar")
        expect_at(engine, address_of("a"))
        assert engine.run_in_page("() => document.body.dataset.before") == "click"


def test_what_takes_too_long_is_said_and_shown_when_it_comes(walk_host, page):
    """The server stands still while a URL is looked up: no bar without an end, and no page that is lost."""
    page.clock.install()
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Page a")
    expect(page).to_have_title("Page a – Walk")
    busy = page.locator(".toolbar.busy")
    walk_host.process.send_signal(signal.SIGSTOP)
    try:
        viewer.visit(address_of("b"))
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


def test_a_stopped_server_is_said_and_waited_for(walk_host, engine):
    """Everything says where the link led; the page before it is a step back, and the page comes when the server does."""
    engine.allow("ERR_CONNECTION_REFUSED|502|503|504")
    open_walk(engine, walk_host)
    walk_host.stop()
    engine.follow("To b")
    engine.wait_for_text("server does not answer", ".panel")
    for _ in range(2):
        engine.wait_for(AT, address_of("b"), None, {"panel": "“Walk” cannot be opened", "title": "Not shown – Walk"},
            what="the viewer says where the link led")
        # In vain; the page is waited for all the same.
        engine.click(".panel button.primary")
    walk_host.start()
    expect_at(engine, address_of("b"))
    engine.back()
    expect_at(engine, address_of("a"))


def test_f6_leads_from_the_page_to_the_toolbar_and_back(walk_host, page):
    """By keyboard, with the page in focus as it is after it was opened."""
    page.goto(f"{walk_host.home}/?archive=/archives/walk.wacz")
    viewer = Viewer(page)
    viewer.read("button").focus()
    page.keyboard.press("F6")
    expect(viewer.address).to_be_focused()
    page.keyboard.press("F6")
    expect(page.locator("iframe[title='Archived page']")).to_be_focused()
    page.keyboard.press("F6")
    expect(viewer.address).to_be_focused()
