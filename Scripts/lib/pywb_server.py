"""Runs pywb for comparisons. `PYWB` is the folder of its programs: `bin` of a venv with pywb 2.10.0."""

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import serving

PROGRAMS = Path(os.environ.get("PYWB", ".venv/bin"))


def manager(folder, *arguments):
    subprocess.run(
        [PROGRAMS / "wb-manager", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def add(folder, name, path):
    """Creates a pywb collection from the WARCs of a WACZ."""
    manager(folder, "init", name)
    manager(folder, "add", "--unpack-wacz", name, str(Path(path).resolve()))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serve(folder):
    """Runs pywb with the collections of a folder; yields its process and port."""
    port = free_port()
    process = subprocess.Popen(
        [PROGRAMS / "wayback", "-b", "127.0.0.1", "-p", str(port)], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                serving.get(port, "/")
                break
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        process.wait(timeout=30)
