"""No archived page gets out: hostile pages in three engines, in a network in which every packet is seen.

outside/runs.py has the tests; each run is in a network namespace of its own, so that nothing can leave this computer.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Engine, origin mode, replay mode. ESCAPES=all, which `make soak` sets, takes every one.
ENGINES = ["chromium", "firefox", "webkit"]
ALL = [(engine, origins, way) for engine in ENGINES for origins in ["names", "ports"] for way in ["lookups", "ranges"]]
FEW = [("chromium", "names", "lookups"), ("firefox", "ports", "ranges"), ("webkit", "names", "lookups")]
IS_ALL = os.environ.get("ESCAPES") == "all"


def run(test, engine, origins="names", way="lookups"):
    probe = subprocess.run(["unshare", "-rnm", "true"], capture_output=True, timeout=30)
    if probe.returncode != 0:
        pytest.skip("this system lets nobody make a network namespace (unshare -rnm)")
    environment = {**os.environ, "ESCAPES_ENGINE": engine, "ESCAPES_ORIGINS": origins, "ESCAPES_WAY": way}
    result = subprocess.run(
        ["unshare", "-rnm", sys.executable, "-m", "support.outside", str(HERE / "outside" / "runs.py"), "-k", test, "-s"],
        cwd=HERE, env=environment, capture_output=True, text=True, timeout=900)
    print(result.stdout)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    assert "1 passed" in result.stdout


@pytest.mark.parametrize("engine, origins, way", ALL if IS_ALL else FEW)
def test_nothing_leaves(engine, origins, way):
    run("test_nothing_leaves", engine, origins, way)


@pytest.mark.parametrize("engine, origins, way", ALL if IS_ALL else [("chromium", "names", "ranges")])
def test_poisoned_profile_is_cleaned(engine, origins, way):
    run("test_poisoned_profile_is_cleaned", engine, origins, way)


@pytest.mark.parametrize("engine", ENGINES)
def test_control_every_attempt_is_heard(engine):
    run("test_control_every_attempt_is_heard", engine)
