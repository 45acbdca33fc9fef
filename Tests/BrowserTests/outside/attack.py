"""Visits the hostile pages with one browser and tells what left it."""

import json

from support.engines.engine import NotThere, ScriptError
from support.engines.webdriver import WebDriverError
from support.waiting import wait_until

from .archive import ANSWERS, leaving_pages

ENDED = "() => document.body.dataset.ended ?? ''"
SHOWN = "() => document.querySelector('.panel h1')?.innerText ?? ''"
GONE = (NotThere, ScriptError, WebDriverError)


class Attacker:
    """One browser, one host, one way to replay."""

    def __init__(self, engine, outside, address):
        """`address`: the address to open for the path of a page."""
        self.engine, self.outside, self.address = engine, outside, address

    def visit(self, path, in_page=True):
        """Opens a page that says when it has ended. Returns what it says."""
        self.engine.go("about:blank")
        self.engine.go(self.address(path))
        run = self.engine.run_in_page if in_page else self.engine.run
        last = ""

        def look():
            nonlocal last
            try:
                last = run(ENDED)
                return last
            except GONE as error:
                last = str(error)
                return None

        try:
            return json.loads(wait_until(look, f"{path} has ended", seconds=60))
        except AssertionError as error:
            raise AssertionError(f"{error}: {last}: {self.engine.run(SHOWN)}") from None

    def leave(self, name, in_page=True):
        """Opens a page that leaves by itself. Returns what became of it: as there is nothing to wait for, in a few seconds."""
        self.engine.go("about:blank")
        self.engine.go(self.address(f"leave/{name}"))
        run = self.engine.run_in_page if in_page else self.engine.run
        end = "gone"

        def look():
            nonlocal end
            if f"{name}.leave.evil.test" in self.outside.heard:
                return True
            try:
                end = run(ENDED) or self.engine.run(SHOWN)
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

    def leave_all(self, in_page=True):
        return {name: self.leave(name, in_page) for name, _, _ in leaving_pages()}

    def answers(self, names=ANSWERS):
        return {name: self.visit(f"answer/{name}") for name in names}
