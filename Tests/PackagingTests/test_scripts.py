"""The imports of scripts that `make test` doesn't run."""

import ast
import subprocess
import sys

import pytest

from support.places import CHECKOUT

SCRIPTS = sorted((CHECKOUT / "Scripts" / "lib").glob("*.py"))
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


@pytest.mark.parametrize("name", ["browser", "a-new-run"])
@pytest.mark.parametrize("failures, code", [(0, 0), (1, 1)])
def test_every_run_is_counted(tmp_path, name, failures, code):
    """Also a run whose name the count doesn't know."""
    (tmp_path / f"{name}.code").write_text(str(code))
    (tmp_path / f"{name}.log").write_text("")
    (tmp_path / f"{name}.xml").write_text(
        f'<testsuites><testsuite tests="3" failures="{failures}" errors="0" skipped="1"/></testsuites>')
    script = next(script for script in SCRIPTS if script.name == "count-tests.py")
    counted = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert counted.stdout.splitlines()[-1] == f"{2 - failures} passed, {failures} failed, 1 skipped"
    assert counted.returncode == code
