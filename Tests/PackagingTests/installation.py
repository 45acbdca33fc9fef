"""Installations of replayhost, and the commands that test them."""

import os
import re
import subprocess
from pathlib import Path

from support.places import BINARY, CHECKOUT

SOURCE = (CHECKOUT / "Sources/ArchiveStore/ArchiveStore.swift").read_text(encoding="utf-8")
VERSION = re.search(r'static let version = "(\d+\.\d+\.\d+)"', SOURCE)[1]
CAPTURE_BINARY = BINARY.with_name("replayhost-capture")
SECONDS = 600


def run(*command, check=True, **options):
    """Runs a command, and checks its exit code."""
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, **options)
    if check:
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result


def install_from(script, *arguments, check=True, umask=0o077, **variables):
    """Runs an install script with a restrictive umask."""
    environment = {**os.environ, "REPLAYHOST_BINARY": str(BINARY), **{name: str(text) for name, text in variables.items()}}
    return run(script, *arguments, env=environment, umask=umask, check=check)


def files(folder):
    """The relative paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if not path.is_dir()}
