"""Ten hostile URLs of one user, and 20 ordinary ones of another, with 2 GB of memory: the ordinary ones are saved, and only processes of
hostile attempts are ended.
"""

import os
import shutil
import threading
import time
import zlib
from pathlib import Path

import pages
import pytest
import website
from page_hosts import make_host
from support.waiting import wait_until

MEMORY = 2 << 30
SECONDS = 1800
# A PDF that comes slowly is given up after 2 minutes; what has no end, at 1 GB.
LIMITS = "120,1800,21600,1000000000"
HOSTILE_PAGES = {
    "style": "<link rel=stylesheet href='/zeros?type=text/css'>",
    "data": "<script>fetch('/zeros').then(answer => answer.arrayBuffer()).then(data => { window.kept = data })</script>",
    "memory": "<script>addEventListener('load', () => { const kept = [];"
        "setInterval(() => kept.push(new Uint8Array(5e7).fill(1)), 20) })</script>",
    "elements": "<script>addEventListener('load', () => {"
        "for (let n = 0; n < 6e6; n++) document.body.append(document.createElement('p')) })</script>",
    "frames": "<script>for (let n = 0; n < 1000; n++) { const frame = document.createElement('iframe');"
        "frame.src = '/text/frame?' + n; document.body.append(frame) }</script>",
    "streams": "<script>for (let n = 0; n < 6; n++) new EventSource('/events?' + n)</script>",
    "endless": "<script>fetch('/endless').then(answer => answer.text())</script>",
}


class Site(pages.PageSite):
    def __init__(self):
        super().__init__()
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        zeros = bytes(1 << 20)
        # 10 GB in 10 MB
        data = b"".join(packer.compress(zeros) for _ in range(10_000)) + packer.flush()

        class Answer(self.server.RequestHandlerClass):
            def answer_zeros(self):
                self.send(data, self.query.get("type", "text/plain"), Content_Encoding="gzip")
        self.server.RequestHandlerClass = Answer


@pytest.fixture
def group():
    """A control group, of version 1 or 2, with this much memory."""
    controllers, path = next(
        line.strip().split(":")[1:] for line in Path("/proc/self/cgroup").read_text().splitlines() if ":memory:" in line or line.startswith("0::"))
    place = Path(f"/sys/fs/cgroup/{controllers}{path}/replayhost-test-{os.getpid()}")
    try:
        place.mkdir()
        (place / ("memory.limit_in_bytes" if controllers else "memory.max")).write_text(str(MEMORY))
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    yield place
    place.rmdir()


def kills(group):
    """How many processes the kernel ended."""
    text = next(path for name in ("memory.events", "memory.oom_control") if (path := group / name).exists()).read_text()
    return int(dict(line.split() for line in text.splitlines())["oom_kill"])


def test_one_user_stops_nobody(tmp_path, group):
    site, files = Site(), website.Website()
    host = make_host(tmp_path, "--attempt-limits", LIMITS)
    (host.tools.path / "sh").symlink_to(shutil.which("sh"))
    host.prefix = [shutil.which("sh"), "-c", f'[ "$2" = serve ] && echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    free = [shutil.disk_usage(tmp_path).free]
    is_over = threading.Event()

    def watch():
        while not is_over.wait(0.1):
            free.append(shutil.disk_usage(tmp_path).free)
    threading.Thread(target=watch, daemon=True).start()
    with host:
        server = host.process.pid
        page = {"options": {"mode": "page"}}
        hostile = {
            "slow PDF": host.add(files("/drip.pdf"), username="eve"), "endless PDF": host.add(files("/endless.pdf"), username="eve"),
            "document": host.add(site("/zeros?type=text/html"), username="eve", **page),
            **{name: host.add(site.make(name, f"<h1>Ebb</h1>{html}"), username="eve", **page) for name, html in HOSTILE_PAGES.items()},
        }
        started = time.monotonic()
        ordinary = {host.add(files(f"/guide.pdf?n={number}"), username="ana"): None for number in range(20)}

        def are_done():
            for identifier, row in ordinary.items():
                if row is None and (now := host.status(identifier))["status"] in ("completed", "failed"):
                    ordinary[identifier] = (now["state"], round(time.monotonic() - started, 1))
            return all(ordinary.values())
        wait_until(are_done, "the ordinary URLs are saved", SECONDS)
        print("\nordinary, seconds:", sorted(seconds for _, seconds in ordinary.values()))
        for name, identifier in hostile.items():
            row = host.wait_for(identifier, condition=lambda row: row["status"] in ("completed", "failed"))
            print(f"{name}: {row['state']}, {row['error_code']}, {row['incomplete']}")
            assert row["state"] == "completed" or row["error_code"] in ("too_slow", "too_large"), row
            assert row["attempt"] == 1, row
        assert {state for state, _ in ordinary.values()} == {"completed"}
        assert host.status(hostile["memory"])["incomplete"].endswith("MB of memory.")
        is_over.set()
        print(f"server: {host.memory() // 10**6} MB; disk at the peak: {(free[0] - min(free)) // 10**6} MB; ended by the kernel: {kills(group)}")
        assert kills(group) == 0 and host.process.pid == server and host.process.poll() is None
        assert host.memory() < 400_000_000
    wait_until(lambda: not (group / "cgroup.procs").read_text(), "nothing runs", 120)
    files.close()
    site.close()
