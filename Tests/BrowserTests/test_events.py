"""The server's events, which these tests send in its place: the library updates, and shows activity."""

import json
import os
import re
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


class FakeEvents:
    """Answers requests for events and jobs. Each event is sent once."""

    def __init__(self, context):
        self.events = []
        self.jobs = []
        self.commands = []
        context.route("**/api/events", self._stream)
        context.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": self.jobs}))
        context.route("**/api/jobs/*/*", self._control)

    def _stream(self, route):
        """The browser reconnects 100 ms after the end of each response."""
        events, self.events = self.events, []
        body = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
        route.fulfill(content_type="text/event-stream", body=f"retry: 100\n\n{body}")

    def _control(self, route):
        request = route.request
        self.commands.append((request.method, request.url.split("/api/")[1], bool(request.headers["replayhost-token"])))
        self.job(state={"pause": "paused", "resume": "running", "retry": "waiting", "cancel": "cancelled"}[
            request.url.rsplit("/", 1)[1]])
        route.fulfill(json=self.jobs[-1])

    def job(self, **changes):
        """Changes the job and sends an event about it."""
        job = {**(self.jobs[-1] if self.jobs else JOB), **changes}
        self.jobs = [job]
        self.events.append(("job", job))


@pytest.fixture
def fake(browser):
    return FakeEvents(browser.context)


def test_library_shows_what_others_import_and_remove(host, fake, page):
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    host.add(FIXTURES / "sample.wacz")
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    host.run("remove", "--yes", "sample")
    fake.events.append(("archives", {"revision": 3}))
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()


def test_updates_keep_the_focus(host_with_sample, fake, page):
    host = host_with_sample
    page.goto(host.home)
    page.get_by_role("button", name=f"Remove {TITLE}").focus()
    host.add(FIXTURES / "second.wacz")
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("link", name="Harbour Notebook", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=f"Remove {TITLE}")).to_be_focused()


def test_update_during_a_click_does_not_lose_it(host_with_sample, fake, page):
    """The row changes between the press and the release of the mouse."""
    host = host_with_sample
    page.goto(host.home)
    page.get_by_role("link", name=f"Pages of {TITLE}").hover()
    page.mouse.down()
    assert host.run("edit", "sample", "--tag", "tidal").returncode == 0
    fake.events.append(("archives", {"revision": 2}))
    expect(page.get_by_role("list").get_by_text("tidal")).to_be_visible()
    page.mouse.up()
    expect(page).to_have_url(re.compile("archive="))


@pytest.mark.parametrize("width", [360, 1280])
def test_jobs_do_not_move_the_archives(host_with_sample, fake, page, width):
    """A job starts between the press and the release of the mouse, and others come and go. A link leads to them."""
    page.set_viewport_size({"width": width, "height": 400})
    page.goto(host_with_sample.home)
    link, activity = page.get_by_role("link", name=f"Pages of {TITLE}"), page.get_by_role("region", name="Activity")
    link.hover()
    place = link.bounding_box()
    page.mouse.down()
    fake.job()
    expect(activity).to_be_attached()
    assert link.bounding_box() == place
    page.mouse.up()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    page.go_back()
    expect(activity).to_contain_text("25 %")
    page.get_by_role("button", name="Activity: 1 job", exact=True).click()
    expect(page.get_by_role("heading", name="Activity")).to_be_focused()
    expect(activity).to_be_in_viewport()
    fake.job(state="failed", reason="no space left while copying")
    expect(page.get_by_role("button", name="Activity: 1 job, 1 failed")).to_be_attached()
    page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    place = link.bounding_box()
    fake.job(state="cancelled")
    expect(activity).to_have_count(0)
    assert link.bounding_box() == place
    expect(page.get_by_role("button", name="Activity")).to_have_count(0)


def test_activity_is_shown_and_controlled(host, fake, page):
    """Progress, reason, and the buttons for each state. Finished jobs disappear."""
    fake.job()
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity).to_contain_text("Import of /volume/<b>large</b>.wacz")
    expect(activity).to_contain_text("25 %, 30 MB of 120 MB")
    fake.job(done=60_000_000)
    expect(activity).to_contain_text("50 %, 60 MB of 120 MB")
    for button, command, text in [
        ("Pause", "pause", "Paused at 50 %"), ("Resume", "resume", "50 %, 60 MB"),
    ]:
        activity.get_by_role("button", name=f"{button}: Import of").click()
        expect(activity).to_contain_text(text)
        assert fake.commands[-1] == ("POST", f"jobs/7/{command}", True)
    fake.job(state="failed", reason="no space left while copying")
    expect(activity).to_contain_text("No space left while copying.")
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz failed.")
    activity.get_by_role("button", name="Retry: Import of").click()
    expect(activity).to_contain_text("Queued")
    fake.job(state="running", attempt=2)
    expect(activity).to_contain_text("50 %, 60 MB of 120 MB, attempt 2")
    activity.get_by_role("button", name="Cancel: Import of").press("Enter")
    expect(activity).to_have_count(0)
    assert [command[1] for command in fake.commands] == ["jobs/7/pause", "jobs/7/resume", "jobs/7/retry", "jobs/7/cancel"]


@pytest.mark.parametrize("job, buttons", [
    ({"repeatable": False}, ["Cancel"]),
    ({"repeatable": False, "state": "failed", "reason": "the server was stopped"}, ["Dismiss"]),
    ({"state": "failed", "errorCode": "archive-refused", "reason": "this is no ZIP file"}, ["Dismiss"]),
    ({"state": "failed", "errorCode": "no-space", "reason": "no space left"}, ["Retry", "Dismiss"]),
])
def test_only_possible_commands_have_buttons(host, fake, page, job, buttons):
    """An upload can't be read again, and a retry can't fix a file that isn't an archive."""
    fake.job(**job)
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity.get_by_role("button")).to_have_text(buttons)


