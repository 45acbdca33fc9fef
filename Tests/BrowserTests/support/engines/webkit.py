"""WebKitGTK, by its WebDriver, on a virtual display."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
from glob import glob
from pathlib import Path

from ..host import die_with_parent
from ..sink import port_of
from ..waiting import SECONDS, wait_until
from .engine import REPLAY_FRAME
from .webdriver import WebDriverEngine, WebDriverError

# Debian's own Python: the bindings of GTK and WebKit are packages of the system.
PYTHON = "/usr/bin/python3"
WINDOW = Path(__file__).with_name("webkit_window.py")
MINIBROWSER = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
# Where the proxy, which is the sink, is not asked.
LOCAL = ["localhost", "*.localhost", "127.0.0.1"]

COMMANDS = {
    "Navigate": ("POST", "/url"),
    "Back": ("POST", "/back"),
    "Forward": ("POST", "/forward"),
    "Refresh": ("POST", "/refresh"),
    "SetTimeouts": ("POST", "/timeouts"),
    "ExecuteAsyncScript": ("POST", "/execute/async"),
    "FindElement": ("POST", "/element"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "ElementClear": ("POST", "/element/{id}/clear"),
    "ElementSendKeys": ("POST", "/element/{id}/value"),
    "SwitchToFrame": ("POST", "/frame"),
    "SwitchToWindow": ("POST", "/window"),
    "NewWindow": ("POST", "/window/new"),
    "GetWindowRect": ("GET", "/window/rect"),
    "SetWindowRect": ("POST", "/window/rect"),
    "PerformActions": ("POST", "/actions"),
    "TakeScreenshot": ("GET", "/screenshot"),
    "DeleteSession": ("DELETE", ""),
}

LINK_PLACE = """(name) => {
    const link = [...document.links].find((one) => one.textContent.trim() === name);
    if (!link) throw new Error(`no link "${name}"`);
    link.scrollIntoView({ block: "center", behavior: "instant" });
    const [{ x, y, width, height }] = link.getClientRects();
    return [x + width / 2, y + height / 2];
}"""
FRAME_PLACE = """(name) => {
    const { x, y } = document.querySelector(`iframe[name="${name}"]`).getBoundingClientRect();
    return [x, y];
}"""


class WebKit(WebDriverEngine):
    """An ordinary window is our own of WebKitGTK with a profile that is kept. MiniBrowser's is private by itself."""

    name = "webkit"
    can_block = ["workers"]

    def __init__(self, folder, private=False, blocks="", allows="", playwright=None):
        super().__init__(private)
        assert not (private and blocks) and not allows
        folder.mkdir(parents=True, exist_ok=True)
        self.processes = []
        self.session = None
        self.connection = None
        self.log = open(folder / "webkit.log", "wb")
        try:
            display = self.start_display()
            self.connection = self.start_driver(folder, display)
            self.begin_session(folder, blocks)
        except BaseException:
            self.close()
            raise

    def start(self, command, **options):
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=self.log, preexec_fn=die_with_parent, **options)
        self.processes.append(process)
        return process

    def start_display(self):
        """Xvfb on the next number that is free. Returns its name."""
        process = self.start(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1800x1200x24", "-nolisten", "tcp"], stdout=subprocess.PIPE)
        number = process.stdout.readline().decode().strip()
        assert number, "Xvfb did not start"
        return f":{number}"

    def start_driver(self, folder, display):
        home = {name: str(folder / name.lower()) for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"]}
        environment = {**os.environ, **home, "HOME": str(folder), "DISPLAY": display, "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1"}
        for _ in range(5):
            port = free_port()
            driver = self.start(["WebKitWebDriver", f"--port={port}"], stdout=self.log, env=environment)
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS * 3)
            if wait_until(lambda: is_ended(driver) or listens(connection), "WebKitWebDriver listens") != "ended":
                return connection
        raise AssertionError("WebKitWebDriver did not start")

    def begin_session(self, folder, blocks):
        proxy = f"http://127.0.0.1:{port_of(self.sink.pages)}" if self.sink.pages else ""
        if self.private:
            ignored = [f"--ignore-host={name}" for name in LOCAL]
            proxied = [f"--proxy={proxy}", *ignored] if proxy else []
            browser = {"binary": glob(MINIBROWSER)[0], "args": ["--automation", *proxied]}
        else:
            browser = {"binary": PYTHON, "args": [str(WINDOW), str(folder / "profile"), blocks, proxy, *LOCAL]}
        capabilities = {"webkitgtk:browserOptions": browser}
        answer = self.request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = answer["sessionId"]
        self.begin()

    def request(self, method, path, body=None):
        """All on one connection: now and then the driver leaves a second one without an answer."""
        self.connection.request(method, path, None if body is None else json.dumps(body))
        answer = self.connection.getresponse()
        value = json.loads(answer.read())["value"]
        if answer.status != 200:
            code, message = value["error"], value.get("message", "")
            # The page doesn't end loading. In thousands of navigations it happened once; the cause isn't known.
            raise WebDriverError(code, f"{message}\n{connections()}" if code == "timeout" else message)
        return value

    def command(self, name, **parameters):
        method, path = COMMANDS[name]
        path = f"/session/{self.session}{path}"
        if "{id}" in path:
            path = path.format(id=parameters.pop("id"))
        return self.request(method, path, parameters if method == "POST" else None)

    def back(self):
        self.command("Back")

    def forward(self):
        self.command("Forward")

    def follow(self, name):
        """By the place of the link: WebKit takes elements of a document that the replay engine wraps for stale ones."""
        link = self.wait_for(LINK_PLACE, name, what=f"there is a link {name}", in_page=True)
        frame = self.run(FRAME_PLACE, REPLAY_FRAME)
        self.press(round(frame[0] + link[0]), round(frame[1] + link[1]))

    def press(self, x, y):
        move = {"type": "pointerMove", "duration": 0, "x": x, "y": y}
        press, release = ({"type": name, "button": 0} for name in ["pointerDown", "pointerUp"])
        self.command("PerformActions", actions=[{"type": "pointer", "id": "mouse", "actions": [move, press, release]}])

    def end(self):
        try:
            if self.session:
                with contextlib.suppress(OSError, http.client.HTTPException, WebDriverError):
                    self.command("DeleteSession")
        finally:
            if self.connection:
                self.connection.close()
            for process in reversed(self.processes):
                end_process(process)
            self.log.close()


def is_ended(process):
    return "ended" if process.poll() is not None else ""


def listens(connection):
    with contextlib.suppress(ConnectionRefusedError):
        connection.connect()
        return "listens"


def end_process(process):
    process.terminate()
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(SECONDS)
    if process.stdout:
        process.stdout.close()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def connections():
    """This computer's connections, with the bytes that wait to be read: they show which side keeps the other waiting."""
    if not shutil.which("ss"):
        return "(ss isn't installed)"
    return subprocess.run(["ss", "--tcp", "--processes", "--numeric"], capture_output=True, text=True).stdout
