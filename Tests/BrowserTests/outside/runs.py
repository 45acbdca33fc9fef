"""Hostile pages in real browsers, in a network in which every packet is recorded. test_escapes.py runs this for each case.

What a test expects to leave is what docs/safety.md says of that browser. Each attempt has a control, in which nothing stops it.
"""

import json
import os
import shutil
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from outside.archive import (
    CONNECTED, SITE, TAGS, TIMESTAMP, VICTIM, OpenSite, address_of, attempts, leaving_pages, write_escapes, write_victim)
from outside.attack import GONE, Attacker
from support.engines import ENGINES
from support.host import Host
from support.places import WEB_INTERFACE
from support.waiting import wait_until
from support.website import WebSite

# Groups of cases; the values come from test_escapes.py.
ENGINE = os.environ.get("ESCAPES_ENGINE", "chromium")
ORIGINS = os.environ.get("ESCAPES_ORIGINS", "names")
MODE = os.environ.get("ESCAPES_MODE", "lookups")
# The rarer ways, which take minutes, are left to `make soak`.
IS_WHOLE = os.environ.get("CASES") == "all"

# What leaves in spite of the policy, by docs/safety.md, "What a server can't block".
MDNS = "224.0.0.251:5353"
AHEAD = {"link-preconnect": {"DNS", "TCP"}, "preconnect": {"DNS", "TCP"}, "link-dns": {"DNS"}}
WEBRTC = {name: {"DNS", "TCP", "UDP"} for name in ["rtc-stun-name", "rtc-stun-ip", "rtc-turn-udp", "rtc-turn-tcp"]}
LEAVES = {
    "chromium": {MDNS: {"UDP"}},
    "firefox": {MDNS: {"UDP"}, **AHEAD, **WEBRTC, "download": {"DNS"}, "popup-link": {"DNS"}},
    "webkit": {**AHEAD, "popup-link": {"DNS", "TCP"}},
}
# Attempts that a browser doesn't support, so that the control doesn't record them.
WITHOUT_CONTROL = json.loads((Path(__file__).parent / "without-control.json").read_text(encoding="utf-8"))


class Case:
    """One browser profile, and a server with the archive of hostile pages; or a plain web site with the same pages."""

    def __init__(self, folder, outside, playwright, assets=None):
        self.folder, self.outside, self.playwright = folder, outside, playwright
        self.host = Host(folder, assets=assets, origins=ORIGINS)
        self.host.add(write_escapes(folder / "escapes.wacz", outside))
        self.engine = None

    def start(self):
        self.host.start()
        return self.open()

    def open(self):
        self.engine = ENGINES[ENGINE](self.folder / "browser", playwright=self.playwright)
        return Attacker(self.engine, self.outside, lambda path: address_of(self.host, path, MODE))

    def restart_browser(self):
        self.engine.close()
        return self.open()

    def close(self):
        if self.engine:
            self.engine.close()
        self.host.stop()


@pytest.fixture
def open_case(tmp_path, outside, playwright):
    cases = []

    def make(assets=None):
        outside.forget()
        cases.append(Case(tmp_path, outside, playwright, assets))
        return cases[-1]

    yield make
    for case in cases:
        case.close()


# By lookups, the engine passes the server's header fields on to the pages. The server of 0.1.0 didn't send this one.
WITHOUT_ALLOWLIST = """{
    const { fetch } = self;
    self.fetch = async (...request) => {
        const { body, status, statusText, headers } = await fetch(...request);
        const fields = [...headers].filter(([name]) => name !== "connection-allowlist");
        return new Response([101, 204, 205, 304].includes(status) ? null : body, { status, statusText, headers: fields });
    };
}
"""


def without_wall(folder):
    """The web interface as it was in 0.1.0 in what counts here: the engine itself is the service worker, and nothing is cleared."""
    # Without the bundle, so that the changed module is used.
    assets = shutil.copytree(WEB_INTERFACE, folder / "www", ignore=shutil.ignore_patterns("bundle", ".bundle.*"))
    (assets / "app" / "replay" / "clear-origin.js").write_text(
        "export async function clearOrigin() {}\nexport function forgetOrigin() {}\n"
        "export function noteSetup() {}\nexport const wasSetUp = () => false;\n", encoding="utf-8")
    engine = (assets / "vendor" / "sw.js").read_text(encoding="utf-8")
    (assets / "replay" / "sw.js").write_text(WITHOUT_ALLOWLIST + engine, encoding="utf-8")
    return assets


