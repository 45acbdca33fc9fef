"""Jobs and events that a test sends in place of the server."""

import json
from urllib.parse import parse_qs, urlsplit

JOB = {
    "id": 7, "kind": "import", "subject": "/volume/<b>large</b>.wacz", "state": "running", "done": 30_000_000,
    "total": 120_000_000, "attempt": 1, "repeatable": True,
}
STATES = {"pause": "paused", "resume": "running", "retry": "waiting", "cancel": "cancelled"}


class FakeJobs:
    """Answers requests for events and jobs. Each event is sent once."""

    def __init__(self, context):
        self.events = []
        self.jobs = []
        self.commands = []
        context.route("**/api/events", self._stream)
        context.route("**/api/jobs?*", self._list)
        context.route("**/api/jobs/*", self._dismiss)
        context.route("**/api/jobs/*/*", self._control)
        context.route("**/api/jobs/summary", lambda route: route.fulfill(json={"kinds": self.summary()}))
        context.route("**/api/jobs/all/*", self._control_all)

    def summary(self):
        kinds = {}
        for job in self.jobs:
            empty = dict.fromkeys(["waiting", "running", "paused", "failed", "done", "bytesDone", "bytesTotal"], 0)
            kind = kinds.setdefault(job["kind"], {"kind": job["kind"], **empty})
            if job["state"] in kind:
                kind[job["state"]] += 1
        return list(kinds.values())

    def _stream(self, route):
        """The browser reconnects 100 ms after the end of each response."""
        events, self.events = self.events, []
        body = "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
        route.fulfill(content_type="text/event-stream", body=f"retry: 100\n\n{body}")

    def _list(self, route):
        if route.request.method == "DELETE":
            self._note(route)
            self.jobs = [job for job in self.jobs if job["state"] != "failed"]
            route.fulfill(status=204)
            return
        states = parse_qs(urlsplit(route.request.url).query)["state"][0].split(",")
        route.fulfill(json={"jobs": [job for job in self.jobs if job["state"] in states][:1000]})

    def _note(self, route):
        request = route.request
        self.commands.append((request.method, request.url.split("/api/")[1], bool(request.headers["replayhost-token"])))

    def _dismiss(self, route):
        self._note(route)
        identifier = int(route.request.url.rsplit("/", 1)[1])
        self.jobs = [job for job in self.jobs if job["id"] != identifier]
        route.fulfill(status=204)

    def _control(self, route):
        self._note(route)
        identifier, command = route.request.url.rsplit("/", 2)[1:]
        job = next(job for job in self.jobs if job["id"] == int(identifier))
        self.job(**{**job, "state": STATES[command]})
        route.fulfill(json=next(job for job in self.jobs if job["id"] == int(identifier)))

    def _control_all(self, route):
        """As the server, this sends an event for each job that has changed."""
        self._note(route)
        parts = urlsplit(route.request.url)
        for job in list(self.jobs):
            if job["kind"] == parse_qs(parts.query)["kind"][0] and job["state"] in ("waiting", "running", "paused"):
                self.job(**{**job, "state": STATES[parts.path.rsplit("/", 1)[1]]})
        route.fulfill(json={})

    def job(self, **changes):
        """Changes a job, the latest by default, and sends an event about it."""
        former = next((job for job in self.jobs if job["id"] == changes.get("id")), None)
        former = former or (self.jobs[-1] if self.jobs and "id" not in changes else JOB)
        job = {**former, **changes}
        if any(one["id"] == job["id"] for one in self.jobs):
            self.jobs = [job if one["id"] == job["id"] else one for one in self.jobs]
        else:
            self.jobs.append(job)
        self.events.append(("job", job))
