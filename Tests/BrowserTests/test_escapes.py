"""Hostile pages in three engines can't reach another computer. Every packet of their network is recorded.

outside/runs.py has the tests. Each runs in its own network namespace, so that nothing can leave this computer.
"""

from pathlib import Path

import pytest

from support.outside import run_watched

pytestmark = pytest.mark.needs("user namespaces")
RUNS = Path(__file__).parent / "outside" / "runs.py"
ENGINES = ["chromium", "firefox", "webkit"]
# Engine, origin mode, replay mode
ALL = [(engine, origins, mode) for engine in ENGINES for origins in ["names", "ports"] for mode in ["lookups", "ranges"]]


def run(test, engine, origins="names", mode="lookups"):
    run_watched(RUNS, test, 1, 900, ESCAPES_ENGINE=engine, ESCAPES_ORIGINS=origins, ESCAPES_MODE=mode)


@pytest.mark.few("chromium names lookups")
@pytest.mark.parametrize("engine, origins, mode", ALL)
def test_nothing_leaves(engine, origins, mode):
    run("test_nothing_leaves", engine, origins, mode)


@pytest.mark.few("chromium names ranges")
@pytest.mark.parametrize("engine, origins, mode", ALL)
def test_poisoned_profile_is_cleaned(engine, origins, mode):
    run("test_poisoned_profile_is_cleaned", engine, origins, mode)


# The attacks once worked in Firefox and WebKit, never in Chromium.
@pytest.mark.few("webkit ports ranges")
@pytest.mark.parametrize("engine, origins, mode", ALL)
def test_other_archives_are_out_of_reach(engine, origins, mode):
    run("test_other_archives_are_out_of_reach", engine, origins, mode)


# Sites have nothing to do with the replay mode.
@pytest.mark.few("firefox names")
@pytest.mark.parametrize("engine, origins", [(engine, origins) for engine, origins, mode in ALL if mode == "lookups"])
def test_other_sites_learn_nothing(engine, origins):
    run_watched(RUNS, "test_other_sites_learn_nothing", 2, 900, ESCAPES_ENGINE=engine, ESCAPES_ORIGINS=origins)


@pytest.mark.few("chromium")
@pytest.mark.parametrize("engine", ENGINES)
def test_control_every_attempt_is_recorded(engine):
    run("test_control_every_attempt_is_recorded", engine)
