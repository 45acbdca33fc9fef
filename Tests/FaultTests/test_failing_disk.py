"""Disks that are full, failing, read-only or without locks: the errors, and the state of the store afterwards."""

import errno
import os
import subprocess
import time

import pytest
from program import Server, Store, sha256
from support.places import FIXTURES


def error(result):
    """Returns the only error."""
    lines = [line for line in result.errors.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.errors
    return lines[0]


def fill(place):
    with open(place / "fill", "wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError as full:
            assert full.errno == errno.ENOSPC


@pytest.fixture
def small(mounted, shim, tmp_path):
    """A store with one archive, on a file system of 48 MB."""
    place = mounted(48)
    store = Store(place / "store", tmp_path, shim)
    store.run_checked("import", store.file("kept.wacz", 2_000_000, 100_000))
    store.place = place
    return store


def test_free_space_is_checked_before_an_import(small):
    large = small.file("large.wacz", 40_000_000, 1_000_000)
    before = small.everything()
    result = small.run("import", large)
    assert result.code == 1
    size = f"{large.stat().st_size / 1_000_000:.0f} MB"
    assert f"not enough space for the archive: {size} and a reserve of 34 MB needed, " in error(result)
    assert "hint: free some space there" in result.errors
    assert small.everything() == before
    small.expect_consistent()


def test_full_disk_can_be_read_and_freed(small):
    before = small.everything()
    fill(small.place)
    assert small.everything() == before
    status, _, body = None, None, None
    with Server(small) as server:
        status, _, body = server.get("/archives/kept.wacz")
    assert (status, len(body)) == (200, before["archives"]["kept"]["size"])
    # Uses the space reserve.
    small.run_checked("remove", "kept", "--yes")
    assert small.listed() == {}
    os.remove(small.place / "fill")
    small.expect_consistent()


def test_import_that_fills_the_disk_leaves_nothing(small):
    before = small.everything()
    file = small.file("late.wacz", 1_000_000, 100_000, seed=2)
    result = small.run("import", file, FAIL_CALL="write", FAIL_PATH="/incoming/copy-", FAIL_ERRNO=errno.ENOSPC)
    assert result.code == 1
    assert ": no space left while writing" in error(result)
    assert "hint: free some space on that file system" in result.errors
    assert small.everything() == before
    small.expect_consistent()
    small.run_checked("import", file)
    small.expect_consistent()


def test_read_only_store_is_served_unchanged(small):
    before = small.everything()
    subprocess.run(["mount", "-o", "remount,ro", small.place], check=True)
    try:
        assert small.everything() == before
        assert small.run("get", "https://large.example/").output.startswith("<!doctype html><title>First page")
        for work in [
            ["import", FIXTURES / "sample.wacz"], ["edit", "kept", "--title", "x"], ["remove", "kept", "--yes"],
            ["import", "--link", FIXTURES / "sample.wacz"], ["collection", "create", "x", "kept"],
        ]:
            result = small.run(*work)
            assert result.code == 5, work
            assert "can't be changed: its file system is read-only" in error(result)
            assert "hint: make it writable, or choose another store" in result.errors
        results = {line["what"] for line in small.doctor_results() if line["verdict"] == "warning"}
        assert "its file system is read-only" in results
        with Server(small) as server:
            status, _, body = server.get("/archives/kept.wacz")
            assert (status, len(body)) == (200, before["archives"]["kept"]["size"])
    finally:
        subprocess.run(["mount", "-o", "remount,rw", small.place], check=True)
    assert small.everything() == before
    small.expect_consistent()


# The failing call, the files, and the error. Afterwards the store is unchanged, or the new archive is complete.
FAILURES = [
    ("write", "/incoming/copy-", "the disk failed while writing"),
    ("fsync", "/incoming/copy-", "the disk failed while flushing to disk"),
    ("read", "/incoming/copy-", "the disk failed while reading"),
    ("read", "/new.wacz", "the file can't be read: input/output error"),
    ("rename", "/files/", "the disk failed while moving into place"),
    ("write", ".json.new", "the disk failed while writing"),
    ("fsync", ".json.new", "the disk failed while flushing to disk"),
    ("write", "catalog.sqlite", "the disk failed while using the catalog"),
    ("fsync", "catalog.sqlite", "the disk failed while using the catalog"),
    ("fsync after 2", "catalog.sqlite", "the archive was stored but couldn't be added to the catalog"),
    ("read", "catalog.sqlite", "the disk failed while using the catalog"),
    ("open", "/incoming/", "the disk failed while opening"),
]


@pytest.mark.parametrize(("call", "path", "message"), FAILURES, ids=[f"{call} {path}" for call, path, _ in FAILURES])
def test_failing_disk_is_reported_and_nothing_is_lost(store, call, path, message):
    store.run_checked("import", FIXTURES / "sample.wacz")
    store.run_checked("edit", "sample", "--title", "Kept", "--tag", "one")
    before = store.everything()
    new = store.file("new.wacz")
    call, _, after = call.partition(" after ")
    result = store.run("import", new, FAIL_CALL=call, FAIL_PATH=path, FAIL_ERRNO=errno.EIO, FAIL_AFTER=after or 0)
    assert result.code != 0
    assert f": {message}" in error(result)
    after = store.everything()
    assert after["info"]["sample"] == before["info"]["sample"]
    # The next start repairs the store; then the same import succeeds.
    store.expect_consistent()
    store.run_checked("import", new)
    assert store.listed()["new"]["sha256"] == sha256(new)
    assert store.everything()["info"]["sample"] == before["info"]["sample"]
    store.expect_consistent()


# Index files that the store writes: a sorted copy of an index, and a copy of one that is compressed in the ZIP.
@pytest.mark.parametrize(("call", "path", "number", "code", "index"), [
    ("write", ".cdx.gz", errno.ENOSPC, "no-space", "unsorted"),
    ("write", ".idx", errno.ENOSPC, "no-space", "unsorted"),
    ("write", ".cdx.gz", errno.EIO, "failed", "unsorted"),
    ("fsync", ".cdx.gz", errno.EIO, "failed", "unsorted"),
    ("fsync", ".idx", errno.ENOSPC, "no-space", "unsorted"),
    ("rename", ".cdx.gz", errno.EIO, "failed", "unsorted"),
    ("rename", ".idx", errno.ENOSPC, "no-space", "unsorted"),
    ("rename", ".wacz", errno.EIO, "failed", "unsorted"),
    ("write", ".idx", errno.ENOSPC, "no-space", "deflated-idx"),
    ("fsync", ".idx", errno.EIO, "failed", "deflated-idx"),
    ("rename", ".wacz", errno.EIO, "failed", "deflated-idx"),
])
def test_import_whose_index_files_fail_leaves_nothing(store, call, path, number, code, index):
    store.run_checked("import", FIXTURES / "sample.wacz")
    before = sorted(os.listdir(store.root / "files"))
    file = store.file("new.wacz", index=index)
    result = store.run("import", file, "--json", FAIL_CALL=call, FAIL_PATH=path, FAIL_ERRNO=number)
    assert (result.code, result.output, result.error_codes()) == (1, "", [code])
    assert sorted(os.listdir(store.root / "files")) == before
    assert os.listdir(store.root / "incoming") == []
    assert list(store.listed()) == ["sample"]
    store.run_checked("import", file)
    assert {"no interrupted work found", "all archives are ready to search"} <= {line["what"] for line in store.doctor_results()}


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_failed_edit_leaves_the_old_or_the_new_metadata(store, call):
    store.run_checked("import", FIXTURES / "sample.wacz")
    result = store.run("edit", "sample", "--title", "New", FAIL_CALL=call, FAIL_PATH="/files/", FAIL_ERRNO=errno.EIO)
    assert result.code == 1
    assert "the disk failed while" in error(result)
    store.expect_consistent()
    assert store.listed()["sample"]["title"] == "Tidepool Field Guide"
    # The sidecar was written, the catalog wasn't. The sidecar counts. Times of folders that aren't past are never noted, which would be
    # the write that fails.
    future = time.time() + 3600
    os.utime(store.root / "collections", (future, future))
    result = store.run("edit", "sample", "--title", "Newer", FAIL_CALL="fsync", FAIL_PATH="catalog", FAIL_ERRNO=errno.EIO)
    assert result.code == 1
    store.expect_consistent()
    assert store.listed()["sample"]["title"] == "Newer"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/files", "opening isn't allowed (Permission denied)"),
        ("catalog.sqlite", "can't open the catalog (unable to open database file)"),
        ("/incoming/", "opening isn't allowed (Permission denied)"),
    ],
)
def test_missing_permissions_are_reported(store, path, message):
    store.run_checked("import", FIXTURES / "sample.wacz")
    before = store.everything()
    result = store.run("import", FIXTURES / "second.wacz", FAIL_CALL="open", FAIL_PATH=path, FAIL_ERRNO=errno.EACCES)
    assert result.code == 5
    assert f": {message}" in error(result)
    assert "hint: check who owns it" in result.errors
    assert store.everything() == before
    store.expect_consistent()


