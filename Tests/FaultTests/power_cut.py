"""Simulates a power cut: only what was flushed to disk is left of a folder.

`fault-shim.c` keeps what `fsync` and `fdatasync` flush: the contents of a file, and the names in a folder. A new or renamed file whose folder
wasn't flushed is lost, or has its old name. One that was never flushed itself is empty. That is the least that POSIX promises; most file
systems keep more.
"""

import os
import shutil
import stat
import subprocess
from pathlib import Path


class Disk:
    """What a power cut would leave of a folder."""

    def __init__(self, root, shim):
        self.root, self.kept = Path(os.path.realpath(root)), Path(f"{os.path.realpath(root)}.disk")
        self.environment = {"LD_PRELOAD": str(shim), "DISK_OF": str(self.root)}

    def flush(self):
        """Flushes everything. What is changed later must be flushed by processes with this environment."""
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir()
        subprocess.run(["find", self.root, "(", "-type", "f", "-o", "-type", "d", ")", "-exec", "sync", "{}", "+"],
            env={**os.environ, **self.environment}, check=True)

    def cut(self, *parts):
        """Replaces the folder, or only these folders in it, by what a power cut leaves. All processes that use it have ended."""
        left = Path(f"{self.root}.left")
        self.left_of((self.kept / "root").read_text(), left, {}, parts)
        for part in parts or [""]:
            shutil.rmtree(self.root / part, ignore_errors=True)
            if (left / part).exists():
                os.rename(left / part, self.root / part)
        shutil.rmtree(left, ignore_errors=True)

    def left_of(self, key, folder, placed, parts=()):
        folder.mkdir()
        entries = (self.kept / key).read_bytes().split(b"\0")[:-1] if (self.kept / key).exists() else []
        for entry in entries:
            own, mode, name = os.fsdecode(entry).split(" ", 2)
            mode, path = int(mode, 8), folder / name
            if parts and name not in parts:
                continue
            if stat.S_ISDIR(mode):
                self.left_of(own, path, placed)
            elif own in placed:
                os.link(placed[own], path)
                continue
            elif (self.kept / own).exists():
                shutil.copy2(self.kept / own, path)
            elif stat.S_ISREG(mode):
                path.touch()
            else:
                continue
            placed[own] = path
            os.chmod(path, stat.S_IMODE(mode))
