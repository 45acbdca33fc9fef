"""Adding archives: files that are chosen or dropped anywhere, folders, many at once, and with a server that goes away."""

import base64
import re

import pytest

from support.expecting import expect, expect_loaded
from support.journey import TITLE, expect_home
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

CONNECTION = "net::ERR|Failed to load resource"


def progress(page):
    return page.get_by_role("region", name="Progress", exact=True)


def toast(page):
    return page.locator(".toast")


def choose(page, *files):
    page.locator("input[type=file]").set_input_files(files)


def failed_jobs_of(host):
    return [job for job in host.jobs() if job["state"] == "failed"]


def hold_uploads(page):
    """Has the uploads wait until the test continues them."""
    held = []
    page.route("**/api/archives?name=*", lambda route: held.append(route))
    return held


@pytest.mark.parametrize("file, text, issues", [
    ("second.wacz", "Added “Harbour Notebook”.", False),
    ("sample.wacz", f"Already in your library: “{TITLE}”. Nothing was added.", False),
    ("damaged/index-past-the-end.wacz", "It has 1 issue.", True),
])
def test_one_file_opens_its_archive(host_with_sample, page, file, text, issues):
    """A toast says whether it's new, a duplicate, or has issues."""
    page.goto(host_with_sample.home)
    choose(page, FIXTURES / file)
    expect(toast(page)).to_contain_text(re.compile(r"It has \d+ issue") if issues else text)
    expect(page).to_have_url(re.compile("archive=.*#view=overview"))
    expect(progress(page)).to_be_hidden()
    toast(page).get_by_role("button", name="Dismiss").click()
    expect(toast(page)).to_have_count(0)


def test_many_files_have_one_line_and_one_result(host_with_sample, browser, tmp_path):
    """300 files, of which 20 are broken and one is there already."""
    host, page = host_with_sample, browser.page
    browser.allow("422")
    bad = [tmp_path / f"bad-{number}.wacz" for number in range(20)]
    for file in bad:
        file.write_bytes(b"no archive")
    # The server adds the same bytes only once, so the test answers for 279 new files.
    held, new = [], {"archive": {"id": "new", "title": "New"}, "duplicate": False}

    def answer(route):
        if not held:
            held.append(route)
        elif "name=new-" in route.request.url:
            route.fulfill(status=201, json=new)
        else:
            route.continue_()

    page.route("**/api/archives?name=*", answer)
    page.goto(host.home)
    files = [{"name": f"new-{number}.wacz", "mimeType": "", "buffer": b"new"} for number in range(279)]
    files += [{"name": file.name, "mimeType": "", "buffer": file.read_bytes()} for file in [FIXTURES / "sample.wacz", *bad]]
    page.locator("input[type=file]").set_input_files(files)
    expect(progress(page)).to_contain_text("Adding 1 of 300 files")
    expect(page.locator(".activity-count")).to_have_text("Activity (300)")
    wait_until(lambda: held or page.wait_for_timeout(10), "the first upload begins")
    held[0].fulfill(status=201, json=new)
    expect(progress(page)).to_contain_text("279 added, 1 duplicate, 20 failed")
    expect(page.locator("#announcements")).to_have_text("279 added, 1 duplicate, 20 failed")
    progress(page).get_by_role("link", name="Show").click()
    expect(page.get_by_role("heading", name="Failures (20)")).to_be_visible()
    failures = page.get_by_role("list", name="Failures").get_by_role("listitem")
    expect(failures.first).to_contain_text("bad-0.wacz")
    assert failures.first.inner_text().count("bad-0.wacz") == 1
    progress(page).get_by_role("button", name="Dismiss").click()
    expect(progress(page)).to_be_hidden()
    expect(failures.first).to_be_visible()
    page.reload()
    expect(failures.first).to_contain_text("bad-0.wacz")
    assert len(failed_jobs_of(host)) == 20
    for left in range(20, 0, -1):
        expect(failures.first).to_have_attribute("aria-setsize", str(left))
        failures.first.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("region", name="Failures")).to_be_hidden()
    wait_until(lambda: not failed_jobs_of(host), "the server no longer lists them")


def test_failed_file_is_dismissed_with_its_job(host, browser, tmp_path):
    page, file = browser.page, tmp_path / "holiday.wacz"
    file.write_bytes(b"no archive")
    browser.allow("422")
    page.goto(host.home)
    choose(page, file)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Couldn't add “holiday.wacz”")
    assert alert.inner_text().count("holiday.wacz") == 1
    wait_until(lambda: host.jobs(), "the server lists the failed job")
    progress(page).get_by_role("button", name="Dismiss").click()
    expect(progress(page)).to_be_hidden()
    wait_until(lambda: not failed_jobs_of(host), "the server no longer lists it")
    page.reload()
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    expect(page.get_by_role("link", name="Activity", exact=True)).to_be_visible()


def test_upload_goes_on_in_other_views(host_with_sample, page):
    """Through the viewer, the search, the settings and back. The archive isn't opened, since something else is open."""
    held = hold_uploads(page)
    page.goto(host_with_sample.home)
    page.evaluate("() => { window.isSameDocument = true; }")
    choose(page, FIXTURES / "second.wacz")
    expect(progress(page)).to_contain_text("Adding second.wacz")
    wait_until(lambda: held or page.wait_for_timeout(10), "the upload begins")
    page.get_by_role("link", name=f"Open {TITLE}").click()
    expect_home(Viewer(page))
    expect(progress(page)).to_contain_text("Adding second.wacz")
    page.get_by_role("link", name="Library").click()
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.get_by_role("combobox", name="Search text, titles and URLs").fill("limpet")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Search results")).to_be_visible()
    expect(progress(page)).to_contain_text("Adding second.wacz")
    held[0].continue_()
    expect(toast(page)).to_contain_text("Added “Harbour Notebook”.")
    expect(page).to_have_url(re.compile("#search=limpet"))
    assert page.evaluate("window.isSameDocument")
    toast(page).get_by_role("button", name="Open").click()
    expect(page).to_have_url(re.compile("archive=/archives/second.wacz#view=overview"))


