"""The program under test: one store, and a server on it."""

import ctypes
import http.client
import json
import select
import signal
import subprocess
import sys

from .places import BINARY, ORIGINS
from .waiting import SECONDS, wait_until


def die_with_parent():
    """Makes the kernel end this child when the test run is killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class Host:
    """A server with its own store. The first start chooses a free port, which it keeps."""

    # The ports of all hosts in this run.
    ports = set()

    def __init__(self, folder, assets=None, origins=ORIGINS):
        self.store = folder / "store"
        self.log = folder / "serve.log"
        self.assets = assets
        self.origins = origins
        self.port = 0
        self.process = None

    def start(self):
        command = [BINARY, "serve", "--store", self.store, "--port", str(self.port), "--json",
            "--origins", self.origins]
        if self.assets:
            command += ["--assets", self.assets]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, preexec_fn=die_with_parent)
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise AssertionError(f"the server did not start: {self.log.read_text()}")
        self.port = int(json.loads(line)["address"].rsplit(":", 1)[1])
        Host.ports.add(self.port)
        return self

    def stop(self):
        if not self.process:
            return
        process, self.process = self.process, None
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(SECONDS)
            raise AssertionError(f"the server did not stop in {SECONDS} s") from None
        finally:
            process.stdout.close()

    def restart(self):
        self.stop()
        self.start()

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

    def request(self, method, path, headers=None, body=None, host=None, port=None):
        """One raw request. Returns the status, the header fields and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=SECONDS)
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
