"""`replayhost verify` finds every kind of damage, and says where. The files and their hashes are made by Python.

CHANGES= sets the number of random single-byte changes, SEED= their seed.
"""

import gzip
import hashlib
import json
import os
import random
import struct
import zipfile
import zlib

import pytest

from packed import Package, Record, sha1, sha256
from support.places import FIXTURES

CHANGES = int(os.environ.get("CHANGES", "60"))
SEED = int(os.environ.get("SEED", "20261123"))
SITE = "https://reef.example"

HOME = Record(f"{SITE}/", b"<h1>Home</h1>" * 30)
CORAL = Record(f"{SITE}/coral", b"<h1>Coral</h1>" * 40)
REQUEST = Record(f"{SITE}/", kind="request", head="GET / HTTP/1.1\r\nHost: reef.example", line=None)
REVISIT = Record(f"{SITE}/again", kind="revisit", payload=CORAL.body, line={"digest": CORAL.digest(CORAL.body)},
    headers={"WARC-Refers-To-Target-URI": CORAL.url, "WARC-Refers-To-Date": CORAL.time})
DANGLING = Record(f"{SITE}/again", kind="revisit", payload=b"elsewhere", headers={"WARC-Refers-To-Target-URI": f"{SITE}/lost",
    "WARC-Refers-To-Date": "2020-01-02T03:04:05Z"}, line={"digest": "sha256:" + hashlib.sha256(b"elsewhere").hexdigest()})
RECORDS = [HOME, REQUEST, CORAL, REVISIT]


def verify(store, path):
    """Returns the exit code, the result with its code, and the codes of errors and warnings with their places."""
    run = store.run("verify", "--json", path)
    assert len(run.lines()) == 1, run.errors
    report = run.lines()[0]["report"]
    result = report["result"] | {"code": report["summary"]["code"]}
    found = {(finding["severity"], finding["code"]): finding["location"] for finding in result["findings"]
        if finding["severity"] != "notice"}
    return run.code, result, found


def changed(data, place, to=None):
    return data[:place] + bytes([data[place] ^ 0x20 if to is None else to]) + data[place + 1:]


def in_place(path, change):
    """A change of a file in the package after its hash was made."""
    return lambda files: {**files, path: change(files[path])}


def at(text, shift=0):
    return lambda data: changed(data, data.index(text) + shift)


def without_hashes(description):
    return {**description, "resources": [{key: item[key] for key in ("name", "path", "bytes")} for item in description["resources"]]}


def with_hashes_of(algorithm):
    def change(packed):
        description = json.loads(packed["datapackage.json"])
        for item in description["resources"]:
            item["hash"] = f"{algorithm}:{hashlib.new(algorithm, packed[item['path']]).hexdigest()}"
        data = json.dumps(description).encode()
        return {**packed, "datapackage.json": data, "datapackage-digest.json": json.dumps({"hash": sha256(data)}).encode()}
    return change


def with_file(**item):
    return lambda description: {**description, "resources": [*description["resources"], {"name": "x", **item}]}


def without_crc(data):
    """A change of a stored byte that the ZIP's CRC doesn't follow."""
    return changed(data, data.index(b"<h1>Coral</h1>") + 5)


def other_stated_hash(data):
    """A change of the hash in datapackage-digest.json that the ZIP's CRC doesn't follow."""
    place = data.index(b'"sha256:', data.index(b"datapackage-digest.json")) + 12
    return changed(data, place, ord("1" if data[place] == ord("0") else "0"))


@pytest.mark.parametrize("is_gzipped", [False, True], ids=["plain", "gzip"])
def test_intact_file_is_verified(store, tmp_path, is_gzipped):
    code, result, found = verify(store, Package(RECORDS, is_gzipped=is_gzipped).write(tmp_path / "a.wacz"))
    assert (code, result["code"], found) == (0, "hashes-agree", {})
    assert result["files"] == {"checked": 3, "failed": 0, "without": 0}
    assert result["dataPackage"] == {"checked": 1, "failed": 0, "without": 0}
    assert result["records"] == {"checked": 4, "failed": 0, "without": 0}
    assert result["captures"] == {"checked": 3, "failed": 0, "without": 0}
    assert result["revisits"] == {"checked": 1, "failed": 0, "without": 0}
    assert result["pages"] == {"checked": 1, "failed": 0, "without": 0}


