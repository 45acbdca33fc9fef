"""Opens archived pages and records text, resources with their statuses, and requests."""

import contextlib
import re
import time
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from playwright.sync_api import Error

from .host import Host
from .viewer import Viewer
from .waiting import wait_until

QUIET_SECONDS = 0.7
SECONDS = 20
PANEL_HEADINGS = ["This page isn't in", "This capture can't be shown", "A PDF document"]
REPLAY_PATH = re.compile(r"^/[^/]+-[0-9a-f]{12}/(?::[\w-]+/)?\d*(?P<modifier>[a-z]+_)?/(?P<url>.+)$", re.S)


@dataclass
class Visit:
    """The result for one page. `shown`: what a reader sees; `resources`: statuses by (modifier, URL)."""

    shown: str = ""
    text: str = ""
    milliseconds: int = 0
    resources: dict = field(default_factory=dict)
    requests: int = 0
    bytes: int = 0


class Recorder:
    """Records one browser's responses: from the engine to pages, and from the server to the engine."""

    def __init__(self, context):
        self.visit = Visit()
        self.answered = []
        self.last = time.monotonic()
        context.on("request", lambda request: self._touch())
        context.on("requestfailed", self._note_failed)
        context.on("response", self._note)

    def _touch(self):
        self.last = time.monotonic()

    @staticmethod
    def _path(url):
        parts = urlsplit(url)
        # In port mode, archives are at `localhost`, as the library is.
        is_ours = (parts.hostname or "").endswith(".replayhost.localhost") or (
            parts.hostname == "localhost" and parts.port not in Host.ports)
        return url[len(f"{parts.scheme}://{parts.netloc}"):] if is_ours else ""

    def _note_failed(self, request):
        """A style sheet or a script that is not there and comes as another type is refused by the browser."""
        self._touch()
        match = REPLAY_PATH.match(self._path(request.url))
        if match and request.failure == "net::ERR_ABORTED" and request.resource_type in ("stylesheet", "script"):
            self.visit.resources.setdefault((match["modifier"], match["url"]), set()).add(404)

    def _note(self, response):
        self._touch()
        path = self._path(response.url)
        match = REPLAY_PATH.match(path)
        if match and response.from_service_worker:
            self._note_resource(match, response)
        elif not response.from_service_worker and path.startswith(("/c/", "/archives/")):
            self.visit.requests += 1
            if response.request.method != "HEAD":
                self.answered.append(response.request)

    def _note_resource(self, match, response):
        """By ranges the engine first sends a page on to an address that names the package: no answer of its own."""
        location = response.headers.get("location", "")
        if 300 <= response.status < 400 and re.search(r"/:[\w-]+/", location) and location.endswith(match["url"]):
            return
        statuses = self.visit.resources.setdefault((match["modifier"], match["url"]), set())
        statuses.add(response.status)

    def begin(self):
        self.visit = Visit()
        self.answered = []
        return self.visit

    def count_bytes(self):
        """Sizes are known only when an answer has ended; not all of them do."""
        for request in self.answered:
            with contextlib.suppress(Error):
                self.visit.bytes += request.sizes()["responseBodySize"]

    def is_quiet(self):
        return time.monotonic() - self.last > QUIET_SECONDS


def seen(page, viewer, recorder):
    """Returns what the reader sees and its whole text, or `None` while it still changes.

    A page without text counts when it has no more pending requests.
    """
    if page.get_by_role("alert").count():
        return f"no: {page.get_by_role('alert').first.inner_text()}", ""
    for heading in PANEL_HEADINGS:
        if page.get_by_role("heading", name=heading).count():
            return f"{'yes' if 'PDF' in heading else 'no'}: {heading}", ""
    frame = viewer.archived_frame
    if not frame or page.locator(".panel").count() or page.locator(".toolbar.busy").count():
        return None
    if frame.evaluate("document.readyState") != "complete":
        return None
    text = frame.evaluate("`${document.title}: ${document.body?.innerText ?? ''}`")
    if not text.strip(" :\n"):
        found = frame.evaluate("['img', 'input', 'frame'].map((name) => document.querySelectorAll(name).length)")
        is_page = REPLAY_PATH.match(urlsplit(frame.url).path)
        return ("yes: no text; {} pictures, {} fields, {} frames".format(*found), "") \
            if is_page and (any(found) or recorder.is_quiet()) else None
    return f"yes: “{shorten(text)}”", text


def shorten(text, length=70):
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}…"


def visit(host, browser, recorder, identifier, url, timestamp, mode="", seconds=SECONDS):
    """Opens a page of an archive in a new tab, and closes it."""
    result = recorder.begin()
    page = browser.context.new_page()
    viewer = Viewer(page)
    chosen = f"&replay={mode}" if mode else ""
    began = time.monotonic()
    try:
        address = f"{host.home}/?archive=/archives/{identifier}.wacz{chosen}"
        page.goto(f"{address}#url={quote(url, safe='')}&ts={timestamp}")
        wait_until(lambda: with_retry(page, viewer, recorder), "something to read", seconds)
        result.milliseconds = round((time.monotonic() - began) * 1000)
        wait_until(lambda: page.wait_for_timeout(50) or recorder.is_quiet(), "no more requests", seconds)
        recorder.count_bytes()
        result.shown, result.text = wait_until(lambda: with_retry(page, viewer, recorder), "something to read", seconds)
        return result
    except (Error, AssertionError) as error:
        state = shorten(page.locator("main").first.inner_text() or "an empty page")
        result.shown = f"no: {shorten(str(error), 120)}; shown: {state}"
        return result
    finally:
        page.close()


def with_retry(page, viewer, recorder):
    """Returns `None` when the frame navigates while it's read."""
    try:
        return seen(page, viewer, recorder)
    except Error:
        page.wait_for_timeout(50)
        return None


def differences(one, other):
    """Returns the differences between two results as text; empty when they're the same."""
    found = []
    if one.shown.split(":")[0] != other.shown.split(":")[0] or plain(one.text) != plain(other.text):
        found.append(f"shown {one.shown} / {other.shown}")
    for key in sorted({*one.resources, *other.resources}, key=str):
        if one.resources.get(key) != other.resources.get(key):
            found.append(f"{' '.join(map(str, key))}: {statuses_text(one, key)} / {statuses_text(other, key)}")
    return found


def plain(text):
    """Text without the part of addresses that only the engine's reading of a package has."""
    return re.sub(r"/:[\w-]+/", "/", text)


def statuses_text(result, key):
    return "+".join(map(str, sorted(result.resources[key]))) if key in result.resources else "not requested"
