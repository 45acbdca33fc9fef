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


@pytest.mark.parametrize("name", ["browser", "a-new-run"])
@pytest.mark.parametrize("failures, code", [(0, 0), (1, 1)])
def test_every_run_is_counted(tmp_path, name, failures, code):
    """Also a run whose name the count doesn't know."""
    (tmp_path / f"{name}.code").write_text(str(code))
    (tmp_path / f"{name}.log").write_text("")
    case = '<testcase classname="a.b" name="c"><failure message="it\nbroke"/></testcase>' * failures
    (tmp_path / f"{name}.xml").write_text(
        f'<testsuites><testsuite tests="3" failures="{failures}" errors="0" skipped="1">{case}</testsuite></testsuites>')
    counted = subprocess.run([sys.executable, COUNT, tmp_path], capture_output=True, text=True)
    assert counted.stdout.splitlines()[-1] == f"{2 - failures} passed, {failures} failed, 1 skipped"
    assert counted.stdout.count("failed: a.b::c: it broke\n") == failures
    assert counted.returncode == code


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