PLACE = sum(len(record.bytes()) for record in RECORDS[:2])
WARC = f"archive/data.warc byte {PLACE}"


@pytest.mark.parametrize(("package", "result_code", "findings"), [
    # Records
    pytest.param(Package(RECORDS, change_warc=at(b"<h1>Coral")), "records-differ", {("warning", "block-digest"): WARC}, id="body"),
    pytest.param(Package([HOME, REQUEST, Record(CORAL.url, CORAL.body, digest=sha1)], change_warc=at(b"<h1>Coral")), "records-differ",
        {("warning", "block-digest"): WARC}, id="body-sha1"),
    pytest.param(Package(RECORDS, change_warc=at(b"HTTP/1.1 200 OK", 10)), "records-differ", {("warning", "block-digest"): None}, id="head"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, payload=b"other")]), "records-differ", {("warning", "payload-digest"): None},
        id="payload-digest"),
    pytest.param(Package(RECORDS, change_warc=at(b"<h1>Coral"), change_packed=in_place("datapackage.json", at(b"1.1.1"))), "damaged",
        {("error", "block-digest"): WARC, ("error", "package-hash"): "datapackage.json"}, id="body-and-description"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, headers={"Content-Length": "999999"})]), "unreplayable",
        {("error", "warc-damaged"): None}, id="record-too-long"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, digest=sha1)]), "hashes-agree", {}, id="sha1"),
    pytest.param(Package([HOME, Record(CORAL.url, b"text", kind="resource", head="", mime="text/plain")]), "hashes-agree", {},
        id="resource"),
    # Files in the package
    pytest.param(Package(RECORDS, change_packed=in_place("archive/data.warc", at(b"<h1>Coral"))), "damaged",
        {("error", "resource-hash"): WARC}, id="warc-after-its-hash"),
    pytest.param(Package(RECORDS, change_packed=in_place("pages/pages.jsonl", at(b"All"))), "damaged",
        {("error", "resource-hash"): "pages/pages.jsonl"}, id="pages-after-their-hash"),
    pytest.param(Package(RECORDS, change_packed=in_place("indexes/index.cdx", lambda data: data.replace(b'"200"', b'"404"', 1))),
        "damaged", {("error", "resource-hash"): "indexes/index.cdx"}, id="index-after-its-hash"),
    pytest.param(Package(RECORDS, change_packed=in_place("datapackage.json", at(b"1.1.1"))), "damaged",
        {("error", "package-hash"): "datapackage.json"}, id="description-after-its-hash"),
    pytest.param(Package(RECORDS, change_zip=without_crc), "damaged",
        {("error", "resource-hash"): WARC}, id="crc"),
    pytest.param(Package(RECORDS, change_packed=in_place("indexes/index.cdx", at(b'"offset"', 13))), "damaged",
        {("error", "resource-hash"): None}, id="offset-after-its-hash"),
    pytest.param(Package(RECORDS, change_zip=other_stated_hash), "damaged",
        {("error", "crc-differs"): "datapackage-digest.json"}, id="digest-file"),
    pytest.param(Package(RECORDS, change_zip=lambda data: changed(data, data.index(b"PK\x03\x04") + 10)), "hashes-agree",
        {("warning", "zip-headers-differ"): "archive/data.warc"}, id="local-header"),
    pytest.param(Package(RECORDS, change_description=without_hashes), "partly", {}, id="no-hashes"),
    *[pytest.param(Package(RECORDS, change_packed=with_hashes_of(name)), code, {}, id=f"hashes-{name}")
        for name, code in [("md5", "partly"), ("sha1", "partly"), ("sha512", "hashes-agree")]],
    pytest.param(Package(RECORDS, change_description=with_file(path="pages/more.jsonl", hash="sha256:" + "0" * 64)), "partly",
        {("warning", "resource-missing"): "pages/more.jsonl"}, id="listed-file-missing"),
    pytest.param(Package(RECORDS, change_digest=lambda _: None), "hashes-agree", {}, id="no-digest-file"),
    # The index
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, line={"offset": "0", "length": str(len(HOME.bytes()))})]), "unreplayable",
        {("error", "index-other-record"): "indexes/index.cdx line 2", ("warning", "record-unindexed"): None}, id="other-record"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, line={"timestamp": "20240102030406"})]), "unreplayable",
        {("error", "index-other-record"): "indexes/index.cdx line 2"}, id="other-time"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, line={"offset": "7"})]), "unreplayable",
        {("error", "index-no-record"): "indexes/index.cdx line 2", ("warning", "record-unindexed"): None}, id="no-record"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, line={"length": "300"})]), "unreplayable",
        {("error", "index-short-length"): "indexes/index.cdx line 2"}, id="short-length"),
    pytest.param(Package([HOME, Record(CORAL.url, CORAL.body, line=None)]), "hashes-agree",
        {("warning", "record-unindexed"): f"archive/data.warc byte {len(HOME.bytes())}"}, id="unindexed"),
    pytest.param(Package([HOME, Record(f"{SITE}/Coral?b=1&a=2", CORAL.body, line={"url": f"{SITE}:443/coral?b=1&a=2"})]), "hashes-agree",
        {}, id="other-spelling"),
    # Pages and revisits
    pytest.param(Package(RECORDS, pages=[{"url": f"{SITE}/lost", "ts": HOME.time}]), "hashes-agree",
        {("warning", "page-uncaptured"): "pages/pages.jsonl"}, id="page"),
    pytest.param(Package([HOME, DANGLING]), "partly", {("warning", "revisit-unresolved"): "indexes/index.cdx line 2"}, id="revisit"),
    pytest.param(Package([HOME, Record(**{**vars(DANGLING), "line": {**DANGLING.line, "mime": "text/html"}})]), "partly",
        {("warning", "revisit-unresolved"): "indexes/index.cdx line 2"}, id="unmarked-revisit"),
])
def test_damage_is_found(store, tmp_path, package, result_code, findings):
    code, result, found = verify(store, package.write(tmp_path / "a.wacz"))
    assert found.keys() == findings.keys(), found
    assert {key: place for key, place in found.items() if findings[key]} == {key: place for key, place in findings.items() if place}
    assert result["code"] == result_code
    assert code == (4 if result_code in ("damaged", "unreplayable") else 0)


