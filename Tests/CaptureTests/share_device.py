"""A computer that shares with `replayhost-share`: its folder, and its commands."""

import json
import os
import subprocess

from capture_host import SECONDS
from support.places import CHECKOUT
from support.waiting import wait_until

SHARE_BINARY = CHECKOUT / os.environ.get("REPLAYHOST_SHARE_BINARY", ".build/debug/replayhost-share")


def payload(place, key=None, protocol="http", fingerprint=None, **more):
    """The text of a server's QR code."""
    value = {"key": key, "lan": place, "protocol": protocol, "v": "2.0", "fp": fingerprint, **more}
    return json.dumps({name: part for name, part in value.items() if part is not None})


class Device:
    def __init__(self, folder, prefix=()):
        self.folder, self.prefix = folder, list(prefix)

    def start(self, *arguments, **options):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REPLAYHOST_", "XDG_"))}
        environment = {**kept, "REPLAYHOST_SHARE_FOLDER": str(self.folder), "TZ": "UTC", **options.pop("environment", {})}
        return subprocess.Popen(
            [*self.prefix, SHARE_BINARY, *map(str, arguments)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **{"stdin": subprocess.DEVNULL, **options})

    def run(self, *arguments, text=None, **options):
        """Returns the exit code, and what it wrote to standard output and standard error."""
        with self.start(*arguments, **options, **({} if text is None else {"stdin": subprocess.PIPE})) as process:
            try:
                output, errors = process.communicate(text, timeout=SECONDS)
            except BaseException:
                process.kill()
                raise
        return process.returncode, output, errors

    def expect(self, code, *arguments, **options):
        """Runs a command that must end with this code. Returns both outputs."""
        ended, output, errors = self.run(*arguments, **options)
        assert ended == code, (arguments, ended, output, errors)
        return output + errors

    def connect(self, host):
        self.expect(0, "connect", text=payload(f"localhost:{host.port}"))
        return self

    def values(self, *arguments):
        code, output, errors = self.run(*arguments, "--json")
        assert code == 0, errors
        return [json.loads(line) for line in output.splitlines()]

    @property
    def statuses(self):
        """Of the queue, in its order."""
        return [share["status"] for share in self.records("queue.jsonl")]

    @property
    def history(self):
        """The statuses of the history, in its order."""
        return [entry["status"] for entry in self.records("history.jsonl")]

    def records(self, name):
        path = self.folder / name
        if not path.exists():
            return []
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        assert json.loads(head)["count"] == len(lines)
        return [json.loads(line) for line in lines]

    def wait_for_status(self, status):
        wait_until(lambda: status in self.statuses, f"a share is {status}", SECONDS)
