"""Counts what Scripts/test or Scripts/sanitize ran: failed tests, one line for each area, the time, then the sum. Exits 1 unless all is well.

The first argument is the folder of results: NAME.code, NAME.log and NAME.seconds of each runner, NAME.xml of pytest. The others are the
folders of Python tests that must have run.
"""

import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
RUN = re.compile(r"Test run with (\d+) tests? in \d+ suites? (passed|failed) after")
# A test's own line; those of its suite, of the run and of its single arguments are left out.
ISSUE = re.compile(r"^\S+ (?:Test|Suite) .+ recorded an issue ")
TEST = re.compile(r"^\S+ Test (?!run |case )(?:\"(?P<title>.+?)\"|(?P<name>\S+\(.*?\))) .*?(?P<end>passed after|failed after|skipped)")


class Suite:
    def __init__(self, name, passed=0, failed=0, skipped=0, remark="", failures=()):
        self.name, self.passed, self.failed, self.skipped, self.remark = name, passed, failed, skipped, remark
        self.failures = list(failures)

    def __str__(self):
        return f"{self.name}: {counts(self.passed, self.failed, self.skipped)}{self.remark and f' ({self.remark})'}"


def counts(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def settled(suite, code):
    """A runner that failed without a failed test, or ran nothing, counts as one failure."""
    if code != 0 and suite.failed == 0:
        suite.failed, suite.remark = 1, f"the runner ended with code {code} and named no failed test"
    elif suite.passed + suite.failed == 0:
        suite.failed, suite.remark = 1, "no test ran"
    return suite


def swift_suite(name, log, code):
    lines = [ANSI.sub("", line) for line in log.splitlines()]
    run = next((match for line in lines if (match := RUN.search(line))), None)
    ends = [match["end"] for line in lines if (match := TEST.search(line))]
    failed, skipped = ends.count("failed after"), ends.count("skipped")
    failures = [line for line in lines if ISSUE.search(line)]
    if run is None:
        passed = ends.count("passed after")
        return Suite(name, passed, failed + 1, skipped, f"the runner ended with code {code} before its count", failures)
    if run[2] == "failed":
        failed = max(failed, 1)
    return settled(Suite(name, max(int(run[1]) - failed - skipped, 0), failed, skipped, failures=failures), code)


def cases_of(report):
    """The cases of a report of pytest, none if it can't be read."""
    try:
        return list(ElementTree.parse(report).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def folder_of(case):
    """The folder of a case's file: `BrowserTests` of `BrowserTests.test_search`. A file that can't be imported has only a name."""
    return (case.get("classname") or case.get("name", "")).partition(".")[0]


def pytest_suites(title, report, code, folders):
    """One for each folder of tests. Those in `folders` must have run tests."""
    cases = cases_of(report)
    if not cases:
        return [settled(Suite(title), code)]
    suites = {folder: Suite(TITLES.get(folder, folder)) for folder in folders}
    for case in cases:
        folder = folder_of(case)
        suite = suites.setdefault(folder, Suite(TITLES.get(folder, folder)))
        found = case.find("failure") if case.find("failure") is not None else case.find("error")
        if found is not None:
            suite.failed += 1
            suite.failures.append(f"{case.get('classname')}::{case.get('name')}: {found.get('message', '')}")
        elif case.find("skipped") is not None:
            suite.skipped += 1
        else:
            suite.passed += 1
    found = [settled(suite, 0) for suite in suites.values()]
    if code != 0 and not any(suite.failed for suite in found):
        found.append(settled(Suite(title), code))
    return found


# What a run, or a folder of tests, is called in the count
TITLES = {
    "format": "Format", "build": "Build", "swift": "Swift tests", "address": "Swift tests under AddressSanitizer",
    "thread": "Swift tests under ThreadSanitizer", "python": "Python tests", "BrowserTests": "Browser tests",
    "CaptureTests": "Capture tests", "FaultTests": "Fault tests", "PackagingTests": "Packaging tests",
}


def suites_of(name, results, folders):
    """The suites of one run: steps without a count appear only when they failed."""
    title, code = TITLES.get(name, name), int((results / f"{name}.code").read_text())
    log = results / f"{name}.log"
    if name in ("format", "build"):
        return [] if code == 0 else [Suite(title, failed=1, remark=f"see {log}")]
    if name in ("swift", "address", "thread"):
        return [swift_suite(title, log.read_text(errors="replace"), code)]
    return pytest_suites(title, results / f"{name}.xml", code, folders)


def span(seconds):
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def time_of(names, results):
    """How long each run took, and how the processes of pytest divided their time among the folders."""
    seconds = {name: int(file.read_text()) for name in names if (file := results / f"{name}.seconds").exists()}
    if not seconds:
        return ""
    line = f"Time: {span(sum(seconds.values()))}: " + ", ".join(f"{TITLES.get(name, name)} {span(used)}" for name, used in seconds.items())
    shares = Counter()
    for name in names:
        for case in cases_of(results / f"{name}.xml"):
            shares[folder_of(case)] += float(case.get("time", 0))
    if shares.total() > 0:
        parts = [f"{TITLES.get(folder, folder)} {share / shares.total():.0%}" for folder, share in shares.most_common()]
        line += f" ({', '.join(parts)})"
    return line


def main():
    results = Path(sys.argv[1])
    runs = {path.stem for path in results.glob("*.code")}
    names = [name for name in TITLES if name in runs] + sorted(runs - TITLES.keys())
    suites = [suite for name in names for suite in suites_of(name, results, sys.argv[2:])]
    print()
    # Here, too, since the end of a long output is what is kept of it.
    for suite in suites:
        for failure in suite.failures[:20]:
            print(f"{suite.name}: failed: {' '.join(failure.split())[:300]}")
    for suite in suites:
        print(suite)
    if line := time_of(names, results):
        print(line)
    failed = sum(suite.failed for suite in suites)
    print(counts(sum(suite.passed for suite in suites), failed, sum(suite.skipped for suite in suites)))
    sys.exit(1 if failed else 0)


main()