def test_file_system_without_locks_is_used_with_a_note(store):
    store.run("import", FIXTURES / "sample.wacz", FAIL_LOCKS=1)
    results = [line["what"] for line in store.run("doctor", "--port", "0", "--json", FAIL_LOCKS=1).lines()]
    assert any("has no file locks" in line for line in results), results
    assert store.run("edit", "sample", "--title", "New", FAIL_LOCKS=1).code == 0
    assert store.run("import", FIXTURES / "second.wacz", FAIL_LOCKS=1).code == 0
    assert store.run("remove", "second", "--yes", FAIL_LOCKS=1).code == 0
    # The same store with locks.
    assert store.listed()["sample"]["title"] == "New"
    store.expect_consistent()


def test_store_can_be_moved(store):
    for name in ["sample", "second"]:
        store.run_checked("import", FIXTURES / f"{name}.wacz")
    store.run_checked("collection", "create", "Both", "sample", "second")
    before = store.everything()
    moved = store.root.with_name("moved")
    os.rename(store.root, moved)
    store.root = moved
    assert store.everything() == before
    store.expect_consistent()
    assert store.everything() == before


@pytest.mark.parametrize("years", [-40, 40])
def test_clock_changes_do_not_affect_archives(store, years):
    """File times only order files of the same name; they never decide which files are kept."""
    store.run_checked("import", FIXTURES / "sample.wacz")
    before = store.everything()
    for name in os.listdir(store.root / "files"):
        path = store.root / "files" / name
        when = path.stat().st_mtime + years * 365 * 86400
        os.utime(path, (when, when))
    store.run_checked("import", FIXTURES / "second.wacz")
    store.expect_consistent()
    store.run_checked("remove", "second", "--yes")
    assert store.everything() == before
    store.run_checked("doctor", "--rebuild", "--port", "0")
    assert store.everything() == before
