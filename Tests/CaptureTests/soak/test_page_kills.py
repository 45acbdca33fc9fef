"""Kills the capture server, its worker or its browser at random instants while pages are recorded and replayed.

Each page that was accepted is one row and one archive with what the site sent, and nothing is left over. KILLS= and SEED= change the number
of kills and the seed. The same seed repeats the same kills after the same delays.
"""

import os
import random
import re
import time
from collections import Counter

import pages
from capture_host import end
from page_hosts import Saved, expect_valid, make_host
from pages import PageSite

KILLS = int(os.environ.get("KILLS", "50"))
SEED = os.environ.get("SEED", "20261126")
# An attempt whose worker or browser dies is repeated three times.
KILLS_MAX = 2
TARGETS = {"worker": r"capture work\b", "browser": r"chromium.* --remote-debugging-pipe"}


def kill(host, kind, killed):
    """Kills the server, or a process of the running attempt. Returns what was killed."""
    running = [row for row in host.history(status="downloading")]
    stage = running[0]["stage"] if running else None
    if kind != "server" and running and killed[running[0]["download_id"]] < KILLS_MAX:
        found = [pid for pid, command in host.processes().items() if re.search(TARGETS[kind], command) and "--type=" not in command]
        if found and end(found[0]):
            killed[running[0]["download_id"]] += 1
            return kind, stage
    host.kill_9()
    host.start()
    return "server", stage


def test_whatever_the_instant_no_page_is_lost(tmp_path):
    seed = random.SystemRandom().randrange(1 << 30) if SEED == "random" else int(SEED)
    chance, killed, outcomes, wanted = random.Random(seed), Counter(), Counter(), {}
    print(f"SEED={seed} KILLS={KILLS}", flush=True)
    site, host = PageSite(), make_host(tmp_path, checks=True)
    host.start()
    try:
        for number in range(KILLS):
            if number % 3 == 0:
                url = site.make(f"page{number}", f"<h1>Page {number}</h1><img src=/img/{number}.png>", title=f"Page {number}")
                wanted[host.add(url, username="ana")] = number
            kind = chance.choice(["server", "worker", "browser"])
            time.sleep(chance.uniform(0, 9))
            outcomes[kill(host, kind, killed)] += 1
        for identifier, number in wanted.items():
            row = host.wait_for(identifier, "completed")
            saved = Saved(host, row)
            assert saved.of(site(f"/img/{number}.png")).body == pages.image_at(f"/img/{number}.png")
            expect_valid(host, saved)
            outcomes[row["replay_check"].split(":")[0]] += 1
        rows = host.rows()
        assert {row["download_id"] for row in rows} == set(wanted)
        assert sorted(row["archive"] for row in rows) == sorted(host.archives())
        host.expect_no_leftovers()
    finally:
        print(dict(outcomes), flush=True)
        host.stop()
        site.close()
