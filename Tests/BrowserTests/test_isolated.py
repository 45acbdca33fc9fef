"""`replayhost open --isolated`: nothing that a page tries leaves this computer, and the browser sends nothing by itself.

isolated/runs.py has the tests. Each browser runs in a network of its own, in which every packet is seen.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RUNS = {"ordinary": 1, "profile_alone": 1, "replayed": 2}


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("name", RUNS)
def test_isolated(browser, name):
    probe = subprocess.run(["unshare", "-rnm", "true"], capture_output=True, timeout=30)
    if probe.returncode != 0:
        pytest.skip("this system lets nobody make a network namespace (unshare -rnm)")
    run = subprocess.run(
        ["unshare", "-rnm", sys.executable, "-m", "support.outside", str(HERE / "isolated" / "runs.py"),
            "-k", f"{name} and {browser}", "-s"],
        cwd=HERE, capture_output=True, text=True, timeout=220)
    print(run.stdout)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    assert f"{RUNS[name]} passed" in run.stdout
