"""`replayhost open` and `stop` with a read-only store, or a port in use."""

import os
import select
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from program import Store
from support.places import BINARY, FIXTURES


def open_archive(store, *arguments):
    return store.run_checked("open", "--no-browser", "--json", *arguments).lines()[0]


@pytest.fixture
def read_only(mounted, shim, tmp_path, monkeypatch):
    """A store with one archive, on a read-only file system."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    volume = mounted(64)
    store = Store(volume / "store", tmp_path, shim)
    store.run_checked("import", FIXTURES / "sample.wacz")
    subprocess.run(["mount", "-o", "remount,ro", volume], check=True)
    yield store
    store.run_checked("stop")


def test_read_only_store_has_one_server(read_only):
    with ThreadPoolExecutor(3) as pool:
        opened = list(pool.map(lambda _: open_archive(read_only, "sample", "--port", "0"), range(3)))
    assert len({one["pid"] for one in opened}) == 1
    assert sorted(one["started"] for one in opened) == [False, False, True]
    assert open_archive(read_only)["pid"] == opened[0]["pid"]
    known = open_archive(read_only, FIXTURES / "sample.wacz")
    assert (known["archive"], known["started"]) == ("sample", False), "it's already in the library"
    refused = read_only.run("open", FIXTURES / "second.wacz", "--no-browser")
    assert refused.code == 5
    assert "this store can't be changed" in refused.errors
    assert read_only.run_checked("stop").output.startswith("stopped the server at")
    assert read_only.run_checked("stop").output == "no server is running\n"
    assert open_archive(read_only, "--port", "0")["started"] is True


def test_volume_can_be_unmounted_after_stop(read_only):
    open_archive(read_only, "--port", "0")
    volume = read_only.root.parent
    assert subprocess.run(["umount", volume], capture_output=True).returncode != 0
    read_only.run_checked("stop")
    subprocess.run(["umount", volume], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", volume], check=True)  # for the fixture


def test_another_port_is_used_if_the_default_is_in_use(shim, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = Store(tmp_path / "store", tmp_path, shim)
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind(("127.0.0.1", 8080))
            holder.listen(8)
        except OSError:
            pass  # The port is already in use.
        try:
            opened = store.run_checked("open", "--no-browser")
            assert "note: port 8080 is in use on" in opened.errors
            assert "using another port" in opened.errors
            address = opened.output.splitlines()[-1]
            assert address.startswith("http://localhost:") and ":8080/" not in address
        finally:
            store.run_checked("stop")


def test_background_server_inherits_no_descriptors(shim, tmp_path, monkeypatch):
    """Otherwise a script that reads the output of `open` through a pipe would wait for the server to end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = Store(tmp_path / "store", tmp_path, shim)
    store.run_checked("import", FIXTURES / "sample.wacz")
    reader, writer = os.pipe()
    command = [BINARY, "open", "sample", "--no-browser", "--port", "0", "--store", store.root]
    subprocess.run(command, pass_fds=[writer], check=True, capture_output=True, timeout=60)
    os.close(writer)
    try:
        ready, _, _ = select.select([reader], [], [], 20)
        assert ready and os.read(reader, 1) == b"", "the other end is closed while the server runs"
    finally:
        os.close(reader)
        assert store.run_checked("stop").output.startswith("stopped the server at")
