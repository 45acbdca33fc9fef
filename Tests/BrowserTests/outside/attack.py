"""Opens the hostile pages in one browser, and reports what left it."""

import contextlib
import json
from pathlib import Path

from playwright.sync_api import Error

from support.engines.engine import NotThere, ScriptError
from support.engines.webdriver import WebDriverError
from support.outside import UNANSWERED
from support.waiting import wait_until

from .archive import leaving_pages

ENDED = "() => document.body.dataset.ended ?? ''"
# While the archive is still being opened, nothing has become of the page.
SHOWN = "() => document.querySelector('.panel h1')?.innerText.replace(/^Opening .*/, '') ?? ''"
TEXT = "() => document.body.innerText.slice(0, 500)"
# A document that the browser put in the place of one that it did not fetch: with it, that navigation is over.
STOPPED = "() => /^(?:chrome-error|about:neterror)/.test(document.documentURI) ? document.documentURI.slice(0, 60) : ''"
GONE = (NotThere, ScriptError, WebDriverError)


def describe_system():
    """The TCP connections in this network, and each thread on this computer: its state, and where in the kernel it waits."""
    connections = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
    threads = []
    for thread in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        with contextlib.suppress(OSError):  # It ended meanwhile.
            stat, wait = ((thread / file).read_text(encoding="utf-8", errors="replace") for file in ["stat", "wchan"])
            # proc_pid_stat(5): id, name in parentheses, state
            threads.append(f"{stat[: stat.rindex(')') + 3]} {wait}")
    return "\n".join([*connections, *threads])


class Attacker:
    """One browser, one server, one replay mode."""

    def __init__(self, engine, outside, address, in_page=True):
        """`address`: the address to open for the path of a page. `in_page`: whether the page is in the viewer's frame."""
        self.engine, self.outside, self.address = engine, outside, address
        self.run = engine.run_in_page if in_page else engine.run

    def visit(self, path):
        """Opens a page that reports its end. Returns its report."""
        self.open(path)
        last = None

        def look():
            nonlocal last
            try:
                last = self.run(ENDED)
                return last
            except GONE as error:
                last = error
                return None

        try:
            return json.loads(wait_until(look, f"{path} has ended", seconds=240))
        except AssertionError as error:
            if isinstance(last, WebDriverError) and last.code == "timeout":
                raise AssertionError(f"{UNANSWERED}, {error}\n{describe_system()}") from None
            raise AssertionError(f"{error}: {last}: {self.engine.run(TEXT)}") from None

    def open(self, path):
        """Opens a page in a new document. Activity of the previous page may continue."""
        for address in ["about:blank", self.address(path)]:
            wait_until(lambda: self.goes(address), f"the browser goes to {address}")

    def goes(self, address):
        """A page whose `load` event is held up by what it asks for is open too: it says by itself when it has ended."""
        try:
            self.engine.go(address)
        except Error as error:
            if "interrupted by another navigation" in error.message:
                return False
            raise
        except WebDriverError as error:
            if error.code != "timeout":
                raise
        return True

    def leave(self, name):
        """Opens a page that leaves by itself. Returns what became of it: where a browser says nothing of it, in a few seconds."""
        end = "gone"
        with contextlib.suppress(WebDriverError):  # WebKit's driver waits for a page that goes on to another one.
            self.open(f"leave/{name}")

        def look():
            nonlocal end
            if f"{name}.leave.evil.test" in self.outside.heard:
                return True
            try:
                end = self.run(ENDED) or self.run(STOPPED) or self.engine.run(SHOWN)
                return end
            except GONE as error:
                end = str(error)
                return None

        try:
            wait_until(look, "it ended", seconds=6)
        except AssertionError:
            pass
        return end

    def heard(self):
        """What left since the last look: a dict of names, without their common end, to kinds."""
        self.outside.settle()
        found = {name.removesuffix(".evil.test"): kinds for name, kinds in self.outside.from_pages.items()}
        self.outside.forget()
        return found

    def leave_all(self):
        return {name: self.leave(name) for name, _, _ in leaving_pages()}
