"""Runs of the ways: by the capture server, with walls or without, and plainly as a control."""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pages
from attack_site import start_url, url
from capture_host import CaptureHost
from fake_tools import FakeTools
from listeners import CarelessProxy, OpenedFiles, Sockets
from network import NAME_SERVER
from real_tools import InstalledTools
from support.host import PATIENCE_SECONDS, die_with_parent
from support.waiting import wait_until
from ways import NAMES, SERVER_PORT, VIRTUAL_PORT, WAYS, Way

PYTHON = "/usr/bin/python3"
PRISONER = (Path(__file__).parent / "prisoner.py").read_text(encoding="utf-8")
FOUND = "FOUND "
SECONDS = 300
# Each way once: no attempt is repeated, and no archive replayed.
OPTIONS = ["--retry-delays", "", "--no-check"]
MODES = ("control", "walls", "proxy")
PAGES = {"page": "http", "secure page": "https"}


class WaysHost(CaptureHost):
    """A capture server in the namespace `server`."""

    def __init__(self, network, folder, tools, asks_names=False):
        super().__init__(folder, tools, *OPTIONS)
        self.namespace, self.port = network.server, SERVER_PORT
        self.prefix = self.namespace.command
        if asks_names:
            self.names = []
        lines = [f"{address} {name}\n" for name, addresses in NAMES.items() for address in addresses]
        (self.folder / "hosts").write_text("".join(lines), encoding="utf-8")

    def connection(self, port=None, seconds=PATIENCE_SECONDS):
        connection = super().connection(port, seconds)
        connection.sock = self.namespace.run(socket.create_connection, ("127.0.0.1", port or self.port), seconds)
        return connection


class RealTools(InstalledTools):
    """The installed tools, Chromium that accepts the site's certificate, and bubblewrap for walls only."""

    def __init__(self, folder, ytdlp, has_walls, options):
        super().__init__(folder / "path", ytdlp)
        if not has_walls:
            (self.path / "bwrap").unlink()
        script = pages.USER if has_walls else pages.ROOT
        self.write("chromium", script.format(chromium=pages.CHROMIUM).replace('"$@"', f'{options} "$@"'))

    def write(self, name, text):
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)


def of(*by):
    return [way for way in WAYS.values() if way.by in by]


# Without `--hosts`, the guard itself asks. In control runs, every program does.
NAMES_ASKED = Way("", "", "", "", "public", NAME_SERVER, 53)


