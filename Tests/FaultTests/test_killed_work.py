"""Kills the program, or cuts its power, at random instants of all changes to a store.

KILLS=, SEED= and WORK= change the number, seed and kinds.
"""

import os
import random

import killed_work
import pytest

KILLS = int(os.environ.get("KILLS", "24"))
SEED = os.environ.get("SEED", "20261121")


@pytest.mark.parametrize("cuts_power", [False, True], ids=["killed", "power-cut"])
def test_whatever_the_instant_nothing_is_lost(tmp_path, shim, cuts_power):
    seed = random.SystemRandom().randrange(1 << 30) if SEED == "random" else int(SEED)
    kills = KILLS // 2
    print(f"SEED={seed} KILLS={KILLS}", flush=True)
    outcomes, work = killed_work.run(str(tmp_path / "work"), kills, seed, shim, cuts_power)
    killed_work.report(outcomes, work)
    killed = {kind for kind, outcome in outcomes if outcome.startswith("killed")}
    assert len(killed) > min(kills, len(killed_work.WORK)) // 2, "work of most kinds was killed"
    work.check_after_repair()


@pytest.mark.parametrize("lost", [".wacz", "/files", "catalog.sqlite"])
def test_control_a_disk_that_loses_what_was_flushed_is_noticed(tmp_path, shim, monkeypatch, lost):
    monkeypatch.setenv("DISK_LOSES", lost)
    with pytest.raises(killed_work.Failure):
        killed_work.run(str(tmp_path / "work"), 12, 20261121, shim, cuts_power=True)
