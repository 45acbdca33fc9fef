"""Compares all captures that cdxj-indexer finds in WACZ files with the server's index and responses.

    pip install cdxj-indexer warcio brotlipy zstandard
    python Scripts/lib/compare_captures.py FILE_OR_FOLDER…

For each capture of an imported file, `/c/ID/cdx?url=…` must list the same WARC, offset, length and digest, and
`/c/ID/<timestamp>id_/<url>` must return the payload that warcio reads. Prints a table and a line for each difference;
fails if the file itself doesn't explain a difference.
"""

import base64
import collections
import contextlib
import hashlib
import io
import json
import re
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import zstandard
from cdxj_indexer.main import CDXJIndexer
from warcio.archiveiterator import ArchiveIterator

import serving

WARC = re.compile(r"\.w?arc(\.gz)?$", re.IGNORECASE)
EMPTY = base64.b32encode(hashlib.sha1(b"").digest()).decode().lower()
COLUMNS = ["captures", "found", "positions", "digests", "bodies"]


def warcs(package):
    """Yields name and content of the WARC files in archive/."""
    for info in package.infolist():
        if info.filename.startswith("archive/") and WARC.search(info.filename):
            yield info.filename.removeprefix("archive/"), package.read(info)


def indexed(package):
    """Returns the lengths in the file's own index, by WARC and offset; None if it has no index."""
    names = [name for name in package.namelist() if re.match(r"indexes/.*\.cdxj?(\.gz)?$", name)]
    if not names:
        return None
    places = collections.defaultdict(set)
    for name in names:
        data = package.read(name)
        if name.endswith(".gz"):
            data = members(data)
        for line in data.decode(errors="replace").splitlines():
            try:
                entry = json.loads(line.split(" ", 2)[2])
                places[entry["filename"].removeprefix("archive/"), int(entry["offset"])].add(str(entry.get("length")))
            except (IndexError, ValueError, KeyError, AttributeError):
                continue
    return places


def members(data):
    """Decompresses gzip members, up to the first damaged one."""
    whole = b""
    while data:
        reader = zlib.decompressobj(31)
        try:
            whole += reader.decompress(data)
        except zlib.error:
            break
        data = reader.unused_data
    return whole


def captures(name, data, notes):
    """Returns the captures that cdxj-indexer finds in a WARC, up to the first error."""
    output = io.StringIO()
    indexer = CDXJIndexer(output, [], post_append=True, filename=name)
    try:
        indexer.process_one(io.BytesIO(data), output, name)
    except Exception as error:
        notes.append(f"{name}: cdxj-indexer stops with: {str(error).strip().splitlines()[0]}")
    for line in output.getvalue().splitlines():
        key, timestamp, text = line.split(" ", 2)
        yield {"urlkey": key, "timestamp": timestamp, **json.loads(text)}


def decoded(body, coding):
    """Decodes zstd, which warcio doesn't."""
    if coding != "zstd":
        return body
    return zstandard.ZstdDecompressor().stream_reader(body).read()


def computed(data):
    """Returns payload digests by offset, for records without one. With joined requests, cdxj-indexer gives the digest of no data."""
    output = io.StringIO()
    with contextlib.suppress(Exception):
        CDXJIndexer(output, [], filename="-").process_one(io.BytesIO(data), output, "-")
    entries = [json.loads(line.split(" ", 2)[2]) for line in output.getvalue().splitlines()]
    return {int(entry["offset"]): entry.get("digest") for entry in entries}


def payloads(name, data, notes):
    """Returns the payloads that warcio decodes, by offset, with the original that a revisit refers to."""
    read = {}
    try:
        iterator = ArchiveIterator(io.BytesIO(data))
        for record in iterator:
            coding = (record.http_headers.get_header("Content-Encoding") or "").lower() if record.http_headers else ""
            try:
                body = decoded(record.content_stream().read(), coding)
                if record.http_headers is None and record.rec_headers.get_header("Content-Type", "").startswith("application/http"):
                    # warcio doesn't parse HTTP headers if the URL has another scheme, such as file:.
                    body = body.partition(b"\r\n\r\n")[2]
            except Exception as error:
                notes.append(f"{name}: warcio can't decode {record.rec_headers.get_header('WARC-Target-URI')}: {error}")
                body = None
            refers = None
            if record.rec_type == "revisit":
                refers = (record.rec_headers.get_header("WARC-Refers-To-Target-URI"),
                          record.rec_headers.get_header("WARC-Refers-To-Date"))
            uri, date = (record.rec_headers.get_header(field) for field in ["WARC-Target-URI", "WARC-Date"])
            read[iterator.get_record_offset()] = (record.rec_type, uri, date, body, refers)
    except Exception as error:
        notes.append(f"{name}: warcio stops with: {str(error).strip().splitlines()[0]}")
    return read


def digest(text):
    """Normalizes a digest. Its length identifies the algorithm."""
    return (text or "").split(":")[-1].lower().rstrip("=")


def request_url(capture):
    """Returns the URL of a capture, with the body of its request."""
    url = capture["url"]
    if "method" not in capture:
        return url
    return f"{url}{'&' if '?' in url else '?'}__wb_method={capture['method']}&{capture.get('requestBody', '')}"


