"""The eleven tests and the seven edge cases of the published guide for share clients, under its names, with the page to save URLs."""

import re
import threading

import pytest
from capture_host import make_server
from support.capture_page import (
    UNREACHABLE, box, expect_unable, history, open_page, save, shares, state, statuses, tab, wait_until_offline_ready)
from support.expecting import expect
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with make_server(tmp_path_factory.mktemp("guide")) as host:
        yield host


@pytest.fixture
def capture(server):
    """The running server. What earlier tests have saved stays."""
    if not server.process:
        server.start()
    return server


@pytest.fixture
def page(capture, browser):
    browser.allow(UNREACHABLE)
    return open_page(browser, capture)


def confirmed(page, count=1):
    wait_until(lambda: statuses(page) == ["confirmed"] * count, f"{count} shares are confirmed")


def saved(capture, *urls):
    """The rows of these URLs, of which each has exactly one."""
    rows = [row for row in capture.rows() if row["url"] in urls]
    assert sorted(row["url"] for row in rows) == sorted(urls)
    return rows


TIKTOK = ["https://www.tiktok.com/@user/video/123", "https://vm.tiktok.com/ZM8abc/", "https://tiktok.com/@user/video/124?lang=en"]
INSTAGRAM = ["https://www.instagram.com/p/Cabc/", "https://www.instagram.com/reel/Cdef/", "https://www.instagram.com/stories/user/123/"]


@pytest.mark.parametrize("urls, genre", [(TIKTOK, "tiktok"), (INSTAGRAM, "instagram")], ids=["tiktok_various_urls", "instagram_posts_reels_stories"])
def test_sites(capture, page, urls, genre):
    for url in urls:
        save(page, url)
    confirmed(page, len(urls))
    assert {row["genre"] for row in saved(capture, *urls)} == {genre}


def test_server_offline(capture, page):
    """The URL is kept, says so, and arrives when the server is back."""
    url = "https://www.tiktok.com/@offline/video/1"
    capture.stop()
    save(page, url)
    expect(page.locator("#unsent")).to_contain_text("Queued - will retry when connected.")
    assert statuses(page) == ["pending"] and [entry["status"] for entry in history(page)] == ["queued"]
    capture.start()
    confirmed(page)
    saved(capture, url)
    expect(page.locator("#unsent")).to_be_hidden()
    assert [entry["status"] for entry in history(page)] == ["confirmed"]


def test_app_opened_with_pending(capture, browser, page):
    """The tab was closed while the server was stopped."""
    urls = [f"https://www.tiktok.com/@pending/video/{number}" for number in range(2)]
    capture.stop()
    save(page, " ".join(urls))
    wait_until(lambda: statuses(page) == ["pending"] * 2, "both are kept")
    page.close()
    capture.start()
    browser.page = browser.context.new_page()
    open_page(browser, capture)
    confirmed(browser.page, 2)
    saved(capture, *urls)


def test_killed_during_upload(capture, browser, page):
    """The request was on its way, and the server has it. The page's next start repeats it with the same Idempotency-Key."""
    url = "https://www.tiktok.com/@killed/video/1"
    sent = threading.Event()

    def lose(route):
        route.fetch()
        sent.set()

    page.route("**/download", lose)
    save(page, url)
    wait_until(lambda: page.wait_for_timeout(10) or sent.is_set(), "the server has the request")
    assert statuses(page) == ["uploading"]
    page.close()
    browser.page = browser.context.new_page()
    open_page(browser, capture)
    confirmed(browser.page)
    saved(capture, url)


def test_airplane_mode_share_network_sync(capture, browser, page):
    """The page also starts without a network, from what the service worker keeps."""
    wait_until_offline_ready(page)
    url = "https://www.instagram.com/p/airplane/"
    browser.context.set_offline(True)
    page.goto(f"{capture.started['address']}/share?text=Look:%20{url}")
    page.get_by_role("button", name="Save this URL").click()
    expect(page.locator("#held")).to_be_hidden()
    wait_until(lambda: statuses(page) == ["pending"], "it's kept")
    browser.context.set_offline(False)
    confirmed(page)
    saved(capture, url)


