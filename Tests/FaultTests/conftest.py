"""Fixtures: a store for fault injection, and temporary mounts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.register_assert_rewrite("imported", "program")

from program import Store


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The library that simulates a failing disk."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).parent / "fault-shim.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def store(tmp_path, shim):
    return Store(tmp_path / "store", tmp_path, shim)


@pytest.fixture
def mounted(tmp_path):
    """Mounts file systems of a given size in MB, and unmounts them after the test."""
    places = []

    def mount(megabytes, name="volume"):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(place)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
            pytest.skip("this user can't mount file systems")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], capture_output=True)
