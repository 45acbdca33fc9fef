"""Fixtures: an installation of replayhost that every user can read."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.places import BINARY, CHECKOUT

SECONDS = 120


def run(*command, check=True, **options):
    """Runs a command, and checks its exit code."""
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, **options)
    if check:
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result


def install(*arguments, script=CHECKOUT / "Scripts" / "install", check=True, umask=0o077, **variables):
    """Runs the install script with a restrictive umask."""
    environment = {**os.environ, "REPLAYHOST_BINARY": str(BINARY), **{name: str(text) for name, text in variables.items()}}
    return run(script, *arguments, env=environment, umask=umask, check=check)


def files(folder):
    """The relative paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if not path.is_dir()}


@pytest.fixture(scope="session")
def public_folder():
    """A folder that every user can access, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="replayhost-packaging-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def prefix(public_folder):
    """An installation with its caches, as from `make install`."""
    place = public_folder / "prefix"
    install(PREFIX=place)
    return place
