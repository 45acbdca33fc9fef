"""The screens of the page to save URLs: a long download, a preview, the history, the settings, and Japanese."""

import os
import re

import pytest
from capture_host import make_server
from support.accessibility import view_problems
from support.capture_page import SEED, UNREACHABLE, history, open_page, row, save, shares, state, tab
from support.expecting import expect
from support.places import CHECKOUT, IS_BUNDLED
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """The running server. What earlier tests have saved stays."""
    with make_server(tmp_path_factory.mktemp("client")) as host:
        yield host


@pytest.fixture
def page(capture, browser):
    browser.allow(UNREACHABLE)
    return open_page(browser, capture)


# What the screens show

def test_a_long_download_is_accompanied(capture, browser, site, tmp_path):
    """Nine minutes, with a clock that the test moves: two toasts, a vibration at each 2 %, the screen stays on, and no bar until it's wanted."""
    page = browser.page
    page.add_init_script("""
        window.calls = { vibrate: 0, lock: 0, release: 0 };
        window.toasts = [];
        new MutationObserver((changes) => {
            for (const { addedNodes } of changes) for (const node of addedNodes) if (node.className === "toast") window.toasts.push(node.querySelector("p").textContent);
        }).observe(document, { childList: true, subtree: true });
        Object.defineProperty(navigator, "userActivation", { value: { hasBeenActive: true } });
        navigator.vibrate = () => { window.calls.vibrate += 1; return true; };
        Object.defineProperty(navigator, "wakeLock", { value: { request: async () => {
            window.calls.lock += 1;
            return { addEventListener() {}, release: async () => { window.calls.release += 1; } };
        } } });
    """)
    shown = {"percent": 0, "minutes": 0, "state": "downloading"}
    opened, started = 1_763_433_000, "2025-11-18T03:30:00Z"

    def answer(route):
        film = {**template, "download_id": "film", "title": "Nine minutes", "state": shown["state"], "stage": "fetching" if shown["state"] == "downloading" else None,
            "started_at": started, "progress": {"percent": shown["percent"], "bytes": 1, "total": 2, "speed": 1_000_000, "eta": 60}}
        route.fulfill(json=[film], headers={"X-Total-Count": "1"})

    template = capture.wait_for(capture.add(site.fake("ok", title="Template")), "completed")
    page.clock.install(time=opened)
    page.route("**/history?*", answer)
    # The requests of the page end before its clock is moved.
    page.route("**/health", lambda route: route.fulfill(json={"status": "healthy", "software": "replayhost-capture"}))
    open_page(browser, capture)
    expect(state(page, "Nine minutes")).to_have_text("Fetching…")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    # From here on, only the test moves it.
    page.clock.pause_at(started)
    bar = row(page, "Nine minutes").locator("progress")
    counts = []
    for percent in range(1, 100):
        shown["percent"] = percent
        page.clock.run_for(5500)
        # An answer that comes later than that is waited for in small steps.
        wait_until(lambda: bar.evaluate("bar => bar.value") == percent or page.clock.run_for(50), "the page has read it")
        # Between 4:35 and 5 minutes after the start, and between 7:42 and 8 minutes
        if percent in (50, 84):
            counts.append(page.evaluate("window.toasts.length"))
    wait_until(lambda: page.evaluate("window.calls.vibrate") == 49, "it has vibrated at 2, 4, … 98")
    assert counts == [0, 1]
    assert page.evaluate("window.toasts") == ["This download is taking a long time. It continues on the server, even if you close this page.",
        "Still downloading. It continues on the server, even if you close this page."]
    page.get_by_role("button", name="Show progress ▶ Nine minutes").click()
    expect(page.get_by_role("progressbar", name="Nine minutes")).to_have_attribute("value", "99")
    expect(row(page, "Nine minutes").locator(".progress")).to_contain_text("99 % · 1 bytes of 2 bytes · 1.0 MB/s · 1 min left")
    assert page.evaluate("window.calls.lock") == 1
    shown["state"] = "completed"
    page.clock.run_for(5500)
    wait_until(lambda: page.evaluate("window.calls") == {"vibrate": 50, "lock": 1, "release": 1}, "it vibrates at 100, and lets the screen turn off")


def test_failed_quality_is_tried_once_at_default(capture, page, site):
    """A toast says so, and so does the row. The second failure stays."""
    url = site.fake("not-media", title="Strange format")
    page.locator("#options summary").click()
    page.get_by_label("File format", exact=True).select_option("mkv")
    save(page, url)
    expect(page.locator("#announcements, .toast p").filter(has_text="The download failed. Details are in the app.").first).to_be_attached()
    found = capture.rows()[0]
    wait_until(lambda: capture.status(found["download_id"])["options"] in ({}, {"form": "video"}), "it has default quality")
    capture.wait_for(found["download_id"], "failed")
    expect(page.get_by_text("The download failed in the quality that you chose, and at default quality too.")).to_be_visible()
    assert len([row for row in capture.rows() if row["url"] == url]) == 1


