"""What all tests in Python share: the cases that run, what they need, and how processes share them."""

import os
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import warcio.capture_http  # noqa: F401  It only records requests if it is imported before `requests`.

pytest.register_assert_rewrite(
    "capture_host", "decoders", "described", "imported", "installation", "program", "support")

if "PYTEST_XDIST_WORKER" not in os.environ:
    # Browsers run the app as it is now. `support.places` looks whether it's bundled.
    subprocess.run([Path(__file__).parents[1] / "Scripts" / "bundle"], check=True)

from support.needs import lacking
from xdist.scheduler.loadscope import LoadScopeScheduling

# These have a pytest.ini of their own. `real` needs yt-dlp and ffmpeg, `soak` ffmpeg and minutes, `live` published archives, `ways` root.
collect_ignore = [f"CaptureTests/{name}" for name in ("fakes", "live", "real", "soak", "ways")]


LIST = pytest.StashKey()
# What tests with these fixtures need
NEEDS_OF_FIXTURES = {"shim": {"cc"}, "mounted": {"mounts"}, "small_disk": {"mounts"}}
ENGINES = {"chromium": "Chromium", "firefox": "Firefox", "webkit": "WebKitGTK"}


def pytest_addoption(parser):
    parser.addoption("--list", action="store_true", help="list the files, how many cases only `make soak` runs, and what the tests need")


def pytest_configure(config):
    config.addinivalue_line("markers", "few(*cases): the cases of engine, origin mode and replay mode that `make test` runs, which can be none")
    config.addinivalue_line("markers", "needs(*needs): what the test needs that isn't on every system; see support/needs.py")
    config.addinivalue_line("markers", "one_chromium: all tests of the file share one run of Chromium, each with its own profile")
    config.addinivalue_line("markers", "own_chromium: in such a file, the test starts its own full Chromium, for example to show a PDF")


def parts_of(item):
    """The parts of the name of a case, such as its engine and its modes."""
    return {*item.callspec.id.split("-")} if hasattr(item, "callspec") else set()


def is_kept(item):
    """Whether `make test` runs this case. `make soak` runs all cases, with CASES=all."""
    few = item.get_closest_marker("few")
    return not few or any({*case.split()} <= parts_of(item) for case in few.args)


def needs_of(item):
    marked = {need for marker in item.iter_markers("needs") for need in marker.args}
    return marked.union(*(NEEDS_OF_FIXTURES.get(name, ()) for name in item.fixturenames))


def browsers_of(item):
    engines = {ENGINES[part] for part in parts_of(item) & ENGINES.keys()}
    return engines | ({"Chromium"} if "playwright" in item.fixturenames and not engines else set())


def pytest_collection_modifyitems(config, items):
    if config.getoption("--list"):
        config.stash[LIST] = listed(items)
        items.clear()
    if os.environ.get("CASES") == "all":
        return
    left_out = [item for item in items if not is_kept(item)]
    items[:] = in_turn([item for item in items if is_kept(item)])
    config.hook.pytest_deselected(items=left_out)


def in_turn(items):
    """Three files of browser tests, one of the others, and so on: browsers keep the processors busy, the others often wait."""
    files = defaultdict(list)
    for item in items:
        files[item.path].append(item)
    browsers = [group for path, group in files.items() if path.parent.name == "BrowserTests"]
    others = [group for path, group in files.items() if path.parent.name != "BrowserTests"]
    ordered = []
    while browsers or others:
        ordered += browsers[:3] + others[:1]
        browsers, others = browsers[3:], others[1:]
    return [item for group in ordered for item in group]


def listed(items):
    """The lines of the list."""
    counts, needs = Counter(), defaultdict(set)
    for item in items:
        file = item.nodeid.partition("::")[0]
        counts[file, is_kept(item)] += 1
        needs[file] |= needs_of(item) | browsers_of(item)
    lines = [f"{'file':<48} {'make test':>9} {'only soak':>9}  some tests need"]
    for file in dict.fromkeys(file for file, _ in counts):
        lines.append(f"{file:<48} {counts[file, True]:>9} {counts[file, False] or '':>9}  {', '.join(sorted(needs[file]))}".rstrip())
    return lines


def pytest_terminal_summary(terminalreporter, config):
    for line in config.stash.get(LIST, []):
        terminalreporter.write_line(line)


def pytest_sessionfinish(session):
    if session.config.getoption("--list") and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for need in sorted(needs_of(item)):
        if reason := lacking(need):
            pytest.skip(reason)


class Scheduling(LoadScopeScheduling):
    """With several processes, one runs all tests of a file, and one all tests with replay ports.

    A replay port depends on its archive, so two servers would compete for it.
    """

    def _split_scope(self, nodeid):
        uses_ports = re.search("(?<![a-z])ports(?![a-z])|test_embedding", nodeid)
        return "ports" if uses_ports else nodeid.partition("::")[0]

    def remove_node(self, node):
        """Reports a test that ended its process as failed, and unlike xdist, doesn't run it again in the next process.

        Only the rest of its file is run by another process. xdist also hands on the files that were complete,
        and a process that is given nothing to run reports nothing, so it is never given more.
        """
        units = self.assigned_work[node]
        crashed = next((test for unit in units.values() for test, is_done in unit.items() if not is_done), None)
        if crashed:
            for unit in units.values():
                if crashed in unit:
                    unit[crashed] = True
        self.assigned_work[node] = {scope: unit for scope, unit in units.items() if not all(unit.values())}
        super().remove_node(node)
        return crashed


def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The library that simulates a failing disk, a kill or a power cut."""
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).parent / "FaultTests" / "fault-shim.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
