"""Runs the program for scripts: measures imports, starts servers on a free port, and sends requests.

`REPLAYHOST_BINARY` sets the program (default: the release build).
"""

import contextlib
import http.client
import json
import os
import subprocess
import threading
import time
from urllib.parse import quote

BINARY = os.environ.get("REPLAYHOST_BINARY", ".build/release/replayhost")
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
CHROMIUM = {
    "executable_path": "/usr/bin/chromium",
    "args": [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost",
    ],
}


class Refused(Exception):
    """The program refused an import, with this error."""


def import_file(store, path, binary=BINARY):
    """Imports a file; returns its ID, the seconds and the peak resident memory in bytes."""
    began = time.monotonic()
    process = subprocess.Popen(
        [binary, "import", "--json", "--store", str(store), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process.stdout, process.stderr:
        out, err = process.stdout.read(), process.stderr.read()
    usage = waited(process)
    if process.returncode != 0:
        raise Refused(err.decode(errors="replace").strip())
    return json.loads(out)["archive"]["id"], time.monotonic() - began, usage.ru_maxrss * 1024


def run_jobs(store, binary=BINARY):
    """Does what a server would do in the background for new archives: verifies and indexes them."""
    subprocess.run([binary, "jobs", "run", "--quiet", "--store", str(store)], check=True)


def waited(process):
    """Waits for the end of a program, and returns what it used, with its child processes."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


@contextlib.contextmanager
def serve(store, *options, command=None):
    """Runs a server with this store; yields its process and port. `command` runs instead of BINARY."""
    process = subprocess.Popen(
        [*(command or [BINARY]), "serve", "--store", str(store), "--port", "0", "--json", "--assets", "www", "--log-level", "error", *options],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process, int(json.loads(process.stdout.readline())["address"].rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def target(text):
    """Percent-encodes the characters of a path that a request line can't contain."""
    return quote(text, safe="".join(chr(byte) for byte in range(0x21, 0x7F)).replace("#", ""))


def get(port, path, method="GET", body="", timeout=60, **fields):
    """Sends a request on a new connection, without following redirects; returns status, headers and body. If the body is
    truncated, sets the header `X-Cut-Off`.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.putrequest(method, target(path), skip_accept_encoding=True, skip_host=True)
        connection.putheader("Host", f"localhost:{port}")
        connection.putheader("Connection", "close")
        for name, value in fields.items():
            connection.putheader(name.replace("_", "-"), value)
        if body:
            connection.putheader("Content-Length", str(len(body.encode())))
        connection.endheaders(body.encode() or None)
        answer = connection.getresponse()
        try:
            received = answer.read()
        except http.client.IncompleteRead as cut:
            received = cut.partial
            answer.headers["X-Cut-Off"] = "1"
        return answer.status, answer.headers, received
    finally:
        connection.close()


def parameter(text):
    """Escapes a value for a query."""
    return quote(text, safe="")


def measured(command, **options):
    """Runs a program; returns wall seconds, processor seconds and peak resident memory in MB. Fails if the program does."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    usage = waited(process)
    wall = time.monotonic() - began
    if process.returncode != 0:
        raise RuntimeError(f"{command} failed with exit code {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def memory(pid, field):
    """Returns a field of /proc/PID/status in bytes: VmRSS for resident memory, VmHWM for its peak."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(row.split()[1]) * 1024 for row in file if row.startswith(field))


def resident(pid):
    return memory(pid, "VmRSS")


def private(pid):
    """Returns the resident memory in bytes, without mapped files."""
    with open(f"/proc/{pid}/statm") as file:
        words = file.read().split()
    return (int(words[1]) - int(words[2])) * PAGE


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


class Watch:
    """Samples a process's memory every 50 ms while a block runs; `peak` and `peak_private` are bytes."""

    def __init__(self, pid):
        self.pid, self.peak, self.peak_private, self.done = pid, 0, 0, threading.Event()

    def look(self):
        while True:
            self.peak = max(self.peak, resident(self.pid))
            self.peak_private = max(self.peak_private, private(self.pid))
            if self.done.wait(0.05):
                return

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
