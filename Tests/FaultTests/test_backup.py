"""Backups and restores that are killed, or whose disk fails: the previous backup stays valid, and the next run completes the work."""

import errno
import os
import random
import re

import pytest
from program import Store, sha256

ROUNDS = 3


def fill(store, *names):
    for name in names:
        store.run_checked("import", store.file(f"{name}.wacz", 300_000, 100_000, index="unsorted" if name[-1] == "2" else "zipnum", seed=name))


def restored(store, name):
    """Restores the backup as another store, whose files are complete."""
    other = Store(store.folder / name, store.folder, store.shim)
    other.run_checked("restore", "copies")
    other.expect_consistent()
    return other


def killed(store, share, calls, *arguments):
    """Kills a command before one of the calls that change the file system. Returns whether it said before that it was done."""
    result = store.run(*arguments, KILL_AT=max(1, int(share * calls)))
    assert result.code in (-9, 0), result.errors
    return "backed up" in result.output


def calls_of(store, *arguments):
    """Runs a command; returns how many of its calls change the file system."""
    counted = store.folder / "calls"
    assert store.run(*arguments, KILL_COUNT=counted).code == 0
    return int(counted.read_text())


def backed_up(store):
    return sorted(os.listdir(store.folder / "copies" / "files"))


def test_previous_backup_can_be_restored_after_a_kill(store):
    chance = random.Random(20261121)
    fill(store, "0-1", "0-2", "0-3")
    calls = calls_of(store, "backup", "copies")
    before = store.listed()
    for number in range(1, ROUNDS + 1):
        fill(store, f"{number}-1", f"{number}-2", f"{number}-3")
        now, share = store.listed(), chance.uniform(0.02, 1)
        said = killed(store, share, calls, "backup", "copies")
        found = restored(store, f"again-{number}").listed()
        assert found in ([now] if said else [before, now]), f"killed before call {share:.0%} of {calls}"
        for name in backed_up(store):
            assert f"{sha256(store.folder / 'copies' / 'files' / name)}.wacz" == name
        before = found
    store.run_checked("backup", "copies", "--verify")
    assert sorted(os.listdir(store.folder / "copies")) == ["backup.json", "files", "incoming"]
    assert os.listdir(store.folder / "copies" / "incoming") == []
    assert len(backed_up(store)) == 3 * (ROUNDS + 1)
    assert restored(store, "again").listed() == store.listed()


def test_killed_restore_continues(store):
    chance = random.Random(20261122)
    fill(store, "1", "2", "3")
    store.run_checked("backup", "copies")
    now = store.listed()
    calls = calls_of(Store(store.folder / "first", store.folder, store.shim), "restore", "copies")
    for number in range(ROUNDS):
        other = Store(store.folder / f"again-{number}", store.folder, store.shim)
        for _ in range(2):
            killed(other, chance.uniform(0.02, 0.9), calls, "restore", "copies")
            if (other.root / "catalog.sqlite").exists():
                other.expect_consistent()
                assert other.listed().items() <= now.items()
        assert restored(store, other.root.name).listed() == now


@pytest.mark.parametrize(("call", "path", "number", "code"), [
    ("write", "/copies/incoming/", errno.ENOSPC, "no-space"),
    ("write", "/copies/incoming/", errno.EIO, "failed"),
    ("fsync", "/copies/incoming/", errno.EIO, "failed"),
    ("rename", "/copies/files/", errno.EIO, "failed"),
    ("write", "backup.json.new", errno.ENOSPC, "no-space"),
    ("fsync", "backup.json.new", errno.EIO, "failed"),
    ("rename", "backup.json", errno.EIO, "failed"),
])
def test_failed_backup_leaves_the_previous_one(store, call, path, number, code):
    fill(store, "a")
    store.run_checked("backup", "copies")
    before = (store.folder / "copies" / "backup.json").read_bytes()
    fill(store, "b")
    result = store.run("backup", "copies", "--json", FAIL_CALL=call, FAIL_PATH=path, FAIL_ERRNO=number)
    assert (result.code, result.output) == (1, "")
    assert result.error_codes() == [code]
    assert "--store" not in result.errors, "hints about stores don't apply to backups"
    assert (store.folder / "copies" / "backup.json").read_bytes() == before
    assert sorted(os.listdir(store.folder / "copies")) == ["backup.json", "files", "incoming"]
    assert os.listdir(store.folder / "copies" / "incoming") == []
    assert list(restored(store, "again").listed()) == ["a"]
    store.run_checked("backup", "copies")
    assert len(backed_up(store)) == 2


def test_free_space_is_checked_before_copying(store):
    fill(store, "a")
    for command, target in [(["backup", "copies"], "copies"), (["restore", "copies", "--store", "again"], "again")]:
        full = {"FAIL_CALL": "space", "FAIL_PATH": f"/{target}", "FAIL_ERRNO": errno.ENOSPC}
        result = store.run(*command, "--json", **full)
        assert (result.code, result.error_codes()) == (1, ["no-space"])
        assert re.search(r"not enough space for the \w+: \S+ kB and a reserve of 34 MB needed, \S+ \w+ free", result.errors)
        files = store.folder / target / "files"
        assert not files.exists() or os.listdir(files) == []
        assert store.run(*command).code == 0
    # A full disk doesn't matter if there is nothing to copy.
    assert store.run("backup", "copies", FAIL_CALL="space", FAIL_PATH="/copies", FAIL_ERRNO=errno.ENOSPC).code == 0


def test_unreadable_file_is_skipped(store):
    """If the store's disk can't read one file, all others are still backed up."""
    fill(store, "a", "b", "c")
    name = f"{store.listed()['b']['sha256']}.wacz"
    result = store.run("backup", "copies", "--json", FAIL_CALL="read", FAIL_PATH=f"store/files/{name}", FAIL_ERRNO=errno.EIO)
    assert (result.code, result.error_codes()) == (4, ["archive-damaged"])
    assert f"store/files/{name}" in result.errors
    assert result.lines()[0]["leftOut"] == ["b"]
    assert len(backed_up(store)) == 2
    # A file that can't be read in the backup is copied again.
    store.run_checked("backup", "copies")
    result = store.run("backup", "copies", "--verify", "--json", FAIL_CALL="read", FAIL_PATH=f"copies/files/{name}", FAIL_ERRNO=errno.EIO)
    assert result.code == 0, result.errors
    assert result.lines()[0]["copied"]["count"] == 1
    assert result.lines()[0]["verified"]["count"] == 2
