"""A shorter run of `make soak`'s kills: every change of a store, stopped anywhere."""

import os

import pytest

import killed_work

# Longer ones are for `make soak`.
KILLS = int(os.environ.get("KILLS", "52"))


@pytest.mark.parametrize("seed", [20261121])
def test_whatever_the_instant_nothing_is_lost(tmp_path, seed, monkeypatch, shim):
    from program import BINARY

    monkeypatch.setattr(killed_work, "BINARY", BINARY)
    outcomes, _ = killed_work.run(str(tmp_path), KILLS, seed)
    assert sum(outcomes.values()) == KILLS
    killed = sum(count for (_, outcome), count in outcomes.items() if outcome.startswith("killed"))
    assert killed > KILLS // 3, "most rounds are to be killed at work"
