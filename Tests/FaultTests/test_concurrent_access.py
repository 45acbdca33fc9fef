"""Several processes on one store, and files that change or disappear while a server runs."""

import json
import os
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from program import Server, processor_seconds, sha256
from support.places import FIXTURES
from support.waiting import wait_until
from writers.generated import MILLION_DOMAIN, Capture, million_capture, write, write_million


def listed_archives(server):
    return {archive["id"]: archive for archive in json.loads(server.get("/api/archives")[2])["archives"]}


def test_two_processes_import_while_a_third_serves(store):
    """200 files each in `make soak`."""
    count = int(os.environ.get("FILES", "12"))
    for name in ["one", "two"]:
        (store.folder / name).mkdir()
        for number in range(count):
            store.file(f"{name}-{number}.wacz", 30_000, 10_000, seed=hash_of(name, number), folder=store.folder / name)
    store.run_checked("list") if store.root.exists() else store.run_checked("import", FIXTURES / "sample.wacz")
    with Server(store) as server:
        running = [store.start("import", store.folder / name) for name in ["one", "two"]]
        seen = set()
        while any(process.poll() is None for process in running):
            seen.add(len(listed_archives(server)))
        for process in running:
            assert process.wait() == 0, process.stderr.read()
            process.communicate()
        assert len(listed_archives(server)) == 2 * count + 1
        assert len(seen) > 1, "the server saw running imports"
        for name in ["one", "two"]:
            for number in range(count):
                path = store.folder / name / f"{name}-{number}.wacz"
                status, _, body = server.get(f"/archives/{name}-{number}.wacz")
                assert (status, body) == (200, path.read_bytes())
    store.expect_consistent()


def hash_of(name, number):
    return sum(name.encode()) * 1000 + number


def test_simultaneous_imports_of_a_file_add_one_archive(store):
    file = store.file("same.wacz", 3_000_000, 300_000)
    running = [store.start("import", file, "--json") for _ in range(4)]
    outcomes = []
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        outcomes.append(json.loads(output)["duplicate"])
    assert sorted(outcomes) == [False, True, True, True]
    assert set(store.listed()) == {"same"}
    store.expect_consistent()


def test_download_of_a_removed_archive_is_completed(store):
    file = store.file("large.wacz", 40_000_000, 1_000_000)
    store.run_checked("import", file)
    with Server(store) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /archives/large.wacz HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n" % server.port)
        received = connection.recv(1 << 16)
        store.run_checked("remove", "large", "--yes")
        wait_until(lambda: server.get("/archives/large.wacz")[0] == 404, "the removal is seen")
        while part := connection.recv(1 << 20):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert body == file.read_bytes()
    store.expect_consistent()


def answers_beside(server, path, busy, headers):
    """Requests `busy` so often that no thread of a small pool would be left, then `path`. Returns the answer to `path`, and those to
    `busy`, of which at most half came before it.
    """
    count = 4 * os.cpu_count()
    with ThreadPoolExecutor(count) as threads:
        before = processor_seconds(server.process.pid)
        answers = [threads.submit(server.get, busy, headers, seconds=600) for _ in range(count)]
        wait_until(lambda: processor_seconds(server.process.pid) > before + 0.1, "the server works")
        answer = server.get(path, seconds=600)
        earlier = sum(answer.done() for answer in answers)
        others = [answer.result() for answer in answers]
    assert earlier <= count // 2, f"{earlier} of {count} were answered before {path}"
    return answer, others


def test_captures_are_answered_while_ranges_are_decoded(store):
    """Each range is the end of a long body in a gzip member, so what comes before it is decoded first."""
    sizes, url = {"large": 256 << 20, "small": 1000}, "https://decoded.example/"
    captures = [Capture(f"{url}{name}", f"example,decoded)/{name}", bytes(size), "text/plain") for name, size in sizes.items()]
    write(store.folder / "decoded.wacz", "Decoded", captures, is_gzipped=True)
    store.run_checked("import", store.folder / "decoded.wacz")
    # The jobs of a new archive would compete with the ranges.
    store.run_checked("jobs", "run")
    path, last = f"/c/decoded/20240101000000id_/{url}", sizes["large"] - 1
    with Server(store) as server:
        answer, others = answers_beside(server, f"{path}small", f"{path}large", {"Range": f"bytes={last - 9}-{last}"})
    assert (answer[0], answer[2]) == (200, bytes(sizes["small"]))
    assert {(status, body) for status, _, body in others} == {(206, bytes(10))}


def test_captures_are_answered_while_indexes_are_scanned(store):
    """Each scan reads the whole index, since no capture passes its filter."""
    write_million(store.folder / "many.wacz", 20_000)
    store.run_checked("import", store.folder / "many.wacz")
    store.run_checked("jobs", "run")
    capture = million_capture(5, 20_000)
    with Server(store) as server:
        scan = f"/c/many/cdx?url={MILLION_DOMAIN}&matchType=domain&filter=%3Dstatus:999"
        answer, others = answers_beside(server, f"/c/many/{capture.timestamp}id_/{capture.url}", scan, {})
    assert (answer[0], answer[2]) == (200, capture.body)
    assert {(status, body) for status, _, body in others} == {(200, b"")}


