"""Disks that are full, that fail, that can only be read, and that have no locks: what is said, and what the store is after."""

import errno
import os
import subprocess

import pytest
from program import Server, Store, sha256
from support.places import FIXTURES


def error(result):
    """Code and words of the one error."""
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
    """A store on a file system of 48 MB, with one archive in it."""
    place = mounted(48)
    store = Store(place / "store", tmp_path, shim)
    store.done("import", store.file("kept.wacz", 2_000_000, 100_000))
    store.place = place
    return store


def test_free_space_is_checked_before(small):
    large = small.file("large.wacz", 40_000_000, 1_000_000)
    before = small.everything()
    result = small.run("import", large)
    assert result.code == 1
    assert f"the archive needs {large.stat().st_size} bytes and a margin of 33554432, " in error(result)
    assert "hint: free some space there" in result.errors
    assert small.everything() == before
    small.expect_whole()


def test_a_full_disk_can_be_looked_at_and_freed(small):
    before = small.everything()
    fill(small.place)
    assert small.everything() == before
    status, _, body = None, None, None
    with Server(small) as server:
        status, _, body = server.ask("/archives/kept.wacz")
    assert (status, len(body)) == (200, before["archives"]["kept"]["size"])
    # Space that was kept for this.
    small.done("remove", "kept", "--yes")
    assert small.listed() == {}
    os.remove(small.place / "fill")
    small.expect_whole()


def test_a_disk_that_is_full_in_the_middle_keeps_nothing_of_the_import(small):
    before = small.everything()
    file = small.file("late.wacz", 1_000_000, 100_000, seed=2)
    result = small.run("import", file, FAIL_CALL="write", FAIL_PATH="/incoming/copy-", FAIL_ERRNO=errno.ENOSPC)
    assert result.code == 1
    assert error(result).startswith("error: no space left while writing")
    assert "hint: free some space on that file system" in result.errors
    assert small.everything() == before
    small.expect_whole()
    small.done("import", file)
    small.expect_whole()


def test_a_store_that_can_only_be_read_is_served_and_left_alone(small):
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
            assert "cannot be changed: its file system can only be read" in error(result)
            assert "hint: make it writable, or choose another store" in result.errors
        told = {line["what"] for line in small.told_by_doctor() if line["verdict"] == "warning"}
        assert "its file system can only be read" in told
        with Server(small) as server:
            status, _, body = server.ask("/archives/kept.wacz")
            assert (status, len(body)) == (200, before["archives"]["kept"]["size"])
    finally:
        subprocess.run(["mount", "-o", "remount,rw", small.place], check=True)
    assert small.everything() == before
    small.expect_whole()


# What fails, in which files, and what is said first. After it the store is as it was, or the archive is there whole.
FAILURES = [
    ("write", "/incoming/copy-", "the disk failed while writing"),
    ("fsync", "/incoming/copy-", "the disk failed while flushing to disk"),
    ("read", "/incoming/copy-", "the disk failed while reading"),
    ("read", "/new.wacz", "the file cannot be read: input/output error"),
    ("rename", "/files/", "the disk failed while moving into place"),
    ("write", ".json.new", "the disk failed while writing"),
    ("fsync", ".json.new", "the disk failed while flushing to disk"),
    ("write", "catalog.sqlite", "the disk failed under the catalog"),
    ("fsync", "catalog.sqlite", "the disk failed under the catalog"),
    ("fsync after 2", "catalog.sqlite", "the archive is stored, but the catalog could not take it"),
    ("read", "catalog.sqlite", "the disk failed under the catalog"),
    ("open", "/incoming/", "the disk failed while opening"),
]


