"""The page to save URLs in each browser engine: docs/clients.md says what works where. The other tests of the page use Chromium."""

import pytest
from capture_host import make_server
from support.capture_page import KEPT, READ
from support.waiting import wait_until

# What docs/clients.md says that only some engines have, on localhost without an installation.
ABILITIES = """async () => ({
    sync: "SyncManager" in window, vibration: "vibrate" in navigator, wakeLock: "wakeLock" in navigator, badge: "setAppBadge" in navigator,
})"""
EXPECTED = {
    "chromium": {"sync": True, "vibration": True, "wakeLock": True, "badge": True},
    "firefox": {"sync": False, "vibration": False, "wakeLock": True, "badge": False},
    "webkit": {"sync": False, "vibration": False, "wakeLock": True, "badge": False},
}


@pytest.fixture
def capture(tmp_path):
    with make_server(tmp_path) as host:
        yield host


@pytest.mark.few("firefox", "webkit")
def test_page_keeps_and_sends_in_each_engine(tab, capture):
    """It starts without the server, keeps what is typed, and sends it once when the server is back."""
    tab.allow("ERR_")
    tab.go(capture.started["address"])
    tab.wait_for_text("replayhost-capture", "#footer")
    tab.wait_for(KEPT, what="the page's files are kept")
    assert tab.run(ABILITIES) == EXPECTED[tab.name]
    capture.stop()
    # The command of WebDriver passes by the service worker in Firefox.
    tab.run("() => { window.isOld = true; setTimeout(() => location.reload()); }")
    tab.wait_for("() => !window.isOld && document.body.classList.contains('stopped')", what="it has started without the server")
    tab.wait_for_text("Save a URL", "h1")
    url = "https://www.tiktok.com/@engine/video/1"
    tab.type("#urls", url)
    tab.wait_for_text("Queued - will retry when connected.", "#unsent")
    assert [share["url"] for share in tab.run(READ, "shares")] == [url]
    capture.start()
    wait_until(lambda: [row["url"] for row in capture.rows()] == [url], "it has arrived once")
    tab.wait_for(f"async () => (await ({READ})('shares')).every(({{ status }}) => status === 'confirmed')", what="the page knows")
    tab.click("nav.tabs a[href='#history']")
    tab.wait_for_text("tiktok.com", "#history-list")
    tab.click("nav.tabs a[href='#settings']")
    tab.wait_for_text("● Connected", "#connection-state")
