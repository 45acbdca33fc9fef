"""A shorter run of `make soak`'s kills: every change of a store, stopped anywhere."""

import os

import pytest

import killed_work

# Longer ones are for `make soak`.
KILLS = int(os.environ.get("KILLS", "40"))


@pytest.mark.parametrize("seed", [20261121])
def test_whatever_the_instant_nothing_is_lost(tmp_path, seed, monkeypatch, shim):
    from program import BINARY

    monkeypatch.setattr(killed_work, "BINARY", BINARY)
    outcomes, work = killed_work.run(str(tmp_path), KILLS, seed)
    killed = {kind for kind, outcome in outcomes if outcome.startswith("killed")}
    assert len(killed) > len(killed_work.WORK) // 2, "work of most kinds was killed"
    work.check_settled()