def test_upload_of_a_killed_server_has_only_dismiss(host, page):
    """With the real server's jobs."""
    with socket.create_connection(("127.0.0.1", host.port)) as connection:
        head = (f"POST /api/archives?name=cut.wacz HTTP/1.1\r\nHost: localhost:{host.port}\r\n"
                f"Origin: {host.address}\r\nReplayhost-Token: {host.token}\r\nContent-Type: application/wacz\r\nContent-Length: 1000000\r\n\r\n")
        connection.sendall(head.encode() + b"PK" * 1000)
        wait_until(lambda: [job for job in jobs_of(host) if job["state"] == "running"], "the upload runs")
        host.process.kill()
    host.restart()
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity).to_contain_text("cut.wacz")
    expect(activity.get_by_role("button")).to_have_text(["Dismiss"])


def test_library_reconnects_to_a_stopped_server(host_with_sample, browser):
    host, page = host_with_sample, browser.page
    browser.allow("Failed to load resource|net::ERR")
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    stopped = page.locator(".banners").get_by_text("replayhost has stopped")
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


def test_dismissed_import_does_not_return(host, browser, tmp_path):
    page, file = browser.page, tmp_path / "holiday.wacz"
    file.write_bytes(b"no archive")
    browser.allow("422")
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files(file)
    imports, activity = page.get_by_role("list", name="Imports"), page.get_by_role("region", name="Activity")
    expect(imports).to_contain_text("Couldn't add “holiday.wacz”")
    wait_until(lambda: jobs_of(host), "the server lists the failed job")
    imports.get_by_role("button", name="Dismiss holiday.wacz").click()
    expect(imports).to_have_count(0)
    wait_until(lambda: not jobs_of(host), "the server no longer lists it")
    page.reload()
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    expect(activity).to_have_count(0)


def jobs_of(host):
    return json.loads(host.request("GET", "/api/jobs")[2])["jobs"]


def test_dismissed_job_does_not_return(host, page, tmp_path):
    """A linked file that has changed can't be hashed, indexed or verified."""
    file = tmp_path / "linked.wacz"
    shutil.copy(FIXTURES / "sample.wacz", file)
    host.stop()
    host.run("import", "--link", file)
    os.utime(file, (1, 1))
    host.start()
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity).to_contain_text("Failed")
    for job in ["Checksum of", "Indexing of", "Verification of"]:
        activity.get_by_role("button", name=f"Dismiss: {job}").click()
    expect(activity).to_have_count(0)
    page.reload()
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect(activity).to_have_count(0)
    assert "failed" not in host.run("jobs").stderr


def test_all_failures_are_dismissed_at_once(host, page):
    fields = {"Origin": host.address, "Replayhost-Token": host.token, "Content-Type": "application/wacz"}
    for name in ["one", "two", "three"]:
        status, answered, _ = host.request("POST", f"/api/archives?name={name}.wacz", fields, b"no archive")
        assert (status, int(answered["Replayhost-Job"])) == (422, jobs_of(host)[0]["id"])
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity.get_by_role("listitem")).to_have_count(3)
    activity.get_by_role("button", name="Dismiss all failures").click()
    expect(activity).to_have_count(0)
    wait_until(lambda: not jobs_of(host), "the server no longer lists them")


@pytest.mark.parametrize("by", ["event", "list"])
def test_finished_job_disappears(host, fake, page, by):
    """And is announced, whether an event or the list of jobs reports it first."""
    fake.job()
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity).to_be_visible()
    fake.job(state="done", done=JOB["total"])
    if by == "list":
        fake.events.clear()
    expect(activity).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz finished.")


def test_older_lists_of_jobs_do_not_undo_events(host, fake, page):
    fake.job()
    page.goto(host.home)
    activity = page.get_by_role("region", name="Activity")
    expect(activity).to_contain_text("25 %")
    older, lists = list(fake.jobs), []
    page.route("**/api/jobs?*", lambda route: lists.append(route))
    while len(lists) < 2:
        page.wait_for_timeout(10)
    asked_before = list(lists)
    fake.job(done=60_000_000)
    expect(activity).to_contain_text("50 %")
    for route in asked_before:
        route.fulfill(json={"jobs": older})
    assert page.evaluate("() => fetch('/api/health').then((response) => response.status)") == 200
    expect(activity).to_contain_text("50 %")


def test_server_without_events_is_asked_once(host_with_sample, browser):
    """The library works without events, and shows no error."""
    # The page of an archive that is being verified, or will be, asks for events too.
    wait_until(lambda: "verificationSummary" in host_with_sample.archive("sample"), "the archive is verified")
    requested = []
    browser.allow("404")
    browser.context.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": []}))
    browser.context.route("**/api/events", lambda route: requested.append(route.request.url) or route.fulfill(status=404))
    page = browser.page
    page.add_init_script("""window.EventSource = class extends EventSource {
        constructor(url) {
            super(url);
            this.addEventListener("error", () => { window.eventsFailed = true; });
        }
    };""")
    page.goto(host_with_sample.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    wait_until(lambda: page.evaluate("window.eventsFailed"), "the page was told that there are no events")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("link", name=f"Pages of {TITLE}").click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert len(requested) == 1
    expect(page.get_by_role("alert")).to_have_count(0)