def test_volume_can_be_unmounted_while_the_server_runs(store, mounted):
    volume = mounted(64)
    file = store.file("far.wacz", 2_000_000, 100_000, folder=volume)
    kept = store.folder / "kept"
    shutil.copy2(file, kept)
    store.run_checked("import", FIXTURES / "sample.wacz")
    store.run_checked("import", "--link", file)
    with Server(store) as server:
        assert server.get("/archives/far.wacz")[2] == file.read_bytes()
        assert server.get("/c/far/20240101000000id_/https://large.example/")[0] == 200
        # The server doesn't keep files on the volume open.
        wait_until(lambda: subprocess.run(["umount", volume], capture_output=True).returncode == 0, "it can be unmounted")
        assert listed_archives(server)["far"]["availability"] == "unavailable"
        status, _, body = server.get("/archives/far.wacz")
        assert (status, b"can't find the linked file" in body) == (503, True)
        assert server.get("/c/far/20240101000000id_/https://large.example/")[0] == 503
        assert server.get("/archives/sample.wacz")[0] == 200
        store.doctor_results()
        assert store.listed()["far"]["availability"] == "unavailable"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", volume], check=True)
        shutil.copy2(kept, file)
        assert listed_archives(server)["far"]["availability"] == "available"
        assert server.get("/archives/far.wacz")[2] == file.read_bytes()
        assert server.get("/c/far/20240101000000id_/https://large.example/")[0] == 200


def test_changed_linked_file_is_not_replayed(store):
    file = store.file("far.wacz", 2_000_000, 100_000)
    store.run_checked("import", "--link", file)
    with Server(store) as server:
        before = server.get("/archives/far.wacz")[1]
        assert server.get("/c/far/20240101000000id_/https://large.example/")[0] == 200
        with open(file, "r+b") as handle:
            handle.seek(1_000_000)
            handle.write(b"changed")
        for path in ["/archives/far.wacz", "/c/far/20240101000000id_/https://large.example/"]:
            status, _, body = server.get(path)
            assert status == 409, path
            assert b"has changed since you added it" in body
        archive = json.loads(server.get("/api/archives/far")[2])
        assert archive["availability"] == "changed"
        assert "file-changed" in [finding["code"] for finding in archive["findings"]]
        bad = [line for line in store.doctor_results() if line["verdict"] == "bad"]
        assert [line["name"] for line in bad] == ["linked files"]
        # After another import, the archive has the new content.
        store.run_checked("import", "--link", file)
        status, after, body = server.get("/archives/far.wacz")
        assert (status, body) == (200, file.read_bytes())
        assert after["ETag"] != before["ETag"]
        renewed = json.loads(server.get("/api/archives/far")[2])
        assert renewed["availability"] == "available"
        assert renewed["replayCollection"] != archive["replayCollection"]
    store.expect_consistent()


def test_download_of_a_changing_linked_file_is_aborted(store):
    file = store.file("far.wacz", 60_000_000, 1_000_000)
    store.run_checked("import", "--link", file)
    size = file.stat().st_size
    with Server(store) as server, socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /archives/far.wacz HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n" % server.port)
        received = len(connection.recv(1 << 16))
        with open(file, "r+b") as handle:
            handle.seek(size - 1000)
            handle.write(b"changed")
        try:
            while part := connection.recv(1 << 20):
                received += len(part)
        except ConnectionResetError:
            pass
    assert received < size, "the response mixes two versions of the file"


def test_many_linked_files(store):
    """1,000 in `make soak`."""
    count = int(os.environ.get("LINKS", "60"))
    folder = store.folder / "many"
    folder.mkdir()
    files = [store.file(f"file-{number}.wacz", 20_000, 10_000, seed=number, folder=folder) for number in range(count)]
    hashes = [sha256(file) for file in files]
    first = store.run_checked("import", "--link", folder)
    assert f"{count} imported, 0 already in your library, 0 failed" in first.errors
    assert len(store.listed()) == count
    # Unchanged files aren't opened.
    again = store.run("import", "--link", folder, FAIL_CALL="read", FAIL_PATH="/many/", FAIL_ERRNO=5)
    assert f"0 imported, {count} already in your library, 0 failed" in again.errors
    assert [sha256(file) for file in files] == hashes
    assert [name for name in os.listdir(store.root / "files") if name.endswith(".wacz")] == []


@pytest.mark.parametrize("cut", [False, True])
def test_move_across_file_systems_never_loses_the_file(store, mounted, cut):
    volume = mounted(64)
    file = store.file("moved.wacz", 6_000_000, 500_000, folder=volume)
    content = file.read_bytes()
    if not cut:
        store.run_checked("import", "--move", file)
        assert not file.exists()
        assert (store.root / "files" / f"{store.listed()['moved']['sha256']}.wacz").read_bytes() == content
        return store.expect_consistent()
    # Killed before every third call that changes the file system.
    call = 0
    while file.exists():
        call += 3
        result = store.run("import", "--move", file, KILL_AT=call)
        store.doctor_results()
        is_there = "moved" in (store.listed() if (store.root / "catalog.sqlite").exists() else {})
        assert file.exists() or is_there, f"killed before call {call}: the file is gone"
        if file.exists():
            assert file.read_bytes() == content
        if is_there and file.exists():
            store.expect_consistent()
            store.run_checked("remove", "moved", "--yes")
        assert result.code in (0, -9), result.errors
    store.expect_consistent()
    assert call > 9
