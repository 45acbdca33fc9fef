"""Damages each page of the catalog: the damage is detected, and the catalog can be rebuilt."""

import contextlib
import os
import random
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from support.places import FIXTURES

SEED = 20261121


@pytest.fixture(scope="module")
def filled(tmp_path_factory, shim):
    """A store with various contents, whose catalog has about 40 pages."""
    from program import Store

    folder = tmp_path_factory.mktemp("catalog")
    store = Store(folder / "store", folder, shim)
    for name in ["sample", "second", "damaged/unsorted-index"]:
        store.run_checked("import", FIXTURES / f"{name}.wacz")
    shutil.copy(FIXTURES / "no-pages.wacz", folder / "elsewhere.wacz")
    store.run_checked("import", "--link", folder / "elsewhere.wacz")
    shutil.copy(FIXTURES / "debian-faq.wacz", folder / "far.wacz")
    store.run_checked("import", "--link", folder / "far.wacz")
    store.run_checked("edit", "sample", "--title", "Edited", "--tag", "one", "--tag", "two", "--notes", "Some words.")
    store.run_checked("collection", "create", "Both", "sample", "second")
    database = sqlite3.connect(store.root / "catalog.sqlite")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = database.execute("PRAGMA page_size").fetchone()[0]
    database.close()
    store.page_size = size
    store.catalog = (store.root / "catalog.sqlite").read_bytes()
    store.seen = store.everything()
    store.known = {}
    return store


def put_back(store, content):
    for name in os.listdir(store.root):
        if name.startswith("catalog.sqlite"):
            os.remove(store.root / name)
    (store.root / "catalog.sqlite").write_bytes(content)


def damage(store, kind, number, chance):
    """Returns the catalog with one damaged page."""
    size = store.page_size
    pages = [store.catalog[start : start + size] for start in range(0, len(store.catalog), size)]
    pages[number] = {
        "zeros": bytes(size), "noise": chance.randbytes(size),
        "another page": pages[(number + chance.randrange(1, len(pages))) % len(pages)],
    }[kind]
    return b"".join(pages)


def read_by_commands(store):
    """Returns all that commands read from a store, except the WACZ files; None if the catalog is damaged."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store.root}/catalog.sqlite?mode=ro", uri=True)) as database:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return None
            # The times of jobs aren't compared.
            catalog = "\n".join(
                re.sub(r"'\d{4}-[^']*Z'", "time", line) if line.startswith('INSERT INTO "job"') else line
                for line in database.iterdump())
    except (sqlite3.Error, UnicodeError):
        return None
    paths = sorted(path for path in store.root.rglob("*") if path.is_file() and path.suffix in (".json", ".wacz", ".gz", ".idx"))
    return catalog, tuple((path, path.stat().st_size if path.suffix == ".wacz" else path.read_bytes()) for path in paths)


def everything(store):
    """Returns what users see. Results are cached by the contents of the store."""
    content = read_by_commands(store)
    if content is None:
        return store.everything()
    if content not in store.known:
        store.known[content] = store.everything()
    return store.known[content]


KINDS = ["zeros", "noise", "another page"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_damaged_page_is_detected_and_rebuilt(filled, kind):
    """Each page is damaged in one of three ways, or in all with CASES=all, which `make soak` sets."""
    chance = random.Random(SEED)
    count = len(filled.catalog) // filled.page_size
    assert count > 20
    undetected = []
    is_all = os.environ.get("CASES") == "all"
    numbers = range(count) if is_all else range(KINDS.index(kind), count, len(KINDS))
    for number in numbers:
        put_back(filled, damage(filled, kind, number, chance))
        bad = [line["what"] for line in filled.doctor_results() if line["verdict"] == "bad"]
        if not bad:
            # An unused page, or one that was repaired from the sidecars.
            undetected.append(number)
            assert everything(filled) == filled.seen, f"the damage to page {number} wasn't detected"
        results = filled.doctor_results("--rebuild")
        assert [line for line in results if line["verdict"] == "bad"] == [], f"page {number}"
        assert everything(filled) == filled.seen, f"page {number}"
    assert len(undetected) < len(numbers) / 4, f"pages {undetected} of {count}"


def test_missing_catalog_is_rebuilt_at_the_next_start(filled):
    for name in os.listdir(filled.root):
        if name.startswith("catalog.sqlite"):
            os.remove(filled.root / name)
    assert [line for line in filled.doctor_results() if line["verdict"] == "bad"] == []
    assert filled.everything() == filled.seen


def test_rebuild_keeps_unavailable_archives(filled):
    linked = filled.folder / "far.wacz"
    hidden = filled.folder / "hidden"
    # The archive's pages are kept only if the old catalog is readable.
    for content, keeps_pages in [(filled.catalog, True), (b"no database at all", False)]:
        put_back(filled, content)
        os.rename(linked, hidden)
        try:
            results = filled.doctor_results("--rebuild")
            assert [line for line in results if line["verdict"] == "bad"] == []
            archive = filled.listed()["far"]
            expected = dict(filled.seen["archives"]["far"], availability="unavailable")
            # A file that isn't there has no result.
            del expected["verification"]
            assert archive == expected
            pages = filled.run_checked("pages", "far", "--json").lines()
            assert pages == (filled.seen["pages"]["far"] if keeps_pages else [])
        finally:
            os.rename(hidden, linked)
        filled.doctor_results()
        assert filled.everything() == filled.seen
    assert Path(filled.root / "catalog.sqlite.damaged").read_bytes() == b"no database at all"


def test_every_command_reports_a_damaged_catalog(filled):
    put_back(filled, b"no database at all" * 1000)
    for work in [["list"], ["info", "sample"], ["import", FIXTURES / "sample.wacz"], ["remove", "sample", "--yes"]]:
        result = filled.run(*work)
        assert result.code == 5, work
        assert "the catalog is damaged" in result.errors
        assert "hint: run `replayhost doctor --rebuild`" in result.errors
    filled.doctor_results("--rebuild")
    assert filled.everything() == filled.seen


def test_catalog_of_a_newer_version_is_not_changed(filled):
    put_back(filled, filled.catalog)
    database = sqlite3.connect(filled.root / "catalog.sqlite")
    database.execute("INSERT INTO grdb_migrations VALUES ('9 something of the future')")
    database.commit()
    database.close()
    before = (filled.root / "catalog.sqlite").read_bytes()
    for work in [["list"], ["import", FIXTURES / "sample.wacz"], ["doctor", "--port", "0"]]:
        result = filled.run(*work)
        assert result.code == 5, work
        assert "written by a newer version of replayhost" in result.output + result.errors
    assert (filled.root / "catalog.sqlite").read_bytes() == before
    put_back(filled, filled.catalog)