def expect_nothing(attacker, step, tag=None):
    """Only documented exceptions have left since the last check, and none at all for the hosts of `tag`.

    An attempt of an earlier page may be heard late; its host tells which page that was.
    """
    heard = attacker.heard()
    print(f"{ENGINE}, {ORIGINS}, by {MODE}: {step}: left: {json.dumps(heard)}")
    unexpected = {
        name: kinds for name, kinds in heard.items()
        if name.endswith(f".{tag}") or not {*kinds} <= LEAVES[ENGINE].get(attempt(name), set())
    }
    assert unexpected == {}, step


def attempt(name):
    """Which attempt a host is of: `NAME.TAG`, or `PART.NAME.TAG` where it made a realm with parts of its own."""
    parts = name.split(".")
    if len(parts) < 2 or parts[-1] not in {*TAGS, *CONNECTED, "answers", "headers", "leave", "poison", "takeover"}:
        return name
    return parts[0] if parts[-1] == "answers" else parts[-2]


def test_nothing_leaves(open_case):
    """Before and after a hostile page changed the engine's settings, and after a restart of the browser."""
    case = open_case()
    attacker = case.start()
    ended = attacker.visit("first")
    assert len(ended) == len(attempts())
    expect_nothing(attacker, "every attempt")
    if IS_WHOLE:
        print(attacker.visit("answers"))
        expect_nothing(attacker, "from what the server and the engine answer")
        attacker.visit("headers")
        expect_nothing(attacker, "by header fields", tag="headers")
        attacker.visit("connected")
        expect_nothing(attacker, "by an archived Connection-Allowlist")
    print(attacker.leave_all())
    expect_nothing(attacker, "by leaving", tag="leave")
    attacker.visit("poison")
    attacker.visit("poisoned")
    expect_nothing(attacker, "after another policy was asked for")
    if not IS_WHOLE:
        return
    print(attacker.visit("poison-more"))
    expect_nothing(attacker, "while more was left behind")
    print(attacker.visit("take-over"))
    attacker = case.restart_browser()
    attacker.visit("restarted")
    expect_nothing(attacker, "after a restart of the browser")


def test_poisoned_profile_is_cleaned(open_case, tmp_path):
    """What hostile pages left in the profile under a version without the wall has no effect: the control, then the same profile."""
    case = open_case(assets=without_wall(tmp_path))
    attacker = case.start()
    attacker.visit("poison")
    attacker.visit("poisoned")
    assert "socket.poisoned" in attacker.heard()
    attacker.visit("take-over")
    attacker.leave("inner-again")
    assert "socket.takeover" in attacker.heard()
    case.engine.close()
    case.host.stop()
    case.outside.settle()
    case.outside.forget()
    case.host.assets = None
    case.host.start()
    for _ in range(2 if IS_WHOLE else 1):
        attacker = case.open()
        attacker.visit("old")
        expect_nothing(attacker, "in a profile from before")
        case.engine.close()


STORE = "() => { localStorage.setItem('kept', 'yes'); return 'stored'; }"
KEPT = "() => localStorage.getItem('kept') ?? 'no'"
HAS_FRAMES = "() => document.querySelectorAll('iframe').length === 3 && document.readyState === 'complete'"


