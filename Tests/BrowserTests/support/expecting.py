"""Playwright's `expect`, which looks again after 50 to 100 ms here, and after 500 ms by itself."""

from functools import partial

from playwright.sync_api import expect as playwright_expect

# Playwright looks the less often the longer it may wait: after 50 ms below 0.5 s, after 100 ms below 2.5 s, else after
# 500 ms, which most tests would spend many times. Together this is the limit of every other wait, `MILLISECONDS`.
LIMITS = [400, 2_000, 7_600, 20_000]


class Expecting:
    """The assertions about a locator or a page, each with all the limits, one after another."""

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