class Runs:
    def __init__(self, network, site, ytdlp, folder):
        self.network, self.site, self.ytdlp, self.folder = network, site, ytdlp, folder
        self.files = OpenedFiles(site.secrets)
        # Mode -> way -> how many packets, connections or openings arrived
        self.arrived = {mode: {} for mode in MODES}
        # What came that belongs to no way, and ways that weren't tried
        self.others = {mode: {} for mode in MODES}
        self.untried = {mode: set() for mode in MODES}
        # How downloads ended, and what the tool that was taken over saw
        self.notes = {mode: {} for mode in MODES}
        # Chromium accepts the certificate of the site.
        self.accept = f"--ignore-certificate-errors-spki-list={site.fingerprint}"

    def close(self):
        self.files.close()

    @contextlib.contextmanager
    def watching(self, mode, *by, sockets=None):
        """Counts what arrives by these ways."""
        ways = of(*by)
        for way in ways:
            self.site.secret(way.name)
        self.site.begin()
        self.files.take()
        self.network.begin()
        yield
        self.network.settle()
        opened = self.files.take()
        for way in ways:
            others = {"file": opened[way.name], "socket": sockets.arrived[way.address] if sockets else 0,
                "note": int(str(way.address) in self.notes[mode].get(way.name, ""))}
            self.arrived[mode][way.name] = others[way.place] if way.place in others else way.packets(self.network)
        known = [way for way in ways if self.arrived[mode][way.name]]
        if by == ("two requests",) or mode == "control":
            known.append(NAMES_ASKED)
        self.others[mode] |= {key: count for key, count in self.network.everything().items() if not is_expected(key, known)}

    def expect_tried(self, mode, *by):
        """The page says itself when it has tried everything; the site sees other downloads begin."""
        self.untried[mode] |= {way.name for way in of(*by)} - self.site.tried
        self.untried[mode] |= {each for each in by if each in PAGES and not self.site.done[each].is_set()}

    # The capture server

    def attack(self, mode):
        with tempfile.TemporaryDirectory(prefix="ways-") as folder:
            self.attack_with_real_tools(mode, Path(folder) / "real")
            self.attack_with_prisoner(mode, Path(folder) / "prisoner")
            self.attack_with_names(mode, Path(folder) / "names")

    @contextlib.contextmanager
    def host(self, mode, folder, tools, **options):
        host = WaysHost(self.network, folder, tools, **options)
        with host:
            confined = host.call("GET", "/health")[1]["isolation"]["confined"]
            assert confined == (mode == "walls"), host.log.read_text()
            yield host

    def tools(self, mode, folder):
        return RealTools(folder, self.ytdlp, mode == "walls", self.accept)

    def attack_with_real_tools(self, mode, folder):
        with self.host(mode, folder, self.tools(mode, folder)) as host:
            for by, scheme in PAGES.items():
                with self.watching(mode, by, *(["browser"] if by == "page" else [])):
                    self.save(mode, host, {by: url("page", scheme=scheme, by=by)}, "page")
                    self.expect_tried(mode, by)
            for by, kind in {"top": "page", "curl": "auto", "yt-dlp": "media"}.items():
                with self.watching(mode, by):
                    self.save(mode, host, {way.name: start_url(way) for way in of(by)}, kind)
                    self.expect_tried(mode, by)

    def save(self, mode, host, urls, kind):
        """Saves URLs, and waits until each download has ended, with its processes."""
        ids = {name: host.add(each, options={"mode": kind}) for name, each in urls.items()}
        for name, identifier in ids.items():
            row = host.wait_for(identifier, "completed", "failed", seconds=SECONDS)
            self.notes[mode][name] = f"{row['state']}: {row['error_message']}"
            (self.folder / f"{mode}-{name}.log").write_text("\n".join(host.lines(identifier)), encoding="utf-8")
        host.expect_no_processes()

    def attack_with_prisoner(self, mode, folder):
        tools = FakeTools(folder / "tools")
        for name in ["ffmpeg", *(["bwrap"] if mode == "walls" else [])]:
            (tools.bin / name).unlink(missing_ok=True)
            (tools.bin / name).symlink_to(shutil.which(name))
        with self.host(mode, folder, tools) as host:
            sockets = Sockets(self.network, host.store)
            tools.write("yt-dlp", self.prisoner({**sockets.names, "guard": "egress.sock"}))
            try:
                with self.virtual_port(), self.watching(mode, "tool", sockets=sockets):
                    identifier = host.add(url("film"), options={"mode": "media"})
                    host.wait_for(identifier, "failed", seconds=SECONDS)
                    host.expect_no_processes()
                    self.note_found(mode, host.lines(identifier))
            finally:
                sockets.close()

    def attack_with_names(self, mode, folder):
        """The guard asks the name server, as it does without `--hosts`."""
        with self.host(mode, folder, self.tools(mode, folder), asks_names=True) as host:
            with self.watching(mode, "two requests"):
                way = WAYS["rebind"]
                self.save(mode, host, {way.name: url("document/a.pdf", way, host="way-rebind.example")}, "auto")
                self.expect_tried(mode, "two requests")

    def note_found(self, mode, lines):
        found = dict(json.loads(line.partition(FOUND)[2]) for line in lines if FOUND in line)
        self.notes[mode] |= found
        self.untried[mode] |= {way.name for way in of("tool")} - found.keys()

    @contextlib.contextmanager
    def virtual_port(self):
        """Takes a port of virtual sockets, where there are some. Nothing can connect to it."""
        try:
            one = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
        except OSError:
            yield
            return
        with one:
            one.bind((socket.VMADDR_CID_ANY, VIRTUAL_PORT))
            yield

    def prisoner(self, sockets):
        order = {"ways": [vars(way) for way in of("tool")], "sockets": sockets, "namespace": f"/run/netns/{self.network.lan.name}"}
        return f"#!{PYTHON} -ESsB\n" + PRISONER.replace('"@ORDER@"', repr(json.dumps(order)))

    # Controls

    def control(self):
        with tempfile.TemporaryDirectory(prefix="ways-") as folder:
            folder = Path(folder)
            # The capture server only listens.
            with self.host("proxy", folder / "idle", self.tools("proxy", folder / "idle")):
                self.control_of_pages(folder)
                self.control_of_downloads(folder)
                self.control_of_prisoner(folder)

    def start(self, command, folder, **options):
        return subprocess.Popen(
            [*self.network.server.command, *map(str, command)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=die_with_parent, **options)

    def finish(self, name, process):
        output = process.communicate(timeout=SECONDS)[0]
        (self.folder / f"control-{name}.log").write_bytes(output)
        return output.decode(errors="replace")

    @contextlib.contextmanager
    def browser(self, name, folder, *options):
        """The same Chromium, without a proxy."""
        process = self.start([
            pages.CHROMIUM, "--headless=new", "--no-sandbox", f"--user-data-dir={folder / name}", "--no-first-run",
            # A proxy switches this off too: Chromium doesn't know the address then.
            "--disable-features=LocalNetworkAccessChecks", self.accept, *options], folder)
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            self.finish(name, process)

    def control_of_pages(self, folder):
        for by, scheme in PAGES.items():
            with self.watching("control", by):
                with self.browser(by, folder, url("page", scheme=scheme, by=by)):
                    wait_until(self.site.done[by].is_set, "the page has tried everything", 120)
                    if by == "page":
                        # By itself, after the page has loaded
                        wait_until(lambda: WAYS["favicon"].packets(self.network), "Chromium asks for the page's icon", 120)
                self.expect_tried("control", by)
        with self.watching("control", "top"):
            for way in of("top"):
                with self.browser(way.name, folder, start_url(way)):
                    wait_until(lambda: way.packets(self.network), f"{way.name} arrives", 60)
            self.expect_tried("control", "top")
        with self.watching("control", "browser"):
            with self.browser("browser", folder, "--proxy-auto-detect", url("other")):
                wait_until(lambda: all(way.packets(self.network) for way in of("browser")), "a browser asks for itself", 60)

    def control_of_downloads(self, folder):
        def run(way):
            out = folder / way.name
            out.mkdir()
            if way.by == "curl":
                command = ["curl", "-svL", "--max-time", "10", "--proto-redir", "=all", "-o", "body"]
            else:
                command = [self.ytdlp, "--ignore-config", "--no-cache-dir", "--write-subs", "--write-thumbnail", "--retries", "0",
                    "--fragment-retries", "0", "--socket-timeout", "5"]
            self.finish(way.name, self.start([*command, start_url(way)], out))
            if way.kind == "disguised":
                # As the worker does with each file
                for path in out.glob("*.mp4"):
                    self.finish(f"{way.name}-probe", self.start(["ffprobe", "-v", "error", path], out))

        for by in ("curl", "yt-dlp"):
            with self.watching("control", by):
                with ThreadPoolExecutor(3) as pool:
                    list(pool.map(run, of(by)))
                self.expect_tried("control", by)
        way = WAYS["rebind"]
        with self.watching("control", "two requests"):
            for each in (url("document/a.pdf", way, host="way-rebind.example"), way.url):
                self.finish(way.name, self.start(["curl", "-sv", "--max-time", "10", each], folder))
            self.expect_tried("control", "two requests")

    def control_of_prisoner(self, folder):
        sockets = Sockets(self.network, folder)
        proxy = CarelessProxy(self.network, folder / "proxy.sock")
        script = folder / "prisoner.py"
        script.write_text(self.prisoner({**sockets.names, "guard": str(folder / "proxy.sock")}), encoding="utf-8")
        inherited = self.network.server.listen(socket.SOCK_DGRAM, "0.0.0.0", 0)
        try:
            with self.virtual_port(), self.watching("control", "tool", sockets=sockets):
                output = self.finish("tool", self.start([PYTHON, script], folder, pass_fds=[inherited.fileno()]))
                self.note_found("control", output.splitlines())
        finally:
            inherited.close()
            proxy.close()
            sockets.close()


def is_expected(key, ways):
    """Whether packets belong to a way that arrived, or to the guard and the test."""
    place, protocol, address, port = key
    if place == "machine":
        return False
    if place == "server":
        # The test's own requests, and, without walls, the port that leads to the guard.
        return protocol == "TCP"
    for way in ways:
        # What is sent to a group of hosts arrives everywhere.
        is_group = (way.address or "").startswith(("224.", "239."))
        if (way.address or address, way.port or port) == (address, port) and (is_group or way.place == place):
            return True
    return place == "public" and protocol == "TCP" and port in (80, 443)
