"""Chromium with its own profile. Records requests that leave this computer, and errors."""

import re
from urllib.parse import urlsplit

from .host import Host
from .places import CHROMIUM
from .sink import make_sink

# The first two are hidden pages for the address bar: 0.7 of the 1.2 s of processor time of a start. Playwright turns off
# the others, but Chromium takes only the last list.
NOT_TESTED = ",".join([
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose",
    "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding",
    "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin", "OptimizationHints",
    "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
])
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--disable-features={NOT_TESTED}",
]
MILLISECONDS = 60_000


def is_local(address):
    parts = urlsplit(address)
    if parts.scheme in ("data", "blob", "about", "chrome", "chrome-error", "chrome-extension"):
        return True
    host = parts.hostname or ""
    return host in ("localhost", "127.0.0.1") or host.endswith(".localhost")


def is_control(address):
    """Whether the URL is the app's. In port mode, archives are at `localhost` too."""
    parts = urlsplit(address)
    return parts.port in Host.ports and parts.hostname in ("localhost", "replayhost.localhost", "127.0.0.1")


class Browser:
    """One run of Chromium. `check()` fails if a page sent requests elsewhere or reported errors."""

    def __init__(self, playwright, profile, arguments=(), names=True, among=None, program=CHROMIUM, **options):
        """`names`: whether it resolves `*.localhost`. `among`: another run, to which this adds an in-memory profile."""
        self.sink = among.sink if among else make_sink(names)
        self.among = among
        self.requests = []
        self.blocked = []
        self.errors = []
        self.allowed = []
        self.context = among.context.browser.new_context(**options) if among else self.launch(
            playwright, program, profile, arguments, options)
        self.context.set_default_timeout(MILLISECONDS)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("requestfailed", self._note_blocked)
        self.context.on("console", self._note_message)
        self.context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        self.page = self.context.new_page() if among else self.context.pages[0]

    def launch(self, playwright, program, profile, arguments, options):
        rules = [f"--host-resolver-rules={self.sink.rules}"] if self.sink.rules else []
        return playwright.chromium.launch_persistent_context(
            str(profile), executable_path=program, headless=True, timeout=MILLISECONDS,
            args=[*ARGUMENTS, *arguments, *rules], **options)

    def _note_blocked(self, request):
        """Records requests that a content security policy blocked, which never left the browser."""
        if request.failure == "csp":
            self.blocked.append(request.url)

    def _note_message(self, message):
        """Records errors and policy violations of the app's pages. Those of archived pages are ignored."""
        url = message.location["url"] or (message.page.url if message.page else "")
        if "404" in message.text and urlsplit(url).path.startswith("/c/"):
            return  # The viewer checks whether a URL was captured. The browser reports each 404.
        if is_control(url) and (message.type == "error" or "Content Security Policy" in message.text):
            self.errors.append(f"{message.text} ({url})")

    def allow(self, pattern):
        """Allows errors that match. Others still fail the test."""
        self.allowed.append(pattern)

    @property
    def unexpected(self):
        return [text for text in self.errors if not any(re.search(pattern, text) for pattern in self.allowed)]

    def clear_storage(self, origin):
        """Deletes worker, databases and caches of the origin, as a browser does when it evicts a site."""
        session = self.context.new_cdp_session(self.page)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()

    def check(self):
        foreign = [address for address in self.requests if not is_local(address) and address not in self.blocked]
        assert foreign == [], "a page requested something from another computer"
        assert self.sink.from_pages == [], "something left this computer"
        assert self.unexpected == [], "the app's pages reported errors"

    def close(self):
        self.context.close()
        if not self.among:
            self.sink.close()
