"""Fixtures: a store for fault injection, and temporary mounts."""

import subprocess

import pytest

from program import Store


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
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(place)], check=True)
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], capture_output=True)
