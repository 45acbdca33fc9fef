"""`replayhost open --isolated`: neither a page nor the browser itself can reach another computer.

isolated/runs.py has the tests. Each browser runs in its own network, in which every packet is recorded.
"""

from pathlib import Path

import pytest

from support.outside import run_watched

FILE = Path(__file__).parent / "isolated" / "runs.py"
pytestmark = pytest.mark.needs("user namespaces")
RUNS = {"ordinary": 1, "profile_alone": 1, "replayed": 2}


@pytest.mark.few("ordinary chromium", "replayed firefox", "profile_alone chromium", "profile_alone firefox")
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("name", RUNS)
def test_isolated(browser, name):
    run_watched(FILE, f"{name} and {browser}", RUNS[name], 220)
