"""The view of all activity: jobs, many of a kind as one line, and failures until they're dismissed."""

import os
import re
import shutil
import socket

import pytest

from support.expecting import expect
from support.jobs import JOB, FakeJobs
from support.journey import TITLE
from support.places import FIXTURES
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


@pytest.fixture
def fake(browser):
    return FakeJobs(browser.context)


def activity_of(host):
    return f"{host.home}/#activity"


def running(page):
    return page.get_by_role("region", name="In progress")


def failures(page):
    return page.get_by_role("region", name="Failures")


def test_job_is_shown_and_controlled(host, fake, page):
    """Progress, reason, and the buttons for each state. Finished jobs disappear."""
    fake.job()
    page.goto(activity_of(host))
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    expect(running(page)).to_contain_text("Import of /volume/<b>large</b>.wacz")
    expect(running(page)).to_contain_text("25 %, 30 MB of 120 MB")
    expect(page.get_by_role("link", name="Activity, 1 active job", exact=True)).to_have_text("Activity (1)")
    fake.job(done=60_000_000)
    expect(running(page)).to_contain_text("50 %, 60 MB of 120 MB")
    for button, command, text in [
        ("Pause", "pause", "Paused at 50 %"), ("Resume", "resume", "50 %, 60 MB"),
    ]:
        running(page).get_by_role("button", name=f"{button}: Import of").click()
        expect(running(page)).to_contain_text(text)
        assert fake.commands[-1] == ("POST", f"jobs/7/{command}", True)
    fake.job(state="failed", reason="no space left while copying")
    expect(failures(page)).to_contain_text("No space left while copying.")
    expect(running(page)).to_contain_text("No active jobs")
    expect(page.get_by_role("link", name="Activity, 1 failed", exact=True)).to_be_visible()
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz failed.")
    failures(page).get_by_role("button", name="Retry: Import of").click()
    expect(running(page)).to_contain_text("Queued")
    expect(failures(page)).to_be_hidden()
    fake.job(state="running", attempt=2)
    expect(running(page)).to_contain_text("50 %, 60 MB of 120 MB, attempt 2")
    running(page).get_by_role("button", name="Cancel: Import of").press("Enter")
    expect(running(page)).to_contain_text("No active jobs")
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_focused()
    assert [command[1] for command in fake.commands] == ["jobs/7/pause", "jobs/7/resume", "jobs/7/retry", "jobs/7/cancel"]


@pytest.mark.parametrize("job, buttons", [
    ({"repeatable": False}, ["Cancel"]),
    ({"repeatable": False, "state": "failed", "reason": "the server was stopped"}, ["Details", "Dismiss"]),
    ({"state": "failed", "errorCode": "archive-refused", "reason": "this is no ZIP file"}, ["Details", "Dismiss"]),
    ({"state": "failed", "errorCode": "no-space", "reason": "no space left"}, ["Details", "Dismiss", "Retry"]),
])
def test_only_possible_commands_have_buttons(host, fake, page, job, buttons):
    """An upload can't be read again, and a retry can't fix a file that isn't an archive."""
    fake.job(**job)
    page.goto(activity_of(host))
    expect(page.locator(".job-actions button")).to_have_text(buttons)


def test_many_jobs_of_a_kind_are_one_line(host, fake, page):
    """610 verifications, of which 290 are done, and two imports. All can be paused, resumed and cancelled at once."""
    for number in range(610):
        fake.job(id=100 + number, kind="verify", subject=f"{number}.wacz",
            state="done" if number < 290 else "running" if number == 290 else "waiting")
    fake.job(id=1)
    fake.job(id=2, state="waiting", subject="/volume/small.wacz")
    fake.events.clear()
    page.goto(activity_of(host))
    line = running(page).get_by_role("listitem").filter(has_text="Verifying")
    expect(line).to_contain_text("Verifying 290 of 610 archives")
    expect(running(page).get_by_role("listitem")).to_have_count(3)
    bar = line.get_by_role("progressbar")
    expect(bar).to_have_attribute("aria-valuetext", "Verifying 290 of 610 archives")
    assert bar.evaluate("bar => bar.value") == 290 / 610
    expect(line.get_by_role("button")).to_have_text(["Pause all", "Cancel all"])
    fake.job(id=390, state="done")
    # The time that the rest takes depends on how fast this computer is.
    expect(line).to_contain_text(re.compile(r"Verifying 291 of 610 archives · \d+ (s|min|hours?) left"))
    line.get_by_role("button", name="Pause all").click()
    expect(line).to_contain_text("Paused")
    line.get_by_role("button", name="Resume all").click()
    expect(line.get_by_role("button", name="Pause all")).to_be_focused()
    line.get_by_role("button", name="Cancel all").click()
    expect(running(page).get_by_role("listitem")).to_have_count(2)
    assert [command[1] for command in fake.commands] == [f"jobs/all/{one}?kind=verify" for one in ["pause", "resume", "cancel"]]


