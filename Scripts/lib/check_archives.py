#!/usr/bin/env python3
"""Reads WACZ files with py-wacz and warcio: `wacz validate`, every record with its digests, and every index line.

Usage: check_archives.py FOLDER
"""

import contextlib
import gzip
import io
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

from wacz.main import validate_wacz
from warcio.archiveiterator import ArchiveIterator


def problem(path):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = validate_wacz(SimpleNamespace(file=str(path), verify_auth=False, verifier_url=None))
    if code != 0:
        return f"wacz validate: {said.getvalue()[-300:]}"
    with zipfile.ZipFile(path) as package:
        if package.testzip():
            return "CRC-32"
        places = {}
        for name in package.namelist():
            if name.startswith("archive/"):
                records = ArchiveIterator(io.BytesIO(package.read(name)), check_digests="raise", verify_http=False)
                for record in records:
                    places[name.removeprefix("archive/"), records.get_record_offset()] = record.rec_headers["WARC-Target-URI"]
                    record.raw_stream.read()
        for line in gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines():
            entry = json.loads(line[line.index("{"):])
            found = places.get((entry["filename"], int(entry["offset"])))
            if (found or "").replace(" ", "%20") != entry["url"].replace(" ", "%20"):
                return f"index line of {entry['url']!r}: {found!r}"
    return None


def main():
    paths = sorted(Path(sys.argv[1]).glob("*.wacz"))
    problems = [(path.name, reason) for path in paths if (reason := problem(path))]
    print(f"{len(paths)} archives read with py-wacz and warcio, problems: {len(problems)}")
    for name, reason in problems[:20]:
        print(f"  {name}: {reason}")
    sys.exit(bool(problems) or not paths)


main()
