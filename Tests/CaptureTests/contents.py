"""What is in archives and other files."""

import gzip
import io
import subprocess
import zipfile

from warcio.archiveiterator import ArchiveIterator


def warc_records(wacz):
    """The records of a WACZ, with `uri`, `status` and `body`. Wrong digests are errors."""
    found = []
    with zipfile.ZipFile(io.BytesIO(wacz)) as package:
        for name in package.namelist():
            if not name.endswith((".warc", ".warc.gz")):
                continue
            for record in ArchiveIterator(io.BytesIO(package.read(name)), check_digests="raise"):
                record.uri = record.rec_headers.get_header("WARC-Target-URI")
                record.status = record.http_headers.get_statuscode() if record.http_headers else None
                record.body = record.content_stream().read()
                found.append(record)
    return found


def parts(data, name):
    """The content of a file, and what is packed in it: ZIP files, gzip members, zstd."""
    yield name, data
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for inner in archive.namelist():
                yield from parts(archive.read(inner), f"{name}/{inner}")
    elif data.startswith(b"\x1f\x8b"):
        yield name, gzip.decompress(data)
    elif data.startswith(b"\x28\xb5\x2f\xfd"):
        yield name, subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout


def expect_nowhere(secret, *places):
    """Looks into all files below the places."""
    for place in places:
        for path in [place] if place.is_file() else place.rglob("*"):
            if path.is_file():
                for name, data in parts(path.read_bytes(), str(path)):
                    assert secret not in data, name
