"""`replayhost open --isolated`: nothing that a page tries leaves this computer, and the browser sends nothing by itself.

isolated/runs.py has the tests. Each browser runs in a network of its own, in which every packet is seen.
"""

from pathlib import Path

import pytest

from support.outside import run_watched

FILE = Path(__file__).parent / "isolated" / "runs.py"
RUNS = {"ordinary": 1, "profile_alone": 1, "replayed": 2}


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("name", RUNS)
def test_isolated(browser, name):
    run_watched(FILE, f"{name} and {browser}", RUNS[name], 220)