def test_many_failures_stay_light(host, fake, page):
    """1,000 failures are listed, of which only the visible ones are in the document. All are dismissed at once."""
    for number in range(1600):
        fake.job(id=number, kind="verify", subject=f"{number}.wacz", state="failed", reason=f"file {number} is damaged")
    fake.events.clear()
    page.goto(activity_of(host))
    list_of_failures = page.get_by_role("list", name="Failures")
    rows = list_of_failures.get_by_role("listitem")
    expect(rows.first).to_contain_text("Verification of 0.wacz")
    expect(rows.first).to_contain_text("File 0 is damaged.")
    expect(page.get_by_role("heading", name="Failures (1,600)")).to_be_visible()
    expect(page.get_by_text("The first 1,000 of 1,600 failures are listed.")).to_be_visible()
    assert rows.count() < 60
    rows.first.get_by_role("button", name="Details").press("End")
    expect(rows.last).to_contain_text("Verification of 999.wacz")
    assert rows.count() < 60
    expect(rows.last).to_have_attribute("aria-setsize", "1000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Verification of 999.wacz")).to_contain_text("File 999 is damaged.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Dismiss all").click()
    expect(failures(page)).to_be_hidden()
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_focused()
    assert fake.commands == [("DELETE", "jobs?state=failed", True)]


def test_dismissing_keeps_the_focus(host, fake, page):
    """In the row that takes the place, then in the one before, then at the heading."""
    for number in range(3):
        fake.job(id=number, subject=f"{number}.wacz", state="failed", reason="it is damaged", repeatable=number != 1)
    fake.events.clear()
    page.goto(activity_of(host))
    button = lambda number: failures(page).get_by_role("button", name=f"Dismiss: Import of {number}.wacz")  # noqa: E731
    button(1).press("Enter")
    expect(button(1)).to_have_count(0)
    expect(button(2)).to_be_focused()
    button(2).press("Enter")
    expect(button(2)).to_have_count(0)
    expect(failures(page).get_by_role("listitem").locator(":focus")).to_have_count(1)
    button(0).press("Enter")
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_focused()


def test_upload_of_a_killed_server_has_only_dismiss(host, page):
    """With the real server's jobs."""
    with socket.create_connection(("127.0.0.1", host.port)) as connection:
        head = (f"POST /api/archives?name=cut.wacz HTTP/1.1\r\nHost: localhost:{host.port}\r\n"
                f"Origin: {host.address}\r\nReplayhost-Token: {host.token}\r\nContent-Type: application/wacz\r\nContent-Length: 1000000\r\n\r\n")
        connection.sendall(head.encode() + b"PK" * 1000)
        wait_until(lambda: [job for job in host.jobs() if job["state"] == "running"], "the upload runs")
        host.process.kill()
    host.restart()
    page.goto(activity_of(host))
    expect(failures(page)).to_contain_text("Import of cut.wacz")
    expect(failures(page).get_by_role("list").get_by_role("button")).to_have_text(["Details", "Dismiss"])


def test_dismissed_job_does_not_return(host, page, tmp_path):
    """A linked file that has changed can't be hashed, indexed or verified."""
    file = tmp_path / "linked.wacz"
    shutil.copy(FIXTURES / "sample.wacz", file)
    host.stop()
    host.run("import", "--link", file)
    os.utime(file, (1, 1))
    host.start()
    page.goto(activity_of(host))
    for job in ["Checksum of", "Indexing of", "Verification of"]:
        failures(page).get_by_role("button", name=f"Dismiss: {job}").click()
    expect(failures(page)).to_be_hidden()
    page.reload()
    expect(running(page)).to_contain_text("No active jobs")
    expect(failures(page)).to_be_hidden()
    assert "failed" not in host.run("jobs").stderr