def test_changed_byte_is_one_issue_with_the_url(store, tmp_path):
    """A byte of a compressed record: the hash, the CRC, the record and the index line don't agree, for one cause."""
    package = Package(RECORDS, is_gzipped=True, change_zip=lambda data: changed(data, data.index(b"archive/data.warc.gz") + 20 + PLACES[2] + 40))
    _, result, _ = verify(store, package.write(tmp_path / "a.wacz"))
    errors = [finding for finding in result["findings"] if finding["severity"] != "notice"]
    assert [finding["code"] for finding in errors] == ["resource-hash"], errors
    assert errors[0]["location"] == f"archive/data.warc.gz byte {PLACES[2]}"
    assert CORAL.url in errors[0]["what"]
    # Also of the revisit, whose content is in that record.
    assert sorted(errors[0]["urls"]) == sorted([CORAL.url, REVISIT.url]) and "urlCount" not in errors[0]
    assert "nor its CRC-32" in errors[0]["what"]
    assert result["records"] == {"checked": 3, "failed": 0, "without": 0}
    assert result["unreadableRecords"] == 1
    text = store.run("verify", tmp_path / "a.wacz").output
    assert "a.wacz: Damaged or changed: something in the file doesn't match its hash or is missing: 1 error\n" in text
    assert "3 of 4 WARC records match their digest, 1 unreadable\n" in text


