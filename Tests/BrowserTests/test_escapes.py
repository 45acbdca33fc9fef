"""No archived page gets out: hostile pages in three engines, in a network in which every packet is seen.

outside/runs.py has the tests; each run is in a network namespace of its own, so that nothing can leave this computer.
"""

import os
from pathlib import Path

import pytest

from support.outside import run_watched

RUNS = Path(__file__).parent / "outside" / "runs.py"
# Engine, origin mode, replay mode. ESCAPES=all, which `make soak` sets, takes every one.
ENGINES = ["chromium", "firefox", "webkit"]
ALL = [(engine, origins, way) for engine in ENGINES for origins in ["names", "ports"] for way in ["lookups", "ranges"]]
FEW = [("chromium", "names", "lookups"), ("firefox", "ports", "ranges"), ("webkit", "names", "lookups")]
IS_ALL = os.environ.get("ESCAPES") == "all"


def run(test, engine, origins="names", way="lookups"):
    run_watched(RUNS, test, 1, 900, ESCAPES_ENGINE=engine, ESCAPES_ORIGINS=origins, ESCAPES_WAY=way)


@pytest.mark.parametrize("engine, origins, way", ALL if IS_ALL else FEW)
def test_nothing_leaves(engine, origins, way):
    run("test_nothing_leaves", engine, origins, way)


@pytest.mark.parametrize("engine, origins, way", ALL if IS_ALL else [("chromium", "names", "ranges")])
def test_poisoned_profile_is_cleaned(engine, origins, way):
    run("test_poisoned_profile_is_cleaned", engine, origins, way)


@pytest.mark.parametrize("engine", ENGINES)
def test_control_every_attempt_is_heard(engine):
    run("test_control_every_attempt_is_heard", engine)
