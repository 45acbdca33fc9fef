"""The example of an embedded host, with a page that stays open while the host restarts."""

import os
import subprocess

import pytest

from support.engines import ENGINES
from support.host import die_with_parent
from support.journey import SITE, TITLE
from support.places import CHECKOUT, EXAMPLE, FIXTURES
from support.waiting import SECONDS

# `make soak` uses 100.
STOPS = int(os.environ.get("STOPS", "20"))


class Example:
    """`Examples/EmbeddedHost`, controlled by its standard input."""

    def __init__(self, store):
        self.process = subprocess.Popen(
            [EXAMPLE, store, CHECKOUT / "www", FIXTURES / "sample.wacz"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=die_with_parent)
        self.library = self.read("library: ")
        self.page = self.read("open: ")

    def read(self, start):
        """Returns the rest of the next line that starts with `start`."""
        for line in self.process.stdout:
            if line.startswith(start):
                return line[len(start):].strip()
        raise AssertionError(f"the example ended before it printed {start!r}")

    def tell(self, command, answer):
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.read(answer)

    def close(self):
        self.process.stdin.close()
        try:
            assert self.process.wait(SECONDS) == 0
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture
def example(tmp_path):
    example = Example(tmp_path / "store")
    try:
        yield example
    finally:
        example.close()


@pytest.mark.few("chromium")
@pytest.mark.parametrize("name", ["chromium", "webkit"])
def test_open_page_works_after_the_host_restarts(example, playwright, tmp_path, name):
    """Many times on one port. Links in the open tab work after each restart, without a reload."""
    port = example.library.rsplit(":", 1)[1].rstrip("/")
    engine = ENGINES[name](tmp_path / "browser", playwright=playwright)
    try:
        engine.go(example.page)
        engine.wait_for_text_in_page("Autumn edition", "#edition")
        engine.run("() => { window.wasNotReloaded = true; }")
        for _ in range(STOPS // 2):
            stop_and_start(example, port)
            engine.follow("Species")
            engine.wait_for_text_in_page("Low water at Skerry Bay: 06:42, high water: 12:55.", "#tide")
            stop_and_start(example, port)
            engine.follow(TITLE)
            engine.wait_for_text_in_page("Autumn edition", "#edition")
        assert engine.run("() => window.wasNotReloaded") is True
        engine.wait_for("(url) => document.querySelector('.url-bar input').value === url", f"{SITE}/",
            what="the URL field shows the page's URL")
        assert example.tell("list", "sample: ") == TITLE
    finally:
        engine.close()


def stop_and_start(example, port):
    assert example.tell("stop", "stopped") == ""
    assert example.tell("start", "started: ") == port
