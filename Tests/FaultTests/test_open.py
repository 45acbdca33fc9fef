"""`replayhost open` and `stop` where a server cannot write into its store that it runs, and where its port is taken."""

import os
import select
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from program import Store
from support.places import BINARY, FIXTURES


def open_one(store, *arguments):
    return store.done("open", "--no-browser", "--json", *arguments).lines()[0]


@pytest.fixture
def read_only(mounted, shim, tmp_path, monkeypatch):
    """A store with one archive, on a file system that can only be read."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    volume = mounted(64)
    store = Store(volume / "store", tmp_path, shim)
    store.done("import", FIXTURES / "sample.wacz")
    subprocess.run(["mount", "-o", "remount,ro", volume], check=True)
    yield store
    store.done("stop")


def test_a_store_that_can_only_be_read_has_one_server_as_well(read_only):
    with ThreadPoolExecutor(3) as pool:
        opened = list(pool.map(lambda _: open_one(read_only, "sample", "--port", "0"), range(3)))
    assert len({one["pid"] for one in opened}) == 1
    assert sorted(one["started"] for one in opened) == [False, False, True]
    assert open_one(read_only)["pid"] == opened[0]["pid"]
    known = open_one(read_only, FIXTURES / "sample.wacz")
    assert (known["archive"], known["started"]) == ("sample", False), "it is known, and need not be imported"
    refused = read_only.run("open", FIXTURES / "second.wacz", "--no-browser")
    assert refused.code == 5
    assert "this store cannot be changed" in refused.errors
    assert read_only.done("stop").output.startswith("stopped the server at")
    assert read_only.done("stop").output == "no server runs on this store\n"
    assert open_one(read_only, "--port", "0")["started"] is True


def test_the_volume_of_a_stopped_server_can_be_detached(read_only):
    open_one(read_only, "--port", "0")
    volume = read_only.root.parent
    assert subprocess.run(["umount", volume], capture_output=True).returncode != 0
    read_only.done("stop")
    subprocess.run(["umount", volume], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", volume], check=True)  # What the fixture ends.


def test_another_port_is_taken_when_the_usual_one_is(shim, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = Store(tmp_path / "store", tmp_path, shim)
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind(("127.0.0.1", 8080))
            holder.listen(8)
        except OSError:
            pass  # Somebody else has it: that is as good.
        try:
            opened = store.done("open", "--no-browser")
            assert "note: port 8080 is in use on" in opened.errors
            assert "another port was taken" in opened.errors
            address = opened.output.splitlines()[-1]
            assert address.startswith("http://localhost:") and ":8080/" not in address
        finally:
            store.done("stop")


def test_the_server_in_the_background_holds_nothing_of_who_asked_for_it(shim, tmp_path, monkeypatch):
    """A script that reads what `open` prints through a pipe, or any other descriptor it has open, is not left waiting."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = Store(tmp_path / "store", tmp_path, shim)
    store.done("import", FIXTURES / "sample.wacz")
    reader, writer = os.pipe()
    command = [BINARY, "open", "sample", "--no-browser", "--port", "0", "--store", store.root]
    subprocess.run(command, pass_fds=[writer], check=True, capture_output=True, timeout=60)
    os.close(writer)
    try:
        ready, _, _ = select.select([reader], [], [], 20)
        assert ready and os.read(reader, 1) == b"", "the other end is closed while the server runs"
    finally:
        os.close(reader)
        assert store.done("stop").output.startswith("stopped the server at")