@pytest.mark.parametrize(("call", "path", "words"), FAILURES, ids=[f"{call} {path}" for call, path, _ in FAILURES])
def test_a_disk_that_fails_is_said_and_nothing_is_lost(store, call, path, words):
    store.done("import", FIXTURES / "sample.wacz")
    store.done("edit", "sample", "--title", "Kept", "--tag", "one")
    before = store.everything()
    new = store.file("new.wacz")
    call, _, after = call.partition(" after ")
    result = store.run("import", new, FAIL_CALL=call, FAIL_PATH=path, FAIL_ERRNO=errno.EIO, FAIL_AFTER=after or 0)
    assert result.code != 0
    assert error(result).startswith(f"error: {words}")
    after = store.everything()
    assert after["info"]["sample"] == before["info"]["sample"]
    # The next start settles what was stopped; then the same import goes through.
    store.expect_whole()
    store.done("import", new)
    assert store.listed()["new"]["sha256"] == sha256(new)
    assert store.everything()["info"]["sample"] == before["info"]["sample"]
    store.expect_whole()


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_a_disk_that_fails_under_an_edit_leaves_the_words_as_they_were_or_as_they_are_to_be(store, call):
    store.done("import", FIXTURES / "sample.wacz")
    result = store.run("edit", "sample", "--title", "New", FAIL_CALL=call, FAIL_PATH="/files/", FAIL_ERRNO=errno.EIO)
    assert result.code == 1
    assert "the disk failed while" in error(result)
    store.expect_whole()
    assert store.listed()["sample"]["title"] == "Tidepool Field Guide"
    # Its row is lost, its sidecar is there: that counts.
    result = store.run("edit", "sample", "--title", "Newer", FAIL_CALL="fsync", FAIL_PATH="catalog", FAIL_ERRNO=errno.EIO)
    assert result.code == 1
    store.expect_whole()
    assert store.listed()["sample"]["title"] == "Newer"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/files", "not allowed: opening (Permission denied)"),
        ("catalog.sqlite", "the catalog cannot be opened (unable to open database file)"),
        ("/incoming/", "not allowed: opening (Permission denied)"),
    ],
)
def test_what_this_user_may_not_do_is_said(store, path, words):
    store.done("import", FIXTURES / "sample.wacz")
    before = store.everything()
    result = store.run("import", FIXTURES / "second.wacz", FAIL_CALL="open", FAIL_PATH=path, FAIL_ERRNO=errno.EACCES)
    assert result.code == 5
    assert error(result).startswith(f"error: {words}")
    assert "hint: check who owns it" in result.errors
    assert store.everything() == before
    store.expect_whole()


def test_a_file_system_without_locks_is_said_and_used(store):
    store.run("import", FIXTURES / "sample.wacz", FAIL_LOCKS=1)
    told = [line["what"] for line in store.run("doctor", "--port", "0", "--json", FAIL_LOCKS=1).lines()]
    assert any("has no locks" in line for line in told), told
    assert store.run("edit", "sample", "--title", "New", FAIL_LOCKS=1).code == 0
    assert store.run("import", FIXTURES / "second.wacz", FAIL_LOCKS=1).code == 0
    assert store.run("remove", "second", "--yes", FAIL_LOCKS=1).code == 0
    # The same store, moved to where there are locks.
    assert store.listed()["sample"]["title"] == "New"
    store.expect_whole()


def test_a_store_may_be_moved(store):
    for name in ["sample", "second"]:
        store.done("import", FIXTURES / f"{name}.wacz")
    store.done("collection", "create", "Both", "sample", "second")
    before = store.everything()
    moved = store.root.with_name("moved")
    os.rename(store.root, moved)
    store.root = moved
    assert store.everything() == before
    store.expect_whole()
    assert store.everything() == before


@pytest.mark.parametrize("years", [-40, 40])
def test_a_clock_that_jumps_changes_no_address(store, years):
    """Times decide only which of two files of one name came first; they never decide what is kept."""
    store.done("import", FIXTURES / "sample.wacz")
    before = store.everything()
    for name in os.listdir(store.root / "files"):
        path = store.root / "files" / name
        when = path.stat().st_mtime + years * 365 * 86400
        os.utime(path, (when, when))
    store.done("import", FIXTURES / "second.wacz")
    store.expect_whole()
    store.done("remove", "second", "--yes")
    assert store.everything() == before
    store.done("doctor", "--rebuild", "--port", "0")
    assert store.everything() == before
