"""What the host tells by itself, told here in its place: the library follows, and shows the work that is under way."""

import json

import pytest
from playwright.sync_api import expect

from support.journey import TITLE
from support.places import FIXTURES
from support.waiting import wait_until

JOB = {
    "id": 7, "kind": "import", "subject": "/volume/<b>large</b>.wacz", "state": "running", "done": 30_000_000,
    "total": 120_000_000, "attempt": 1,
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
    work = page.get_by_role("region", name="Work")
    expect(work).to_contain_text("Import of /volume/<b>large</b>.wacz")
    expect(work).to_contain_text("25 %, 30 MB of 120 MB")
    told.job(done=60_000_000)
    expect(work).to_contain_text("50 %, 60 MB of 120 MB")
    for button, command, words in [
        ("Pause", "pause", "paused at 50 %"), ("Resume", "resume", "50 %, 60 MB"),
    ]:
        work.get_by_role("button", name=f"{button}: Import of").click()
        expect(work).to_contain_text(words)
        assert told.commands[-1] == ("POST", f"jobs/7/{command}", True)
    told.job(state="failed", reason="no space left while copying")
    expect(work).to_contain_text("No space left while copying.")
    work.get_by_role("button", name="Retry: Import of").click()
    expect(work).to_contain_text("waits for its turn")
    told.job(state="running", attempt=2)
    expect(work).to_contain_text("50 %, 60 MB of 120 MB, attempt 2")
    work.get_by_role("button", name="Cancel: Import of").press("Enter")
    expect(work).to_have_count(0)
    assert [command[1] for command in told.commands] == ["jobs/7/pause", "jobs/7/resume", "jobs/7/retry", "jobs/7/cancel"]


def test_finished_work_goes_away(host, told, page):
    told.job()
    page.goto(host.home)
    work = page.get_by_role("region", name="Work")
    expect(work).to_be_visible()
    told.job(state="done", done=JOB["total"])
    expect(work).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text("Import of /volume/<b>large</b>.wacz is done.")


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