def test_preview_is_shown_and_deleted(capture, page, site):
    """When it's closed, and when its tab is."""
    page.locator("#options summary").click()
    page.get_by_label("Preview only").check()
    received = capture.store / "capture" / "received"
    for name, close in (("Look at this", lambda: page.get_by_role("button", name="Close and delete").click()), ("And this", lambda: page.goto("about:blank"))):
        save(page, site.fake("ok", title=name))
        expect(state(page, name)).to_have_text("The preview is ready")
        path = f"/download/{capture.rows()[0]['download_id']}/file"
        page.get_by_role("button", name=f"Show preview {name}").click()
        expect(page.locator(".player video")).to_have_attribute("src", path)
        assert capture.request("GET", path)[0] == 200
        assert any(files for _, _, files in os.walk(received))
        close()
        # A browser can lose what a tab sends while it's closed. The server then ends the preview a minute after the last request for it. A
        # request of this test would be one.
        wait_until(lambda: not any(files for _, _, files in os.walk(received)), "the server has deleted it", seconds=240)
        wait_until(lambda: capture.request("GET", path)[0] == 404, "the server knows that it's deleted")
        expect(page.locator(".player video")).to_have_count(0)
    assert not [file for file in capture.files() if "ook_at" in file or "nd_this" in file]


def test_history_of_ten_thousand_is_shown_by_twenty(capture, page):
    page.evaluate(SEED, ["", 10_000, 20])
    tab(page, "History")
    page.get_by_label("Show", exact=True).select_option("device")
    items = page.locator("#history-list li.download")
    expect(items).to_have_count(20)
    expect(items.first).to_contain_text("https://quay.example/9999")
    page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
    expect(items).to_have_count(40)
    page.get_by_label("Search").fill("quay.example/77")
    expect(items.first).to_contain_text("https://quay.example/7799")


def test_list_of_the_server_is_read_by_twenty(capture, page, site):
    """Only what is shown is asked for. Each row has what can be done with it."""
    template = capture.wait_for(capture.add(site.fake("ok", title="Template")), "completed")
    asked = []

    def answer(route):
        query = dict(part.split("=") for part in route.request.url.partition("?")[2].split("&"))
        asked.append(query)
        first, count = int(query["offset"]), int(query["limit"])
        rows = [{**template, "download_id": f"d{number}", "title": f"Film {number}", "submitted_at": f"2025-11-{28 - number // 10:02}T02:30:00Z"} for number in range(145)]
        route.fulfill(json=rows[first:first + count], headers={"X-Total-Count": "145"})

    page.route("**/history?*", answer)
    tab(page, "History")
    items = page.locator("#history-list li.download")
    expect(items).to_have_count(20)
    expect(page.locator("#history-count")).to_have_text("145 entries")
    expect(page.locator("#history-list h2").first).to_have_text(re.compile("28 November 2025"))
    for count in (40, 60, 80, 100, 120, 140, 145):
        page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
        expect(items).to_have_count(count)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    # What is older than the newest hundred is read once, and the others with one request.
    old = [query["offset"] for query in asked if query["offset"] != "0"]
    assert old == ["100", "120", "140"]
    assert {query["limit"] for query in asked if query["offset"] == "0"} == {"20", "40", "60", "80", "100"}
    for action in ("Play", "Save", "Archive (.wacz)", "Details", "Remove…"):
        expect(items.first.get_by_text(action, exact=True)).to_be_visible()
    page.get_by_label("Status", exact=True).select_option("failed")
    page.get_by_label("Site", exact=True).fill("Quay.example")
    wait_until(lambda: page.wait_for_timeout(10) or asked[-1].get("domain") == "quay.example", "the site is asked for")
    assert asked[-1]["status"] == "failed"


def test_page_is_looked_at(capture, browser, page, site):
    """Its image and its text, whatever the page wrote."""
    image = (CHECKOUT / "www/capture/icon-512.png").read_bytes()
    text = "<h1>Two lamps</h1>\n<script>document.title = 'taken'</script>\n\u202eon the mole"
    saved = {"url": "https://quay.example/lamps", "title": "Lamps", "captured_at": "2025-11-18T02:30:01Z", "text": text}
    page.route("**/download/*/page", lambda route: route.fulfill(json=saved))
    page.route("**/download/*/screenshot", lambda route: route.fulfill(body=image, content_type="image/png"))
    capture.wait_for(capture.add(site.fake("ok", title="Two lamps")), "completed")
    button = row(page, "Two lamps").get_by_role("button", name="Look at it Two lamps")
    button.click()
    dialog = page.get_by_role("dialog", name="Two lamps")
    expect(dialog).to_contain_text("https://quay.example/lamps · ")
    expect(dialog.locator(".words")).to_contain_text("<h1>Two lamps</h1>")
    expect(dialog.locator(".words")).not_to_contain_text("\u202e")
    expect(dialog.get_by_role("img")).to_have_js_property("naturalWidth", 512)
    assert page.title() != "taken"
    assert view_problems(page, "capture-look") == []
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    page.unroute("**/download/*/page")
    browser.allow("404")
    button.click()
    expect(row(page, "Two lamps").get_by_role("alert")).to_contain_text("The archive has no page")