def test_cancelled_files_have_not_failed(host, page):
    held = hold_uploads(page)
    page.goto(host.home)
    choose(page, FIXTURES / "sample.wacz", FIXTURES / "second.wacz", FIXTURES / "no-pages.wacz")
    expect(progress(page)).to_contain_text("Adding 1 of 3 files")
    wait_until(lambda: held or page.wait_for_timeout(10), "the upload begins")
    progress(page).get_by_role("button", name="Cancel all").click()
    expect(progress(page)).to_contain_text("3 cancelled")
    expect(progress(page)).not_to_contain_text("failed")
    page.goto(f"{host.home}/#activity")
    expect(page.get_by_text("No active jobs")).to_be_visible()
    expect(page.get_by_role("region", name="Failures")).to_be_hidden()
    assert host.ids() == []


def test_files_wait_for_the_server(host, browser):
    """Those that were chosen while the server is stopped are added when it's back, with the token of the new server."""
    page = browser.page
    browser.allow(f"{CONNECTION}|403")
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    expect_loaded(page)
    host.stop()
    choose(page, FIXTURES / "sample.wacz", FIXTURES / "second.wacz")
    expect(progress(page)).to_contain_text("2 files wait until replayhost is back.")
    host.start()
    expect(progress(page)).to_contain_text("2 added")
    wait_until(lambda: set(host.ids()) == {"sample", "second"}, "both were added")


def test_cut_upload_can_be_added_again(host, browser, tmp_path):
    """The server is killed in the middle of the first of two uploads. The other goes on when it's back."""
    page = browser.page
    browser.allow(f"{CONNECTION}|403")
    large = tmp_path / "large.wacz"
    sample = (FIXTURES / "sample.wacz").read_bytes()
    with open(large, "wb") as file:
        file.write(sample)
        file.truncate(500_000_000)
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_000_000})
    choose(page, large, FIXTURES / "second.wacz")
    expect(progress(page)).to_contain_text("Adding 1 of 2 files")
    wait_until(lambda: [job for job in host.jobs() if job["state"] == "running"], "the upload runs")
    wait_until(lambda: progress(page).get_by_role("progressbar").evaluate("bar => bar.value > 0 && bar.value < 1"), "some of it was sent")
    expect_loaded(page)
    host.process.kill()
    expect(progress(page)).to_contain_text("1 file waits until replayhost is back.")
    host.restart()
    expect(progress(page)).to_contain_text("1 added, 1 failed")
    wait_until(lambda: host.ids() == ["second"], "the other was added")
    progress(page).get_by_role("link", name="Show").click()
    rows = page.get_by_role("list", name="Failures").get_by_role("listitem")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("large.wacz")
    expect(rows).to_contain_text("The upload was interrupted at")
    # The file can be read again, and has changed since: the browser refuses it.
    large.write_bytes(sample)
    rows.get_by_role("button", name="Add again").click()
    expect(rows).to_contain_text("The browser can't read this file;")
    rows.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("region", name="Failures")).to_be_hidden()
    wait_until(lambda: not failed_jobs_of(host), "the server no longer lists it")


def test_interrupted_connection_can_be_added_again(host, page, browser):
    """The server is there all the time. The file is added at the second attempt."""
    browser.allow(CONNECTION)
    page.goto(host.home)
    attempts = []

    def cut_first(route):
        attempts.append(route)
        if len(attempts) == 1:
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/api/archives?name=*", cut_first)
    choose(page, FIXTURES / "sample.wacz")
    expect(page.get_by_role("alert")).to_contain_text("The upload was interrupted at")
    progress(page).get_by_role("button", name="Add again").click()
    expect(toast(page)).to_contain_text(f"Added “{TITLE}”.")


DROP_FOLDER = """([wacz]) => {
    // A folder of a file manager can't be dragged by a script.
    const file = (name) => ({ isDirectory: false, name, file: (done) => done(new File([Uint8Array.from(atob(wacz), (c) => c.charCodeAt(0))], name)) });
    const folder = (name, ...lists) => ({ isDirectory: true, name, createReader: () => ({ readEntries: (done) => done(lists.shift() ?? []) }) });
    DataTransferItem.prototype.webkitGetAsEntry = () => folder("crawls", [file("one.wacz"), file("readme.txt")],
        [folder("2024", [file("two.WARC.GZ"), file("cover.jpg")])]);
    const transfer = new DataTransfer();
    transfer.items.add(new File([""], "crawls"));
    const target = document.querySelector(".toolbar, main");
    for (const kind of ["dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
}"""


@pytest.mark.parametrize("address", ["/#settings", "/?archive=/archives/sample.wacz#view=pages", "/?archive=/archives/sample.wacz"])
def test_folder_is_dropped_on_any_view(host_with_sample, page, address):
    """The files that can be archives are added. The others are counted."""
    page.goto(host_with_sample.home + address)
    expect(page.locator(".toolbar, h1").first).to_be_visible()
    expect_loaded(page)
    page.evaluate(DROP_FOLDER, [base64.b64encode((FIXTURES / "second.wacz").read_bytes()).decode()])
    expect(progress(page)).to_contain_text("1 added, 1 duplicate, 2 other files skipped")
    assert sorted(host_with_sample.ids()) == ["one", "sample"]
