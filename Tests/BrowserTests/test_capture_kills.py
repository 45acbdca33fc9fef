"""Kills the browser with SIGKILL while it shares URLs. What it had kept arrives, and nothing twice.

`make soak` kills it 50 times: KILLS=, SEED=. The output says with which seed a run can be repeated.
"""

import os
import random
import signal
import time

import pytest
from capture_host import SECONDS, make_server
from support.browser import ARGUMENTS
from support.capture_page import READ, box
from support.expecting import expect
from support.places import HEADLESS_CHROMIUM
from support.waiting import wait_until

KILLS = int(os.environ.get("KILLS", 3))
SEED = os.environ.get("SEED", "7")


@pytest.fixture
def capture(tmp_path):
    with make_server(tmp_path) as host:
        yield host


def open_browser(playwright, tmp_path):
    """Returns the context, its page, and the process."""
    program, pid = tmp_path / "chromium", tmp_path / "pid"
    program.write_text(f'#!/bin/sh\necho $$ > {pid}\nexec {HEADLESS_CHROMIUM} "$@"\n')
    program.chmod(0o755)
    context = playwright.chromium.launch_persistent_context(str(tmp_path / "profile"), executable_path=str(program), headless=True, args=ARGUMENTS)
    return context, context.pages[0], int(pid.read_text())


def kill(page, pid):
    """Playwright starts each browser in a process group of its own."""
    os.killpg(pid, signal.SIGKILL)

    def is_gone():
        try:
            page.evaluate("1")
        except Exception:  # Whatever Playwright says, the page is gone.
            return True
        return False

    wait_until(is_gone, "the browser has ended")


def test_nothing_is_lost_or_doubled_by_kills_of_the_browser(playwright, tmp_path, capture):
    seed = str(random.random()) if SEED == "random" else SEED
    print(f"SEED={seed}")
    chance = random.Random(seed)
    address = capture.started["address"]
    typed, kept = [], set()
    for number in range(KILLS):
        # Without the server, everything waits. With it, the kill is during the sending.
        is_down = chance.random() < 0.5
        _, page, pid = open_browser(playwright, tmp_path)
        page.goto(address)
        expect(page.locator("#footer")).to_contain_text("replayhost-capture")
        if is_down:
            capture.stop()
        urls = [f"https://www.tiktok.com/@kill{number}/video/{index}" for index in range(chance.randint(1, 3))]
        typed += urls
        box(page).fill(" ".join(urls))
        box(page).press("Enter")
        if chance.random() < 0.7:
            shares = wait_until(lambda: page.evaluate(READ, "shares")[-len(urls):], "they are kept")
            kept |= {share["url"] for share in shares}
        time.sleep(chance.random() * 0.3)
        kill(page, pid)
        if is_down:
            capture.start()
    context, page, _ = open_browser(playwright, tmp_path)
    try:
        page.goto(address)

        def is_sent():
            page.wait_for_timeout(50)
            return all(share["status"] == "confirmed" for share in page.evaluate(READ, "shares"))

        wait_until(is_sent, "the queue is empty", SECONDS)
        queue = {share["url"] for share in page.evaluate(READ, "shares")}
    finally:
        context.close()
    arrived = [row["url"] for row in capture.rows()]
    assert len(arrived) == len(set(arrived)), "a URL was saved twice"
    assert kept <= set(arrived) <= set(typed)
    assert queue == set(arrived), "the page says that it sent what the server doesn't have"
