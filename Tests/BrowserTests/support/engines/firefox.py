"""Firefox ESR, headless, by Marionette: the connection that geckodriver uses, and its wire format."""

import contextlib
import json
import os
import socket
import subprocess

from ..host import die_with_parent
from ..sink import port_of
from ..waiting import SECONDS, wait_until
from .webdriver import WebDriverEngine, WebDriverError

FIREFOX = os.environ.get("FIREFOX", "firefox-esr")

# Everything but this computer goes to a proxy, which is the sink. The rest keeps Firefox from calling by itself.
PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.no_proxies_on": "localhost, .localhost, 127.0.0.1",
    "network.trr.mode": 5,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "browser.contentblocking.report.hide_vpn_banner": True,
    "browser.ipProtection.enabled": False,
    "browser.newtabpage.activity-stream.feeds.system.topstories": False,
    "browser.newtabpage.enabled": False,
    "browser.region.network.url": "",
    "browser.region.update.enabled": False,
    "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.search.update": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "browser.topsites.contile.enabled": False,
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.blocklist.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-provider.enabled": False,
    "security.OCSP.enabled": 0,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.server": "data:,",
    "toolkit.telemetry.unified": False,
    "marionette.port": 0,
}

# What pages have it do ahead of time. Where the whole network is watched, it may.
AHEAD = {
    "network.http.speculative-parallel-limit": 0,
    "network.dns.disablePrefetch": True,
    "network.predictor.enabled": False,
    "network.prefetch-next": False,
}

BLOCKS = {"": {}, "workers": {"dom.serviceWorkers.enabled": False}, "site data": {"network.cookie.cookieBehavior": 2},
    "referrers": {"network.http.sendRefererHeader": 0}}

# Settings, Cookies and Site Data, Manage Exceptions: allow.
ALLOW = """const principal = Services.scriptSecurityManager.createContentPrincipalFromOrigin("ADDRESS");
Services.perms.addFromPrincipal(principal, "cookie", Services.perms.ALLOW_ACTION);"""


class Firefox(WebDriverEngine):
    name = "firefox"
    can_block = ["workers", "site data"]

    def __init__(self, folder, private=False, blocks="", allows="", playwright=None):
        super().__init__(private)
        self.log = folder / "firefox.log"
        self.connection = None
        self.process = self.start(folder, BLOCKS[blocks])
        try:
            self.connection = Marionette(wait_until(lambda: self.active_port(folder), "Firefox listens"))
            self.command("NewSession", capabilities={})
            self.begin()
            if private:
                self.move_to_private_window()
            is_private = self.run_in_window("return PrivateBrowsingUtils.isWindowPrivate(window);")
            assert is_private == private, "the window isn't of the requested kind"
            if allows:
                self.run_in_window(ALLOW.replace("ADDRESS", allows))
        except BaseException:
            self.close()
            raise

    def start(self, folder, preferences):
        profile = folder / "profile"
        profile.mkdir(parents=True, exist_ok=True)
        preferences = {**PREFERENCES, **preferences, **self.proxy()}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [FIREFOX, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote",
            "--profile", profile, "about:blank"]
        # The last lets the preference of the settings' server count, which a release ignores otherwise.
        environment = {**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1",
            "MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}
        with open(self.log, "wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, preexec_fn=die_with_parent)

    def proxy(self):
        if not self.sink.pages:
            return {"network.proxy.type": 0}
        port = port_of(self.sink.pages)
        return {**AHEAD, "network.proxy.http_port": port, "network.proxy.ssl_port": port}

    def move_to_private_window(self):
        window = self.command("NewWindow", type="window", private=True)
        self.command("CloseWindow")
        self.command("SwitchToWindow", handle=window["handle"])

    def active_port(self, folder):
        if self.process.poll() is not None:
            raise AssertionError(f"Firefox did not start: {self.log.read_text(errors='replace')[-2000:]}")
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int((folder / "profile" / "MarionetteActivePort").read_text())

    def command(self, name, **parameters):
        answer = self.connection.send(f"WebDriver:{name}", parameters)
        return answer["value"] if isinstance(answer, dict) and set(answer) == {"value"} else answer

    def switch_to_frame(self, element):
        """Marionette takes the element's bare name here."""
        self.command("SwitchToFrame", **({"element": element} if element else {"id": None}))

    def back(self):
        self.run_in_window("gBrowser.goBack();")

    def forward(self):
        self.run_in_window("gBrowser.goForward();")

    def run_in_window(self, script):
        """In Firefox's own window: its buttons. WebDriver's Back would wait until the tab itself has a new document."""
        self.connection.send("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.command("ExecuteScript", script=script, args=[])
        finally:
            self.connection.send("Marionette:SetContext", {"value": "content"})

    def end(self):
        if self.connection:
            with contextlib.suppress(OSError, WebDriverError):
                self.connection.send("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.connection.close()
        else:
            self.process.terminate()
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(SECONDS)


class Marionette:
    """Messages `LENGTH:JSON`: `[0, id, command, parameters]` is answered by `[1, id, error, result]`."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS * 3)
        self.input = self.socket.makefile("rb")
        self.count = 0
        self.receive()

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.input.read(1)
            if not byte:
                raise ConnectionError("Firefox closed the connection")
            length += byte
        return json.loads(self.input.read(int(length[:-1])))

    def send(self, command, parameters):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, number, error, result = self.receive()
        assert number == self.count, "an answer to another command"
        if error:
            raise WebDriverError(error["error"], error["message"])
        return result

    def close(self):
        self.input.close()
        self.socket.close()
