"""Sites that never end: slowly or fast. The download ends, nothing is left of it, and the next one is saved."""

import decoders
import pytest
from capture_host import SECONDS
from support.waiting import wait_until

# Seconds for the least rate, for a file and for media; bytes.
HOUR, LARGE = 3600, 10**12


@pytest.mark.parametrize(("path", "limits", "code"), [
    ("/drip.pdf", (3, HOUR, HOUR, LARGE), "too_slow"),
    ("/drip.pdf", (HOUR, 3, HOUR, LARGE), "too_slow"),
    ("/drip", (HOUR, HOUR, 3, LARGE), "too_slow"),
    ("/endless.pdf", (HOUR, HOUR, HOUR, 5_000_000), "too_large"),
])
def test_download_that_never_ends_is_given_up(host, website, path, limits, code):
    host.options += ("--attempt-limits", ",".join(map(str, limits)))
    with host:
        endless = host.add(website(path), username="eve")
        next_one = host.add(website("/guide.pdf"), username="ana")
        row = host.wait_for(endless, "failed")
        decoders.own_status(row)
        assert (row["error_code"], row["attempt"], row["archive"]) == (code, 1, None), row
        wait_until(lambda: not (host.store / "capture" / "sessions" / endless).exists(), "its parts are removed", SECONDS)
        assert host.wait_for(next_one, "completed")


def test_tool_that_takes_too_much_memory_is_ended(host, website):
    # 1 %, but at least 1000 MB
    host.configure("attempt:\n  memory_percent: 1\n")
    with host:
        greedy = host.add(website.fake("greedy"), username="eve")
        row = host.wait_for(greedy, "failed")
        decoders.own_status(row)
        assert (row["error_code"], row["attempt"], row["archive"]) == ("too_large", 1, None), row
        assert row["error_message"].startswith("it needed more than 1000 MB of memory"), row
        assert host.wait_for(host.add(website("/guide.pdf"), username="ana"), "completed")
