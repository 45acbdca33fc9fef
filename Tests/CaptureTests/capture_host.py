"""The capture server under test: one store, one downloads folder, and fake tools."""

import hashlib
import json
import os
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote, urlencode

from fake_tools import FakeTools
from support.host import Server
from support.places import BINARY, CHECKOUT, WEB_INTERFACE
from support.waiting import wait_until
from website import SITES

CAPTURE_BINARY = CHECKOUT / os.environ.get("REPLAYHOST_CAPTURE_BINARY", ".build/debug/replayhost-capture")
# A wait ends when what it waits for happens. This only ends a run that would hang.
SECONDS = 180
ENDED = ("completed", "failed", "cancelled", "aborted_by_system")
# Without waits after transient failures, instead of 30 s, 2 min and 5 min.
FAST_RETRIES = ("--retry-delays", "0,0,0")


class CaptureHost(Server):
    """A server that a test can kill and start again. `port = None` or `downloads = None` before the first start leaves the
    choice to the configuration."""

    def __init__(self, folder, tools, *options, store=None, downloads=None):
        self.folder = Path(folder)
        super().__init__(self.folder / "capture.log")
        self.store = Path(store or self.folder / "store")
        self.downloads = Path(downloads or self.folder / "Downloads")
        self.tools, self.options = tools, options
        # What comes before the command of the server, such as one that enters a network namespace.
        self.prefix = []
        # No name server is asked.
        self.names = ["--hosts", self.folder / "hosts"]
        (self.folder / "home").mkdir(parents=True, exist_ok=True)
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")

    # The program

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("REPLAYHOST_", "XDG_")) and not name.lower().endswith("_proxy")}
        # A tool of this computer isn't found, except through the folder of the fakes.
        tools = {"REPLAYHOST_TOOLS": str(self.tools.root), "PATH": str(self.tools.path)}
        own = {"HOME": str(self.folder / "home"), "NO_COLOR": "1", "REPLAYHOST_ASSETS": str(WEB_INTERFACE), "LC_ALL": "C.UTF-8"}
        return {**kept, **tools, **own, **more}

    def start(self, **environment):
        command = [*self.prefix, CAPTURE_BINARY, "serve", "--store", self.store,
            *(["--downloads", self.downloads] if self.downloads else []),
            *([] if self.port is None else ["--port", str(self.port)]), "--no-library", "--json", *self.names, *self.options]
        self.allow(*SITES)
        self.started = self.launch(
            command, env=self.environment(**environment), cwd=self.folder, start_new_session=True)
        return self

    def allow(self, *sites):
        """Lets tools through to these sites only, from the next attempt on."""
        folder = self.store / "capture"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "egress.allow").write_text("".join(f"{site}\n" for site in sorted(sites)), encoding="utf-8")

    def configure(self, text):
        """Replaces config.yaml, as an editor does."""
        folder = self.store / "capture"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = folder / "config.yaml.test"
        new.write_bytes(text if isinstance(text, bytes) else text.encode())
        new.chmod(0o600)
        new.replace(folder / "config.yaml")

    @property
    def token(self):
        """What the administrator's programs on this computer send."""
        return json.loads((self.store / "capture" / "capture.json").read_text(encoding="utf-8"))["token"]

    def kill_9(self):
        process, self.process = self.process, None
        process.kill()
        process.wait(SECONDS)
        process.stdout.close()

    def wait_for_crash(self):
        """Waits until the server ends by itself. Returns its code."""
        process, self.process = self.process, None
        code = process.wait(SECONDS)
        process.stdout.close()
        return code

    def command(self, name, *arguments, **options):
        """Runs a command of `replayhost-capture` on this store."""
        return subprocess.run(
            [*self.prefix, CAPTURE_BINARY, *name.split(), "--store", self.store, *map(str, arguments)], env=self.environment(), cwd=self.folder,
            capture_output=True, text=True, errors="replace", timeout=SECONDS, **options)

    def key(self, name, *options):
        """Makes a key for a device."""
        made = self.command("keys add", name, "--json", *options)
        assert made.returncode == 0, made.stderr
        return json.loads(made.stdout)["secret"]

    def replayhost(self, *arguments):
        """Runs a command of `replayhost` on this store. Returns its JSON lines."""
        result = subprocess.run(
            [*self.prefix, BINARY, *map(str, arguments), "--store", self.store, "--json"], env=self.environment(), cwd=self.folder,
            capture_output=True, text=True, errors="replace", timeout=SECONDS)
        assert result.returncode == 0, f"{arguments}: {result.stdout}{result.stderr}"
        return [json.loads(line) for line in result.stdout.splitlines()]

    def search(self, words):
        """The ids of the archives in which the library's search finds words or a URL."""
        self.replayhost("jobs", "run")
        return {hit["archive"] for hit in self.replayhost("search", words, "--limit", 100)}

    # Requests

    def call(self, method, path, value=None, headers=None):
        """A request whose answer is JSON. Returns the status and the value."""
        content = None if value is None else json.dumps(value).encode()
        fields = {**({"Content-Type": "application/json"} if method in ("POST", "PUT") else {}), **(headers or {})}
        if content is None and method in ("POST", "PUT"):
            content = b""
        status, head, body = self.request(method, path, fields, content)
        assert head.get_content_type() == "application/json", (status, head.items(), body[:300])
        return status, json.loads(body)

    def post(self, url, key=None, prefix="", **fields):
        """Shares a URL. Returns the status and the answer."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.call("POST", f"{prefix}/download", {"url": url, **fields}, headers)

    def add(self, url, **fields):
        """Shares a URL that must be accepted. Returns the download's id."""
        status, answer = self.post(url, **fields)
        assert status == 201, answer
        return answer["download_id"]

    def status(self, identifier):
        status, answer = self.call("GET", f"/status/{identifier}")
        assert status == 200, answer
        return answer

    def cancel(self, identifier):
        return self.call("POST", f"/download/{identifier}/cancel")

    def wait_for(self, identifier, *states, condition=None, seconds=SECONDS):
        """Waits until the download is in one of the states, or the condition is true. Returns its status."""
        states = states or ENDED
        shown = {}

        def reached():
            row = self.status(identifier)
            shown.update(row)
            if row["state"] in states if condition is None else condition(row):
                return row
            assert row["state"] not in ENDED, f"ended, but not as {states}: {row}\n{self.lines(identifier)}"
            return None

        try:
            return wait_until(reached, f"{identifier} is in one of {states}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\nlast: {shown}") from None

    def history(self, **filters):
        status, rows = self.call("GET", f"/history?{urlencode(filters)}")
        assert status == 200, rows
        return rows

    def rows(self):
        """All rows, newest first."""
        rows = []
        while page := self.history(limit=100, offset=len(rows)):
            rows += page
        return rows

    def lines(self, identifier):
        """The whole log of a download."""
        lines = []
        while True:
            status, page = self.call("GET", f"/download/{quote(identifier)}/log?offset={len(lines)}&limit=20")
            if status != 200 or not page["lines"]:
                return lines
            lines += page["lines"]

    # What is on disk, and what runs

    @property
    def capture(self):
        return self.store / "capture"

    def sessions(self):
        folder = self.capture / "sessions"
        return sorted(os.listdir(folder)) if folder.exists() else []

    def files(self):
        """All files below the downloads folder, by their path there."""
        return sorted(str(path.relative_to(self.downloads)) for path in self.downloads.rglob("*") if not path.is_dir())

    def file(self, row):
        """Its path. Files that are neither media nor documents have a folder of their own."""
        places = [self.downloads / row["username"] / folder / row["file_path"] for folder in (row["genre"], "files")]
        return next((place for place in places if place.exists()), places[0])

    def archives(self):
        return {archive["id"]: archive for archive in self.replayhost("list")}

    def processes(self):
        """The processes that work below the store: workers and their tools. Pid to command line."""
        found = {}
        sessions = str(self.capture / "sessions")
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or (self.process and int(entry) == self.process.pid):
                continue
            try:
                folder = os.readlink(f"/proc/{entry}/cwd")
                command = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if folder.startswith(sessions) or sessions in command:
                found[int(entry)] = command
        return found

    def expect_no_processes(self):
        wait_until(lambda: not self.processes(), "the worker and its tools have ended", SECONDS)

    def expect_no_leftovers(self):
        """No session, no half import, no process, once nothing is to be done."""
        self.expect_no_processes()
        wait_until(lambda: not self.sessions(), f"sessions/ is empty: {self.sessions()}", SECONDS)
        incoming = self.store / "incoming"
        assert not incoming.exists() or os.listdir(incoming) == []
        for key in {archive["sha256"] for archive in self.archives().values()}:
            assert sha256(self.store / "files" / f"{key}.wacz") == key

    def expect_completed_once(self, rows):
        """Each of the rows has exactly one archive and one file, and there are no others."""
        assert [row["state"] for row in rows] == ["completed"] * len(rows), rows
        archives = self.archives()
        assert sorted(row["archive"] for row in rows) == sorted(archives)
        assert self.files() == sorted(str(self.file(row).relative_to(self.downloads)) for row in rows)
        for row in rows:
            assert self.file(row).stat().st_size == row["file_size"] > 0

    def memory(self):
        """The largest resident size of the server up to now, in bytes."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")) * 1024


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def end(pid, number=signal.SIGKILL):
    """Sends a signal to a process that may have ended. Returns whether it was there."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def make_server(folder):
    """A capture server with fake tools. The pace of a test isn't that of a person."""
    assert CAPTURE_BINARY.exists(), f"build the program first: {CAPTURE_BINARY}"
    host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
    host.configure("security:\n  rate_limit_per_client: 10000\n")
    return host
