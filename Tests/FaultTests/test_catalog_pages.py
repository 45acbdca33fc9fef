"""A catalog that was damaged, page by page: it is noticed, and made anew with everything in it."""

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
    """A store with a bit of everything; its catalog has some forty pages."""
    from program import Store

    folder = tmp_path_factory.mktemp("catalog")
    store = Store(folder / "store", folder, shim)
    for name in ["sample", "second", "damaged/unsorted-index"]:
        store.done("import", FIXTURES / f"{name}.wacz")
    shutil.copy(FIXTURES / "no-pages.wacz", folder / "elsewhere.wacz")
    store.done("import", "--link", folder / "elsewhere.wacz")
    shutil.copy(FIXTURES / "debian-faq.wacz", folder / "away.wacz")
    store.done("import", "--link", folder / "away.wacz")
    store.done("edit", "sample", "--title", "Edited", "--tag", "one", "--tag", "two", "--notes", "Some words.")
    store.done("collection", "create", "Both", "sample", "second")
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
    """The catalog with one page that is another."""
    size = store.page_size
    pages = [store.catalog[start : start + size] for start in range(0, len(store.catalog), size)]
    pages[number] = {
        "zeros": bytes(size), "noise": chance.randbytes(size),
        "another page": pages[(number + chance.randrange(1, len(pages))) % len(pages)],
    }[kind]
    return b"".join(pages)


def read_by_commands(store):
    """All that the commands read of a store but the archives themselves; nothing if the catalog isn't whole."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store.root}/catalog.sqlite?mode=ro", uri=True)) as database:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return None
            # When a job was made is not among what a person sees here.
            catalog = "\n".join(
                re.sub(r"'\d{4}-[^']*Z'", "time", line) if line.startswith('INSERT INTO "job"') else line
                for line in database.iterdump())
    except (sqlite3.Error, UnicodeError):
        return None
    paths = sorted(path for path in store.root.rglob("*") if path.is_file() and path.suffix in (".json", ".wacz", ".gz", ".idx"))
    return catalog, tuple((path, path.stat().st_size if path.suffix == ".wacz" else path.read_bytes()) for path in paths)


def everything(store):
    """What a person sees. The commands aren't asked again about a store that they were asked about: the same is read."""
    content = read_by_commands(store)
    if content is None:
        return store.everything()
    if content not in store.known:
        store.known[content] = store.everything()
    return store.known[content]


@pytest.mark.parametrize("kind", ["zeros", "noise", "another page"])
def test_every_page_overwritten_is_noticed_and_rebuilt(filled, kind):
    chance = random.Random(SEED)
    count = len(filled.catalog) // filled.page_size
    assert count > 20
    unnoticed = []
    for number in range(count):
        put_back(filled, damage(filled, kind, number, chance))
        bad = [line["what"] for line in filled.told_by_doctor() if line["verdict"] == "bad"]
        if not bad:
            # A page that holds nothing that anybody reads, or what the sidecars gave back.
            unnoticed.append(number)
            assert everything(filled) == filled.seen, f"page {number} was changed, and nobody noticed"
        told = filled.told_by_doctor("--rebuild")
        assert [line for line in told if line["verdict"] == "bad"] == [], f"page {number}"
        assert everything(filled) == filled.seen, f"page {number}"
    assert len(unnoticed) < count // 4, f"pages {unnoticed} of {count}"


def test_a_missing_catalog_is_made_anew_by_the_next_start(filled):
    for name in os.listdir(filled.root):
        if name.startswith("catalog.sqlite"):
            os.remove(filled.root / name)
    assert [line for line in filled.told_by_doctor() if line["verdict"] == "bad"] == []
    assert filled.everything() == filled.seen


def test_a_file_that_is_away_is_not_lost_by_a_rebuild(filled):
    away = filled.folder / "away.wacz"
    hidden = filled.folder / "hidden"
    # With a catalog that can be read even its pages stay; without one all but them does.
    for content, keeps_pages in [(filled.catalog, True), (b"no database at all", False)]:
        put_back(filled, content)
        os.rename(away, hidden)
        try:
            told = filled.told_by_doctor("--rebuild")
            assert [line for line in told if line["verdict"] == "bad"] == []
            archive = filled.listed()["away"]
            expected = dict(filled.seen["archives"]["away"], availability="unavailable")
            assert archive == expected
            pages = filled.done("pages", "away", "--json").lines()
            assert pages == (filled.seen["pages"]["away"] if keeps_pages else [])
        finally:
            os.rename(hidden, away)
        filled.told_by_doctor()
        assert filled.everything() == filled.seen
    assert Path(filled.root / "catalog.sqlite.damaged").read_bytes() == b"no database at all"


def test_a_damaged_catalog_is_said_by_every_command(filled):
    put_back(filled, b"no database at all" * 1000)
    for work in [["list"], ["info", "sample"], ["import", FIXTURES / "sample.wacz"], ["remove", "sample", "--yes"]]:
        result = filled.run(*work)
        assert result.code == 5, work
        assert "the catalog is damaged" in result.errors
        assert "hint: run `replayhost doctor --rebuild`" in result.errors
    filled.told_by_doctor("--rebuild")
    assert filled.everything() == filled.seen


def test_a_catalog_of_a_newer_version_is_left_alone(filled):
    put_back(filled, filled.catalog)
    database = sqlite3.connect(filled.root / "catalog.sqlite")
    database.execute("INSERT INTO grdb_migrations VALUES ('9 something of the future')")
    database.commit()
    database.close()
    before = (filled.root / "catalog.sqlite").read_bytes()
    for work in [["list"], ["import", FIXTURES / "sample.wacz"], ["doctor", "--port", "0"]]:
        result = filled.run(*work)
        assert result.code == 5, work
        assert "written by a newer replayhost" in result.output + result.errors
    assert (filled.root / "catalog.sqlite").read_bytes() == before
    put_back(filled, filled.catalog)
