"""Playwright's `expect`, but with retries after 50 to 100 ms instead of 500 ms."""

from functools import partial

from playwright.sync_api import expect as playwright_expect

# The longer Playwright's timeout, the longer its interval: 50 ms below 0.5 s, 100 ms below 2.5 s, else 500 ms. The sum is
# the timeout of all other waits, `MILLISECONDS`.
LIMITS = [400, 2_000, 7_600, 50_000]


class Expecting:
    """The assertions about a locator or a page, each tried with all timeouts in turn."""

    def __init__(self, actual):
        self.assertions = playwright_expect(actual)

    def __getattr__(self, name):
        return partial(expect_within_limits, getattr(self.assertions, name))


def expect_within_limits(assertion, *arguments, **options):
    *first, last = LIMITS
    for limit in first:
        try:
            return assertion(*arguments, **options, timeout=limit)
        except AssertionError:
            pass
    return assertion(*arguments, **options, timeout=last)


expect = Expecting


def expect_loaded(page):
    """What loads after the first view is there, too: the server can stop now."""
    expect(page.locator("#footer")).to_contain_text("replayhost")
