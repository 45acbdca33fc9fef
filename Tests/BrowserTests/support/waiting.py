"""Waiting for something that another process does."""

import time

SECONDS = 60


def wait_until(condition, what, seconds=SECONDS):
    """Returns the first true value of `condition()`, or fails with the message that `what` didn't happen."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"in {seconds} s this did not happen: {what}")
        time.sleep(0.05)
