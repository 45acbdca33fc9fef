"""Nothing that someone could add to a signed archive, or change in it, without a key is taken for signed."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from forgeries import FILES, FORGED, SIGNED, ZIPS, forge, packed, read
from packed import Package, Record
from program import Server, Store
from support.signing import signed

PUBLISHED = Path(os.environ.get("REPLAYHOST_FIXTURES", "/absent"))
# Nothing that the signature covers or that is shown is changed by these.
HARMLESS = {"data-folder", "digest-path", "bytes-after"}
BASES = {
    "anonymous": (None, "signed-anonymously"),
    "domain": ("webrecorder__py-wacz/tests/fixtures/valid_signed_example_1.wacz", "signed"),
    "starling": ("starlinglab__integrity-preprocessor/tests/assets/wacz/good/domain-sig.wacz", "signed"),
}


def base_files(name, folder):
    path = BASES[name][0]
    return read(PUBLISHED / path if path else signed(folder, "anonymous")[0])


def answer(server, path):
    status, _, body = server.get(path)
    assert status == 200, (path, status, body)
    return json.loads(body)


@pytest.mark.few("anonymous", "domain")
@pytest.mark.parametrize("base", [
    "anonymous", pytest.param("domain", marks=pytest.mark.needs("published archives")),
    pytest.param("starling", marks=pytest.mark.needs("published archives"))])
def test_no_forgery_is_taken_for_signed(tmp_path, base):
    """Each file has another result than the signed one. If the signature is right, what it doesn't cover is neither listed nor found, until
    `replayhost edit` shows it with its mark."""
    store = Store(tmp_path / "store", tmp_path, None)
    files = base_files(base, tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in [*FILES, *ZIPS]:
        (folder / f"{name}.wacz").write_bytes(forge(name, files))
    (folder / "unchanged.wacz").write_bytes(packed(files))
    # Some are refused.
    store.run("import", folder, "--json")
    store.run("verify", "--json")
    results = {name: archive["verification"] for name, archive in store.listed().items()}
    assert results.pop("unchanged") == BASES[base][1]
    assert len(results) > 75
    assert {name for name, code in results.items() if code in SIGNED} - HARMLESS == set()
    covered = {name for name, code in results.items() if code in SIGNED | {"uncovered"}}
    assert len(covered) > 20
    shown = "warc-plain"
    with Server(store) as server:
        for name in covered:
            assert answer(server, f"/api/archives/{name}/pages?q=bank.example")["pages"] == [], name
            assert answer(server, f"/api/archives/{name}/captures?url={quote(FORGED, safe='')}&closest=")["captures"] == [], name
        store.run_checked("edit", shown, "--show-uncovered")
        capture = answer(server, f"/api/archives/{shown}/captures?url={quote(FORGED, safe='')}&closest=")["closest"]
        assert (capture["verification"], capture["uncovered"]) == ("uncovered", True)
    got = store.run_checked("get", FORGED, shown, "--json").lines()[0]
    assert (got["url"], got["verification"], got["uncovered"]) == (FORGED, "uncovered", True)
    store.run_checked("edit", shown, "--hide-uncovered")
    assert store.run("get", FORGED, shown, "--json").code == 3
    # Whatever shows the forged capture, none of it is taken for signed.
    for name in set(results) - covered:
        found = store.run("get", FORGED, name, "--json")
        assert found.code != 0 or found.lines()[0]["verification"] not in SIGNED, name


def test_record_counts_where_the_index_differs(store, tmp_path):
    """Without a signature, an index can state anything of a record. Another URL or time isn't shown; the rest is the record's."""
    real = Record("https://site.example/", b"<h1>Right</h1>")
    for name, stated in [("url", {"url": FORGED}), ("time", {"timestamp": "20250102030405"}), ("user", {"url": "https://bank.example@site.example/"}),
            ("answer", {"status": "404", "mime": "application/pdf"})]:
        store.run_checked("import", Package([Record(real.url, real.body, line=stated)]).write(tmp_path / f"{name}.wacz"))
    assert store.run("get", real.url, "url").code != 0
    assert store.run("get", real.url, "time").code != 0
    assert store.run_checked("get", real.url, "user", "--json").lines()[0]["url"] == real.url
    got = store.run_checked("get", real.url, "answer", "--json").lines()[0]
    assert (got["status"], got["mime"]) == (200, "text/html")
    with Server(store) as server:
        def closest(name):
            return answer(server, f"/api/archives/{name}/captures?url={quote(real.url, safe='')}&closest=")["closest"]
        assert closest("user")["recorded"] == {"url": real.url}
        assert closest("answer")["recorded"] == {"status": 200, "mime": "text/html"}
