"""What the host tells by itself, told here in its place: the library follows, and shows the work that is under way."""

import json
import os
import shutil
import socket

import pytest

from support.expecting import expect
from support.journey import TITLE
from support.places import FIXTURES
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

JOB = {
    "id": 7, "kind": "import", "subject": "/volume/<b>large</b>.wacz", "state": "running", "done": 30_000_000,
    "total": 120_000_000, "attempt": 1, "repeatable": True,
}


class Told:
    """Answers for the host: events are those that were told since the browser last asked, jobs those that are known."""

    def __init__(self, context):
        self.events = []
        self.jobs = []
        self.commands = []
        context.route("**/api/events", self._stream)
        context.route("**/api/jobs", lambda route: route.fulfill(json={"jobs": self.jobs}))
        context.route("**/api/jobs/*/*", self._steer)

    def _stream(self, route):
        """The browser comes again 100 ms after the end of each answer."""
        told, self.events = self.events, []
        body = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in told)
        route.fulfill(content_type="text/event-stream", body=f"retry: 100\n\n{body}")

    def _steer(self, route):
        request = route.request
        self.commands.append((request.method, request.url.split("/api/")[1], bool(request.headers["replayhost-token"])))
        self.job(state={"pause": "paused", "resume": "running", "retry": "waiting", "cancel": "cancelled"}[
            request.url.rsplit("/", 1)[1]])
        route.fulfill(json=self.jobs[-1])

    def job(self, **changes):
        """The job as it is from now on, and an event that says so."""
        job = {**(self.jobs[-1] if self.jobs else JOB), **changes}
        self.jobs = [job]
        self.events.append(("job", job))


@pytest.fixture
def told(browser):
    return Told(browser.context)


def test_library_shows_what_others_import_and_remove(host, told, page):
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    host.add(FIXTURES / "sample.wacz")
    told.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    host.run("remove", "--yes", "sample")
    told.events.append(("archives", {"revision": 3}))
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()


def test_news_leave_the_focus_where_it_is(host_with_sample, told, page):
    host = host_with_sample
    page.goto(host.home)
    page.get_by_role("button", name=f"Remove {TITLE}").focus()
    host.add(FIXTURES / "second.wacz")
    told.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name="Harbour Notebook", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=f"Remove {TITLE}")).to_be_focused()


def test_work_is_shown_and_steered(host, told, page):
    """Progress, reason, and a button for each thing that can be done in a state; what is done goes away."""
    told.job()
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work).to_contain_text("Import of /volume/<b>large</b>.wacz")
    expect(work).to_contain_text("25 %, 30 MB of 120 MB")
    told.job(done=60_000_000)
    expect(work).to_contain_text("50 %, 60 MB of 120 MB")
    for button, command, words in [
        ("Pause", "pause", "Paused at 50 %"), ("Resume", "resume", "50 %, 60 MB"),
    ]:
        work.get_by_role("button", name=f"{button}: Import of").click()
        expect(work).to_contain_text(words)
        assert told.commands[-1] == ("POST", f"jobs/7/{command}", True)
    told.job(state="failed", reason="no space left while copying")
    expect(work).to_contain_text("No space left while copying.")
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz failed.")
    work.get_by_role("button", name="Retry: Import of").click()
    expect(work).to_contain_text("Queued")
    told.job(state="running", attempt=2)
    expect(work).to_contain_text("50 %, 60 MB of 120 MB, attempt 2")
    work.get_by_role("button", name="Cancel: Import of").press("Enter")
    expect(work).to_have_count(0)
    assert [command[1] for command in told.commands] == ["jobs/7/pause", "jobs/7/resume", "jobs/7/retry", "jobs/7/cancel"]


@pytest.mark.parametrize("job, buttons", [
    ({"repeatable": False}, ["Cancel"]),
    ({"repeatable": False, "state": "failed", "reason": "the server was stopped"}, ["Dismiss"]),
    ({"state": "failed", "errorCode": "archive-refused", "reason": "this is no ZIP file"}, ["Dismiss"]),
    ({"state": "failed", "errorCode": "no-space", "reason": "no space left"}, ["Retry", "Dismiss"]),
])
def test_only_what_can_succeed_is_offered(host, told, page, job, buttons):
    """An upload is read once, and a file that is no archive stays none."""
    told.job(**job)
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work.get_by_role("button")).to_have_text(buttons)


