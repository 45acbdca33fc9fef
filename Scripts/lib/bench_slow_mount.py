"""Measures a linked archive on a file system that answers slowly. Called by `Scripts/bench 98-slow-mount` with an empty folder.

Links an archive of SIZE bytes (default: 4.5 GB) on a mount (`slow_mount.py`), then for 5, 20 and 100 ms a read (MILLISECONDS=),
each with a new server and an empty page cache: seconds, reads and bytes of opening the archive's page, a lookup, a page with 20
parts over six connections, the same again, and a search. Needs root, libfuse2 and fusepy.
"""

import concurrent.futures
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import serving
from writers import generated

SIZE = int(os.environ.get("SIZE", "4500000000"))
WAITS = [float(one) for one in os.environ.get("MILLISECONDS", "5 20 100").split()]


class Mount:
    def __init__(self, folder):
        self.source, self.path, self.control = folder / "source", folder / "mount", folder / "control"
        for path in (self.source, self.path, self.control):
            path.mkdir()
        (self.control / "reads").write_text("0 0")
        self.wait(0)

    def wait(self, milliseconds):
        (self.control / "milliseconds").write_text(str(milliseconds))

    def reads(self):
        return [int(word) for word in (self.control / "reads").read_text().split() or [0, 0]]

    @contextlib.contextmanager
    def mounted(self):
        process = subprocess.Popen([sys.executable, Path(__file__).with_name("slow_mount.py"), self.source, self.path, self.control])
        try:
            while not os.path.ismount(self.path):
                if process.poll() is not None:
                    raise SystemExit("the file system can't be mounted")
                time.sleep(0.05)
            yield
        finally:
            subprocess.run(["umount", "-l", self.path], check=True)
            process.wait(timeout=60)


def main():
    folder = Path(sys.argv[1])
    mount = Mount(folder)
    generated.write_large(str(mount.source / "large.wacz"), SIZE, 100_000)
    store = folder / "store"
    with mount.mounted():
        began = time.monotonic()
        subprocess.run([serving.BINARY, "import", "--link", "--quiet", "--store", store, mount.path / "large.wacz"], check=True)
        count, size = mount.reads()
        print(f"link: {time.monotonic() - began:.1f} s without a wait, {count} reads, {size / 1e6:.1f} MB", flush=True)
        serving.run_jobs(store)
        count, size = (now - before for now, before in zip(mount.reads(), (count, size)))
        print(f"hash, text and verification: {count} reads, {size / 1e6:.0f} MB", flush=True)
        middle = SIZE // 100_000 // 2
        urls = [f"{generated.LARGE_HOST}/data/{number:08}" for number in range(middle, middle + 21)]
        for wait in WAITS:
            mount.wait(wait)
            Path("/proc/sys/vm/drop_caches").write_text("1")
            with serving.serve(store) as (_, port):
                def measured(what, action):
                    before, began = mount.reads(), time.perf_counter()
                    action()
                    count, size = (now - then for now, then in zip(mount.reads(), before))
                    print(f"  {wait:g} ms a read: {what}: {time.perf_counter() - began:.2f} s, {count} reads, {size / 1e6:.1f} MB", flush=True)

                def expect(path):
                    status, _, body = serving.get(port, path)
                    assert status in (200, 302), (status, path, body[:200])

                def page():
                    with concurrent.futures.ThreadPoolExecutor(6) as pool:
                        list(pool.map(lambda url: expect(f"/c/large/20240101000000id_/{url}"), urls[1:]))

                measured("archive's page", lambda: (expect("/api/archives/large"), expect("/api/archives/large/pages?limit=100")))
                measured("lookup", lambda: expect(f"/c/large/cdx?url={urls[0]}&limit=1"))
                measured("page of 20 parts", page)
                measured("the same page again", page)
                measured("search", lambda: expect("/api/search?q=page&limit=20"))


if __name__ == "__main__":
    main()
