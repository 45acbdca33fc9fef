"""Stores on read-only or full disks whose databases have an unfinished log or journal, as after a crash or in a snapshot."""

import os
import shutil
import sqlite3
import subprocess

import pytest
from program import Server, Store
from support.places import FIXTURES
from test_failing_disk import error, fill


@pytest.fixture
def snapshot(store, mounted, shim, tmp_path):
    """Copies a store whose last changes are only in SQLite's write-ahead log, as a snapshot of a store in use does."""
    store.run_checked("import", FIXTURES / "sample.wacz")
    for name in ("catalog.sqlite", "search.sqlite"):
        with sqlite3.connect(store.root / name) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # As long as it's open, no other process moves the log into the file.
    reader = sqlite3.connect(store.root / "catalog.sqlite")
    reader.execute("SELECT count(*) FROM archive").fetchall()
    store.run_checked("edit", "sample", "--title", "Only in the log")
    store.run_checked("import", FIXTURES / "second.wacz")
    assert (store.root / "catalog.sqlite-wal").stat().st_size > 0

    def copy(*missing):
        volume = mounted(64)
        shutil.copytree(store.root, volume / "store", ignore=lambda _, names: [name for name in names if name in missing])
        assert (volume / "store/catalog.sqlite-wal").stat().st_size > 0
        copied = Store(volume / "store", tmp_path, shim)
        copied.volume = volume
        return copied

    yield copy
    reader.close()


# Whether the snapshot has SQLite's shared memory, which a crash of the computer doesn't leave on the disk.
@pytest.mark.parametrize("missing", [[], ["catalog.sqlite-shm"]], ids=["with shared memory", "without"])
def test_log_is_read_on_a_read_only_disk(snapshot, missing):
    store = snapshot(*missing)
    subprocess.run(["mount", "-o", "remount,ro", store.volume], check=True)
    listed = store.listed()
    assert sorted(listed) == ["sample", "second"]
    assert listed["sample"]["title"] == "Only in the log"
    assert not [line for line in store.doctor_results() if line["verdict"] == "bad"]
    with Server(store) as server:
        assert server.get("/archives/second.wacz")[0] == 200
    backup = store.folder / "backup"
    store.run_checked("backup", backup)
    restored = Store(store.folder / "restored", store.folder, store.shim)
    restored.run_checked("restore", backup)
    assert sorted(restored.listed()) == ["sample", "second"]


@pytest.mark.parametrize("missing", [[], ["catalog.sqlite-shm"]], ids=["with shared memory", "without"])
def test_log_is_read_on_a_full_disk(snapshot, missing):
    store = snapshot(*missing, "reserve")
    fill(store.volume)
    listed = store.listed()
    assert sorted(listed) == ["sample", "second"]
    assert listed["sample"]["title"] == "Only in the log"
    os.remove(store.volume / "fill")
    store.run_checked("edit", "sample", "--title", "Later")
    assert store.listed()["sample"]["title"] == "Later"
    store.expect_consistent()


def test_words_in_the_log_of_the_search_index_are_found(store, mounted, shim, tmp_path):
    store.run_checked("import", FIXTURES / "sample.wacz")
    store.run_checked("jobs", "run")
    reader = sqlite3.connect(store.root / "search.sqlite")
    reader.execute("SELECT count(*) FROM archive").fetchall()
    store.run_checked("import", FIXTURES / "second.wacz")
    store.run_checked("jobs", "run")
    expected = store.run_checked("search", "in:second", "--json").lines()
    assert expected and (store.root / "search.sqlite-wal").stat().st_size > 0
    volume = mounted(64)
    shutil.copytree(store.root, volume / "store", ignore=shutil.ignore_patterns("*-shm"))
    reader.close()
    subprocess.run(["mount", "-o", "remount,ro", volume], check=True)
    found = Store(volume / "store", tmp_path, shim).run_checked("search", "in:second", "--json").lines()
    assert [line.get("url") for line in found] == [line.get("url") for line in expected]


def test_unfinished_journal_is_said_on_a_read_only_disk(store, mounted, shim, tmp_path):
    """A rollback journal has what the file was before a change. Without it, half of the change would be shown."""
    store.run_checked("import", FIXTURES / "sample.wacz")
    database = sqlite3.connect(store.root / "catalog.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("PRAGMA cache_size = 1")
    database.execute("BEGIN IMMEDIATE")
    database.execute("CREATE TABLE half (value BLOB)")
    database.execute("INSERT INTO half VALUES (zeroblob(1000000))")
    volume = mounted(64)
    shutil.copytree(store.root, volume / "store")
    database.execute("ROLLBACK")
    database.close()
    assert (volume / "store/catalog.sqlite-journal").stat().st_size > 512
    copied = Store(volume / "store", tmp_path, shim)
    subprocess.run(["mount", "-o", "remount,ro", volume], check=True)
    result = copied.run("list")
    assert result.code == 5
    assert "catalog.sqlite has an unfinished change, which can't be undone here: its file system is read-only" in error(result)
    assert "hint: copy the store to a writable disk and open it there once" in result.errors
    subprocess.run(["mount", "-o", "remount,rw", volume], check=True)
    assert list(copied.listed()) == ["sample"]