# Where the gzipped records begin.
PLACES = [sum(len(gzip.compress(record.bytes(), mtime=0)) for record in RECORDS[:count]) for count in range(len(RECORDS))]
CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
CHUNKS = b"5\r\ncoral\r\n0\r\n\r\n"
PACKED = gzip.compress(b"coral" * 40, mtime=0)
PACKED_CHUNKS = f"{len(PACKED):x}\r\n".encode() + PACKED + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize(("record", "digests"), [
    pytest.param(Record(CORAL.url, CHUNKS, head=CHUNKED), (1, 0, 0), id="as-recorded"),
    pytest.param(Record(CORAL.url, CHUNKS, payload=b"coral", head=CHUNKED), (0, 1, 0), id="without-transfer-coding"),
    pytest.param(Record(CORAL.url, PACKED, payload=b"coral" * 40, head="HTTP/1.1 200 OK\r\nContent-Encoding: gzip"), (0, 0, 1),
        id="without-content-coding"),
    pytest.param(Record(CORAL.url, PACKED_CHUNKS, payload=b"coral" * 40, head=f"{CHUNKED}\r\nContent-Encoding: gzip"), (0, 0, 1),
        id="without-both"),
    pytest.param(Record(CORAL.url, PACKED_CHUNKS, payload=PACKED, head=f"{CHUNKED}\r\nContent-Encoding: gzip"), (0, 1, 0),
        id="content-coding-kept"),
    # Stored without chunks, with the header field: as recorded, but without a transfer coding.
    pytest.param(Record(CORAL.url, b"coral", head=CHUNKED), (0, 0, 0), id="field-without-chunks"),
])
@pytest.mark.parametrize("is_gzipped", [False, True], ids=["plain", "gzip"])
def test_digests_of_encoded_and_decoded_payloads_are_recognized(store, tmp_path, record, digests, is_gzipped):
    path = Package([HOME, record], is_gzipped=is_gzipped).write(tmp_path / "a.wacz")
    code, result, found = verify(store, path)
    assert (code, result["code"], found) == (0, "hashes-agree", {})
    assert result["records"] == {"checked": 2, "failed": 0, "without": 0}
    assert tuple(result["payloadDigests"][name] for name in ("withTransferCoding", "withoutTransferCoding", "decoded")) == digests
    assert ("1 payload digest is of the body" in store.run("verify", path).output) == any(digests)


def test_records_that_differ_as_packed_are_no_damage(store, tmp_path):
    """All files agree with the list: seven records were changed before, or their digests are wrong."""
    records = [Record(f"{SITE}/{number}", b"text", payload=b"other" if number < 7 else None) for number in range(23)]
    path = Package(records).write(tmp_path / "a.wacz")
    _, result, found = verify(store, path)
    assert result["records"] == {"checked": 23, "failed": 7, "without": 0}
    named = [finding["what"] for finding in result["findings"] if finding["code"] == "payload-digest"]
    assert len(named) == 7 and all(f"{SITE}/{number}" in text for number, text in enumerate(named))
    urls = [finding["urls"] for finding in result["findings"] if finding["code"] == "payload-digest"]
    assert urls == [[f"{SITE}/{number}"] for number in range(7)]
    text = store.run("verify", path).output
    assert ("a.wacz: Records differ: the files that have a hash match it, but 7 records don't match the digests written in them "
        "(changed, or computed wrongly)\n") in text
    store.run_checked("import", path)
    assert store.run("verify", "a").code == 0
    summary = store.run_checked("info", "a", "--json").lines()[0]["verificationSummary"]
    assert (summary["contents"], summary["code"]) == ("records-differ", "records-differ")


def test_archive_with_an_unsafe_name_is_not_called_undamaged(store, tmp_path):
    path = Package(RECORDS, change_packed=lambda files: {**files, "../evil": b"x"}).write(tmp_path / "a.wacz")
    text = store.run("verify", path).output
    assert "a.wacz: May be an attack: other programs may read this ZIP differently, or be harmed by it\n" in text


@pytest.mark.parametrize("folder", ["", "crawls/", "archive/"])
def test_multi_wacz_is_recognized_wherever_its_members_are(store, tmp_path, folder):
    path = tmp_path / "several.wacz"
    names = [f"{folder}{number}.wacz" for number in range(2)]
    with zipfile.ZipFile(path, "w") as several:
        for name in names:
            several.writestr(name, Package([HOME]).bytes())
        several.writestr("datapackage.json", json.dumps({"profile": "multi-wacz-package", "resources": [{"path": name} for name in names]}))
    run = store.run("verify", path)
    assert run.code == 4
    assert "the ZIP contains WACZ files (2) instead of captures" in run.errors
    assert "import it" in run.errors
    store.run_checked("import", path)


def test_verify_of_all_archives_ends_with_a_summary(store, tmp_path):
    store.run_checked("import", FIXTURES / "sample.wacz")
    store.run_checked("import", Package(RECORDS, change_packed=in_place("pages/pages.jsonl", at(b"All"))).write(tmp_path / "a.wacz"))
    run = store.run("verify")
    assert run.code == 4
    assert run.output.splitlines()[-1] == "2 archives: 1 with “Hashes agree”, 1 with “Damaged or changed”"
    assert len(store.run("verify", "--json").lines()) == 2


