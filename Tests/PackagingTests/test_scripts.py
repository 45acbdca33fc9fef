"""The imports and the lists of parts of scripts that `make test` runs only in part, or not at all."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from support.places import CHECKOUT

SCRIPTS = sorted((CHECKOUT / "Scripts" / "lib").glob("*.py"))
REPORT = CHECKOUT / "Scripts" / "lib" / "bench_report.py"
COUNT = CHECKOUT / "Scripts" / "lib" / "count-tests.py"
OWN = {script.stem for script in SCRIPTS} | {"writers"}


def own_imports(script):
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and node.names[0].name.partition(".")[0] in OWN:
            yield ast.unparse(node)
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in OWN:
            yield ast.unparse(node)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_imports_are_found(script):
    parts = script.parent / "parts.sh"
    found = subprocess.run(
        ["bash", "-c", '. "$1" && cd "$(dirname "$1")" && exec "$2" -c "$3"', "soak", parts, sys.executable,
         "\n".join(own_imports(script))],
        cwd=CHECKOUT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("tool", ["soak", "bench"])
def test_parts_are_listed_without_running_anything(tmp_path, tool):
    """The lists are in double quotes, so backquotes in them would run commands."""
    make = tmp_path / "make"
    make.write_text(f"#!/bin/sh\necho ran >>{tmp_path}/ran\n")
    make.chmod(0o755)
    listed = subprocess.run(
        [CHECKOUT / "Scripts" / tool, "--list"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True, text=True)
    assert listed.returncode == 0 and not (tmp_path / "ran").exists(), listed.stderr
    head, *parts = listed.stdout.splitlines()
    assert head.split() == ["name", "disk", "GB", "time", "min", "what"]
    assert parts and all(re.fullmatch(r"  [a-z0-9-]+ +\d+ GB +\d+ min  .+", part) for part in parts), parts


CASE = '<testcase classname="{}.b" name="c" time="{}">{}</testcase>'
FAILURE = '<failure message="it\nbroke"/>'


def count(folder, name, code, *cases, folders=()):
    """Counts a run of pytest, of which these folders must have run. Returns the lines, and the exit code."""
    (folder / f"{name}.code").write_text(str(code))
    (folder / f"{name}.log").write_text("")
    (folder / f"{name}.seconds").write_text("75")
    (folder / f"{name}.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    counted = subprocess.run([sys.executable, COUNT, folder, *folders], capture_output=True, text=True)
    return counted.stdout.splitlines(), counted.returncode


@pytest.mark.parametrize("name", ["python", "a-new-run"])
@pytest.mark.parametrize("failures, code", [(0, 0), (1, 1)])
def test_every_run_is_counted(tmp_path, name, failures, code):
    """Also a run whose name the count doesn't know."""
    cases = [CASE.format("a", 1, FAILURE if failures else ""), CASE.format("a", 1, ""), CASE.format("a", 1, "<skipped/>")]
    lines, ended = count(tmp_path, name, code, *cases)
    assert lines[-1] == f"{2 - failures} passed, {failures} failed, 1 skipped"
    assert lines.count("a: failed: a.b::c: it broke") == failures
    assert ended == code


def test_folders_are_counted_and_their_shares_of_the_time(tmp_path):
    lines, _ = count(tmp_path, "python", 0, CASE.format("BrowserTests", 30, ""), CASE.format("FaultTests", 10, ""))
    assert lines[-4:] == [
        "Browser tests: 1 passed, 0 failed", "Fault tests: 1 passed, 0 failed",
        "Time: 1 min 15 s: Python tests 1 min 15 s (Browser tests 75%, Fault tests 25%)", "2 passed, 0 failed"]


@pytest.mark.parametrize("code", [0, 3])
def test_run_without_a_test_is_a_failure(tmp_path, code):
    lines, ended = count(tmp_path, "python", code, folders=["BrowserTests", "FaultTests"])
    assert (lines[-1], ended) == ("0 passed, 1 failed", 1)
    assert ("no test ran" in lines[1]) == (code == 0), "a run that was ended may have run tests"


@pytest.mark.parametrize("cases", [[], [CASE.format("FaultTests", 1, "<skipped/>")]])
def test_folder_of_which_no_test_ran_is_a_failure(tmp_path, cases):
    lines, ended = count(tmp_path, "python", 0, CASE.format("BrowserTests", 1, ""), *cases, folders=["BrowserTests", "FaultTests"])
    assert "1 failed" in next(line for line in lines if line.startswith("Fault tests:")) and ended == 1
    assert lines[-1].startswith("1 passed, 1 failed")


