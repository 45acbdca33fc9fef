"""Kills the capture server, or a worker, at random instants and between any two steps of the hand-over; and cuts the power there.

Each URL that was accepted is exactly one row, one archive and one file, with the right content, and nothing is left over. KILLS= and SEED=
change the number of kills and the seed. The same seed repeats the same kills after the same delays.
"""

import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import media_content
import pytest
from capture_host import FAST_RETRIES, CaptureHost, end
from fake_tools import FakeTools
from power_cut import Disk
from support.places import CHECKOUT
from support.waiting import wait_until
from website import LARGE_PDF

KILLS = int(os.environ.get("KILLS", "10"))
SEED = os.environ.get("SEED", "20261125")
# 100 downloads an hour are accepted.
POSTS_MAX = 90
# A worker that dies three times is given up, so none is killed more often.
WORKER_KILLS_MAX = 2


class Client:
    """Shares URLs, each until it is accepted, as our own clients do: with a key of its own."""

    def __init__(self, host):
        self.host = host
        # Key -> URL, and key -> id for those that were accepted
        self.urls, self.accepted = {}, {}

    def share(self, url):
        key = f"key-{len(self.urls)}"
        self.urls[key] = url
        self.send(key)
        return key

    def send(self, key):
        try:
            status, answer = self.host.post(self.urls[key], key=key, username="ana")
        except (OSError, http.client.HTTPException):
            return  # The server was killed meanwhile.
        assert status == 201, answer
        assert self.accepted.setdefault(key, answer["download_id"]) == answer["download_id"]

    def send_all(self):
        for key in self.urls:
            self.send(key)


def expected_content(url):
    return LARGE_PDF if "/slow.pdf" in url else media_content.of(url)


def expect_all_once(host, client):
    """Waits until all is done, and compares it with what was accepted."""
    ids = {client.accepted[key]: url for key, url in client.urls.items()}
    assert len(ids) == len(client.urls), "one row for each key"
    for identifier in ids:
        host.wait_for(identifier, "completed")
    rows = host.rows()
    assert {row["download_id"]: row["url"] for row in rows} == ids and len(rows) == len(ids)
    host.expect_completed_once(rows)
    for row in rows:
        assert host.file(row).read_bytes() == expected_content(row["url"]), row["url"]
    host.expect_no_leftovers()


def kill_worker(host, kind, killed):
    """Kills the worker of the running download, alone or with its tools. Returns whether there was one."""
    running = [row["download_id"] for row in host.history(status="downloading")]
    if not running or killed.get(running[0], 0) >= WORKER_KILLS_MAX:
        return False
    found = host.processes()
    workers = [pid for pid, command in found.items() if re.search(r"capture work\b", command)]
    if not workers:
        return False
    killed[running[0]] = killed.get(running[0], 0) + 1
    if kind == "worker":
        return end(workers[0])
    try:
        os.killpg(os.getpgid(workers[0]), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def test_whatever_the_instant_nothing_is_lost(tmp_path, website):
    seed = random.SystemRandom().randrange(1 << 30) if SEED == "random" else int(SEED)
    chance, killed, outcomes = random.Random(seed), {}, []
    print(f"SEED={seed} KILLS={KILLS}", flush=True)
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES)
    client = Client(host)
    with host:
        for number in range(KILLS):
            url = website(f"/slow.pdf?seconds=0.6&n={number}") if number % 4 == 3 else website.fake(
                "slow", seconds=round(chance.uniform(0, 1.2), 1), n=number, title=f"Film {number}")
            # The kill may come before the answer.
            sender = None
            if len(client.urls) < POSTS_MAX:
                sender = threading.Thread(target=client.share, args=[url])
                sender.start()
            kind = chance.choice(["server", "server", "server", "worker", "group"])
            time.sleep(chance.choice([chance.uniform(0, 0.05), chance.uniform(0, 1.5), chance.uniform(0.5, 2.5)]))
            # Each round has a kill.
            if kind == "server" or not kill_worker(host, kind, killed):
                kind = "server"
                host.kill_9()
            outcomes.append(kind)
            if sender:
                sender.join()
            if kind == "server":
                # What the server started ends with it.
                host.expect_no_processes()
                host.start()
                client.send_all()
        client.send_all()
        print({outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}, flush=True)
        expect_all_once(host, client)
        # The parts of a killed tool are used again.
        print(f"resumed: {len(host.tools.calls(what='resumed'))}", flush=True)


def test_server_that_make_capture_runs_starts_again(tmp_path, website):
    """After a kill, but not when it's told to stop."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES)
    for name in ("bash", "sleep"):
        (host.tools.path / name).symlink_to(shutil.which(name))
    # Finds a port.
    with host:
        pass
    host.prefix = [CHECKOUT / "Scripts" / "lib" / "keep-running"]
    gate = tmp_path / "gate"
    with host:
        identifier = host.add(website.fake("held", gate=gate))
        host.wait_for(identifier, "downloading")
        first = running_server(host)
        os.kill(first, signal.SIGKILL)
        gate.touch()
        wait_until(lambda: running_server(host) not in (None, first), "another server runs")
        wait_until(lambda: is_answering(host), "it answers")
        host.wait_for(identifier, "completed")
        host.expect_completed_once(host.rows())
        last = running_server(host)
        assert host.stop() == 0
    wait_until(lambda: not os.path.exists(f"/proc/{last}"), "no server runs")
    assert "ended by signal 9" in host.log.read_text()


def running_server(host):
    """Its process, as the store says; `None` if it doesn't run."""
    try:
        pid = json.loads((host.capture / "capture.json").read_text(encoding="utf-8"))["pid"]
        return pid if os.path.exists(f"/proc/{pid}") else None
    except (OSError, ValueError):
        return None


