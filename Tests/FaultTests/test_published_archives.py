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

FOLDER = os.environ.get("REPLAYHOST_FIXTURES")
if not FOLDER:
    pytest.skip("tests of published archives, as REPLAYHOST_FIXTURES is not set", allow_module_level=True)
FOLDER = Path(FOLDER)


def published(*patterns):
    paths = {path for pattern in patterns for path in FOLDER.rglob(pattern)}
    return sorted(str(path.relative_to(FOLDER)) for path in paths if not path.relative_to(FOLDER).parts[0].startswith("hostile"))


def agrees(stated, data):
    """Whether a digest in one of its spellings is that of `data`. WARC 1.1 §5.8."""
    label, _, value = stated.rpartition(":")
    algorithms = [label.replace("-", "").lower()] if label else ["sha256", "sha1", "md5"]
    for name in algorithms:
        digest = hashlib.new(name, data).digest()
        if value.lower() == digest.hex() or value.rstrip("=") == base64.b32encode(digest).decode().rstrip("="):
            return True
    return False


def warcio_tally(data):
    """Counts the records of a WARC file as `warcio check` does, and those whose digests don't agree."""
    tally = {"checked": 0, "failed": 0, "without": 0}
    for record in ArchiveIterator(io.BytesIO(data), check_digests=True):
        block, payload = (record.rec_headers.get_header(name) for name in ("WARC-Block-Digest", "WARC-Payload-Digest"))
        while record.content_stream().read(1 << 20):
            pass
        # The payload of a revisit is in another record.
        has_digest = block or payload and record.rec_type != "revisit"
        tally["checked" if has_digest else "without"] += 1
        # warcio takes the header of a response without a web URL for a part of its payload.
        is_web = (record.rec_headers.get_header("WARC-Target-URI") or "http:").startswith("http")
        tally["failed"] += is_web and record.digest_checker.passed is False
    return tally


class Packed:
    """A WACZ as zipfile reads it."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as package:
            self.files = {name: package.read(name) for name in package.namelist() if not name.endswith("/")}

    @property
    def warcs(self):
        return [data for name, data in self.files.items() if "archive/" in name and name.endswith((".warc", ".warc.gz"))]

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
    assert (report["summary"]["state"] == "damaged") == bool(packed.changed())
    tallies = [warcio_tally(data) for data in packed.warcs]
    assert result["records"] == {key: sum(tally[key] for tally in tallies) for key in ("checked", "failed", "without")}
    assert result["unreadableRecords"] == 0


@pytest.mark.parametrize("name", published("*.wacz"))
def test_what_can_be_replayed_is_imported(store, name):
    run = store.run("import", FOLDER / name)
    assert run.code == (0 if Packed(FOLDER / name).warcs else 4), run.errors
