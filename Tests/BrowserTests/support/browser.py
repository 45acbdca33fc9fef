"""Chromium with a profile of its own, watched for whatever leaves this computer and whatever goes wrong."""

import re
from urllib.parse import urlsplit

from .host import Host
from .places import CHROMIUM
from .sink import make_sink

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]
MILLISECONDS = 30_000


def is_local(address):
    parts = urlsplit(address)
    if parts.scheme in ("data", "blob", "about", "chrome", "chrome-error", "chrome-extension"):
        return True
    host = parts.hostname or ""
    return host in ("localhost", "127.0.0.1") or host.endswith(".localhost")


def is_control(address):
    """With ports of their own, archives are on `localhost` as well."""
    parts = urlsplit(address)
    return parts.port in Host.ports and parts.hostname in ("localhost", "replayhost.localhost", "127.0.0.1")


class Browser:
    """One run of Chromium. `check()` at its end says whether a page reached out, or complained."""

    def __init__(self, playwright, profile, arguments=(), names=True, among=None, **options):
        """`names`: whether it finds `*.localhost`. `among`: another run, in which this is one more profile, in memory only."""
        self.sink = among.sink if among else make_sink(names)
        self.among = among
        self.requests = []
        self.blocked = []
        self.complaints = []
        self.allowed = []
        self.context = among.context.browser.new_context(**options) if among else self.launch(
            playwright, profile, arguments, options)
        self.context.set_default_timeout(MILLISECONDS)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("requestfailed", self._note_blocked)
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        self.page = self.context.new_page() if among else self.context.pages[0]

    def launch(self, playwright, profile, arguments, options):
        rules = [f"--host-resolver-rules={self.sink.rules}"] if self.sink.rules else []
        return playwright.chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, headless=True, timeout=MILLISECONDS,
            args=[*ARGUMENTS, *arguments, *rules], **options)

    def _note_blocked(self, request):
        """A request that a content policy stopped inside of the browser never left it."""
        if request.failure == "csp":
            self.blocked.append(request.url)

    def _hear(self, message):
        """Keeps errors, and breaches of a content policy, of the library's own pages. Archived pages may complain."""
        place = message.location["url"] or (message.page.url if message.page else "")
        if "404" in message.text and urlsplit(place).path.startswith("/c/"):
            return  # The viewer asked whether an address was captured; the browser notes each "no" as an error.
        if is_control(place) and (message.type == "error" or "Content Security Policy" in message.text):
            self.complaints.append(f"{message.text} ({place})")

    def allow(self, pattern):
        """Expects a complaint that matches; any other still fails the test."""
        self.allowed.append(pattern)

    @property
    def unexpected(self):
        return [text for text in self.complaints if not any(re.search(pattern, text) for pattern in self.allowed)]

    def clear_storage(self, origin):
        """What a browser does when it evicts a site: worker, databases and caches of the origin go."""
        session = self.context.new_cdp_session(self.page)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()

    def check(self):
        foreign = [address for address in self.requests if not is_local(address) and address not in self.blocked]
        assert foreign == [], "a page asked for something that is not on this computer"
        assert self.sink.from_pages == [], "something left this computer"
        assert self.unexpected == [], "the library's own pages complained"

    def close(self):
        self.context.close()
        if not self.among:
            self.sink.close()