def test_other_archives_are_out_of_reach(open_case, tmp_path):
    """A page can't clear what another archive's pages stored, and can't load or count them, in a frame beside itself."""
    case = open_case()
    case.host.add(write_victim(tmp_path / "victim.wacz"))
    attacker = case.start()
    origin = case.host.replay_origin(VICTIM)
    path = f"{origin}/{case.host.archive(VICTIM)['replayCollection']}/{TIMESTAMP}mp_/{SITE}/page"

    def at_victim(function):
        """Opens the other archive's page, and calls a function in the agent beside it."""
        for address in ["about:blank", address_of(case.host, "page", MODE, VICTIM)]:
            attacker.goes(address)
        wait_until(lambda: look(attacker.run, HAS_FRAMES), "the other archive shows its page")
        return case.engine.run_in_agent(function)

    def attack(*call):
        attacker.visit("still")
        return attacker.run(*call)

    # First without the other archive's service worker, then with it.
    for step in ["before it is opened", "after it was opened"]:
        for url in [path, f"{origin}/"]:
            for policy in ["", "no-referrer"]:
                count = attack("(url, policy) => countFrames(url, policy)", url, policy)
                print(f"{ENGINE}, {ORIGINS}, by {MODE}: {step}: frames of {urlsplit(url).path} {policy}: {count}")
                assert count <= 0
        at_victim(STORE)
    clear = f"{origin}/clear"
    for call in [
        ("(url) => countFrames(url, '')", clear), ("(url) => countFrames(url, 'no-referrer')", clear),
        ("(url) => leaveFor(url)", clear),
    ]:
        attack(*call)
        assert at_victim(KEPT) == "yes", f"{call} cleared what the other archive's page stored"
    expect_nothing(attacker, "towards another archive")


def look(run, function):
    """Returns what a function returns, or nothing while the document is being replaced."""
    try:
        return run(function)
    except GONE:
        return None


GO = """(url) => {
    const script = document.createElement("script");
    script.textContent = `setTimeout(() => { location.href = ${JSON.stringify(url)}; })`;
    document.body.append(script);
}"""
ASKS = "() => document.querySelector('h1')?.innerText.startsWith('Another page wants') ? document.querySelector('a').href : ''"
SHOWS_VICTIM = "() => document.title.startsWith('Victim')"


@pytest.mark.parametrize("site", ["localhost", "attacker.localhost"])
def test_other_sites_learn_nothing(open_case, tmp_path, site):
    """Whether a URL was captured or not, a web site that goes there arrives at the same page, which asks the person."""
    case = open_case()
    case.host.add(write_victim(tmp_path / "victim.wacz"))
    attacker = case.start()
    engine, other = case.engine, WebSite()
    forms = ["all/2024dl_", "all/2024id_", "all/2024", "all", "all/timemap/link", "victim/2024id_", "victim/timemap/json"]
    origins = sorted({case.host.address, case.host.home, case.host.replay_origin(VICTIM)})
    names = ["empty", "file.zip", "none"]
    # Each form at one origin and with one name. Only `make soak` combines all.
    ways = list(product(origins, forms, names)) if IS_WHOLE else [
        (origins[number % len(origins)], form, names[(number // len(origins) + number) % 3]) for number, form in enumerate(forms)]
    try:
        for origin, form, name in ways:
            url = f"{origin}/c/{form}/{SITE}/{name}"
            attacker.goes(f"http://{site}:{other.port}/")
            engine.run(GO, url)
            assert wait_until(lambda: look(engine.run, ASKS), f"{url} asks").endswith(urlsplit(url).path)
        attacker.goes(f"http://{site}:{other.port}/")
        engine.run(GO, f"{case.host.home}/c/all/2024/{SITE}/page")
        wait_until(lambda: look(engine.run, ASKS), "the page asks")
        engine.click("a")
        wait_until(lambda: look(engine.run, SHOWS_VICTIM), "the viewer shows the page")
    finally:
        other.close()
    expect_nothing(attacker, "by links of other sites")


def test_control_every_attempt_is_recorded(outside, playwright, tmp_path):
    """The same pages as an ordinary website."""
    outside.forget()
    site = OpenSite(outside)
    engine = ENGINES[ENGINE](tmp_path / "browser", playwright=playwright)
    try:
        attacker = Attacker(engine, outside, lambda path: f"{site.address}/{path}", in_page=False)
        attacker.visit("first")
        attacker.visit("headers")
        attacker.visit("connected")
        attacker.leave_all()
        names = attacker.heard()
        heard = {attempt(name) for name in names}
        fields = [name for name in names if name.endswith(".headers")]
    finally:
        engine.close()
        site.close()
    wanted = {*attempts(), *(name for name, _, _ in leaving_pages())}
    print(f"{ENGINE}: not heard: {sorted(wanted - heard)}; by header fields: {fields}")
    # Few fields have an effect in each browser.
    assert fields or ENGINE == "webkit"
    assert {f"link-dns.{tag}" for tag in CONNECTED} <= {*names}
    assert wanted - heard <= {*WITHOUT_CONTROL[ENGINE]}
