"""Sharing with the page to save URLs: what it refuses, what it keeps, when it sends, and what other sites can do with it."""

import json
import re
import shutil

import pytest
from capture_host import make_server
from support.capture_page import (
    SEED, UNREACHABLE, box, history, open_page, save, shares, state, statuses, wait_until_offline_ready)
from support.expecting import expect
from support.places import WEB_INTERFACE
from support.waiting import wait_until
from support.website import WebSite

pytestmark = pytest.mark.one_chromium


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A copy of the web interface that a test can change."""
    return shutil.copytree(WEB_INTERFACE, tmp_path_factory.mktemp("assets") / "www", ignore=shutil.ignore_patterns("vendor"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, assets):
    with make_server(tmp_path_factory.mktemp("sharing")).start(REPLAYHOST_ASSETS=str(assets)) as host:
        yield host


@pytest.fixture
def capture(server, assets):
    """The running server. What earlier tests have saved stays."""
    if not server.process:
        server.start(REPLAYHOST_ASSETS=str(assets))
    return server


@pytest.fixture
def page(capture, browser):
    browser.allow(UNREACHABLE)
    return open_page(browser, capture)


REFUSED = [
    ("the film about ships", "There's no URL in this text. A URL starts with http:// or https://."),
    ("mailto:ana@quay.example", "There's no URL in this text."),
    ("<script>window.ran = 1</script>", "There's no URL in this text."),
    ("https://quay.example/" + "a" * 2028, "The URL is longer than 2048 characters."),
    ("https://ana:secret@quay.example/film", "URLs with a user name or a password can't be saved."),
    ("https://[quay/film", "It isn't a complete URL."),
]


@pytest.mark.parametrize("text, reason", REFUSED, ids=["no-url", "mailto", "markup", "2049-characters", "password", "malformed"])
def test_text_without_a_good_url_is_refused(capture, page, text, reason):
    """It stays in the box, and nothing is kept or sent."""
    before = capture.rows()
    save(page, text)
    expect(page.get_by_role("alert")).to_contain_text(reason)
    expect(box(page)).to_have_value(text)
    assert shares(page) == history(page) == []
    assert capture.rows() == before


def test_what_the_server_refuses_returns_to_the_box(capture, site, browser, page):
    """The rest is added."""
    browser.allow("400")
    refused, film = "http://a/", site.fake("ok", title="Ships")
    box(page).fill(f"{refused}\n{film}")
    with page.expect_response(lambda response: response.status == 400):
        box(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(refused)
    expect(box(page)).to_have_value(refused)
    expect(state(page, "Ships")).to_have_text(re.compile("^Completed"))
    assert capture.rows()[0]["url"] == film
    wait_until(lambda: [(share["url"], share["status"]) for share in shares(page)] == [(film, "confirmed")], "only the film is kept")

# Other sites

# A page of another site tries everything that could send the URL in its own name.
FORM = """<!doctype html><form id=form method=post action="{address}/share"><input name=url value="{url}"></form>
<iframe name=framed src="{address}/share?url={url}"></iframe><img src="{address}/share?url={url}">"""
TRY = """async ([address, url]) => {
    const got = [];
    for (const [method, path] of [["GET", `/share?url=${url}`], ["POST", "/share"], ["POST", `/share?url=${url}`]]) {
        got.push(await fetch(address + path, { method, mode: "no-cors", body: method === "POST" ? `url=${url}` : undefined })
            .then((answer) => answer.type, (error) => error.name));
    }
    got.push(await fetch(`${address}/share?url=${url}`).then((answer) => answer.type, (error) => error.name));
    return got;
}"""


def test_other_sites_send_nothing_without_a_tap(capture, browser, page):
    """They can open /share in a window, which keeps the URL and asks. In a frame, by a form or a request they get nothing."""
    browser.allow(".")
    url, address = "https://quay.example/forced", capture.started["address"]
    before = [row["url"] for row in capture.rows()]
    other = WebSite()
    try:
        tabs = [page, page.context.new_page()]
        tabs[1].goto(f"http://attacker.localhost:{other.port}/")
        assert set(tabs[1].evaluate(TRY, [address, url])) <= {"opaque", "TypeError"}
        tabs[1].set_content(FORM.format(address=address, url=url))
        wait_until(lambda: tabs[1].wait_for_timeout(10) or tabs[1].frame("framed").url.startswith("chrome-error:"), "the frame is refused")
        assert shares(page) == []
        tabs[1].evaluate("document.getElementById('form').submit()")
        expect(tabs[1].locator("body")).to_contain_text("forbidden")
        tabs[1].goto(f"http://attacker.localhost:{other.port}/")
        with page.context.expect_page() as opened:
            tabs[1].evaluate("([address, url]) => void window.open(`${address}/share?url=${encodeURIComponent(url)}`)", [address, url])
        asked = opened.value
        expect(asked.get_by_role("heading", name="Save this URL?")).to_be_visible()
        expect(asked.locator("#held")).to_contain_text(url)
        asked.reload()
        asked.keyboard.press("Enter")
        assert statuses(asked) == ["held"] and history(asked) == []
        assert [row["url"] for row in capture.rows()] == before
        asked.goto(f"{address}/share?url={url}")
        expect(asked.locator("#held li")).to_have_count(1)
        expect(asked.get_by_role("alert")).to_have_count(0)
        asked.get_by_role("button", name="Discard").click()
        expect(asked.locator("#held")).to_be_hidden()
        assert shares(asked) == []
    finally:
        other.close()


def test_share_at_the_loopback_address_keeps_its_url(capture, page):
    """The page has one origin."""
    page.goto(f"http://127.0.0.1:{capture.port}/share?text=a%20film:%20https://quay.example/film%3Fa=1%26b=2")
    expect(page.locator("#held li")).to_have_text("https://quay.example/film?a=1&b=2")
    assert page.url.startswith(f"{capture.started['address']}/")


def test_a_site_cannot_fill_the_queue(capture, page):
    """At most 100 URLs wait for the person."""
    page.evaluate(SEED, ["held", 100, 0])
    page.goto(f"{capture.started['address']}/share?url=https://quay.example/one-more")
    expect(page.get_by_role("heading", name="Save these 100 URLs?")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("100 URLs already wait for your decision.")
    assert len(shares(page)) == 100


def test_shared_markup_is_text(capture, page):
    """Characters that reorder text are shown encoded."""
    page.goto(f"{capture.started['address']}/share?url=" + "https://quay.example/%253Cimg%20src=x%20onerror=window.ran=1>%E2%80%AEgpj")
    expect(page.locator("#held li")).to_have_count(1)
    page.goto(f"{capture.started['address']}/share?url=" + "https://quay.example/%E2%80%AEgpj.exe%3F%3Cb%3E")
    expect(page.locator("#held li")).to_have_count(2)
    assert page.locator("#held img, #held b").count() == 0 and page.evaluate("window.ran") is None
    assert not re.search("[\u202a-\u202e]", page.locator("body").inner_text())


# The queue without the page

def sync(browser, capture):
    """Lets the browser start Background Sync, as it does when there is a network again."""
    session = browser.context.new_cdp_session(browser.page)
    registrations = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    session.send("ServiceWorker.enable")
    address = capture.started["address"]
    found = wait_until(lambda: browser.page.wait_for_timeout(10) or [each for each in registrations if each["scopeURL"] == f"{address}/"], "the worker is registered")
    session.send("ServiceWorker.dispatchSyncEvent", {
        "origin": address, "registrationId": found[-1]["registrationId"], "tag": "replayhost-capture-queue", "lastChance": False})
    session.detach()


def test_queue_is_sent_without_a_page(capture, assets, browser, page):
    """By Background Sync. Each URL is one download, and the worker sends the device's options."""
    wait_until_offline_ready(page)
    urls = [f"https://www.tiktok.com/@sync/video/{number}" for number in range(3)]
    capture.stop()
    save(page, " ".join(urls))
    wait_until(lambda: statuses(page) == ["pending"] * 3, "all are kept")
    other = WebSite()
    try:
        page.goto(f"http://attacker.localhost:{other.port}/")
        capture.start(REPLAYHOST_ASSETS=str(assets))
        sync(browser, capture)
        wait_until(lambda: sorted(row["url"] for row in capture.rows() if "@sync" in row["url"]) == urls, "all have arrived")
        assert {json.dumps(row["options"]) for row in capture.rows() if "@sync" in row["url"]} == {'{"height": 1080}'}
    finally:
        other.close()
    open_page(browser, capture)
    wait_until(lambda: statuses(page) == ["confirmed"] * 3, "the page knows")


