"""hostile_requests.py PROGRAM[:NAME] …: measures the cost of expensive requests, also for other clients.

24 connections send each request at once to a server with 21 archives, and close without waiting for a response. Meanwhile, another
client looks up a page repeatedly. Prints, for each program and request: processor time and peak resident memory of the server, and
the slowest and median lookup of the other client. Then measures the response times for URLs of 16,000 bytes of one character. Run
it on an idle machine.
"""

import contextlib
import io
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import serving
from writers.generated import Capture, write

CONNECTIONS = 24
ARCHIVES = 20


def wacz(captures, name):
    """Returns a WACZ of captures (URL, key and body) with a deflated index, as in hostile files."""
    file = io.BytesIO()
    captures = sorted((Capture(url, key, body.encode()) for url, key, body in captures), key=lambda capture: capture.key)
    write(file, name, captures, index="deflated")
    return file.getvalue()


def fuzzy_archive():
    """Returns thousands of URLs with the same path and 64 arguments each. Other arguments are compared with all of them."""
    arguments = [f"argument{number}" for number in range(64)]
    captures = []
    for number in range(6000):
        query = "&".join(f"{name}={number}" for name in arguments)
        captures.append((f"http://many.example/list?{query}", f"example,many)/list?{query}", ""))
    return wacz(captures, "many")


def write_archives(folder):
    files = {"many.wacz": fuzzy_archive()}
    for number in range(ARCHIVES):
        files[f"a{number}.wacz"] = wacz([(f"http://a{number}.example/", f"example,a{number})/", "page")], f"a{number}")
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


class Server:
    """A server of one of the programs, with a separate store."""

    def __init__(self, program, files, folder, stack):
        serving.BINARY, _, name = program.partition(":")
        self.name = name or Path(serving.BINARY).name
        store = folder / self.name
        for file in files:
            serving.import_file(store, file)
        self.process, self.port = stack.enter_context(serving.serve(store))

    def lookup(self):
        start = time.perf_counter()
        status, _, _ = serving.get(self.port, "/c/all/http://a3.example/", timeout=300)
        assert status == 302, status
        return time.perf_counter() - start

    def attack(self, request):
        """Sends a request, and returns the server's processor time and peak memory, and the slowest and median lookup of another client."""
        idle = threading.Event()
        lookups = []

        def other():
            while not idle.is_set():
                lookups.append(self.lookup())

        before = serving.processor_seconds(self.process.pid)
        client = threading.Thread(target=other)
        with serving.Watch(self.process.pid) as watch:
            client.start()
            for _ in range(CONNECTIONS):
                with socket.create_connection(("127.0.0.1", self.port)) as connection:
                    connection.sendall(request(self.port))
            spent = serving.processor_seconds(self.process.pid)
            while True:  # until the server has finished
                time.sleep(0.5)
                now = serving.processor_seconds(self.process.pid)
                if now - spent < 0.25 and len(lookups) > 20:
                    break
                spent = now
            idle.set()
            client.join()
        return serving.processor_seconds(self.process.pid) - before, watch.peak, max(lookups), statistics.median(lookups)


def get(path, fields=""):
    return lambda port: f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n{fields}\r\n".encode()


def post(path, kind, body):
    return lambda port: (
        f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


ELSEWHERE = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"
DASHES = "-" * 8000
SHAPES = {
    "nested escapes (%252525…), 12 kB": get("/c/all/http://a.example/%" + "25" * 6000),
    "the same, an image of another site": get("/c/all/http://a.example/%" + "25" * 6000, ELSEWHERE),
    "nested escapes in the query": get("/c/all/http://a.example/?%" + "25" * 6000),
    "a path of slashes": get("/c/all/http://a.example" + "/" * 12000),
    "cfid=cfid=…": get("/c/all/http://a.example/?" + "cfid=" * 2400),
    "12,000 arguments": get("/c/all/http://a.example/?" + "&" * 12000),
    "a URL of 60 kB": get("/c/all/http://a.example/?%" + "25" * 30000),
    "another cache buster among 6,000": get("/c/many/2024id_/http://many.example/list?" + "&".join(
        f"argument{number}=x" for number in range(64))),
    "a form of 4 MB": post("/c/all/http://a.example/", "application/x-www-form-urlencoded", b"+%25" * (1 << 20)),
    "parts with a long delimiter, 4 MB": post(
        "/c/all/http://a.example/", f"multipart/form-data; boundary={DASHES}", b"-" * ((4 << 20) - 1)),
}


def main():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        files = write_archives(folder)
        servers = [Server(program, files, folder, stack) for program in sys.argv[1:]]
        print(f"{CONNECTIONS} connections each, closed at once; {len(files)} archives")
        print(f"{'request':38} {'program':10} {'processor':>10} {'peak':>8} {'others, slowest':>16} {'median':>8}")
        for shape, request in SHAPES.items():
            for server in servers:
                processor, peak, slowest, median = server.attack(request)
                print(f"{shape:38} {server.name:10} {processor:8.2f} s {peak / 1e6:5.0f} MB {slowest * 1e3:13.1f} ms "
                      f"{median * 1e3:5.1f} ms", flush=True)
        print("\n16,000 bytes of one character in a URL: response time, the slower of path and query, median of 5")
        characters = [c for c in map(chr, range(0x21, 0x7F)) if not c.isalnum() and c != "#"] + ["%25", "%C3%A9", "xn--", "a.", "/../"]
        for server in servers:
            cost = {}
            for character in characters:
                text = character * (16000 // len(character))
                cost[character] = max(statistics.median(timed(server, f"http://a3.example/{start}{text}") for _ in range(5))
                                      for start in ["", "?"])
            worst = sorted(cost, key=cost.get, reverse=True)
            print(f"{server.name}: " + ", ".join(f"{c} {cost[c] * 1e3:.1f} ms" for c in worst[:8])
                  + f"; median {statistics.median(cost.values()) * 1e3:.1f} ms")


def timed(server, url):
    start = time.perf_counter()
    status, _, _ = serving.get(server.port, f"/c/a3/2024id_/{url}", timeout=300)
    assert status in (302, 404), status
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
