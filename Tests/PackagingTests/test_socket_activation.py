"""The server with sockets passed by systemd, started on demand."""

import http.client
import json
import os
import socket
import subprocess

import pytest
from installation import SECONDS, run
from support.places import BINARY, FIXTURES, WEB_INTERFACE

pytestmark = pytest.mark.needs("systemd-socket-activate")


@pytest.fixture
def activated(tmp_path):
    """A port on both loopback addresses. The first connection starts the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ, "REPLAYHOST_STORE": str(tmp_path / "store"), "REPLAYHOST_ASSETS": str(WEB_INTERFACE),
        "XDG_STATE_HOME": str(tmp_path / "state")}
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(
            ["systemd-socket-activate", "-l", f"127.0.0.1:{port}", "-l", f"[::1]:{port}",
                *(f"--setenv={name}" for name in environment), BINARY, "serve"],
            env=environment, stdout=log, stderr=log)
    try:
        with open(tmp_path / "log", encoding="utf-8") as log:
            for _ in range(2):
                while "Listening on" not in log.readline():
                    assert process.poll() is None, (tmp_path / "log").read_text()
        yield port, process, environment
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_first_request_starts_the_server(activated, address):
    port, _, _ = activated
    connection = http.client.HTTPConnection(address, port, timeout=60)
    connection.request("GET", "/api/health", headers={"Host": f"localhost:{port}"})
    assert json.loads(connection.getresponse().read())["status"] == "ok"


def test_open_starts_the_activated_server(activated):
    """`open` sends a request before it starts another server, since both would lock the store."""
    port, process, environment = activated
    file = FIXTURES / "sample.wacz"
    output = run(BINARY, "open", file, "--no-browser", "--json", "--port", port, env=environment).stdout
    opened = json.loads(output)
    assert (opened["started"], opened["pid"]) == (False, process.pid), output
    assert opened["url"] == f"http://localhost:{port}/?archive=/archives/sample.wacz"
    assert json.loads(run(BINARY, "stop", "--json", env=environment).stdout)["pid"] == process.pid
    assert process.wait(SECONDS) == 0