def test_invalid_url(capture, page):
    before = len(capture.rows())
    page.goto(f"{capture.started['address']}/share?text=no%20URL")
    expect_unable(page)
    assert shares(page) == history(page) == [] and len(capture.rows()) == before


def test_server_error(capture, browser, page):
    """500: it's kept, says so, and sent again."""
    browser.allow("500")
    url = "https://www.tiktok.com/@error/video/1"
    page.route("**/download", lambda route: route.fulfill(
        status=500, content_type="application/json", body='{"success": false, "status": "error", "error": "internal_error", "message": "?"}'))
    save(page, url)
    expect(page.locator("#unsent")).to_contain_text("Server unavailable - queued for retry.")
    page.unroute("**/download")
    page.get_by_role("button", name="Retry all").click()
    confirmed(page)
    saved(capture, url)


def test_certificate_trust(page):
    """Without TLS there is none. The instructions for each system are there; test_capture_phone.py has the rest."""
    tab(page, "Settings")
    expect(page.locator("#certificate-state")).to_have_text("This connection doesn't use a certificate.")
    for system in ("iPhone and iPad", "Android", "macOS", "Windows", "Linux", "Firefox"):
        expect(page.locator("summary", has_text=system)).to_be_visible()
    page.locator("summary", has_text="iPhone").click()
    expect(page.get_by_text("Certificate Trust Settings")).to_be_visible()


