"""A client of `GET /events`, which reads as the HTML standard says ("Server-sent events")."""

import json
import time

from capture_host import SECONDS
from described import DESCRIPTION, problems, strict


class EventStream:
    """An open stream. `status` is that of the response."""

    def __init__(self, host, path="/events", headers=None):
        self.path = path
        self.connection = host.connection()
        self.connection.request("GET", path, headers={"Host": f"localhost:{host.port}", **(headers or {})})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.last_id = None
        # A stream that sends only something else must not hold up a run.
        self.end = time.monotonic() + SECONDS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def next(self):
        """The next event as (name, value); `None` once the stream has ended."""
        name, data = "message", []
        while line := self.response.readline():
            assert time.monotonic() < self.end, "what the test waits for isn't sent"
            field, _, value = line.decode().rstrip("\n").partition(":")
            value = value.removeprefix(" ")
            match field:
                case "event": name = value
                case "data": data.append(value)
                case "id": self.last_id = value
                case "" if line == b"\n" and data:
                    value = json.loads("\n".join(data))
                    assert problems(strict(SCHEMAS[name]), value) == [], (name, value)
                    return name, value
        return None

    def wait_for(self, name, condition=lambda value: True):
        """The first event of this name that meets the condition. Returns its value."""
        while event := self.next():
            if event[0] == name and condition(event[1]):
                return event[1]
        raise AssertionError(f"the stream ended without such an event: {name}")

    def wait_for_end(self):
        while self.next():
            pass


SCHEMAS = {
    "download": {"$ref": "#/components/schemas/Download"}, "removed": {"$ref": "#/components/schemas/DownloadAcknowledgement"},
    "queue": DESCRIPTION["components"]["schemas"]["CaptureHealth"]["properties"]["queue"],
    "config": {"$ref": "#/components/schemas/ConnectionInfo"},
}
