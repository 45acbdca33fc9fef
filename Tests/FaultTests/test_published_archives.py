"""`replayhost verify` of published archives, and of archives of published WARC files.

What is expected comes from the bytes: zipfile and hashlib for the files in a WACZ, warcio for the records.
"""

import base64
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParserException

FOLDER = Path(os.environ.get("REPLAYHOST_FIXTURES") or "missing")
pytestmark = pytest.mark.needs("published archives")


# It has two directories, of which zipfile reads neither, so zipfile can't tell what is right.
TWO_DIRECTORIES = "right/forged/endrecord.wacz"


def published(*patterns):
    paths = {path.relative_to(FOLDER) for pattern in patterns for path in FOLDER.rglob(pattern)}
    return sorted(str(path) for path in paths if not path.parts[0].startswith("hostile") and str(path) != TWO_DIRECTORIES)


def agrees(stated, data):
    """Whether a digest in one of its spellings is that of `data`. WARC 1.1 §5.8."""
    label, _, value = stated.rpartition(":")
    algorithms = [label.replace("-", "").lower()] if label else ["sha256", "sha1", "md5"]
    for name in algorithms:
        digest = hashlib.new(name, data).digest()
        if value.lower() == digest.hex() or value.rstrip("=") == base64.b32encode(digest).decode().rstrip("="):
            return True
    return False


def read_all(stream):
    """Reads a stream of warcio, which returns a piece at a time."""
    return b"".join(iter(lambda: stream.read(1 << 20), b""))


def is_cut(record, block):
    """Whether the file ends within the record. warcio doesn't say so, and checks the digests of what is there."""
    return len(block) < int(record.rec_headers.get_header("Content-Length"))


def warcio_tally(data):
    """Counts the records of a WARC file, and those whose digests don't agree, by what `warcio check` says.

    warcio hashes only bodies as they were recorded. A record in which the file ends counts as cut only.
    """
    tally = {"checked": 0, "failed": 0, "without": 0, "cut": 0}
    blocks = [record.raw_stream.read() for record in ArchiveIterator(io.BytesIO(data), no_record_parse=True)]
    for record, data_block in zip(ArchiveIterator(io.BytesIO(data), check_digests=True), blocks, strict=True):
        block, payload = (record.rec_headers.get_header(name) for name in ("WARC-Block-Digest", "WARC-Payload-Digest"))
        decoded = read_all(record.content_stream())
        # What follows the last chunk.
        read_all(record.raw_stream)
        if is_cut(record, data_block):
            tally["cut"] += 1
            continue
        if record.rec_type == "revisit":
            # Its payload is in another record. warcio doesn't check its block.
            tally["checked" if block else "without"] += 1
            tally["failed"] += block is not None and not agrees(block, data_block)
            continue
        tally["checked" if block or payload else "without"] += 1
        # warcio takes the header of a response without a web URL for a part of its payload.
        is_web = (record.rec_headers.get_header("WARC-Target-URI") or "http:").startswith("http")
        if is_web and record.digest_checker.passed is False:
            is_changed = block is not None and not agrees(block, data_block)
            tally["failed"] += is_changed or not is_of_other_form(payload, data_block, decoded)
    return tally


def total(tallies):
    return {key: sum(tally[key] for tally in tallies) for key in tallies[0]}


def is_of_other_form(digest, block, decoded):
    """Whether a payload digest is of the body without its transfer coding, or also without its content coding."""
    body = read_all(ChunkedDataReader(io.BytesIO(block.partition(b"\r\n\r\n")[2])))
    return digest is not None and (agrees(digest, body) or agrees(digest, decoded))


class Packed:
    """A WACZ as zipfile reads it."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as package:
            self.files = {name: package.read(name) for name in package.namelist() if not name.endswith("/")}

    @property
    def warcs(self):
        """Without those that a signed list of files doesn't name, if it names any."""
        names = [name for name in self.files if "archive/" in name and name.endswith((".warc", ".warc.gz"))]
        is_signed = "signedData" in json.loads(self.files.get("datapackage-digest.json", b"{}"))
        listed = [item["path"] for item in json.loads(self.files.get("datapackage.json", b"{}")).get("resources", []) if is_signed]
        return [self.files[name] for name in [name for name in names if name in listed] or names]

    def changed(self):
        """The files that don't match the list of files, and the list if it doesn't match its hash."""
        names = set()
        for item in json.loads(self.files.get("datapackage.json", b"{}")).get("resources", []):
            stated = item.get("hash") or item.get("stats", {}).get("hash")
            if stated and item["path"] in self.files and not agrees(stated, self.files[item["path"]]):
                names.add(item["path"])
        digest = json.loads(self.files.get("datapackage-digest.json", b"{}")).get("hash")
        if digest and "datapackage.json" in self.files and not agrees(digest, self.files["datapackage.json"]):
            names.add("datapackage.json")
        return names


@pytest.mark.parametrize("name", published("*.wacz"))
def test_verdict_follows_from_the_bytes(store, name):
    packed = Packed(FOLDER / name)
    run = store.run("verify", "--json", FOLDER / name)
    if not packed.warcs:
        assert run.code == 4 and "this isn't a WACZ file" in run.errors
        return
    report = run.lines()[0]["report"]
    result = report["result"]
    shown = {finding["location"].split(" byte ")[0].split(" line ")[0] for finding in result["findings"]
        if finding["code"] in ("crc-differs", "resource-hash", "package-hash", "entry-damaged")}
    assert shown == packed.changed()
    assert (report["summary"]["contents"] == "damaged") == bool(packed.changed())
    expected = total([warcio_tally(data) for data in packed.warcs])
    assert result["unreadableRecords"] == expected.pop("cut")
    assert result["records"] == expected


@pytest.mark.parametrize("name", published("*.wacz"))
def test_what_can_be_replayed_is_imported(store, name):
    run = store.run("import", FOLDER / name)
    assert run.code == (0 if Packed(FOLDER / name).warcs else 4), run.errors


@pytest.mark.parametrize("name", published("*.warc", "*.warc.gz"))
def test_records_of_warc_files_agree_with_warcio(store, name):
    run = store.run("import", FOLDER / name)
    if run.code == 4:
        assert "is a capture" in run.errors or "can't be read" in run.errors
        return
    path = next((store.root / "files").glob("*.wacz"))
    result = store.run("verify", "--json", path).lines()[0]["report"]["result"]
    try:
        # Joined segments are in a file of their own.
        expected = total([warcio_tally(data) for data in Packed(path).warcs])
    except (ArchiveLoadFailed, StatusAndHeadersParserException):
        # warcio ends at a record that can't be read.
        assert result["unreadableRecords"] > 0
        return
    # warcio also reads a stretch between records that isn't one.
    assert result["unreadableRecords"] >= expected.pop("cut")
    assert result["records"] == expected
