"""Cookies that a page sets for all of `replayhost.localhost` don't change what other archives show."""

import base64

import pytest

from support.archives import write_archive
from support.host import Host

pytestmark = pytest.mark.parametrize("shared_engine", ["chromium", "firefox"], indirect=True)

DOMAIN = "domain=replayhost.localhost"
IN_ROOT = [f"plain=1; {DOMAIN}; path=/", "dotted=1; domain=.replayhost.localhost; path=/", f"lasting=1; {DOMAIN}; path=/; max-age=9999",
    f"secure=1; {DOMAIN}; path=/; secure", f"partitioned=1; {DOMAIN}; path=/; secure; partitioned", f"nameless; {DOMAIN}; path=/"]
IN_PATHS = [f"folder=1; {DOMAIN}; path=/COLLECTION", f"slash=1; {DOMAIN}; path=/COLLECTION/20241121090000mp_/",
    f"page=1; {DOMAIN}; path=/COLLECTION/20241121090000mp_/https://victim.example/"]
# What an unrewritten script of an archived page can do, by the functions of a window that it has just made.
SET = """const realm = document.body.appendChild(document.createElement("iframe")).contentWindow;
const { get, set } = Object.getOwnPropertyDescriptor(realm.Document.prototype, "cookie");
set.call(document, "plain=1; domain=replayhost.localhost; path=/");
document.body.dataset.seen = get.call(document);"""
VICTIM = """<!doctype html><title>Victim</title><body>Victim<script>
    document.body.dataset.seen = document.cookie;
    document.cookie = "own=1; path=/; max-age=9999";
    document.cookie = "site=1; domain=victim.example; path=/; max-age=9999";
</script>"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cookies")
    with Host(folder) as host:
        host.add(write_archive(folder / "victim.wacz", "Victim", {"https://victim.example/": VICTIM}))
        code = base64.b64encode(SET.encode()).decode()
        script = f"Object.getPrototypeOf(async () => {{}}).constructor(atob('{code}'))();"
        host.add(write_archive(folder / "setter.wacz", "Setter", {"https://setter.example/": f"<!doctype html><title>Setter</title><body><script>{script}</script>"}))
        yield host


def open_archive(engine, host, identifier, mode):
    engine.go(f"{host.home}/?archive=/archives/{identifier}.wacz&replay={mode}")


def seen_in_page(engine):
    engine.wait_for("() => 'seen' in document.body.dataset", what="the page has seen its cookies", in_page=True)
    return names(engine.run_in_page("() => document.body.dataset.seen"))


def names(cookies):
    return {cookie.partition("=")[0] for cookie in cookies.split("; ") if cookie}


def set_cookies(engine, host):
    """Sets them in the library's page, where no archived page deletes them. Returns those that this page sees."""
    engine.go(f"{host.home}/#settings")
    cookies = [cookie.replace("COLLECTION", host.archive("victim")["replayCollection"]) for cookie in [*IN_ROOT, *IN_PATHS]]
    engine.run("(cookies) => { for (const cookie of cookies) document.cookie = cookie; }", cookies)
    return names(engine.run("() => document.cookie"))


def test_control_archived_page_can_set_one(host, tab):
    """No browser has a way to forbid it."""
    open_archive(tab, host, "setter", "lookups")
    assert "plain" in seen_in_page(tab)


@pytest.mark.few("lookups", "chromium ranges")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_other_archives_do_not_see_them(host, tab, mode):
    """Its own cookies stay."""
    assert set_cookies(tab, host) >= {"plain", "dotted", "lasting", "nameless"}
    open_archive(tab, host, "victim", mode)
    assert seen_in_page(tab) - {"own", "site"} == set()
    set_cookies(tab, host)
    open_archive(tab, host, "victim", mode)
    assert seen_in_page(tab) == {"own", "site"}


def test_clear_deletes_them(host, tab):
    assert set_cookies(tab, host) >= {"plain", "dotted", "lasting", "nameless"}
    tab.wait_for_text("Clear replay data…", "button")
    tab.run("() => [...document.querySelectorAll('button')].find((one) => one.textContent === 'Clear replay data…').click()")
    tab.click("dialog button.danger")
    tab.wait_for_text("Replay data was cleared.")
    assert tab.run("() => document.cookie") == ""
