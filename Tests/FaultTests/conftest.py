"""Fixtures: a store that faults are put under, and places that are mounted for a test."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.register_assert_rewrite("program")

from program import Store


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The library that stands for a disk that fails."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).parent / "fault-shim.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def store(tmp_path, shim):
    return Store(tmp_path / "store", tmp_path, shim)


@pytest.fixture
def mounted(tmp_path):
    """Mounts a file system of so many MB at a folder; what a test mounted is unmounted after it."""
    places = []

    def mount(megabytes, name="volume"):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(place)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
            pytest.skip("this user may not mount file systems")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], capture_output=True)
