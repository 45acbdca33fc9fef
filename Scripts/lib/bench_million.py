"""Measures a server with an archive of a million captures. Called by `Scripts/soak 30-million-captures` and, compared with pywb
(`PYWB`), by `Scripts/bench 10-million-captures`, with an empty folder.

Prints import time and memory for a ZipNum index and for one that is deflated in the ZIP; first byte, total time and memory of a
complete list; and the cost of clients that disconnect. Checks memory, counts, lists and REQUESTS lookups, but no times
(`Scripts/bench 05-lines` measures lookups). COUNT= sets the number of captures, MILLION= a folder to keep the files for later runs.
"""

import contextlib
import os
import random
import re
import socket
import sys
import time
from pathlib import Path

import pywb_server
import serving
from writers import generated

COUNT = int(os.environ.get("COUNT", "1000000"))
REQUESTS = int(os.environ.get("REQUESTS", "2000"))
MEMORY_MAX = 64 << 20
DOMAIN = f"url={generated.MILLION_DOMAIN}&matchType=domain&limit={COUNT * 2}"


class Stream:
    """A GET request on a separate connection. The body is streamed without decoding its chunks."""

    def __init__(self, port, path):
        self.began = time.perf_counter()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
        self.head = b""
        while b"\r\n\r\n" not in self.head or self.head.endswith(b"\r\n\r\n"):
            part = self.socket.recv(1 << 16)
            if not part:
                break
            self.head += part
        self.first_byte = time.perf_counter() - self.began
        self.status = int(self.head.split(b" ", 2)[1])
        self.start = self.head.partition(b"\r\n\r\n")[2]

    def parts(self):
        yield self.start
        while part := self.socket.recv(1 << 20):
            yield part

    def close(self):
        self.socket.close()


def took(port, path):
    """Sends a request; returns the seconds until the end of the response, its status and its body."""
    stream = Stream(port, path)
    with contextlib.closing(stream):
        whole = b"".join(stream.parts())
    return time.perf_counter() - stream.began, stream.status, whole


def samples():
    """Returns random URLs and times from the whole archive."""
    captures = (generated.million_capture(number, COUNT) for number in random.Random(11).choices(range(COUNT), k=REQUESTS))
    return [(capture.url, capture.timestamp) for capture in captures]


class Side:
    """A server: its name, process and port, and the path of its archive."""

    def __init__(self, name, process, port, prefix):
        self.name, self.pid, self.port, self.prefix = name, process.pid, port, prefix

    def lookup(self, url, timestamp):
        return took(self.port, f"{self.prefix}/cdx?url={serving.parameter(url)}&closest={timestamp}&limit=1")


def milliseconds(seconds):
    return f"{seconds * 1000:.2f} ms"


def check_lookups(side, picks):
    """Checks the index entry and the body of each picked capture."""
    for url, timestamp in picks:
        path = f"{side.prefix}/{timestamp}id_/{url}"
        for (_, status, body), wanted in [(side.lookup(url, timestamp), f'"url": "{url}"'), (took(side.port, path), f"<h1>{url}</h1>")]:
            assert status in (200, 404) and wanted.encode() in body and timestamp.encode() in body, (side.name, url, body)


def list_everything(side, query, label):
    """Lists the whole domain, and measures times, lines, memory and processor time."""
    resting, spent = serving.resident(side.pid), serving.processor_seconds(side.pid)
    with serving.Watch(side.pid) as watch, contextlib.closing(Stream(side.port, f"{side.prefix}/cdx?{query}")) as stream:
        lines = sum(part.count(b"}\n") + part.count(b"}\r\n") for part in joined(stream.parts()))
        total = time.perf_counter() - stream.began
    spent = serving.processor_seconds(side.pid) - spent
    print(f"{label}: {side.name}: {lines:,} lines, first byte {milliseconds(stream.first_byte)}, all {total:.2f} s, "
          f"processor {spent:.2f} s, memory {resting / 1e6:.0f} MB before, {watch.peak / 1e6:.0f} MB peak "
          f"({watch.peak_private / 1e6:.0f} MB private)")
    return lines, stream.first_byte, total, watch.peak_private


def joined(parts):
    """Splits parts at line ends, so that each line is counted once."""
    left = b""
    for part in parts:
        whole, newline, left = (left + part).rpartition(b"\n")
        yield whole + newline
    yield left


def leave_early(side):
    """Disconnects at the beginning of a complete list, and measures the processor time that the server still uses."""
    stream = Stream(side.port, f"{side.prefix}/cdx?{DOMAIN}")
    stream.close()
    left = serving.processor_seconds(side.pid)
    idle_after, before, began = None, left, time.monotonic()
    while time.monotonic() - began < 30:
        time.sleep(0.25)
        now = serving.processor_seconds(side.pid)
        if now - before < 0.02:
            idle_after = time.monotonic() - began
            break
        before = now
    spent = serving.processor_seconds(side.pid) - left
    response = side.lookup(*samples()[0])
    print(f"client disconnects after the first kilobytes: {side.name}: {spent:.2f} s of processor afterwards, idle after "
          f"{'more than 30' if idle_after is None else f'{idle_after:.2f}'} s; next lookup {milliseconds(response[0])}")
    return idle_after


