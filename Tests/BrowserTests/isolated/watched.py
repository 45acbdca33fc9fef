"""A network in which every packet is seen, and a page that tries to send some. For root of a namespace of its own."""

import base64
import contextlib
import fcntl
import json
import os
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.engines.firefox import FIREFOX
from support.outside import Outside
from support.places import CHROMIUM
from support.waiting import SECONDS, wait_until

ATTEMPTS = (Path(__file__).parent / "attempts.js").read_text(encoding="utf-8")
URL = "https://attempts.example/"
# Request lines that tell how far the page is. In replay, leaving for top.test becomes a question to the server.
DONE = re.compile(rb"(?:GET|POST) [^ \r\n]*?(done-attempts|done-leaving|top\.test)")

HEADLESS = {
    "chromium": [CHROMIUM, "--headless", "--no-sandbox"],  # Chromium has no sandbox for root.
    "firefox": [FIREFOX, "--headless"],
}


def ordinary_command(browser, profile, url):
    """Starts a browser as it is, with a fresh profile."""
    profile.mkdir()
    if browser == "chromium":
        return [*HEADLESS[browser], f"--user-data-dir={profile}", "--no-first-run", url]
    return [*HEADLESS[browser], "--no-remote", "--profile", str(profile), url]


def write_wrapper(browser, folder):
    """A program in the place of the browser that shows no window. Returns the environment variable that names it."""
    script = folder / f"headless-{browser}"
    script.write_text(f'#!/bin/sh\nexec {" ".join(HEADLESS[browser])} "$@"\n')
    script.chmod(0o755)
    return {browser.upper(): str(script)}


class WatchedNetwork:
    """What was sent to other computers, and what a program on this computer got that no page should reach."""

    def __init__(self):
        self.outside = Outside()
        self.done = set()
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        capture.bind(("lo", 0))
        self.outside.start(self.look_for_done, capture)
        self.other = OtherProgram()

    def look_for_done(self, capture):
        """The page's own requests are seen on the wire, from any server."""
        while not self.outside.is_closed:
            try:
                found = DONE.search(capture.recv(1 << 17))
            except OSError:
                return
            if found:
                self.done.add(found[1].decode())

    def begin(self):
        self.outside.forget()
        self.other.heard.clear()
        self.done.clear()

    def wait_for_page(self, process):
        """Returns when the page has tried everything."""
        def is_done():
            assert process.poll() is None, "the browser has ended"
            return "done-attempts" in self.done and len(self.done) > 1

        wait_until(is_done, f"the page has tried everything; it said {self.done}", SECONDS * 2)

    @property
    def heard(self):
        """Names or addresses of other computers, each with what came for it."""
        self.outside.settle()
        everything = {**self.outside.from_pages, **self.outside.from_browser}
        return {name: kinds for name, kinds in everything.items() if not name.endswith(".settle.test")}

    def page(self):
        """HTML of a page that tries everything, in a script that the replay engine does not rewrite."""
        names = ["fetch", "stun", "turn", "peer", "transport"]
        addresses = {name: self.outside.address(f"{name}-address.test") for name in names}
        places = json.dumps({"addresses": addresses, "otherPort": self.other.port})
        script = base64.b64encode(f"{ATTEMPTS}\ntryAll({places});".encode()).decode()
        return (f'<!doctype html><meta charset="utf-8"><title>Attempts</title><body>'
            f'<script src="data:text/javascript;base64,{script}"></script>')

    def close(self):
        self.other.close()
        self.outside.close()


class OtherProgram:
    """A program on a port of `localhost` that has nothing to do with replayhost."""

    def __init__(self):
        self.heard = []
        self.server = QuietServer(lambda path: self.heard.append(path) or b"secret")
        self.port = self.server.port
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", self.port))
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        with contextlib.suppress(OSError):
            while self.datagrams.recv(4096):
                self.heard.append("datagram")

    def close(self):
        self.server.close()
        self.datagrams.close()


class QuietServer:
    """Answers each request with what `answer(path)` returns, and sets no policy."""

    def __init__(self, answer):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = answer(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *arguments):
                pass

            def handle(self):
                with contextlib.suppress(ConnectionError):
                    super().handle()

        class Server(ThreadingHTTPServer):
            def server_bind(self):
                """Without the look-up of its own name, which would be heard."""
                self.socket.bind(self.server_address)
                self.server_address = self.socket.getsockname()
                self.server_name, self.server_port = self.server_address[:2]

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.address = f"http://localhost:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class BareServer(QuietServer):
    """Takes the place of a store's server, but shows the bare page, so that nothing but the browser's profile holds it."""

    def __init__(self, store, page):
        health = json.dumps({"status": "ok", "version": "0"}).encode()
        super().__init__(lambda path: health if path == "/api/health" else page.encode())
        self.file = open(store / "server.json", "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        json.dump({"address": self.address, "port": self.port, "pid": os.getpid(), "token": ""}, self.file)
        self.file.flush()

    def close(self):
        super().close()
        self.file.close()
