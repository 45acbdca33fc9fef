"""What `replayhost-share` keeps: kills between any two steps, full and read-only disks, damaged files."""

import contextlib
import json
import os
import random
import socket
import subprocess
import threading

import pytest
from capture_host import SECONDS, make_server
from share_device import SHARE_BINARY, Device, payload
from support.waiting import wait_until

ROUNDS = 50 if os.environ.get("CASES") == "all" else 6
ENOSPC, EROFS = 28, 30


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    with make_server(tmp_path_factory.mktemp("queue")) as host:
        yield host


@pytest.fixture
def device(capture, tmp_path):
    if not capture.process:
        capture.start()
    return Device(tmp_path / "device").connect(capture)


def calls(device, shim, tmp_path, *arguments):
    """How many calls that change the file system a command makes."""
    counted = tmp_path / "count"
    device.run(*arguments, environment={"LD_PRELOAD": str(shim), "KILL_COUNT": str(counted)})
    return int(counted.read_text())


def killed_together(device, shim, chance, most, *commands):
    """Runs commands at once, each of which is killed before a call. Returns the codes and outputs."""
    processes = [
        device.start(*command, environment={"LD_PRELOAD": str(shim), "KILL_AT": str(chance.randint(1, most))}) for command in commands]
    return [(process.communicate(timeout=SECONDS)[0], process.returncode) for process in processes]


def test_kills_lose_nothing_and_double_nothing(capture, device, shim, tmp_path):
    """Two processes at once share while the server is stopped, and send when it runs again. Each is killed between any two steps."""
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"SEED={seed}")
    chance, kept, kills = random.Random(seed), set(), 0
    capture.stop()
    most = calls(device, shim, tmp_path, "https://kept.example/first")
    for number in range(ROUNDS):
        urls = [f"https://kept.example/{number}/{process}" for process in range(2)]
        for url, (output, code) in zip(urls, killed_together(device, shim, chance, most, *([url] for url in urls))):
            kills += code == -9
            kept |= {url} if "kept for later" in output else set()
    capture.start()
    for _ in range(ROUNDS):
        kills += sum(code == -9 for _, code in killed_together(device, shim, chance, most * 2, ["retry"], ["retry"]))
    device.expect(0, "retry")
    assert kills >= ROUNDS, kills
    shared = [share["url"] for share in device.records("queue.jsonl")]
    assert set(device.statuses) == set(device.history) == {"confirmed"} and len(shared) == len(device.history)
    assert kept <= set(shared) and "https://kept.example/first" in shared
    assert sorted(row["url"] for row in capture.rows() if "//kept.example/" in row["url"]) == sorted(shared)


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
@pytest.mark.parametrize("number, text", [(ENOSPC, "Unable to cache - storage full"), (EROFS, "Unable to cache")], ids=["full", "read-only"])
def test_disk_that_keeps_nothing(capture, device, shim, call, number, text):
    """The URL is printed, and isn't reported as kept."""
    before = device.records("queue.jsonl")
    faults = {"LD_PRELOAD": str(shim), "FAIL_CALL": call, "FAIL_PATH": "queue.jsonl", "FAIL_ERRNO": str(number)}
    code, output, errors = device.run("https://full.example/1", environment=faults)
    assert (code, output) == (1, "https://full.example/1\n") and text in errors
    assert device.records("queue.jsonl") == before
    device.expect(0, "https://full.example/2")


@pytest.mark.parametrize("name", ["queue.jsonl", "history.jsonl"])
def test_damaged_file_is_set_aside_and_reported(device, name):
    device.expect(0, "https://damaged.example/1", "https://damaged.example/2")
    whole = (device.folder / name).read_bytes()
    (device.folder / name).write_bytes(whole[:-5])
    shown = device.expect(0, "https://damaged.example/3")
    assert "was damaged" in shown
    aside = next(device.folder.glob("damaged-*"))
    assert aside.name in shown and aside.read_bytes() == whole[:-5]
    urls = {record["url"] for record in device.records(name)}
    # The queue has what the history lost.
    lost = {"https://damaged.example/2"} if name == "queue.jsonl" else set()
    assert urls == {f"https://damaged.example/{number}" for number in (1, 2, 3)} - lost
    assert "was damaged" not in device.expect(0, "https://damaged.example/4")


