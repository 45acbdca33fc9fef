"""The server as the units start it: with sockets that somebody else opened, when the first visitor comes."""

import http.client
import json
import os
import shutil
import socket
import subprocess

import pytest
from conftest import SECONDS, run
from support.places import BINARY, FIXTURES, WEB_INTERFACE

pytestmark = pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="there is no systemd here")


@pytest.fixture
def activated(tmp_path):
    """A port of both loopback addresses where nobody serves yet; the first connection starts the server of a store."""
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
def test_the_first_visitor_starts_it_and_is_answered(activated, address):
    port, _, _ = activated
    connection = http.client.HTTPConnection(address, port, timeout=60)
    connection.request("GET", "/api/health", headers={"Host": f"localhost:{port}"})
    assert json.loads(connection.getresponse().read())["status"] == "ok"


def test_open_wakes_it_and_uses_it(activated):
    """It is asked before another one is started: both would want the store."""
    port, process, environment = activated
    file = FIXTURES / "sample.wacz"
    told = run(BINARY, "open", file, "--no-browser", "--json", "--port", port, env=environment).stdout
    opened = json.loads(told)
    assert (opened["started"], opened["pid"]) == (False, process.pid), told
    assert opened["url"] == f"http://localhost:{port}/?archive=/archives/sample.wacz"
    assert json.loads(run(BINARY, "stop", "--json", env=environment).stdout)["pid"] == process.pid
    assert process.wait(SECONDS) == 0
