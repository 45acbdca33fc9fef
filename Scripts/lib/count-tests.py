"""Counts what Scripts/test or Scripts/sanitize ran: failed tests, one line for each suite, then the sum. Exits 1 unless all is well.

The argument is the folder of results: NAME.code and NAME.log of each runner, NAME.xml of pytest.
"""

import re
import sys
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


def pytest_suite(name, report, code):
    suite = Suite(name)
    try:
        parts = list(ElementTree.parse(report).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        parts = []
    for part in parts:
        suite.failed += int(part.get("failures", 0)) + int(part.get("errors", 0))
        suite.skipped += int(part.get("skipped", 0))
        suite.passed += int(part.get("tests", 0))
        for case in part.iter("testcase"):
            found = case.find("failure") if case.find("failure") is not None else case.find("error")
            if found is not None:
                suite.failures.append(f"{case.get('classname')}::{case.get('name')}: {found.get('message', '')}")
    suite.passed -= suite.failed + suite.skipped
    return settled(suite, code)


# What a run is called in the count. A run that isn't here is counted under its own name.
TITLES = {
    "format": "Format", "build": "Build", "swift": "Swift tests", "address": "Swift tests under AddressSanitizer",
    "thread": "Swift tests under ThreadSanitizer", "faults": "Fault tests", "packaging": "Packaging tests",
    "capture": "Capture tests", "browser": "Browser tests",
    "browser-isolation-ports": "Isolation tests in origin mode ports",
}


def suites_of(name, results):
    """The suites of one run: steps without a count appear only when they failed."""
    title, code = TITLES.get(name, name), int((results / f"{name}.code").read_text())
    log = results / f"{name}.log"
    if name in ("format", "build"):
        return [] if code == 0 else [Suite(title, failed=1, remark=f"see {log}")]
    if name in ("swift", "address", "thread"):
        return [swift_suite(title, log.read_text(errors="replace"), code)]
    return [pytest_suite(title, results / f"{name}.xml", code)]


def main():
    results = Path(sys.argv[1])
    runs = {path.stem for path in results.glob("*.code")}
    names = [name for name in TITLES if name in runs] + sorted(runs - TITLES.keys())
    suites = [suite for name in names for suite in suites_of(name, results)]
    print()
    # Here, too, since the end of a long output is what is kept of it.
    for suite in suites:
        for failure in suite.failures[:20]:
            print(f"{suite.name}: failed: {' '.join(failure.split())[:300]}")
    for suite in suites:
        print(suite)
    failed = sum(suite.failed for suite in suites)
    print(counts(sum(suite.passed for suite in suites), failed, sum(suite.skipped for suite in suites)))
    sys.exit(1 if failed else 0)


main()