def test_file_that_cannot_be_imported_is_a_failure_of_its_folder(tmp_path):
    lines, ended = count(tmp_path, "python", 2, f'<testcase classname="" name="BrowserTests.test_x" time="0.000">{FAILURE}</testcase>')
    assert (lines[-1], ended) == ("0 passed, 1 failed", 1)
    assert "Browser tests: 0 passed, 1 failed" in lines


def test_test_that_ends_its_process_fails_once(tmp_path):
    """The next process runs the tests after it. The files that were complete by then are not in its way."""
    (tmp_path / "conftest.py").write_text(f"exec(open({str(CHECKOUT / 'Tests/conftest.py')!r}).read())")
    for name in "abcd":
        (tmp_path / f"test_{name}.py").write_text("def test_one(): pass\n")
    (tmp_path / "test_e.py").write_text("import os\ndef test_one(): pass\ndef test_two(): os._exit(1)\ndef test_three(): pass\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "--no-loadscope-reorder",
         "-o", f"pythonpath={CHECKOUT}/Tests/BrowserTests {CHECKOUT}/Fixtures", tmp_path],
        cwd=tmp_path, env={**os.environ, "PYTEST_XDIST_WORKER": "gw0"}, capture_output=True, text=True, timeout=600)
    assert "1 failed, 6 passed" in run.stdout, run.stdout + run.stderr


def test_run_that_fails_without_a_failed_test_is_a_failure(tmp_path):
    lines, ended = count(tmp_path, "python", 3, CASE.format("BrowserTests", 1, ""))
    assert (lines[-1], ended) == ("1 passed, 1 failed", 1)


def test_failed_swift_tests_are_named(tmp_path):
    (tmp_path / "swift.code").write_text("1")
    (tmp_path / "swift.log").write_text("""\
✘ Test "A title" recorded an issue at Some.swift:12:5: Expectation failed: (a → 1) == (b → 2)
✘ Test "A title" failed after 0.1 seconds with 1 issue.
✔ Test other() passed after 0.1 seconds.
✘ Test run with 2 tests in 1 suite failed after 0.2 seconds with 1 issue.
""", encoding="utf-8")
    counted = subprocess.run([sys.executable, COUNT, tmp_path], capture_output=True, text=True)
    assert '"A title" recorded an issue at Some.swift:12:5: Expectation failed' in counted.stdout
    assert counted.stdout.splitlines()[-1] == "1 passed, 1 failed"


def test_results_of_benchmarks_replace_those_in_the_page(tmp_path):
    result, results, page = tmp_path / "quick.json", tmp_path / "results", tmp_path / "page.md"
    results.mkdir()
    result.write_text(json.dumps({
        "part": "quick", "date": "2026-01-02T03:04:05", "commit": "0123456789abcdef", "lines": [], "skipped": ["kiwix-serve"],
        "machine": {"processors": 2, "model": "a model", "memory GB": 24.1}, "before": {"load": [0.5, 0, 0], "share": 0.99}}))
    # The ratios of the rounds are 3, 1/4 and 4, that of the medians is 2.
    runs = {"replayhost": [{"requests/s": rate} for rate in (300, 100, 200)], "nginx": [{"requests/s": rate} for rate in (100, 400, 50)]}
    added = subprocess.run(
        [sys.executable, "-c", f"import bench_report; bench_report.add('ranges', '4 KiB', {runs})"],
        cwd=REPORT.parent, env={"BENCH_RESULT": str(result)}, capture_output=True, text=True)
    assert added.returncode == 0, added.stderr
    found = json.loads(result.read_text())
    (results / "quick.json").write_text(json.dumps(found | {"after": {"load": [3, 0, 0], "share": 0.5}}))
    page.write_text("before\n<!-- results of make bench -->\nold\n<!-- end of the results -->\nafter\n")
    subprocess.run([sys.executable, REPORT, "docs", results, page], check=True)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith("-->\nafter\n") and "old" not in text
    assert "| ranges | replayhost | nginx |" in text and "| 4 KiB: requests/s | 200 | 100 (3) |" in text
    assert "**busy**" in text and "a busy loop got 50%" in text and "skipped: kiwix-serve" in text
