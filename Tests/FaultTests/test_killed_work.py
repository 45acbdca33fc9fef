"""Kills the program at random instants of all changes to a store. KILLS=, SEED= and WORK= change the number, seed and kinds."""

import os
import random

import killed_work

KILLS = int(os.environ.get("KILLS", "24"))
SEED = os.environ.get("SEED", "20261121")


def test_whatever_the_instant_nothing_is_lost(tmp_path, shim):
    seed = random.SystemRandom().randrange(1 << 30) if SEED == "random" else int(SEED)
    print(f"SEED={seed} KILLS={KILLS}", flush=True)
    outcomes, work = killed_work.run(str(tmp_path), KILLS, seed, shim)
    killed_work.report(outcomes, work)
    killed = {kind for kind, outcome in outcomes if outcome.startswith("killed")}
    assert len(killed) > min(KILLS, len(killed_work.WORK)) // 2, "work of most kinds was killed"
    work.check_after_repair()
