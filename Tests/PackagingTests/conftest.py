"""Fixtures: replayhost installed where every user of this computer may read it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.places import BINARY, CHECKOUT

SECONDS = 120


def run(*command, check=True, **options):
    """Runs a command to its end; what it said is in the failure."""
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, **options)
    if check:
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result


def install(*arguments, script=CHECKOUT / "Scripts" / "install", check=True, umask=0o077, **variables):
    """Runs the script as somebody whose new files are for nobody else."""
    environment = {**os.environ, "REPLAYHOST_BINARY": str(BINARY), **{name: str(text) for name, text in variables.items()}}
    return run(script, *arguments, env=environment, umask=umask, check=check)


def files(folder):
    """Everything below a folder that is no folder itself, as relative paths."""
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if not path.is_dir()}


@pytest.fixture(scope="session")
def public_folder():
    """A folder that every user can get to, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="replayhost-packaging-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def prefix(public_folder):
    """An installation, caches included, as `make install` makes it."""
    place = public_folder / "prefix"
    install(PREFIX=place)
    return place
