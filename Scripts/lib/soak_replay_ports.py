"""Opens 1,000 archives, each on its own port. Called by `Scripts/soak 60-replay-ports` with an empty folder.

Prints the numbers of listeners and descriptors: at the start, after opening 50 archives, and after opening all. Then another
program uses the port of an archive between two runs.
"""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import serving
from writers.generated import write_large

COUNT = 1000
# ReplayPorts.Limits.openMax; each port has a socket for 127.0.0.1 and one for ::1.
OPEN_MAX = 100


class Server:
    """Runs `replayhost serve --origins ports` on a store."""

    def __init__(self, store, process, port):
        self.process, self.port = process, port
        with open(f"{store}/server.json", encoding="utf-8") as file:
            self.token = json.load(file)["token"]

    def request(self, method, path, port=None):
        fields = {"Host": f"localhost:{port or self.port}", "Connection": "close"}
        if method == "POST":
            fields |= {"Origin": f"http://localhost:{self.port}", "Replayhost-Token": self.token, "Content-Length": "0"}
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        connection.request(method, path, headers=fields)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def open(self, archive):
        """Opens the archive's port, and requests its boot page and the first bytes of its file."""
        status, body = self.request("POST", f"/api/archives/{archive}/origin")
        assert status == 200, body
        port = urlsplit(json.loads(body)["replayOrigin"]).port
        for path in ["/", "/sw.js", f"/archives/{archive}.wacz"]:
            status, _ = self.request("GET", path, port)
            assert status == 200, (archive, path, status)
        return port

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def listeners(self):
        """Returns the number of listening sockets of the server, from /proc/net/tcp."""
        own = set()
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                own.add(os.readlink(f"/proc/{self.process.pid}/fd/{name}"))
            except OSError:
                continue
        count = 0
        for table in ["tcp", "tcp6"]:
            with open(f"/proc/net/{table}", encoding="ascii") as file:
                for line in list(file)[1:]:
                    columns = line.split()
                    count += columns[3] == "0A" and f"socket:[{columns[9]}]" in own
        return count

    def report(self, what):
        listeners, descriptors = self.listeners(), self.descriptors()
        memory = serving.resident(self.process.pid) / 1e6
        print(f"{what:34} {listeners:5} listeners {descriptors:5} descriptors {memory:6.1f} MB", flush=True)
        return listeners


@contextlib.contextmanager
def serve(store):
    with serving.serve(store, "--origins", "ports") as (process, port):
        yield Server(store, process, port)
    assert process.returncode == 0


def main():
    folder = sys.argv[1]
    files, store = f"{folder}/files", f"{folder}/store"
    os.mkdir(files)
    for number in range(COUNT):
        write_large(f"{files}/file-{number}.wacz", 60_000, 3_000, seed=number)
    subprocess.run([serving.BINARY, "import", "--store", store, "--quiet", files], check=True, stdout=subprocess.DEVNULL)

    with serve(store) as server:
        archives = [archive["id"] for archive in json.loads(server.request("GET", "/api/archives")[1])["archives"]]
        assert len(archives) == COUNT
        assert server.report("none opened") == 2
        ports = {archive: server.open(archive) for archive in archives[:50]}
        assert server.report("50 opened in turn") == 2 + 2 * 50
        started = time.monotonic()
        ports |= {archive: server.open(archive) for archive in archives[50:]}
        print(f"950 more in {time.monotonic() - started:.1f} s")
        assert server.report("1,000 opened in turn") == 2 + 2 * OPEN_MAX
        assert len(set(ports.values())) == COUNT, "two archives had one port"
        # These ports were closed meanwhile, and open with the same numbers again.
        assert server.open(archives[0]) == ports[archives[0]]

    victim = archives[0]
    with socket.create_server(("127.0.0.1", ports[victim])), serve(store) as server:
        server.report("after a restart")
        now = server.open(victim)
        assert now != ports[victim]
        print(f"port {ports[victim]} is used by another program; the archive is on {now}")
    with serve(store) as server:
        assert server.open(victim) == now
        again = {archive: server.open(archive) for archive in archives[1:]}
        assert ports[victim] not in again.values(), "the lost port was given to another archive"
        # Other programs may use some of the ports, but no archive has the port of another.
        assert not any(ports[archive] != port and port in ports.values() for archive, port in again.items())
        print(f"{sum(ports[archive] == port for archive, port in again.items())} of {COUNT - 1} other archives kept their ports")


if __name__ == "__main__":
    main()