def test_history_actions(capture, page, site):
    """Search, site, status, copy, share again, retry, delete by button and key, by dates, and export."""
    url, other = site.fake("ok", title="Harbour film"), "https://www.tiktok.com/@history/video/9"
    save(page, f"{url} {other}")
    confirmed(page, 2)
    tab(page, "History")
    page.get_by_label("Show", exact=True).select_option("device")
    items = page.locator("#history-list li.download")
    expect(items).to_have_count(2)
    expect(page.locator("#history-list h2")).to_have_text(["Today"])
    page.get_by_label("Search").fill("tiktok history")
    expect(items).to_have_count(1)
    page.get_by_label("Search").fill("")
    page.get_by_label("Site", exact=True).fill("tiktok.com")
    expect(items).to_have_count(1)
    with page.expect_download() as exported:
        page.get_by_role("button", name="Export").click()
    text = exported.value.path().read_text(encoding="utf-8")
    assert other in text and url not in text
    page.get_by_label("Site", exact=True).fill("")
    expect(items).to_have_count(2)
    page.get_by_role("button", name=f"Share again {other}").click()
    wait_until(lambda: len(shares(page)) == 3, "it's shared again")
    expect(items).to_have_count(3)
    items.first.get_by_role("button", name=re.compile("^Delete")).click()
    expect(items).to_have_count(2)
    items.first.locator("h3").focus()
    page.keyboard.press("Delete")
    expect(items).to_have_count(1)
    page.get_by_label("Show", exact=True).select_option("server")
    expect(page.locator("#history-list").get_by_role("heading", name="Harbour film")).to_be_visible()
    page.get_by_label("Show", exact=True).select_option("device")
    page.get_by_role("button", name="Delete by date…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("From").fill("2020-01-02")
    dialog.get_by_label("To", exact=True).fill("2020-01-01")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The first day must not be after the last one.")
    dialog.get_by_label("To", exact=True).fill("2199-01-01")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There's nothing here yet.")).to_be_visible()
    assert history(page) == []


def test_settings_kept(capture, browser, page):
    tab(page, "Settings")
    page.get_by_label("Resolution of videos, at most").fill("720")
    page.get_by_label("Save as").last.select_option("video")
    page.get_by_label("Vibrate every 2 %").uncheck()
    page.get_by_label("Notify after (minutes, for example 5,8)").fill("3, 6")
    page.get_by_label("Notify after (minutes, for example 5,8)").blur()
    page.reload()
    expect(page.get_by_label("Resolution of videos, at most")).to_have_value("720")
    expect(page.get_by_label("Vibrate every 2 %")).not_to_be_checked()
    expect(page.get_by_label("Notify after (minutes, for example 5,8)")).to_have_value("3, 6")
    expect(page.get_by_label("Attempts to reach the server")).to_have_value("10")
    tab(page, "Download")
    url = "https://www.tiktok.com/@settings/video/1"
    save(page, url)
    confirmed(page)
    assert saved(capture, url)[0]["options"] == {"height": 720}


def test_several_rapid_shares(capture, page):
    """Each is kept before the next request, and sent once."""
    urls = [f"https://www.tiktok.com/@rapid/video/{number}" for number in range(4)]
    for url in urls:
        save(page, url)
    confirmed(page, 4)
    rows = saved(capture, *urls)
    assert [row["url"] for row in rows] == urls[::-1]


def test_ended_during_sync(capture, browser, page):
    """The server is killed between two shares of a sync, and the tab is closed."""
    urls = [f"https://www.instagram.com/p/sync{number}/" for number in range(3)]
    answered = []

    def count(route):
        if answered:
            route.abort()
        else:
            route.continue_()
        answered.append(route.request.headers["idempotency-key"])

    page.route("**/download", count)
    save(page, " ".join(urls))
    wait_until(lambda: page.wait_for_timeout(10) or len(answered) >= 2, "the second one failed")
    page.close()
    browser.page = browser.context.new_page()
    open_page(browser, capture)
    confirmed(browser.page, 3)
    saved(capture, *urls)
    assert answered[1] in [share["id"] for share in shares(browser.page)]


def test_network_change_during_upload(capture, page):
    """The first request breaks. The page asks the server, which answers, and sends again."""
    url = "https://www.tiktok.com/@change/video/1"
    broken = []
    page.route("**/download", lambda route: (broken.append(1), route.abort("connectionreset")) if not broken else route.continue_())
    save(page, url)
    confirmed(page)
    saved(capture, url)
    assert shares(page)[0]["attemptCount"] == 2


def test_error_after_acceptance(capture, page, site):
    """The server has accepted it, and the download fails. The share is confirmed, and the row has the reason."""
    url = site.fake("private", by="guide")
    save(page, url)
    confirmed(page)
    failed = page.get_by_role("listitem").filter(has_text="by=guide")
    expect(failed.locator(".state")).to_have_text("Failed")
    expect(failed.locator(".message")).to_contain_text("Private video")
    assert saved(capture, url)[0]["state"] == "failed"


def test_duplicate(capture, page, site, tmp_path):
    """The same URL twice, while the first one runs: one download."""
    url = site.fake("held", gate=tmp_path / "gate", title="Twice")
    save(page, url)
    expect(state(page, "Twice")).to_have_text("Fetching…")
    save(page, url)
    expect(page.locator("#result")).to_have_text("This URL is already queued or running.")
    (tmp_path / "gate").touch()
    expect(state(page, "Twice")).to_have_text("Completed · 200 kB")
    saved(capture, url)
    # Afterwards, it's another download.
    save(page, url)
    expect(page.locator("#result")).to_have_text("Added 1 URL. It was saved before.")


def test_extremely_long_url(capture, page):
    url = "https://quay.example/" + "a" * 2028
    save(page, url)
    expect_unable(page, "longer than 2048 characters")
    expect(box(page)).to_have_value(url)
    page.goto(f"{capture.started['address']}/share?url={url}")
    expect_unable(page)
    assert shares(page) == history(page) == []


@pytest.mark.parametrize("query", ["", "?text=", "?url=javascript:alert(1)", "?text=%00%ff", "?url=mailto:a@b.example", "?text=%3Cscript%3Ealert(1)%3C/script%3E"])
def test_malformed_share(capture, page, query):
    page.goto(f"{capture.started['address']}/share{query}")
    expect_unable(page)
    expect(page).to_have_url(re.compile("/#download$"))
    assert shares(page) == history(page) == []
