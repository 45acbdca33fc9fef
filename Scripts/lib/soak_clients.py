"""soak_clients.py FOLDER [MINUTES]: runs 64 clients and 1,000 slow connections against one server, for 10 minutes.

The clients read ranges, look up captures, list archives and pages, and upload and remove small archives, each on a kept connection.
Slow connections send a byte of a request every few seconds, and reconnect when closed. Another client repeats the same lookup from
a separate process, to measure what a user would experience. Prints a line every half minute. Fails after an unexpected response, if
more than 32 descriptors stay open at the end, or if memory grows by more than 32 MB after the first quarter.
"""

import http.client
import json
import multiprocessing
import os
import random
import selectors
import socket
import sys
import threading
import time
from pathlib import Path

from hostile_requests import wacz
from serving import get, import_file, resident, serve
from writers.generated import write_large

CLIENTS, PROCESSES, SLOW = 64, 4, 1000
LARGE = 256 << 20
GROWTH_MAX = 32 << 20
# Connections to the catalog, and archives in use, stay open.
LEFT_MAX = 32


class Client:
    """One of the 64 clients, with random actions."""

    def __init__(self, port, token, size, seed, counts):
        self.port, self.token, self.size, self.counts = port, token, size, counts
        self.random = random.Random(seed)
        self.seed = seed
        self.connection = http.client.HTTPConnection("localhost", port, timeout=120)

    def request(self, method, path, statuses, body=None, **fields):
        # http.client reconnects if the server closed the connection between two requests.
        self.connection.request(method, path, body=body, headers={
            "Host": f"localhost:{self.port}", **{name.replace("_", "-"): value for name, value in fields.items()}})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status not in statuses:
            raise AssertionError(f"{method} {path}: {answer.status} {content[:200]}")
        return answer, content

    def range(self):
        length = self.random.choice([1, 4096, 300_000, 2 << 20])
        first = self.random.randrange(self.size - length)
        _, content = self.request("GET", "/archives/large.wacz", [206], Range=f"bytes={first}-{first + length - 1}")
        assert len(content) == length

    def lookup(self):
        number = self.random.randrange(12)
        scope = self.random.choice(["all", "small"])
        self.request("GET", f"/c/{scope}/2024id_/http://a{number}.example/", [200, 302])
        self.request("GET", f"/c/all/cdx?url=a{number}.example&limit=5", [200])

    def list(self):
        _, content = self.request("GET", "/api/archives", [200])
        assert len(json.loads(content)["archives"]) >= 2
        self.request("GET", "/api/archives/large/pages?limit=20", [200])

    def upload(self):
        name = f"upload-{self.seed}-{self.random.randrange(1 << 30)}"
        body = wacz([(f"http://{name}.example/", f"example,{name})/", name)], name)
        authority = {"Replayhost_Token": self.token, "Origin": f"http://localhost:{self.port}"}
        _, content = self.request(
            "POST", f"/api/archives?name={name}.wacz", [201], body=body, Content_Type="application/wacz", **authority)
        self.request("DELETE", f"/api/archives/{json.loads(content)['archive']['id']}", [200, 204], **authority)

    def run(self, ends):
        what = [self.range] * 4 + [self.lookup] * 4 + [self.list] * 2 + [self.upload]
        while time.time() < ends:
            step = self.random.choice(what)
            try:
                step()
            except Exception as error:  # prints and counts every failure
                print(f"{step.__name__}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                self.counts["failed"] += 1
                self.connection.close()
            self.counts[step.__name__] = self.counts.get(step.__name__, 0) + 1


def clients(port, token, size, seeds, ends, results):
    all_counts = [{"failed": 0} for _ in seeds]
    threads = [
        threading.Thread(target=Client(port, token, size, seed, counts).run, args=(ends,))
        for seed, counts in zip(seeds, all_counts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(all_counts)


def slow(port, ends, results):
    """Runs 1,000 connections that send headers byte by byte, without an end."""
    head = f"GET /api/archives HTTP/1.1\r\nHost: localhost:{port}\r\nX-Slow: ".encode()
    selector, opened = selectors.DefaultSelector(), 0

    def begin():
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, [0, time.time() + random.uniform(0, 5)])

    while time.time() < ends:
        while len(selector.get_map()) < SLOW and time.time() < ends:
            begin()
            opened += 1
        for key, _ in selector.select(timeout=0.5):
            selector.unregister(key.fileobj)
            key.fileobj.close()
        now = time.time()
        for key in list(selector.get_map().values()):
            if key.data[1] > now:
                continue
            place = key.data[0]
            key.data[:] = [place + 1, now + 5]
            try:
                key.fileobj.send(head[place:place + 1] or b"a")
            except OSError:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    results.put(opened)


def person(port, ends, results):
    times = []
    connection = http.client.HTTPConnection("localhost", port, timeout=120)
    while time.time() < ends:
        start = time.perf_counter()
        connection.request("GET", "/c/small/20240101000000id_/http://a3.example/", headers={"Host": f"localhost:{port}"})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200 and body == b"page", answer.status
        times.append(time.perf_counter() - start)
        time.sleep(0.02)  # the pace of a user
    results.put(times)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def main():
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2] if len(sys.argv) > 2 else 10) * 60
    store = folder / "store"
    large = folder / "large.wacz"
    write_large(str(large), LARGE)
    small = folder / "small.wacz"
    small.write_bytes(wacz([(f"http://a{n}.example/", f"example,a{n})/", "page") for n in range(12)], "small"))
    for file in [large, small]:
        import_file(store, file)
    with serve(store) as (process, port):
        token = json.loads((store / "server.json").read_text())["token"]
        get(port, "/api/archives")
        before = descriptors(process.pid)
        ends = time.time() + seconds
        queues = [multiprocessing.Queue() for _ in range(PROCESSES + 2)]
        work = [
            multiprocessing.Process(
                target=clients, args=(port, token, large.stat().st_size, range(n, CLIENTS, PROCESSES), ends, queues[n]), daemon=True)
            for n in range(PROCESSES)]
        work.append(multiprocessing.Process(target=slow, args=(port, ends, queues[-2]), daemon=True))
        work.append(multiprocessing.Process(target=person, args=(port, ends, queues[-1]), daemon=True))
        for one in work:
            one.start()
        samples = []
        print(f"{'seconds':>8} {'resident':>10} {'descriptors':>12}")
        while time.time() < ends:
            time.sleep(min(30, max(0, ends - time.time())))
            samples.append(resident(process.pid))
            print(f"{seconds - (ends - time.time()):8.0f} {samples[-1] / 1e6:7.1f} MB {descriptors(process.pid):12}", flush=True)
        results = [queue.get() for queue in queues]
        for one in work:
            one.join()
        deadline = time.time() + 120
        while descriptors(process.pid) > before + LEFT_MAX and time.time() < deadline:
            time.sleep(1)
        after = descriptors(process.pid)
    counts = {}
    for client in sum(results[:PROCESSES], []):
        for name, count in client.items():
            counts[name] = counts.get(name, 0) + count
    times = sorted(results[-1])
    growth = max(samples[-1] - samples[len(samples) // 4], 0)
    print(f"{CLIENTS} clients: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{SLOW} slow connections, {results[-2]} opened in total")
    print(f"a user's lookup, {len(times)} times: median {times[len(times) // 2] * 1e3:.1f} ms, "
          f"p99 {times[len(times) * 99 // 100] * 1e3:.1f} ms, slowest {times[-1] * 1e3:.1f} ms")
    print(f"descriptors {before} before, {after} after; memory grew by {growth / 1e6:.1f} MB after the first quarter")
    faults = [text for text, isThere in [
        ("unexpected responses", counts["failed"]), ("descriptors stayed open", after > before + LEFT_MAX),
        ("memory grew", growth > GROWTH_MAX)] if isThere]
    sys.exit("; ".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
