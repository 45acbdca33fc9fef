"""Messages when something that replay needs is missing."""

import base64
import json
import re
import shutil

import pytest

from support.expecting import expect
from support.journey import SITE, TITLE, expect_home, open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


def drop(page, file):
    """Drags a file onto the page, as from a file manager."""
    page.evaluate("""([name, data]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
        for (const kind of ["dragover", "drop"]) {
            document.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }
    }""", [file.name, base64.b64encode(file.read_bytes()).decode()])


def test_missing_engine_is_reported(host_with_own_assets, own_assets, browser):
    """The library lists archives. It, the viewer and a deep link name the command that downloads the engine."""
    host, page = host_with_own_assets, browser.page
    shutil.rmtree(own_assets / "vendor")
    host.add(FIXTURES / "sample.wacz")
    browser.allow("404")
    page.goto(host.home)
    notice = page.get_by_role("status").filter(has_text="The replay engine is missing")
    expect(notice).to_contain_text("make setup")
    collection = host.archive("sample")["replayCollection"]
    for address in [
        f"{host.home}/?archive=/archives/sample.wacz",
        f"{host.replay_origin('sample')}/{collection}/20241121090000mp_/{SITE}/",
    ]:
        page.goto(address)
        expect(page.get_by_role("heading", name=f"“{TITLE}” can't be opened")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("The replay engine is missing")
        expect(page.get_by_text("make setup").first).to_be_visible()


def test_try_again_uses_an_engine_added_meanwhile(host_with_own_assets, own_assets, browser):
    """Without a restart of the server."""
    host, page = host_with_own_assets, browser.page
    (own_assets / "vendor").rename(own_assets / "vendor-elsewhere")
    host.add(FIXTURES / "sample.wacz")
    browser.allow("404")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect(page.get_by_role("alert")).to_contain_text("The replay engine is missing")
    (own_assets / "vendor-elsewhere").rename(own_assets / "vendor")
    page.get_by_role("button", name="Try again").click()
    expect_home(Viewer(page))


def test_browser_without_service_workers(host_with_sample, browser):
    """As in some private windows."""
    page = browser.page
    browser.context.add_init_script("delete Navigator.prototype.serviceWorker")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect(page.get_by_role("heading", name=f"“{TITLE}” can't be opened")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("Replay needs service workers")
    expect(page.get_by_text("ordinary window")).to_be_visible()


def test_browser_that_blocks_the_worker(host_with_sample, browser):
    """As with blocked site data."""
    page = browser.page
    browser.context.add_init_script("""
        if (self.origin !== "null" && navigator.serviceWorker) {
            ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException("no", "SecurityError"));
        }""")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect(page.get_by_role("alert")).to_contain_text("blocked the replay engine")


# The agent looked at the document in the page's frame.
LOOKS = """if (window === top) {
    window.looks = 0;
    addEventListener("message", ({ data }) => { if (data.replayhost === "look" && data.href?.includes("mp_/")) window.looks += 1; });
}"""


@pytest.mark.parametrize("step", ["reload", "link"])
def test_page_of_the_server_is_not_taken_for_the_capture(host_with_sample, browser, step):
    """The browser deleted the engine, and doesn't set it up again. The server's page in the frame has no time of capture, and no mark."""
    page = browser.page
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect_home(viewer)
    expect(page.get_by_text("Captured")).to_be_visible()
    browser.context.add_init_script(LOOKS)
    browser.context.add_init_script("ServiceWorkerContainer.prototype.register = () => Promise.reject(new Error('refused'))")
    browser.clear_storage(host_with_sample.replay_origin("sample"))
    if step == "reload":
        page.reload()
    else:
        page.evaluate(LOOKS)
        viewer.follow("Species")
    expect(viewer.read("#status")).to_contain_text("The browser blocked the replay engine")
    wait_until(lambda: page.wait_for_timeout(20) or page.evaluate("looks"), "the agent has looked")
    # What the viewer asks the server about that document is answered before this.
    page.evaluate("fetch('/api/archives/sample').then((answer) => answer.text())")
    expect(page.get_by_role("alert")).to_contain_text("The browser blocked the replay engine")
    assert page.get_by_text("Captured").count() == 0
    assert not page.get_by_role("button", name="Hashes agree").is_visible()


def test_stopped_server_is_reported(host_with_sample, browser):
    """The message names the command. After a restart, "Try again" opens the page."""
    page = browser.page
    browser.allow("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect_home(viewer)
    host_with_sample.stop()
    viewer.open_url(f"{SITE}/species/limpet.html")
    expect(page.get_by_role("alert")).to_contain_text("replayhost has stopped")
    expect(page.get_by_text("replayhost serve").first).to_be_visible()
    viewer.block_restart_detection()
    host_with_sample.start()
    page.get_by_role("button", name="Try again").click()
    expect(viewer.read("main")).to_contain_text("Its teeth are harder than any other known living thing.")


@pytest.mark.parametrize("name", ["truncated", "not-a-zip", "nul-name", "encrypted", "multi-wacz"])
def test_refused_file_shows_the_message_of_the_server(host, browser, name):
    """Dropped on the library. Nothing is added."""
    page = browser.page
    file = FIXTURES / "damaged" / f"{name}.wacz"
    refusal = host.run("import", file, "--json")
    assert refusal.returncode == 4
    error = json.loads(refusal.stderr)["error"]
    browser.allow(r"status of 4\d\d")
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    drop(page, file)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(f"Couldn't add “{name}.wacz”")
    expect(alert).to_contain_text(re.compile(re.escape(error["what"]), re.I))
    if "hint" in error:
        expect(alert).to_contain_text(re.compile(re.escape(error["hint"]), re.I))
    assert host.ids() == []


@pytest.mark.parametrize("name, severity", [
    ("no-datapackage", "warning"), ("no-index", "warning"), ("index-past-the-end", "error"),
    ("unsorted-index", "warning"), ("wrong-hash", "warning"),
])
def test_damaged_file_is_imported_with_findings(host, page, name, severity):
    """Each finding is shown with its location and its consequence."""
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    drop(page, FIXTURES / "damaged" / f"{name}.wacz")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Library")
    open_tab(page, "Details")
    expect(page.get_by_role("heading", name="Issues found in this file")).to_be_visible()
    status, _, body = host.request("GET", f"/api/archives/{name}")
    findings = json.loads(body)["findings"]
    assert status == 200 and severity in [finding["severity"] for finding in findings]
    for finding in findings:
        row = page.get_by_role("listitem").filter(has_text=finding["what"]).filter(has_text=finding["location"]).first
        expect(row).to_contain_text(finding["consequence"])