def test_more_can_be_asked_for_during_a_read(capture, page, site):
    template = capture.wait_for(capture.add(site.fake("ok", title="Template")), "completed")
    held = []

    def answer(route):
        query = dict(part.split("=") for part in route.request.url.partition("?")[2].split("&"))
        rows = [{**template, "download_id": f"d{number}", "title": f"Film {number}"} for number in range(50)]
        first = int(query["offset"])
        reply = {"json": rows[first:first + int(query["limit"])], "headers": {"X-Total-Count": "50"}}
        if query.get("q") == "held" and not held:
            held.append((route, reply))
        else:
            route.fulfill(**reply)

    page.route("**/history?*", answer)
    tab(page, "History")
    items = page.locator("#history-list li.download")
    expect(items).to_have_count(20)
    page.get_by_label("Search").fill("held")
    wait_until(lambda: page.wait_for_timeout(10) or held, "the list is read again")
    page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
    page.get_by_role("button", name="Show more").click()
    route, reply = held[0]
    route.fulfill(**reply)
    expect(items.nth(20)).to_be_visible()


def test_settings_say_what_they_know(capture, page):
    tab(page, "Settings")
    expect(page.locator("#connection-state")).to_have_text("● Connected")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text(re.compile(r"^Connected to replayhost-capture \d"))).to_be_visible()
    expect(page.locator("#pending-count")).to_have_text("Pending uploads: 0")
    for text, problem in (("WIFI:S:home;;", "This code isn't from replayhost-capture."), ('{"protocol":"http","v":"2.0"}', "This code has no address of the server"),
            ('{"lan":"a:1","protocol":"http","v":"3.0"}', "This code is from a newer version.")):
        page.get_by_label("Text or link of the QR code").fill(text)
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(page.locator("#scan-problem")).to_contain_text(problem)
    bookmark = page.get_by_role("link", name="Save to my library").get_attribute("href")
    assert bookmark.startswith("javascript:") and f"{capture.started['address']}/share?url=" in bookmark
    save_before = page.evaluate("localStorage.length")
    assert save_before >= 0
    page.get_by_role("button", name="Disconnect…").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_role("heading", name="Save a URL", level=1)).to_be_visible()
    assert shares(page) == history(page) == []


def test_page_is_in_japanese(capture, browser, page):
    """As the browser, or as chosen. The published words."""
    tab(page, "Settings")
    page.get_by_label("Language").select_option("ja")
    expect(page.get_by_role("heading", name="設定", level=1)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    for label in ("微振動強度", "プログレスバー初期表示", "トースト通知", "トースト表示タイミング (分)", "デフォルト形式", "デフォルト音声品質"):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    expect(page.locator("nav.tabs a")).to_have_text(["ダウンロード", "履歴", "設定"])


@pytest.mark.skipif(not IS_BUNDLED, reason="the app isn't bundled")
def test_all_files_have_less_than_150_kB(capture, browser, page):
    """In one language, with the worker, the icons and what is loaded later."""
    sizes = {}
    browser.context.on("response", lambda response: sizes.__setitem__(response.url, len(response.body())) if response.ok else None)
    page.reload()
    tab(page, "Settings")
    paths = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    files = {url for url in paths if re.search("/(app|bundle|capture)/", url)} | {f"{capture.started['address']}/{name}" for name in (
        "", "bundle/capture/worker.js", "capture/app.webmanifest", "capture/icon-512.png")}
    total = page.evaluate("async (urls) => { let total = 0; for (const url of urls) total += (await (await fetch(url)).arrayBuffer()).byteLength; return total; }", sorted(files))
    assert 50_000 < total < 150_000, total


def test_screens_are_accessible(capture, browser, page, site):
    """With what waits, an open log, and each tab."""
    found = []
    save(page, f"{site.fake('ok', title='Harbour ' * 20)} {site.fake('private', by='screens')}")
    expect(page.get_by_role("listitem").filter(has_text="by=screens").first.locator(".state")).to_have_text("Failed")
    page.evaluate(SEED, ["held", 2, 0])
    page.goto(f"{capture.started['address']}/share?url=https://quay.example/{'long' * 60}")
    expect(page.locator("#held li")).to_have_count(3)
    found += view_problems(page, "capture-download")
    tab(page, "History")
    first = page.locator("#history-list li.download").first
    first.get_by_role("button", name=re.compile("^Details")).click()
    first.get_by_role("button", name="Show the whole log").click()
    expect(first.locator(".log-table tbody tr").first).to_be_visible()
    found += view_problems(page, "capture-history")
    tab(page, "Settings")
    found += view_problems(page, "capture-settings")
    assert found == []