def test_upload_that_the_server_did_not_survive_is_only_dismissed(host, page):
    """The host's own word for what can be tried again."""
    with socket.create_connection(("127.0.0.1", host.port)) as connection:
        head = (f"POST /api/archives?name=cut.wacz HTTP/1.1\r\nHost: localhost:{host.port}\r\n"
                f"Origin: {host.address}\r\nReplayhost-Token: {host.token}\r\nContent-Type: application/wacz\r\nContent-Length: 1000000\r\n\r\n")
        connection.sendall(head.encode() + b"PK" * 1000)
        wait_until(lambda: [job for job in jobs_of(host) if job["state"] == "running"], "the upload runs")
        host.process.kill()
    host.restart()
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work).to_contain_text("cut.wacz")
    expect(work.get_by_role("button")).to_have_text(["Dismiss"])


def test_library_says_that_the_server_stopped_and_heals_itself(host_with_sample, browser):
    host, page = host_with_sample, browser.page
    browser.allow("Failed to load resource|net::ERR")
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    stopped = page.locator("#banners").get_by_text("replayhost has stopped")
    expect(stopped).to_have_count(0)
    host.stop()
    expect(stopped).to_be_visible()
    page.get_by_role("link", name=f"Open {TITLE}").click()
    expect(page.locator("#announcements")).to_have_text("replayhost has stopped.")
    expect(stopped).to_be_visible()
    host.add(FIXTURES / "second.wacz")
    host.start()
    expect(stopped).to_have_count(0)
    expect(page.get_by_role("link", name="Harbour Notebook", exact=True)).to_be_visible()


def test_failed_import_is_dismissed_for_good(host, browser, tmp_path):
    page, file = browser.page, tmp_path / "holiday.wacz"
    file.write_bytes(b"no archive")
    browser.allow("422")
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files(file)
    imports, work = page.get_by_role("list", name="Imports"), page.get_by_role("region", name="Activity")
    expect(imports).to_contain_text("holiday.wacz was not imported")
    wait_until(lambda: jobs_of(host), "the host knows what failed")
    imports.get_by_role("button", name="Dismiss holiday.wacz").click()
    expect(imports).to_have_count(0)
    wait_until(lambda: not jobs_of(host), "the host has forgotten it")
    page.reload()
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    expect(work).to_have_count(0)


def jobs_of(host):
    return json.loads(host.request("GET", "/api/jobs")[2])["jobs"]


def test_failed_work_is_dismissed_for_good(host, page, tmp_path):
    file = tmp_path / "away.wacz"
    shutil.copy(FIXTURES / "sample.wacz", file)
    host.stop()
    host.run("import", "--link", file)
    os.utime(file, (1, 1))
    host.start()
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work).to_contain_text("failed")
    work.get_by_role("button", name="Dismiss: Checksum of").click()
    expect(work).to_have_count(0)
    page.reload()
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect(work).to_have_count(0)
    assert "nothing failed" in host.run("jobs").stderr


def test_all_that_failed_is_dismissed_at_once(host, page):
    fields = {"Origin": host.address, "Replayhost-Token": host.token, "Content-Type": "application/wacz"}
    for name in ["one", "two", "three"]:
        status, answered, _ = host.request("POST", f"/api/archives?name={name}.wacz", fields, b"no archive")
        assert (status, int(answered["Replayhost-Job"])) == (422, jobs_of(host)[0]["id"])
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work.get_by_role("listitem")).to_have_count(3)
    work.get_by_role("button", name="Dismiss all failures").click()
    expect(work).to_have_count(0)
    wait_until(lambda: not jobs_of(host), "the host has forgotten them")


@pytest.mark.parametrize("by", ["event", "list"])
def test_finished_work_goes_away(host, told, page, by):
    """Which is said, whether an event or the list of jobs tells it first."""
    told.job()
    page.goto(host.home)
    work = page.get_by_role("region", name="Activity")
    expect(work).to_be_visible()
    told.job(state="done", done=JOB["total"])
    if by == "list":
        told.events.clear()
    expect(work).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz finished.")


def test_host_without_events_is_left_alone(host_with_sample, browser):
    """An older host: the library shows what there is, says nothing of it, and does not ask again and again."""
    asked = []
    browser.allow("404")
    browser.context.route("**/api/events", lambda route: asked.append(route.request.url) or route.fulfill(status=404))
    page = browser.page
    page.goto(host_with_sample.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    wait_until(lambda: asked, "the page asked for events")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("link", name=f"Pages of {TITLE}").click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert len(asked) == 1
    expect(page.get_by_role("alert")).to_have_count(0)
