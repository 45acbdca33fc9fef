"""Fixtures: an installation of replayhost that every user can read."""

import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from installation import CAPTURE_BINARY, install_from, run
from support.places import BINARY, CHECKOUT


@pytest.fixture(scope="session")
def public_folder():
    """A folder that every user can access, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="replayhost-packaging-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def staged(public_folder):
    """What `make install` installs, with the script that it runs then."""
    run(CHECKOUT / "Scripts" / "lib" / "stage.sh", BINARY, public_folder / "staged", CAPTURE_BINARY)
    return public_folder / "staged" / "install.sh"


@pytest.fixture
def install(staged):
    return partial(install_from, staged)


@pytest.fixture(scope="session")
def prefix(public_folder, staged):
    """An installation with its caches, as from `make install`."""
    place = public_folder / "prefix"
    install_from(staged, PREFIX=place)
    return place