def is_answering(host):
    try:
        return host.call("GET", "/health")[0] == 200
    except OSError:
        return False


STEPS = ["result", "imported", "filed", "completed", "swept"]


@pytest.mark.parametrize("step", STEPS)
def test_hand_over_continues_after_each_step(tmp_path, website, step):
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES)
    client = Client(host)
    try:
        host.start(REPLAYHOST_CAPTURE_CRASH_AFTER=step)
        client.share(website.fake("ok", title=f"After {step}"))
        assert host.wait_for_crash() == 9
        host.expect_no_processes()
        calls = len(host.tools.calls(what="finished"))
        host.start()
        expect_all_once(host, client)
        # Nothing is downloaded again.
        assert len(host.tools.calls(what="finished")) == calls == 1
    finally:
        host.stop()


@pytest.mark.parametrize("step", ["accepted", *STEPS, "reported"])
def test_nothing_is_lost_in_a_power_cut(tmp_path, shim, website, step):
    """Only what was flushed to disk is left. What was accepted is downloaded, and what was reported as completed isn't downloaded again."""
    host = CaptureHost(tmp_path / "host", FakeTools(tmp_path / "tools"), *FAST_RETRIES)
    client, disk = Client(host), Disk(host.folder, shim)
    try:
        # The folders of a new server aren't part of the test.
        host.start()
        host.stop()
        disk.flush()
        host.start(**disk.environment, **({"REPLAYHOST_CAPTURE_CRASH_AFTER": step} if step in STEPS else {}))
        key = client.share(website.fake("slow" if step == "accepted" else "ok", seconds=1, title=f"After {step}"))
        if step in STEPS:
            assert host.wait_for_crash() == 9
        else:
            if step == "reported":
                host.wait_for(client.accepted[key], "completed")
            host.kill_9()
        host.expect_no_processes()
        calls = len(host.tools.calls(what="finished"))
        disk.cut("store", "Downloads")
        host.start()
        assert step != "reported" or host.status(client.accepted[key])["state"] == "completed"
        expect_all_once(host, client)
        assert step in ("accepted", "result") or len(host.tools.calls(what="finished")) == calls == 1
    finally:
        host.stop()


@pytest.mark.parametrize("lost", ["/Downloads", "/capture/"])
def test_control_a_disk_that_loses_what_was_flushed_is_noticed(tmp_path, shim, website, monkeypatch, lost):
    monkeypatch.setenv("DISK_LOSES", lost)
    with pytest.raises(AssertionError):
        test_nothing_is_lost_in_a_power_cut(tmp_path, shim, website, "reported")


def test_accepted_is_on_disk(tmp_path, website):
    """Killed as soon as the last of 16 clients has its answer."""
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES) as host:
        accepted = {}

        def share(number):
            status, answer = host.post(website.fake("ok", n=number))
            if status == 201:
                accepted[answer["download_id"]] = number
        threads = [threading.Thread(target=share, args=[number]) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        host.kill_9()
        assert len(accepted) == 16
        host.start()
        rows = host.rows()
        assert {row["download_id"] for row in rows} == set(accepted) and len(rows) == 16
        for row in rows:
            host.cancel(row["download_id"])
    host.expect_no_processes()


def test_ordinary_stop_ends_the_tools_and_continues_later(tmp_path, website):
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES)
    client = Client(host)
    with host:
        client.share(website.fake("slow", seconds=2, title="Stopped"))
        wait_until(lambda: host.processes(), "a worker runs", 120)
        host.stop()
        assert host.processes() == {}
        assert not (host.capture / "capture.json").exists()
        host.start()
        expect_all_once(host, client)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 400 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "none", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], capture_output=True)


def fill(place, leave=0):
    """Fills a file system but for some bytes."""
    path = place / "fill"
    with open(path, "ab") as file:
        free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
        os.posix_fallocate(file.fileno(), 0, max(1, file.tell() + free - leave))
    return path


@pytest.mark.parametrize("leave", [8 << 20, 0], ids=["8-MB-left", "full"])
def test_full_disk_loses_nothing(tmp_path, small_disk, website, leave):
    """What is accepted waits for space. What can't be written isn't accepted."""
    tools = FakeTools(tmp_path / "tools")
    host = CaptureHost(tmp_path, tools, *FAST_RETRIES, store=small_disk / "store", downloads=small_disk / "Downloads")
    client = Client(host)
    with host:
        client.share(website.fake("ok", n="before"))
        host.wait_for(client.accepted["key-0"], "completed")
        filled = fill(small_disk, leave)
        for number in range(5):
            key = f"key-{len(client.urls)}"
            url = website.fake("ok", n=f"full-{number}")
            status, answer = host.post(url, key=key, username="ana")
            assert status == 201 or (status, answer["error"]) == (507, "disk_full") and leave == 0, answer
            if status == 201:
                client.urls[key], client.accepted[key] = url, answer["download_id"]
        waiting = [identifier for key, identifier in client.accepted.items() if key != "key-0"]
        for identifier in waiting:
            host.wait_for(identifier, condition=lambda row: row["waiting_for"] == "disk")
        host.kill_9()
        host.start()
        assert {row["download_id"] for row in host.rows()} == set(client.accepted.values())
        filled.unlink()
        expect_all_once(host, client)


def test_download_that_fills_the_disk_is_given_up(tmp_path, small_disk, website):
    """Its parts are deleted, and others go on."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES, store=small_disk / "store", downloads=small_disk / "Downloads")
    with host:
        filler, other = host.add(website.fake("fills"), username="eve"), host.add(website.fake("ok"), username="ana")
        row = host.wait_for(filler, "failed")
        assert (row["error_code"], row["attempt"], row["archive"]) == ("too_large", 1, None), row
        host.wait_for(other, "completed")
        host.expect_no_leftovers()
