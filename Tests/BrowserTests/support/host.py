"""The program under test: one store, and a server on it."""

import ctypes
import http.client
import json
import select
import signal
import socket
import subprocess
import sys

from .places import BINARY, ORIGINS
from .waiting import SECONDS, wait_until

# A wait ends when what it waits for happens. This only ends a run that would hang.
PATIENCE_SECONDS = 180


def die_with_parent():
    """Makes the kernel end this child when the test run is killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def is_free(port):
    """Whether a server can listen there."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Server:
    """A program that serves one port, as a child of the test. The first start chooses a free port, which it keeps."""

    # The ports of all servers in this run.
    ports = set()

    def __init__(self, log):
        self.log = log
        self.port = 0
        self.process = None

    def launch(self, command, **options):
        """Starts the program, and waits until it has printed its address. Returns what it printed."""
        # A program that a killed server was starting has its socket until it runs.
        wait_until(lambda: not self.port or is_free(self.port), f"port {self.port} is free")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, preexec_fn=die_with_parent, **options)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise AssertionError(f"the server did not start: {self.log.read_text(errors='replace')}")
        started = json.loads(line)
        self.port = int(started["address"].rsplit(":", 1)[1])
        Server.ports.add(self.port)
        return started

    def stop(self):
        """Returns the exit code; `None` if it isn't running."""
        if not self.process:
            return None
        process, self.process = self.process, None
        process.terminate()
        try:
            return process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE_SECONDS)
            raise AssertionError(f"the server did not stop in {PATIENCE_SECONDS} s") from None
        finally:
            process.stdout.close()

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        self.stop()

    def restart(self):
        self.stop()
        return self.start()

    def connection(self, port=None, seconds=PATIENCE_SECONDS):
        return http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=seconds)

    def request(self, method, path, headers=None, body=None, host=None, port=None, seconds=PATIENCE_SECONDS):
        """One raw request. Returns the status, the header fields and the body."""
        connection = self.connection(port, seconds)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            fields = {"Host": host or f"localhost:{self.port}", **(headers or {})}
            if body is not None:
                fields.setdefault("Content-Length", str(len(body)))
            for name, value in fields.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


class Host(Server):
    """A server with its own store."""

    def __init__(self, folder, assets=None, origins=ORIGINS):
        super().__init__(folder / "serve.log")
        self.store = folder / "store"
        self.assets = assets
        self.origins = origins

    def start(self):
        assets = ["--assets", self.assets] if self.assets else []
        self.launch([
            BINARY, "serve", "--store", self.store, "--port", str(self.port), "--json", "--origins", self.origins, *assets])
        return self

    @property
    def address(self):
        """The address that `serve` prints."""
        return f"http://localhost:{self.port}"

    @property
    def home(self):
        """The origin at which the app runs."""
        return self.address if self.origins == "ports" else f"http://replayhost.localhost:{self.port}"

    def replay_origin(self, identifier):
        """In port mode, this opens the port."""
        if self.origins == "ports":
            kind = "collections" if identifier in self.collection_ids() else "archives"
            return self.change("POST", f"/api/{kind}/{identifier}/origin")["replayOrigin"]
        return f"http://{identifier}.replayhost.localhost:{self.port}"

    def run(self, *arguments):
        """Runs a command on this store."""
        command, *rest = arguments
        return subprocess.run(
            [BINARY, command, "--store", self.store, *rest], capture_output=True, text=True, timeout=SECONDS * 2)

    def add(self, file, *options):
        """Imports a file by the command line and waits until the server knows it. Returns the archive's id."""
        result = self.run("import", file, "--json", *options)
        assert result.returncode == 0, result.stderr
        identifier = json.loads(result.stdout)["archive"]["id"]
        if self.process:
            wait_until(lambda: identifier in self.ids(), f"the server knows the archive {identifier}")
        return identifier

    def add_verified(self, file, *options):
        """Imports a file and waits until it's verified. Returns the archive's id."""
        identifier = self.add(file, *options)
        wait_until(lambda: self.archive(identifier)["verification"] != "not-verified", f"{identifier} is verified")
        return identifier

    @property
    def token(self):
        """The token that authorizes changes."""
        return json.loads((self.store / "server.json").read_text(encoding="utf-8"))["token"]

    def change(self, method, path, value=None):
        """Makes a change with the API. Returns its answer."""
        fields = {"Origin": self.address, "Replayhost-Token": self.token, "Content-Type": "application/json"}
        content = b"" if value is None else json.dumps(value).encode()
        status, _, body = self.request(method, path, fields, content)
        assert status in (200, 201, 202), body
        return json.loads(body)

    def create_collection(self, title, *members, **metadata):
        """Returns the collection's id."""
        return self.change("POST", "/api/collections", {"title": title, "members": members, **metadata})["id"]

    def archives(self):
        status, _, body = self.request("GET", "/api/archives")
        assert status == 200, body
        return json.loads(body)["archives"]

    def collection_ids(self):
        status, _, body = self.request("GET", "/api/collections")
        assert status == 200, body
        return [collection["id"] for collection in json.loads(body)["collections"]]

    def archive(self, identifier):
        return next(archive for archive in self.archives() if archive["id"] == identifier)

    def ids(self):
        return [archive["id"] for archive in self.archives()]

    def wait_until_indexed(self):
        """Waits until all archives can be searched."""
        def is_complete():
            status, _, body = self.request("GET", "/api/search?q=&limit=1")
            assert status == 200, body
            coverage = json.loads(body)["coverage"]
            return coverage["pending"] == 0 and coverage["complete"] == len(self.ids())

        wait_until(is_complete, "all archives are indexed")
        return self

    def jobs(self):
        status, _, body = self.request("GET", "/api/jobs")
        assert status == 200, body
        return json.loads(body)["jobs"]
