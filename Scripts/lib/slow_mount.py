"""A read-only file system that answers slowly, for `bench_slow_mount.py`: slow_mount.py SOURCE MOUNTPOINT CONTROL.

The folder CONTROL has the file `milliseconds`, which each read waits, and gets the file `reads`: their number and bytes. Needs
fusepy and libfuse2.
"""

import os
import sys
import threading
import time
from pathlib import Path

from fuse import FUSE, FuseOSError, Operations


class SlowFiles(Operations):
    def __init__(self, source, control):
        self.source, self.control = source, Path(control)
        self.counting = threading.Lock()
        self.count = self.bytes = 0

    def path(self, name):
        return os.path.join(self.source, name.lstrip("/"))

    def getattr(self, path, fh=None):
        try:
            status = os.lstat(self.path(path))
        except OSError as error:
            raise FuseOSError(error.errno) from error
        return {name: getattr(status, name) for name in ("st_mode", "st_size", "st_mtime", "st_ctime", "st_nlink", "st_uid", "st_gid")}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.path(path))]

    def open(self, path, flags):
        return os.open(self.path(path), os.O_RDONLY)

    def release(self, path, fh):
        os.close(fh)
        return 0

    def read(self, path, size, offset, fh):
        time.sleep(float((self.control / "milliseconds").read_text()) / 1000)
        data = os.pread(fh, size, offset)
        with self.counting:
            self.count += 1
            self.bytes += len(data)
            (self.control / "reads").write_text(f"{self.count} {self.bytes}")
        return data


if __name__ == "__main__":
    FUSE(SlowFiles(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, ro=True)