def test_old_confirmed_shares_leave_the_queue(capture, page):
    """After 24 hours. The history keeps them."""
    page.evaluate(SEED, ["confirmed", 2, 2])
    page.reload()
    wait_until(lambda: shares(page) == [], "the queue is empty")
    assert len(history(page)) == 2


def test_page_works_when_the_browser_keeps_nothing(capture, browser, page):
    """Without IndexedDB, a URL is sent at once. If that fails, it stays in the box, to be copied."""
    page.add_init_script("indexedDB.open = () => { throw new DOMException('full', 'QuotaExceededError'); };")
    page.reload()
    url, other = "https://www.tiktok.com/@unkept/video/1", "https://www.tiktok.com/@unkept/video/2"
    save(page, url)
    expect(page.locator("#result")).to_have_text("Added 1 URL.")
    assert capture.rows()[0]["url"] == url
    page.route("**/download", lambda route: route.abort())
    save(page, other)
    expect(page.get_by_role("alert")).to_contain_text("Unable to cache - storage full")
    expect(box(page)).to_have_value(other)
    expect(page.get_by_role("button", name="Copy this URL")).to_be_visible()
    page.goto(f"{capture.started['address']}/share?url={other}")
    expect(page.get_by_role("alert")).to_contain_text("Unable to cache - storage full")
    expect(box(page)).to_have_value(other)


