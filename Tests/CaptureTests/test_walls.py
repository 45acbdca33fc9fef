"""Confined tools: what a tool that a site has taken over can still read, change and reach.

The tool is a script in the place of yt-dlp. Each attempt is counted where it would arrive; the control shows that it arrives there
without bubblewrap.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from capture_host import FAST_RETRIES, CaptureHost, wait_until
from fake_tools import FakeTools
from support.needs import BUBBLEWRAP

needs_bubblewrap = pytest.mark.needs("bubblewrap")
PYTHON = "/usr/bin/python3"
MARK = "FOUND "

# Prints a JSON line for each attempt: its name, and what came of it.
PRISONER = """#!{python} -ESsB
import json, os, signal, socket, sys

if "--version" in sys.argv:
    print("2026.10.26")
    sys.exit(0)
targets = json.loads({targets!r})

def attempt(name, action):
    try:
        result = repr(action())
    except Exception as error:
        result = "failed: %s: %s" % (type(error).__name__, error)
    print("{mark}" + json.dumps([name, result]), flush=True)

def connect(family, kind, address, text=b"out"):
    with socket.socket(family, kind) as one:
        one.settimeout(20)
        one.connect(address)
        one.send(text)
    return "sent"

port = targets["port"]
attempt("tcp", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)))
attempt("tcp another loopback address", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.2", port)))
attempt("udp", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", targets["udp"])))
attempt("abstract socket", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + targets["abstract"]))
attempt("unix socket", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, targets["unix"]))
attempt("the server's port", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", targets["server"])))
for name in ("secret", "queue", "passwords"):
    attempt("read " + name, lambda: open(targets[name], "rb").read(8))
attempt("read memory of the server", lambda: open("/proc/%d/environ" % targets["pid"], "rb").read(8))
for name in ("secret", "tools", "system"):
    attempt("write " + name, lambda: open(targets[name] + ".new", "w").write("x"))
attempt("kill", lambda: os.kill(targets["victim"], signal.SIGTERM))
attempt("list the store", lambda: os.listdir(targets["store"]))
for path in targets["memory"]:
    attempt("write " + path, lambda: open(path, "w").write("x"))
attempt("own folder", lambda: open("out/own", "w").write("x"))
attempt("processes", lambda: len([name for name in os.listdir("/proc") if name.isdigit()]))
attempt("user", os.getuid)
print("ERROR: [fake] 1: This video is private", file=sys.stderr)
sys.exit(1)
"""

# Leaves a process in a session of its own, and waits.
SLEEPER = """#!{python} -ESsB
import os, signal, sys
if "--version" in sys.argv:
    print("2026.10.26")
    sys.exit(0)
if os.fork() == 0:
    os.setsid()
    os.fork()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("{mark}[]", flush=True)
while True:
    signal.pause()
"""


class Targets:
    """What the tool tries to reach. Counts what arrives."""

    def __init__(self, folder):
        self.arrived = []
        self.sockets = []
        self.tcp = self.listen(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0), "tcp")
        self.udp = self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0), "udp")
        self.abstract = f"replayhost-test-{os.getpid()}-{id(self)}"
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract, "abstract")
        # A short path: those of tests are too long for a socket.
        self.unix = f"/tmp/{self.abstract}"
        self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.unix, "unix")
        self.victim = subprocess.Popen(["/bin/sleep", "1000"])
        self.secret = Path(folder) / "secret"
        self.secret.write_text("my secret", encoding="utf-8")
        self.memory = [f"{place}/{self.abstract}.new" for place in ("/tmp", "/dev/shm")]

    def listen(self, family, kind, address, name):
        one = socket.socket(family, kind)
        one.bind(address)
        if kind == socket.SOCK_STREAM:
            one.listen()
        self.sockets.append(one)
        threading.Thread(target=self.serve, args=(one, kind, name), daemon=True).start()
        return one.getsockname()[1] if family == socket.AF_INET else None

    def serve(self, one, kind, name):
        with contextlib.suppress(OSError):
            while True:
                if kind == socket.SOCK_DGRAM:
                    one.recv(100)
                else:
                    with one.accept()[0] as client:
                        client.recv(100)
                self.arrived.append(name)

    def of(self, host):
        return json.dumps({
            "port": self.tcp, "udp": self.udp, "abstract": self.abstract, "unix": self.unix, "server": host.port,
            "pid": host.process.pid, "victim": self.victim.pid, "secret": str(self.secret), "passwords": "/etc/passwd",
            "queue": str(host.capture / "capture.sqlite"), "store": str(host.store), "tools": str(host.tools.bin / "yt-dlp"),
            "system": "/usr/share/replayhost-test", "memory": self.memory})

    def close(self):
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for path in (self.unix, *self.memory):
            Path(path).unlink(missing_ok=True)
        Path("/usr/share/replayhost-test.new").unlink(missing_ok=True)
        self.victim.kill()
        self.victim.wait()


@pytest.fixture
def targets(tmp_path):
    found = Targets(tmp_path)
    yield found
    found.close()


def make_host(folder, confined):
    tools = FakeTools(folder / "tools")
    if confined:
        (tools.path / "bwrap").symlink_to(BUBBLEWRAP)
    return CaptureHost(folder, tools, *FAST_RETRIES)


def imprison(host, targets):
    """Runs the tool once. Returns what came of each attempt."""
    host.start()
    host.tools.write("yt-dlp", PRISONER.format(python=PYTHON, targets=targets.of(host), mark=MARK))
    identifier = host.add("http://127.0.0.1:9/film")
    host.wait_for(identifier, "failed")
    lines = [line.partition(MARK)[2] for line in host.lines(identifier) if MARK in line]
    return dict(json.loads(line) for line in lines)


@needs_bubblewrap
def test_a_tool_that_was_taken_over_gets_nothing(tmp_path, targets):
    host = make_host(tmp_path, confined=True)
    try:
        found = imprison(host, targets)
        isolation = host.call("GET", "/health")[1]["isolation"]
        doctor = host.command("doctor").stdout
    finally:
        host.stop()
    assert isolation == {"confined": True, "reason": None}
    assert "isolation: the tools are confined" in doctor
    inside = {"own folder": "1", "user": "1000"}
    assert {name: found.pop(name) for name in inside} == inside
    # bwrap, the worker and the tool
    assert int(found.pop("processes")) <= 4
    assert len(found) == 17
    # A datagram that isn't received, and the folders above its own, which are empty.
    harmless = {"udp": "'sent'", "list the store": "['capture']"}
    assert {name: result for name, result in found.items() if not result.startswith("failed: ")} == harmless
    assert targets.arrived == []
    assert targets.victim.poll() is None
    assert not targets.secret.with_suffix(".new").exists()


def test_control_without_bubblewrap_it_gets_everything(tmp_path, targets):
    """So the attempts above are real. The warning says it, and so do /health and doctor."""
    host = make_host(tmp_path, confined=False)
    try:
        found = imprison(host, targets)
        isolation = host.call("GET", "/health")[1]["isolation"]
        doctor = host.command("doctor").stdout
        log = host.log.read_text()
    finally:
        host.stop()
    assert isolation == {"confined": False, "reason": "bubblewrap isn't installed"}
    assert "the tools aren't confined" in doctor and "the tools aren't confined" in log
    failed = {name for name, result in found.items() if result.startswith("failed: ")}
    # These depend on who runs the test.
    assert failed <= {"write system"}
    wait_until(lambda: set(targets.arrived) == {"tcp", "udp", "abstract", "unix"}, f"all arrived: {targets.arrived}", 60)
    assert targets.victim.wait(60) == -signal.SIGTERM


def test_bubblewrap_that_does_not_work_is_said(tmp_path):
    host = make_host(tmp_path, confined=False)
    wrapper = host.tools.path / "bwrap"
    wrapper.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", encoding="utf-8")
    wrapper.chmod(0o755)
    with host:
        isolation = host.call("GET", "/health")[1]["isolation"]
    assert isolation == {"confined": False, "reason": "bwrap: setting up uid map: Permission denied"}


@needs_bubblewrap
@pytest.mark.parametrize("victim", ["server", "worker", "bwrap"])
def test_nothing_is_left_when_one_is_killed(tmp_path, victim):
    """Also not a process that left its group and its session, and ignores signals. No server starts again to clean up."""
    host = make_host(tmp_path, confined=True)
    host.tools.write("yt-dlp", SLEEPER.format(python=PYTHON, mark=MARK))
    with host:
        identifier = host.add("http://127.0.0.1:9/film")
        host.wait_for(identifier, condition=lambda row: any(MARK in line for line in host.lines(identifier)))
        before = host.processes()
        assert len(before) >= 4
        if victim == "server":
            host.kill_9()
        else:
            # The outer bwrap is the one with the smallest number.
            chosen = [pid for pid, command in sorted(before.items()) if (" work " in f"{command} ") and (
                command.startswith(BUBBLEWRAP) or "bwrap" in command.split()[0]) == (victim == "bwrap")]
            os.kill(chosen[0], signal.SIGKILL)
            host.cancel(identifier)
        wait_until(lambda: not before.keys() & host.processes().keys(), f"all have ended: {before}", 180)
