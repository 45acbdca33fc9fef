"""Measures replayhost beside its peers, in turn: captures, ranges of a file, bodies, the user check, starts, and growth.

Called by `Scripts/bench 05-lines` with an empty folder, and by `Scripts/bench quick` (QUICK=1) with less data. All data is seeded, and
answers are checked before they are measured. LINES="ranges growth" measures some lines; COUNT= (captures), FILE_MB=, ARCHIVES=,
GROWTH= (sizes), ROUNDS= and SECONDS_EACH= change the sizes. With BASE_BINARY, measures that program in place of the peers.

wrk sends the requests from one thread. Processor time is that of the server's process for a request.
"""

import contextlib
import gzip
import json
import mmap
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
import zipfile
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bench_growth
import bench_report
import pywb_server
import serving
from writers import generated

QUICK = os.environ.get("QUICK") == "1"


def setting(name, quick, whole):
    return os.environ.get(name, quick if QUICK else whole)


COUNT = int(setting("COUNT", "100000", "1000000"))
FILE_SIZE = int(setting("FILE_MB", "200", "2000")) * 1_000_000
ARCHIVES = int(setting("ARCHIVES", "100", "1000"))
SIZES = [int(size) for size in setting("GROWTH", "1000 10000 100000", "1000 10000 100000 1000000 10000000").split()]
ROUNDS, SECONDS = int(os.environ.get("ROUNDS", "3")), int(setting("SECONDS_EACH", "1", "2"))
# pywb imports a million captures in half a minute.
PEER_MAX = 1_000_000
REQUESTS = 4_000
# Looks captures up without a server.
LIBRARY = os.environ.get("LIBRARY")
BODY_SIZE, BODIES = 4_000_000, 8
PROGRAMS = {"replayhost": serving.BINARY}
if base := os.environ.get("BASE_BINARY"):
    PROGRAMS["base"] = base

WRK = r"""
local requests, number = {}, 0
function init()
    for line in io.lines(os.getenv("WRK_REQUESTS")) do
        local path, range = line:match("^(%S+) ?(.*)$")
        wrk.headers["Range"] = range ~= "" and "bytes=" .. range or nil
        requests[#requests + 1] = wrk.format("GET", path)
    end
end
function request()
    number = number % #requests + 1
    return requests[number]
end
function done(summary, latency)
    local errors = summary.errors
    print(string.format('\n{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, "errors": %d, "reads": %d}', summary.requests,
        summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.connect + errors.write + errors.timeout + errors.status, errors.read))
end
"""


@dataclass
class Side:
    """A server that answers requests: the path of its archive or file, and whether it closes each connection."""

    name: str
    pid: int
    port: int
    prefix: str
    closes: bool = False


def peer(program, hint):
    """Returns whether a peer takes part. One that isn't installed is named."""
    if "base" in PROGRAMS:
        return False
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        bench_report.skip(program, hint)
    return bool(found)


@contextlib.contextmanager
def ours(folder, path, prefix, *options):
    """Runs each program of replayhost with a store of one archive; yields its sides. `prefix` has {} for the archive's ID.

    What it does in the background for a new archive (verification, search) is done before.
    """
    with contextlib.ExitStack() as stack:
        sides = []
        for name, binary in PROGRAMS.items():
            store = f"{folder}/store-{name}{''.join(options)}"
            identifier, _, _ = serving.import_file(store, path, binary)
            serving.run_jobs(store, binary)
            process, port = stack.enter_context(serving.serve(store, *options, command=[binary]))
            sides.append(Side(name, process.pid, port, prefix.format(identifier)))
        yield sides