class Comparison:
    def __init__(self, path, port, archive):
        self.path, self.port, self.archive = path, port, archive
        self.counts, self.notes, self.explained, self.faults = collections.Counter(), [], collections.Counter(), []

    def run(self):
        with zipfile.ZipFile(self.path) as package:
            files, named = list(warcs(package)), indexed(package)
        bodies = {}
        for name, data in files:
            for offset, record in payloads(name, data, self.notes).items():
                bodies[name, offset] = record
        originals = {
            (uri, date): body for kind, uri, date, body, _ in bodies.values() if kind in ("response", "resource")
        }
        found = [(name, capture) for name, data in files for capture in captures(name, data, self.notes)]
        together = collections.defaultdict(list)
        for name, capture in found:
            record = bodies.get((name, int(capture["offset"])))
            body = record[3] if record else None
            if record and record[0] == "revisit":
                body = originals.get(record[4], "gone")
            capture["body"] = body
            together[request_url(capture), capture["timestamp"][:14]].append(body)
        digests = {name: computed(data) for name, data in files}
        for name, capture in found:
            self.counts["captures"] += 1
            if digest(capture.get("digest")) == EMPTY:
                capture["digest"] = digests[name].get(int(capture["offset"]))
            self.check(name, capture, named, together)
        return self

    def check(self, name, capture, named, together):
        place = (name.removeprefix("archive/"), int(capture["offset"]))
        what = f"{capture['timestamp']} {capture['url']} ({name}:{capture['offset']})"
        status, _, text = serving.get(
            self.port, f"/c/{self.archive}/cdx?url={serving.parameter(capture['url'])}&output=json")
        lines = [json.loads(line) for line in text.splitlines()] if status == 200 else []
        near = [line for line in lines
                if line["url"] == capture["url"] and line["timestamp"][:14] == capture["timestamp"][:14]]
        if not near:
            if named is not None and place not in named:
                self.explained["the file's index doesn't contain it"] += 1
            else:
                self.faults.append(f"not found ({status}): {what}")
            return
        self.counts["found"] += 1
        is_named = named is None or place in named
        exact = [line for line in near if (line["filename"].removeprefix("archive/"), int(line["offset"])) == place]
        if exact and int(exact[0]["length"]) == int(capture["length"]):
            self.counts["positions"] += 1
        elif not is_named:
            self.explained["the file's index has another position"] += 1
        elif exact and named and exact[0]["length"] in named[place]:
            self.explained["the file's index has another length"] += 1
            is_named = False
        else:
            self.faults.append(f"position: {what}: {[(line['filename'], line['offset'], line['length']) for line in near]}")
        line = (exact or near)[0]
        if digest(line.get("digest")) == digest(capture.get("digest")):
            self.counts["digests"] += 1
        elif "digest" not in line or len(digest(line["digest"])) != len(digest(capture.get("digest"))):
            self.explained["the file's index has no digest, or one of another algorithm"] += 1
        else:
            self.faults.append(f"digest: {what}: {line['digest']} for {capture.get('digest')}")
        self.check_body(capture, line["timestamp"], together, what, is_named)

    def check_body(self, capture, timestamp, together, what, is_named):
        status, fields, body = serving.get(self.port, f"/c/{self.archive}/{timestamp}id_/{request_url(capture)}")
        wanted = together[request_url(capture), capture["timestamp"][:14]]
        if "Memento-Datetime" in fields and any(body == each for each in wanted):
            self.counts["bodies"] += 1
        elif not is_named:
            self.explained[f"response {status}"] += 1
        elif capture["body"] == "gone":
            self.explained[f"revisit without its original (response {status})"] += 1
        elif capture["body"] is None:
            self.explained[f"damaged record (response {status})"] += 1
        else:
            self.faults.append(
                f"body: {what}: {status} {fields.get('Location', '')} {'cut off, ' * ('X-Cut-Off' in fields)}{len(body)} bytes {body[:80]!r}, "
                f"warcio has {[each if each is None else len(each) for each in wanted]}")


def main(arguments):
    files = [path for argument in arguments for path in
             (sorted(Path(argument).rglob("*.wacz")) if Path(argument).is_dir() else [Path(argument)])]
    comparisons, refused = [], []
    with tempfile.TemporaryDirectory() as store:
        imported = []
        for path in files:
            try:
                imported.append((path, serving.import_file(store, path)[0]))
            except serving.Refused as error:
                refused.append((path.name, str(error)))
        with serving.serve(store) as (_, port):
            comparisons = [Comparison(path, port, archive).run() for path, archive in imported]
    print("| archive | " + " | ".join(COLUMNS) + " | explained by the file |")
    print("| --- |" + " ---: |" * len(COLUMNS) + " --- |")
    for each in comparisons:
        why = "; ".join(f"{count} {reason}" for reason, count in each.explained.items())
        print(f"| {each.path.name} | " + " | ".join(str(each.counts[name]) for name in COLUMNS) + f" | {why} |")
    total = sum((each.counts for each in comparisons), collections.Counter())
    print("| all | " + " | ".join(str(total[name]) for name in COLUMNS) + " | |")
    print(f"\n{len(comparisons)} files imported, {len(refused)} refused")
    for each in comparisons:
        for note in each.notes:
            print(f"note: {each.path.name}: {note}")
    faults = [f"{each.path.name}: {fault}" for each in comparisons for fault in each.faults]
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