def test_all_failures_are_dismissed_at_once(host, page):
    """With the real server's jobs."""
    fields = {"Origin": host.address, "Replayhost-Token": host.token, "Content-Type": "application/wacz"}
    for name in ["one", "two", "three"]:
        status, answered, _ = host.request("POST", f"/api/archives?name={name}.wacz", fields, b"no archive")
        assert (status, int(answered["Replayhost-Job"])) == (422, host.jobs()[0]["id"])
    page.goto(activity_of(host))
    expect(failures(page).get_by_role("listitem")).to_have_count(3)
    page.get_by_role("button", name="Dismiss all").click()
    expect(failures(page)).to_be_hidden()
    wait_until(lambda: not host.jobs(), "the server no longer lists them")


@pytest.mark.parametrize("by", ["event", "list", "list before the event"])
def test_finished_job_disappears(host, fake, page, by):
    """And is announced when an event says how it ended, even if the list of jobs comes before the event."""
    fake.job()
    page.goto(activity_of(host))
    expect(running(page)).to_contain_text("Import of")
    fake.job(state="done", done=JOB["total"])
    late = list(fake.events)
    if by != "event":
        fake.events.clear()
    expect(running(page)).to_contain_text("No active jobs")
    if by == "list before the event":
        fake.events += late
    if by != "list":
        expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz finished.")


def test_older_lists_of_jobs_do_not_undo_events(host, fake, page):
    fake.job()
    page.goto(activity_of(host))
    expect(running(page)).to_contain_text("25 %")
    older, lists = list(fake.jobs), []
    page.route("**/api/jobs?*", lambda route: lists.append(route))
    while len(lists) < 2:
        page.wait_for_timeout(10)
    asked_before = list(lists)
    fake.job(done=60_000_000)
    expect(running(page)).to_contain_text("50 %")
    for route in asked_before:
        route.fulfill(json={"jobs": older})
    assert page.evaluate("() => fetch('/api/health').then((response) => response.status)") == 200
    expect(running(page)).to_contain_text("50 %")


@pytest.mark.parametrize("width", [360, 1280])
def test_jobs_do_not_move_the_archives(host_with_sample, fake, page, width):
    """A job starts between the press and the release of the mouse, many follow, and all end. The app bar counts them."""
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(host_with_sample.home)
    link, count = page.get_by_role("link", name=TITLE, exact=True), page.locator(".activity-count")
    link.hover()
    place = link.bounding_box()
    page.mouse.down()
    fake.job()
    expect(count).to_have_text("Activity (1)")
    assert link.bounding_box() == place
    page.mouse.up()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    page.go_back()
    expect(link).to_be_visible()
    for number in range(5):
        fake.job(id=10 + number, kind="verify", state="waiting", subject=f"{number}.wacz")
    expect(count).to_have_text("Activity (6)")
    expect(page.get_by_role("region", name="Progress", exact=True)).to_contain_text("Verifying 0 of 5 archives")
    assert link.bounding_box() == place
    for job in list(fake.jobs):
        fake.job(id=job["id"], state="failed", reason="the file is damaged")
    expect(count).to_have_accessible_name("Activity, 6 failed")
    expect(page.get_by_role("region", name="Progress", exact=True)).to_be_hidden()
    assert link.bounding_box() == place
    count.click()
    expect(page.get_by_role("heading", name="Failures (6)")).to_be_visible()


def test_tray_never_covers_the_focus(host, fake, page):
    """WCAG 2.4.11, with a view that is longer than the window."""
    page.context.route("**/api/facets", lambda route: route.fulfill(json={"freeBytes": 1, "library": {"bytes": 1}}))
    for number in range(5):
        fake.job(id=100 + number, kind="verify", state="waiting", subject=f"{number}.wacz")
    fake.events.clear()
    page.set_viewport_size({"width": 700, "height": 500})
    page.goto(f"{host.home}/#settings")
    expect(page.get_by_role("region", name="Progress", exact=True)).to_be_visible()
    expect(page.get_by_role("definition").first).to_be_visible()
    focused = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        name, covered = page.evaluate("""() => {
            const bar = document.querySelector(".tray").getBoundingClientRect();
            const at = document.activeElement.getBoundingClientRect();
            const isInside = document.querySelector(".tray").contains(document.activeElement);
            // After the last control, nothing has the focus.
            if (document.activeElement === document.body) return ["", false];
            return [document.activeElement.textContent, !isInside && at.bottom > bar.top && at.top < bar.bottom];
        }""")
        assert not covered, name
        focused.add(name)
    assert {"Clear replay data…", "Show all shortcuts", "Show", "notice"} <= focused
