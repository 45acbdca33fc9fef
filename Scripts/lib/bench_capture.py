#!/usr/bin/env python3
"""Measures saving a film through the capture server, beside yt-dlp alone, from a site on this computer.

Prints, for each run: the seconds of `yt-dlp`, the same with a flush of its file, and the seconds from POST to completed, by stage; the
bytes on disk at the end and the peak. Then the film is saved again while 8 connections send requests: new URLs (at most 95 in a run,
since the server accepts 100 an hour), the same again under their Idempotency-Keys, and requests for status, history and health. At last,
ranges of the archived film through replayhost, and seeks in Chromium in both replay modes. GB sets the size of the film (default 2),
RUNS the number of runs (default 3), REQUESTS the number of requests of each kind in a run (default 400), BROWSER=0 leaves Chromium out.

Usage: bench_capture.py FOLDER
"""

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import serving

CAPTURE = os.environ["REPLAYHOST_CAPTURE_BINARY"]
TOOLS = Path(os.environ["REPLAYHOST_TOOLS"])
SIZE = int(float(os.environ.get("GB", "2")) * 1e9)
RUNS = int(os.environ.get("RUNS", "3"))
REQUESTS = int(os.environ.get("REQUESTS", "400"))
CONNECTIONS = 8
# The film itself is one more. The server accepts 100 an hour.
NEW_URLS = min(95, REQUESTS // 2)
# What the published contract expects, in milliseconds
EXPECTED = {"POST, new URL": 100, "POST, repeated": 100, "status": 50, "history": 100, "health": 50}
SEEK = """async (film, place) => {
    const began = performance.now();
    await new Promise((done, failed) => {
        film.addEventListener("seeked", done, { once: true });
        film.addEventListener("error", () => failed(new Error(film.error.message)), { once: true });
        setTimeout(done, 60_000);
        film.currentTime = film.duration * place;
    });
    return [performance.now() - began, film.currentTime, film.readyState];
}"""


# The site

def make_film(folder):
    """Encodes a minute of noise, and repeats it without encoding until the file is large enough."""
    part, film = folder / "part.mp4", folder / "film.mp4"
    ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
    subprocess.run([
        *ffmpeg, "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=60", "-f", "lavfi", "-i", "sine=frequency=440:duration=60",
        "-vf", "noise=alls=30:allf=t", "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "12M", "-maxrate", "12M", "-bufsize", "12M",
        "-pix_fmt", "yuv420p", "-g", "50", "-c:a", "aac", "-b:a", "128k", part], check=True)
    turns = max(0, SIZE // part.stat().st_size)
    subprocess.run([*ffmpeg, "-stream_loop", str(turns), "-i", part, "-c", "copy", "-movflags", "+faststart", film], check=True)
    part.unlink()
    return film


class Site(BaseHTTPRequestHandler):
    """The film at `/film.mp4`, by ranges. Everything else isn't there."""

    protocol_version = "HTTP/1.1"
    film = None

    def do_GET(self):
        size = self.film.stat().st_size
        if not self.path.startswith("/film.mp4"):
            return self.answer(404, 0)
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start, end = (int(wanted[1]), int(wanted[2] or size - 1) + 1) if wanted else (0, size)
        field = {"Content-Range": f"bytes {start}-{end - 1}/{size}"} if wanted else {}
        self.answer(206 if wanted else 200, end - start, **field)
        if self.command == "GET":
            with open(self.film, "rb") as file, contextlib.suppress(OSError):
                self.connection.sendfile(file, start, end - start)

    do_HEAD = do_GET

    def answer(self, status, length, **fields):
        self.send_response(status)
        for name, value in {"Content-Type": "video/mp4", "Accept-Ranges": "bytes", "Content-Length": length, **fields}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def site(film):
    """Serves the film in a process of its own; yields the URL."""
    Site.film = film
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        process.terminate()
        process.join()
        server.server_close()


# The capture server

class Server:
    """A capture server with an empty store."""

    def __init__(self, folder):
        self.folder, self.store, self.downloads = folder, folder / "store", folder / "Downloads"
        (folder / "tmp").mkdir(parents=True)
        self.process = subprocess.Popen(
            [CAPTURE, "serve", "--store", self.store, "--downloads", self.downloads, "--port", "0", "--no-library", "--json",
                "--assets", "www", "--log-level", "error"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "TMPDIR": str(folder / "tmp")})
        self.port = int(json.loads(self.process.stdout.readline())["address"].rsplit(":", 1)[1])

    def connect(self):
        return http.client.HTTPConnection("localhost", self.port, timeout=120)

    def call(self, connection, method, path, value=None, **fields):
        """Returns the status and the decoded answer."""
        headers = {name.replace("_", "-"): text for name, text in fields.items()}
        body = json.dumps(value).encode() if value is not None else b"" if method == "POST" else None
        if method == "POST":
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def post(self, connection, url, key):
        return self.call(connection, "POST", "/download", {"url": url}, Idempotency_Key=key)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Disk:
    """Samples the bytes that a folder's files have on disk. A file with several names counts once."""

    def __init__(self, folder):
        self.folder, self.peak, self.done = folder, 0, threading.Event()

    def used(self):
        found = {}
        for path, _, names in os.walk(self.folder):
            for name in names:
                with contextlib.suppress(OSError):
                    status = os.lstat(os.path.join(path, name))
                    found[status.st_ino] = status.st_blocks * 512
        return sum(found.values())

    def look(self):
        while not self.done.wait(0.1):
            self.peak = max(self.peak, self.used())

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def follow(server, identifier, stages, ended):
    """Waits for the end of a download. Notes the time at which each stage was seen first."""
    connection = server.connect()
    while True:
        row = server.call(connection, "GET", f"/status/{identifier}")[1]
        stages.setdefault(row["stage"] or row["state"], time.monotonic())
        if row["state"] in ("completed", "failed", "cancelled", "aborted_by_system"):
            ended.append(row)
            return
        time.sleep(0.1)


def save(server, url, meanwhile=None):
    """Saves the film; returns its row, the seconds, and those of each stage. `meanwhile` is called when the film is being fetched."""
    stages, ended = {}, []
    connection = server.connect()
    with Disk(server.folder) as disk:
        began = time.monotonic()
        identifier = server.post(connection, url, str(uuid.uuid4()))[1]["download_id"]
        follower = threading.Thread(target=follow, args=[server, identifier, stages, ended])
        follower.start()
        if meanwhile:
            while "fetching" not in stages and follower.is_alive():
                time.sleep(0.01)
            meanwhile(identifier)
        follower.join()
    row = ended[0]
    if row["state"] != "completed":
        sys.exit(f"error: the film wasn't saved: {row['error_code']}: {row['error_message']}")
    seen = sorted((at, name) for name, at in stages.items())
    parts = ", ".join(f"{name} {following - at:.1f}" for (at, name), (following, _) in zip(seen, seen[1:]))
    size = row["file_size"]
    print(f"  save: {seen[-1][0] - began:.1f} s ({parts}); on disk {disk.used() / size:.2f} times the film, peak "
        f"{max(disk.peak, disk.used()) / size:.2f}; server {serving.memory(server.process.pid, 'VmHWM') / 1e6:.0f} MB at most", flush=True)
    return row


# Requests meanwhile

def send_requests(server, address, film, times):
    """Sends all kinds of requests in random order on 8 connections. Adds milliseconds to `times`. Returns the ids that it added."""
    keys = [(f"{address}/none/{number}", str(uuid.uuid4())) for number in range(NEW_URLS)]
    added, left = [], list(keys)
    kinds = ["POST, new URL"] * NEW_URLS + ["POST, repeated"] * (REQUESTS - NEW_URLS) + ["status", "history", "health"] * REQUESTS
    random.Random(0).shuffle(kinds)
    lock, problems = threading.Lock(), []

    def work():
        connection = server.connect()
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            with lock:
                if not kinds or problems:
                    return
                kind = kinds.pop()
                if kind == "POST, repeated" and not added:
                    # Not yet: it waits for a new URL.
                    kinds.insert(random.randrange(len(kinds) + 1), kind)
                    continue
                url, key = left.pop() if kind == "POST, new URL" else added[-1][:2] if added else (None, None)
            began = time.monotonic()
            if kind.startswith("POST"):
                status, answer = server.post(connection, url, key)
            else:
                path = {"status": f"/status/{film}", "history": "/history?limit=50", "health": "/health"}[kind]
                status, answer = server.call(connection, "GET", path)
            took = (time.monotonic() - began) * 1000
            with lock:
                times.setdefault(kind, []).append(took)
                if kind == "POST, new URL" and status == 201:
                    added.append((url, key, answer["download_id"]))
                if status not in (200, 201):
                    problems.append((kind, status, answer))

    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    connection = server.connect()
    state = server.call(connection, "GET", f"/status/{film}")[1]
    for _, _, identifier in added:
        server.call(connection, "POST", f"/download/{identifier}/cancel")
    if problems:
        sys.exit(f"error: {len(problems)} requests failed, the first with {problems[0]}")
    late = "" if state["state"] == "downloading" else "; THE FILM WAS COMPLETED BEFORE THE END, use a larger GB"
    print(f"  requests: {sum(map(len, times.values()))} in all, this run in {seconds:.1f} s; the film is then at {state['stage']}{late}",
        flush=True)


def print_times(times):
    print(f"Milliseconds at {CONNECTIONS} connections, while the film is saved:")
    for kind, expected in EXPECTED.items():
        found = times[kind]
        print(f"  {kind:15} {len(found):5} requests, p50 {serving.percentile(found, .5):6.1f}, p99 {serving.percentile(found, .99):6.1f}, "
            f"max {max(found):6.1f}; published {expected}", flush=True)


# Replay

def measure_ranges(store, row, film):
    """Ranges of the archived film at three places, by the capture's URL, then seeks in the browser."""
    size = film.stat().st_size
    url = f"https://replayhost.invalid/{row['download_id']}/media.mp4"
    with serving.serve(store) as (_, port), open(film, "rb") as file:
        # The server redirects to the time of the capture.
        path = urlsplit(serving.get(port, f"/c/{row['archive']}/2id_/{url}")[1]["Location"]).path
        for place, start in (("start", 0), ("middle", size // 2), ("end", size - 1000)):
            file.seek(start)
            expected, took = file.read(1000), []
            for _ in range(20):
                began = time.monotonic()
                status, _, body = serving.get(port, path, Range=f"bytes={start}-{start + 999}")
                took.append((time.monotonic() - began) * 1000)
                if (status, body) != (206, expected):
                    sys.exit(f"error: wrong bytes at the {place}: status {status}, {len(body)} bytes")
            print(f"  1,000 bytes at the {place}: p50 {serving.percentile(took, .5):.1f} ms, max {max(took):.1f} ms", flush=True)
        if os.environ.get("BROWSER") != "0":
            measure_seeks(port, row)


def measure_seeks(port, row):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        for mode in ("lookups", "ranges"):
            browser = playwright.chromium.launch(**serving.CHROMIUM)
            page = browser.new_page()
            began = time.monotonic()
            page.goto(f"http://localhost:{port}/?archive=/archives/{row['archive']}.wacz&replay={mode}")
            film = page.frame_locator('iframe[name="___wb_replay_top_frame"]').locator("video")
            # The viewer may load the page again, so no promise waits in it yet.
            while film.evaluate("film => film.readyState") < 2:
                page.wait_for_timeout(10)
            shown = time.monotonic() - began
            places = []
            for place in (0.999, 0.5, 0.01, 0.7, 0.2, 0.9, 0.3, 0.6):
                took, at, state = film.evaluate(SEEK, place)
                places.append(f"{at:.0f} s: {took:.0f} ms" if state >= 2 else f"{at:.0f} s: nothing in 60 s")
                if state < 2:
                    break
            print(f"  Chromium, {mode}: film ready after {shown:.1f} s; seeks to {', '.join(places)}", flush=True)
            browser.close()


def main():
    folder = Path(sys.argv[1]).resolve()
    film = make_film(folder)
    size = film.stat().st_size
    ytdlp = TOOLS / "current" / "bin" / "yt-dlp"
    version = subprocess.run([ytdlp, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{size / 1e9:.2f} GB, yt-dlp {version}, load average {os.getloadavg()[0]:.1f}", flush=True)
    times, row = {}, None
    with site(film) as address:
        for number in range(RUNS):
            alone = folder / "alone.mp4"
            command = [str(ytdlp), "--ignore-config", "--no-part", "-o", str(alone), f"{address}/film.mp4?alone={number}"]
            wall, processor, _ = serving.measured(command)
            began = time.monotonic()
            subprocess.run(["sync", alone], check=True)
            print(f"  yt-dlp: {wall:.1f} s, with `sync` of the file {wall + time.monotonic() - began:.1f} s, processor {processor:.1f} s",
                flush=True)
            alone.unlink()
            for loads in (False, True):
                server = Server(folder / f"run-{number}-{loads}")
                try:
                    row = save(server, f"{address}/film.mp4?number={number}", meanwhile=loads and (
                        lambda identifier, server=server: send_requests(server, address, identifier, times)))
                finally:
                    server.stop()
                is_last = loads and number == RUNS - 1
                if not is_last:
                    shutil.rmtree(server.folder)
        print_times(times)
    # The site is gone.
    measure_ranges(server.store, row, film)


if __name__ == "__main__":
    main()