def unprotected(data):
    """The places that no hash, checksum or second copy protects, by APPNOTE.TXT 6.3.10, §4.3.7, §4.3.12 and §4.3.16."""
    places = {}
    end = data.rindex(b"PK\x05\x06")
    count, _, start = struct.unpack("<HII", data[end + 10:end + 20])
    places.update(dict.fromkeys([*range(end + 4, end + 12), *range(end + 20, len(data))], "end record: disks, counts, comment"))
    here = start
    for _ in range(count):
        name, extra, comment = struct.unpack("<HHH", data[here + 28:here + 34])
        stop = here + 46 + name + extra + comment
        places.update(dict.fromkeys([*range(here + 4, here + 6), *range(here + 34, here + 42), *range(here + 46 + name, stop)],
            "directory: version made by, disk, attributes, extra field, comment"))
        local = struct.unpack("<I", data[here + 42:here + 46])[0]
        local_name, local_extra = struct.unpack("<HH", data[local + 26:local + 30])
        places.update(dict.fromkeys(range(local + 30 + local_name, local + 30 + local_name + local_extra), "local header: extra field"))
        here = stop
    return places


def test_every_changed_byte_is_found(store, tmp_path):
    """Changes that aren't found are in the few places that nothing protects."""
    data = (FIXTURES / "sample.wacz").read_bytes()
    chooser, missed = random.Random(SEED), {}
    path = tmp_path / "a.wacz"
    for _ in range(CHANGES):
        place = chooser.randrange(len(data))
        path.write_bytes(changed(data, place, data[place] ^ (1 << chooser.randrange(8))))
        run = store.run("verify", "--json", path)
        if run.code == 0 and not any(finding["severity"] != "notice" for finding in run.lines()[0]["report"]["result"]["findings"]):
            missed[place] = unprotected(data).get(place)
    print(f"{CHANGES} changes, {len(missed)} not found: {missed}")
    assert None not in missed.values(), missed


def test_changed_file_of_the_library_is_found(store):
    """Also where nothing in the file protects it: the library knows the SHA-256 of the whole file."""
    store.run_checked("import", FIXTURES / "sample.wacz")
    store.run_checked("verify")
    file = next((store.root / "files").glob("*.wacz"))
    data = file.read_bytes()
    place = next(place for place, name in unprotected(data).items() if name.startswith("directory"))
    file.chmod(0o600)
    file.write_bytes(changed(data, place))
    run = store.run("verify", "sample", "--json")
    report = run.lines()[0]["report"]
    assert (run.code, report["newFindings"], report["previous"]["code"]) == (4, ["file-hash"], "hashes-agree")
    details = store.run_checked("info", "sample", "--json").lines()[0]
    assert details["verification"] == "damaged"
    assert "file-hash" in [finding["code"] for finding in details["findings"]]


def test_hostile_files_end_soon(store, tmp_path):
    """A gzip bomb, and a hundred thousand empty records."""
    bomb = zlib.compressobj(9, wbits=31)
    head = b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: urn:x\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Length: 9999999999\r\n\r\n"
    data = bomb.compress(head) + b"".join(bomb.compress(bytes(1 << 20)) for _ in range(1500)) + bomb.flush()
    _, result, found = verify(store, Package([], change_warc=lambda _: data, is_gzipped=True, pages=[]).write(tmp_path / "bomb.wacz"))
    assert result["code"] == "unreplayable"
    assert ("error", "warc-damaged") in found
    empty = b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n" * 100_000
    _, result, _ = verify(store, Package([HOME], change_warc=lambda warc: warc + empty).write(tmp_path / "empty.wacz"))
    assert result["records"] == {"checked": 1, "failed": 0, "without": 100_000}
    assert result["code"] == "hashes-agree"


def test_interrupted_verification_continues(store, tmp_path):
    """A stopped verification has the same result as one from start to end, and doesn't read records again."""
    package = Package([Record(f"{SITE}/{number}", random.Random(number).randbytes(200_000)) for number in range(100)])
    store.run_checked("import", package.write(tmp_path / "a.wacz"))
    expected = store.run_checked("verify", "a", "--json").lines()[0]["report"]["result"]
    verified = next((store.root / "files").glob("*.verified.json"))
    verified.unlink()
    for _ in range(8):
        process = store.start("verify", "a")
        try:
            process.communicate(timeout=random.Random(SEED).uniform(0.01, 0.4))
        except Exception:
            process.kill()
            process.communicate()
    assert store.run_checked("verify", "a", "--json").lines()[0]["report"]["result"] == expected
    assert verified.exists()
    assert list((store.root / "files").glob("*.verifying.json")) == []