def test_cleared_database_is_made_again(capture, browser, page):
    """While the page is open."""
    save(page, "https://www.tiktok.com/@cleared/video/1")
    wait_until(lambda: statuses(page) == ["confirmed"], "the first is sent")
    browser.clear_storage(capture.started["address"])
    save(page, "https://www.tiktok.com/@cleared/video/2")
    wait_until(lambda: [share["url"][-1] for share in shares(page)] == ["2"] and statuses(page) == ["confirmed"], "the second is kept and sent")
    assert capture.rows()[0]["url"].endswith("/2")


@pytest.mark.parametrize("body, kind, status", [
    ("<!doctype html><title>Router</title>", "text/html", 200), ('{"status": "ok"}', "application/json", 200), ('{"status": "heal', "application/json", 200),
    ("<h1>Not found</h1>", "text/html", 404)], ids=["html", "other-json", "half", "404"])
def test_another_program_is_told_apart(capture, browser, page, body, kind, status):
    """It has the address of the server now. The URL is kept, and arrives when the server is back."""
    browser.allow("404")
    for path in ("**/health", "**/history?*", "**/download"):
        page.route(path, lambda route: route.fulfill(body=body, content_type=kind, status=status))
    url = f"https://www.tiktok.com/@other/video/{len(body)}{body[-1].isalpha()}"
    save(page, url)
    expect(page.locator("#unsent")).to_contain_text("Another program answered instead of the server.")
    expect(page.locator("#list-problems")).to_contain_text("Another program answers at this address.")
    assert statuses(page) == ["pending"]
    page.unroute_all()
    wait_until(lambda: statuses(page) == ["confirmed"], "it has arrived")
    assert [row["url"] for row in capture.rows()].count(url) == 1


def test_new_version_leaves_no_old_code(capture, assets, page):
    """After one load, with the queue as it was. Without the server, the new one is kept, too."""
    wait_until_offline_ready(page)
    page.evaluate(SEED, ["held", 3, 0])
    files = [path for path in assets.rglob("*.js") if "Save a URL" in path.read_text(encoding="utf-8")]
    assert files
    index = next(path for path in [assets / "bundle/capture/index.html", assets / "capture/index.html"] if path.exists())
    old = {path: path.read_text(encoding="utf-8") for path in [*files, index]}
    try:
        for path in files:
            path.write_text(old[path].replace("Save a URL", "Keep a URL"), encoding="utf-8")
        page.reload()
        expect(page.get_by_role("heading", name="Keep a URL", level=1)).to_be_visible()
        assert len(shares(page)) == 3
        wait_until(lambda: page.evaluate(KEPT, "Keep a URL") and not page.evaluate(KEPT, "Save a URL –"), "the new files are kept")
        capture.stop()
        page.reload()
        expect(page.get_by_role("heading", name="Keep a URL", level=1)).to_be_visible()
        expect(page.locator("#held li")).to_have_count(3)
    finally:
        for path, text in old.items():
            path.write_text(text, encoding="utf-8")


# Whether a kept file has this text.
KEPT = """async (text) => {
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
            if (/\\.js/.test(request.url) && (await (await cache.match(request)).text()).includes(text)) return true;
        }
    }
    return false;
}"""