def leave_filtered(side):
    """The same with a filter that matches nothing, so that no write shows the server that the client has disconnected."""
    connection = socket.create_connection(("127.0.0.1", side.port))
    path = f"{side.prefix}/cdx?{DOMAIN}&filter=%3Dstatus:999"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:{side.port}\r\n\r\n".encode())
    time.sleep(0.2)
    connection.close()
    left, began = serving.processor_seconds(side.pid), time.monotonic()
    before = left
    while time.monotonic() - began < 60:
        time.sleep(0.25)
        now = serving.processor_seconds(side.pid)
        if now - before < 0.02:
            break
        before = now
    print(f"client disconnects while a filter matches nothing: {side.name}: "
          f"{serving.processor_seconds(side.pid) - left:.2f} s of processor afterwards, idle after "
          f"{time.monotonic() - began:.2f} s")


def sleepy_reader(side, seconds=5):
    """Measures memory and the lookups of other clients while a client doesn't read a complete list."""
    stream = Stream(side.port, f"{side.prefix}/cdx?{DOMAIN}")
    with serving.Watch(side.pid) as watch:
        began, spent = time.monotonic(), []
        for url, timestamp in samples()[:200]:
            spent.append(side.lookup(url, timestamp)[0])
        time.sleep(max(0, seconds - (time.monotonic() - began)))
    stream.close()
    print(f"client that reads nothing for {seconds} s: {side.name}: peak {watch.peak / 1e6:.0f} MB "
          f"({watch.peak_private / 1e6:.0f} MB private); lookups of others p50 {milliseconds(serving.percentile(spent, 0.5))}, "
          f"p99 {milliseconds(serving.percentile(spent, 0.99))}")
    return watch.peak_private


def make(folder, store):
    """Writes and imports both archives; returns their IDs."""
    kept = Path(os.environ.get("MILLION", folder))
    ids = {}
    for name, index in [("million", "zipnum"), ("million-deflated", "deflated")]:
        path = kept / f"{name}.wacz"
        if not path.exists():
            generated.write_million(path, COUNT, index)
        ids[name], seconds, memory = serving.import_file(store, path)
        print(f"import of {name}.wacz ({COUNT:,} captures, {path.stat().st_size:,} bytes): {seconds:.1f} s, "
              f"peak {memory / 1e6:.0f} MB", flush=True)
        assert memory < MEMORY_MAX * 4, f"the import needed {memory} bytes"
    # They would take processor time that this script measures.
    serving.run_jobs(store)
    return ids, kept / "million.wacz"


def measure(folder, ids, beside):
    with contextlib.ExitStack() as stack:
        process, port = stack.enter_context(serving.serve(f"{folder}/store"))
        ours = Side("replayhost", process, port, f"/c/{ids['million']}")
        sides = [ours]
        if beside:
            theirs, port = stack.enter_context(pywb_server.serve(folder))
            sides.append(Side("pywb", theirs, port, "/million"))
        deflated = Side("replayhost, deflated index", process, ours.port, f"/c/{ids['million-deflated']}")
        for side in [*sides, deflated]:
            check_lookups(side, samples())
        peaks = []
        for side in sides:
            lines, _, _, peak = list_everything(side, DOMAIN, "everything")
            assert lines == COUNT, (side.name, lines)
            rare, _, _, other = list_everything(side, f"{DOMAIN}&filter=%3Dstatus:404", "filter that matches 1 of 100,000")
            assert rare == COUNT // generated.RARE, (side.name, rare)
            if side is not ours:
                list_everything(side, re.sub("&limit.*", "", DOMAIN), "everything, no limit given")
                leave_early(side)
                continue
            peaks += [peak, other, list_everything(deflated, DOMAIN, "everything")[3]]
            assert leave_early(side) is not None, "the server keeps working for a disconnected client"
            leave_filtered(side)
            peaks.append(sleepy_reader(side))
        assert max(peaks) < MEMORY_MAX * 2, f"the server needed {max(peaks)} bytes of private memory"


def main(folder):
    store = f"{folder}/store"
    ids, path = make(folder, store)
    beside = "PYWB" in os.environ
    if beside:
        began = time.monotonic()
        pywb_server.add(folder, "million", path)
        print(f"wb-manager add --unpack-wacz: {time.monotonic() - began:.1f} s", flush=True)
    measure(folder, ids, beside)
    print(f"load average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main(sys.argv[1])