class Foreign:
    """Another program at the server's address: it answers everything with these bytes, over and over if `is_endless`."""

    def __init__(self, answer, is_endless=False):
        self.answer, self.is_endless = answer, is_endless
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(self.answer)
                    while self.is_endless:
                        connection.sendall(self.answer[-1:] * 65536)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@pytest.mark.parametrize("answer, is_endless, text", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", False, "Another program answered"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", False, "Another program answered"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", False, "Another program answered"),
    (b"HTTP/1.1 200 OK\r\n\r\n{", True, "Another program answered"),
    (b"", False, "Queued - will retry when connected"),
    (b"HTTP/1.1 201 Created\r\nContent-Length: 99\r\n\r\n{\"success\":true,\"download_id\":\"d1\"}", False, "Queued - will retry"),
], ids=["html", "redirect", "ssh", "endless", "nothing", "half"])
def test_other_programs_confirm_nothing(device, answer, is_endless, text):
    with Foreign(answer, is_endless) as server:
        code, _, errors = device.run("connect", text=payload(f"127.0.0.1:{server.port}"))
        assert code == (75 if "Queued" in text else 1), errors
        if code == 1:
            # It was the server when the device connected.
            settings = json.loads((device.folder / "settings.json").read_text())
            settings["profiles"][0]["lan"] = f"127.0.0.1:{server.port}"
            (device.folder / "settings.json").write_text(json.dumps(settings))
        assert text in device.expect(75, "https://foreign.example/1")
    assert device.statuses == ["pending"]


def test_titles_of_a_server_make_no_gaps(capture, device):
    """Spaces, invisible characters and marks don't push a title onto another row of the terminal. JSON has it as it is."""
    device.expect(0, "https://gaps.example/")
    title = "Tide" + " " * 60 + "error\u2003\u2800\u3164\nconfirmed\u001b[8m" + "a" + "\u0301" * 40
    answer = json.dumps([{**capture.history()[0], "title": title}]).encode()
    with Foreign(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(answer), answer)) as server:
        settings = json.loads((device.folder / "settings.json").read_text())
        settings["profiles"][0]["lan"] = f"127.0.0.1:{server.port}"
        (device.folder / "settings.json").write_text(json.dumps(settings))
        (line,) = device.expect(0, "history", "--server").splitlines()
        (row,) = device.expect(0, "history", "--server", "--json").splitlines()
    assert line.endswith("  Tide error confirmed [8ma" + "\u0301" * 4)
    assert json.loads(row)["title"] == title and "\u001b" not in row


def test_damaged_settings_are_reported(device):
    (device.folder / "settings.json").write_text("{")
    assert "settings.json is damaged" in device.expect(1, "https://damaged.example/4")


def test_example_sends_what_waited(capture, tmp_path):
    """Examples/ShareURL, with the server stopped, then running."""
    urls = [f"https://example.example/{number}" for number in range(2)]
    device = Device(tmp_path / "example")

    def share(url):
        command = [SHARE_BINARY.parent / "ShareURL", device.folder, payload(f"localhost:{capture.port}"), f"Look: {url}, via App"]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout.splitlines()

    capture.stop()
    assert share(urls[0]) == ["Queued - will retry when connected", f"queued {urls[0]}"]
    capture.start()
    assert share(urls[1]) == [f"confirmed {urls[1]}", f"confirmed {urls[0]}"]
    assert sorted(row["url"] for row in capture.rows() if "//example.example/" in row["url"]) == urls


def test_main_job(capture, device, website):
    """A film and a PDF are shared while the server is stopped, and a process is killed. All arrive, and are in the library."""
    urls = [website.fake("ok", title="Harbour film"), f"{website.address}/guide.pdf"]
    capture.stop()
    device.expect(75, urls[0])
    process = device.start(urls[1])
    wait_until(lambda: len(device.statuses) == 2, "the PDF is kept", SECONDS)
    process.kill()
    process.communicate(timeout=SECONDS)
    capture.start()
    device.expect(0, "retry")
    rows = [capture.wait_for(entry["serverDownloadId"], "completed") for entry in device.values("history")]
    assert [row["url"] for row in rows] == urls[::-1]
    assert {row["archive"] for row in rows} <= set(capture.archives())
    for row in rows:
        assert "Downloaded" in device.expect(0, "status", row["download_id"])