def nginx_command(folder, root, port):
    """Returns the command of an nginx with one process, which sends the files of `root` with sendfile.

    Without tcp_nopush, which delays answers of 64 KiB by 40 ms over loopback.
    """
    paths = "".join(f"{kind}_temp_path {folder}/nginx-{kind}; " for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    Path(folder, "nginx.conf").write_text(
        f"daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; events {{ worker_connections 1024; }}\n"
        f"http {{ types {{ text/html html; text/javascript js; }} access_log off; sendfile on; keepalive_requests 1000000; {paths}\n"
        f"server {{ listen 127.0.0.1:{port}; root {root}; }} }}\n")
    return ["nginx", "-e", f"{folder}/nginx.log", "-c", f"{folder}/nginx.conf"]


@contextlib.contextmanager
def running(command, port):
    """Runs a server until the end of the block; yields its process and the seconds until its first answer."""
    began = time.monotonic()
    environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        while True:
            with contextlib.suppress(OSError):
                serving.get(port, "/")
                break
            assert process.poll() is None, f"{command} ended with exit code {process.returncode}"
            time.sleep(0.001)
        yield process, time.monotonic() - began
    finally:
        process.terminate()
        process.wait(timeout=30)


def load(side, requests, connections, seconds=SECONDS):
    """Sends requests over so many connections. `requests` are lines: a path, and optionally a range."""
    listed = Path(os.environ["WRK_REQUESTS"])
    listed.write_text("\n".join(side.prefix + line for line in requests) + "\n")
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", str(listed.with_name("wrk.lua"))]
    command += ["-H", f"Host: localhost:{side.port}", "-H", f"Connection: {'close' if side.closes else 'keep-alive'}"]
    used = serving.processor_seconds(side.pid)
    told = subprocess.run([*command, f"http://127.0.0.1:{side.port}"], capture_output=True, text=True, check=True).stdout
    used = serving.processor_seconds(side.pid) - used
    found = json.loads(told.splitlines()[-1])
    # wrk counts the end of each connection that a server closes as a failed read.
    assert found["errors"] == 0 and (side.closes or found["reads"] == 0), (side, told)
    if not found["requests"]:
        assert seconds < 60, (side, told)
        return load(side, requests, connections, seconds * 2)
    return {
        "requests/s": found["requests"] / found["seconds"], "p50 ms": found["p50"], "p99 ms": found["p99"],
        "processor ms": used * 1000 / found["requests"], "memory MB": serving.resident(side.pid) / 1e6,
    }


def compare(line, work, programs, size=None):
    """Measures programs in turn. `programs` has for each name a function that returns values by metric."""
    runs = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, measure in programs.items():
            runs[name].append(measure())
    bench_report.add(line, work, runs, size)


def check(side, requests, wanted):
    """Checks the answers to the first requests."""
    for line, expected in zip(requests[:20], wanted):
        path, _, span = line.partition(" ")
        status, _, body = serving.get(side.port, side.prefix + path, **({"Range": f"bytes={span}"} if span else {}))
        assert status in (200, 206) and expected in body, (side, line, status, body[:200])


def picked_captures(count, among=None):
    """Returns random captures of an archive of so many, or of its first ones, without those with status 404."""
    numbers = random.Random(11).choices(range(among or count), k=REQUESTS)
    captures = (generated.million_capture(number, count) for number in numbers)
    return [capture for capture in captures if capture.status == "200 OK"]


def lookup(capture):
    return f"/cdx?url={serving.parameter(capture.url)}&closest={capture.timestamp}&limit=1"


@contextlib.contextmanager
def archive_of(folder, count):
    """Yields the path of an archive of so many captures, which lines share, and the sides that serve it."""
    place, name = Path(folder).parent, f"captures-{count}"
    path = place / f"{name}.wacz"
    if not path.exists():
        generated.write_million(path, count)
    with contextlib.ExitStack() as stack:
        sides = stack.enter_context(ours(folder, path, "/c/{}"))
        if count <= PEER_MAX and "base" not in PROGRAMS and "PYWB" in os.environ:
            if not (place / "collections" / name).exists():
                pywb_server.add(place, name, path)
            process, port = stack.enter_context(pywb_server.serve(place))
            # It delays requests on persistent connections by 40 ms.
            sides.append(Side("pywb", process.pid, port, f"/{name}", closes=True))
        yield path, sides


def captures(folder):
    def path(kind):
        return lambda capture: f"/{capture.timestamp}{kind}/{capture.url}"

    # The best case: ten blocks of the index, which stay in memory.
    near = 3_000
    lines = [("cdx, closest", lookup, None), ("ir_", path("ir_"), None), ("id_", path("id_"), None), ("ir_", path("ir_"), near)]
    with archive_of(folder, COUNT) as (_, sides):
        bare = Side("1 kB of the app", sides[0].pid, sides[0].port, "/app/api-docs.html")
        for work, request, among in lines:
            picked = picked_captures(COUNT, among)
            requests = [request(capture) for capture in picked]
            for side in sides:
                check(side, requests, [capture.url.encode() if request is lookup else capture.body for capture in picked])
            programs = {side.name: partial(load, side, requests, 8) for side in sides}
            if "base" not in PROGRAMS:
                programs[bare.name] = partial(load, bare, [""], 8)
            part = f"the first {among:,} of " if among else ""
            compare("captures", f"{work}, {part}{COUNT:,} captures, 8 connections", programs)


def ranges(folder):
    path, chance = Path(folder, "large.wacz"), random.Random(12)
    generated.write_large(path, FILE_SIZE)
    with files_beside(folder, path, "/archives/{}.wacz", f"/{path.name}") as sides, open(path, "rb") as file:
        for size, name in [(4 << 10, "4 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")]:
            starts = [chance.randrange(path.stat().st_size - size) for _ in range(REQUESTS)]
            requests = [f" {start}-{start + size - 1}" for start in starts]
            for side in sides:
                check(side, requests, [os.pread(file.fileno(), size, start) for start in starts[:20]])
            for connections in (1, 8, 64):
                work = f"{name} of {FILE_SIZE / 1e9:g} GB, {connections} connection{'s' * (connections > 1)}"
                compare("ranges", work, {side.name: partial(load, side, requests, connections) for side in sides})


@contextlib.contextmanager
def files_beside(folder, path, prefix, peer_prefix):
    """Yields the sides of an archive, and an nginx with the same folder."""
    with contextlib.ExitStack() as stack:
        sides = stack.enter_context(ours(folder, path, prefix))
        if peer("nginx", "apt-get install nginx-light"):
            port = pywb_server.free_port()
            process, _ = stack.enter_context(running(nginx_command(folder, folder, port), port))
            sides.append(Side("nginx", process.pid, port, peer_prefix))
        yield sides


def bodies(folder):
    chance = random.Random(13)
    words = [f"{chance.getrandbits(32):x}"[: chance.randint(2, 8)] for _ in range(5_000)]
    texts = [" ".join(chance.choices(words, k=BODY_SIZE // 4)).encode()[:BODY_SIZE] for _ in range(BODIES)]
    url = "https://bodies.example/{}.txt"
    found = [generated.Capture(url.format(n), f"example,bodies)/{n}.txt", text, "text/plain") for n, text in enumerate(texts)]
    for number, text in enumerate(texts):
        Path(folder, f"{number}.txt").write_bytes(text)
    for work, is_gzipped in [("stored", False), ("gzip member", True)]:
        place = Path(folder, work.split()[0])
        place.mkdir()
        generated.write(place / "bodies.wacz", "Bodies", found, [(found[0].url, "Body")], is_gzipped=is_gzipped)
        with files_beside(folder, place / "bodies.wacz", "/c/{}/20240101000000id_/https://bodies.example", "") as sides:
            requests = [f"/{number}.txt" for number in range(BODIES)]
            for side in sides:
                check(side, requests, texts)
            programs = {side.name: partial(load, side, requests, 8) for side in sides}
            if is_gzipped and "base" not in PROGRAMS:
                deflater = zlib.compressobj(1, zlib.DEFLATED, 31)
                programs["zlib alone"] = partial(inflate, deflater.compress(texts[0]) + deflater.flush())
            compare("bodies", f"4 MB, {work}, 8 connections", programs)
        shutil.rmtree(f"{folder}/store-replayhost")


def inflate(member):
    used = time.process_time()
    for _ in range(20):
        zlib.decompress(member, 31)
    return {"processor ms": (time.process_time() - used) * 1000 / 20}


def users(folder):
    """The check that the client is the server's user, and the same without it."""
    with contextlib.ExitStack() as stack:
        sides = [side for options in [[], ["--allow-other-users"]]
                 for side in stack.enter_context(ours(folder, "Fixtures/sample.wacz", "/archives/{}.wacz", *options))]
        for side in sides[len(PROGRAMS):]:
            side.name += ", no user check"
        for closes in (False, True):
            for side in sides:
                side.closes = closes
            work = f"100 bytes, {'new connections' if closes else 'persistent connections'}"
            compare("user check", work, {side.name: partial(load, side, [" 0-99"], 8) for side in sides})


def starts(folder):
    def start(command):
        port = pywb_server.free_port()
        with running(command(port), port) as (process, seconds):
            time.sleep(1)
            return {
                "ms to the first answer": seconds * 1000, "memory MB, idle": serving.resident(process.pid) / 1e6,
                "processor ms": serving.processor_seconds(process.pid) * 1000,
            }

    def program(binary, store):
        options = ["--assets", "www", "--log-level", "error"]
        return partial(start, lambda port: [binary, "serve", "--store", f"{folder}/{store}", "--port", str(port), *options])

    root = Path(folder, "root")
    root.mkdir()
    (root / "library.xml").write_text('<library version="20110515"></library>\n')
    programs = {name: program(binary, f"empty-{name}") for name, binary in PROGRAMS.items()}
    if peer("nginx", "apt-get install nginx-light"):
        programs["nginx"] = partial(start, partial(nginx_command, folder, root))
    if peer("kiwix-serve", "apt-get install kiwix-tools"):
        options = ["--library", f"{root}/library.xml"]
        programs["kiwix-serve"] = partial(start, lambda port: ["kiwix-serve", "--address", "127.0.0.1", "--port", str(port), *options])
    compare("start", "empty library", programs)
    for number in range(ARCHIVES):
        bench_growth.archive(root / f"{number}.wacz", number, "sites")
    for name, binary in PROGRAMS.items():
        for command in ("import", str(root)), ("jobs", "run"):
            subprocess.run([binary, *command, "--quiet", "--store", f"{folder}/full-{name}"], check=True)
    compare("start", f"{ARCHIVES:,} archives", {name: program(binary, f"full-{name}") for name, binary in PROGRAMS.items()})


def growth(folder):
    """The closest capture of a URL, and a binary search in a mapped file of the same lines."""
    for count in SIZES:
        place = f"{folder}/{count}"
        os.mkdir(place)
        picked = picked_captures(count)
        requests = [lookup(capture) for capture in picked]
        with archive_of(place, count) as (path, sides):
            for side in sides:
                check(side, requests, [capture.url.encode() for capture in picked])
            programs = {side.name: partial(load, side, requests, 1) for side in sides}
            if "base" not in PROGRAMS:
                with zipfile.ZipFile(path) as package, package.open("indexes/index.cdx.gz") as index:
                    with gzip.open(index) as lines, open(f"{place}/index.cdxj", "wb") as plain:
                        shutil.copyfileobj(lines, plain, 1 << 20)
                programs["binary search (Python)"] = partial(search, f"{place}/index.cdxj", picked)
                for read in ["first", "again"] if LIBRARY else []:
                    programs[f"the library ({read})"] = partial(search_in_library, path, picked, read)
            compare("growth", f"closest of {count:,} captures, 1 connection", programs, count)
        shutil.rmtree(place)


def search_in_library(path, picked, read):
    """Without HTTP: the first lookup of each capture, or another right after it, when its block of the index is in memory."""
    listed = "".join(f"{capture.timestamp} {capture.url}\n" for capture in picked)
    told = subprocess.run([LIBRARY, path], input=listed, capture_output=True, text=True, check=True).stdout
    return {"p50 ms": json.loads(told)[read] / 1000}


def search(path, picked):
    times = []
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        for capture in picked:
            began, key = time.perf_counter(), f"{capture.key} {capture.timestamp}".encode()
            low, high = 0, len(lines)
            while low < high:
                start = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
                end = lines.find(b"\n", start)
                low, high = (end + 1, high) if lines[start:end] < key else (low, start)
            times.append(time.perf_counter() - began)
            assert lines[low : low + len(key)] == key, key
    return {"p50 ms": statistics.median(times) * 1000}


LINES = {"captures": captures, "ranges": ranges, "bodies": bodies, "users": users, "starts": starts, "growth": growth}


def main(folder):
    Path(folder, "wrk.lua").write_text(WRK)
    os.environ["WRK_REQUESTS"] = f"{folder}/requests"
    if "PYWB" not in os.environ and "base" not in PROGRAMS:
        bench_report.skip("pywb", "pip install pywb==2.10.0")
    for name in os.environ.get("LINES", " ".join(LINES)).split():
        place = f"{folder}/{name}"
        os.mkdir(place)
        began = time.monotonic()
        LINES[name](place)
        print(f"  {name} took {time.monotonic() - began:.0f} s", flush=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
