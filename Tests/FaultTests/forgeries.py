"""Forgeries of a signed archive that need no key. Shares nothing with the program under test."""

import base64
import gzip
import hashlib
import io
import json
import struct
import warnings
import zipfile

from packed import Record, sha256

FORGED = "https://bank.example/"
RECORD = Record(FORGED, b"<title>Forged</title>Pay here")
# The results of a verification that nothing forged may have.
SIGNED = {"signed", "signed-anonymously"}
LIST, DIGEST, PAGES = "datapackage.json", "datapackage-digest.json", "pages/pages.jsonl"


def read(path):
    with zipfile.ZipFile(path) as package:
        return [(name, package.read(name)) for name in package.namelist()]


def packed(files):
    with io.BytesIO() as out, warnings.catch_warnings():
        # A name can be there twice.
        warnings.simplefilter("ignore", UserWarning)
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 4)), data)
        return out.getvalue()


def line(filename, offset, length, url=FORGED, **members):
    return "example,bank)/ 20240102030405 " + json.dumps({"url": url, "mime": "text/html", "status": "200", "filename": filename,
        "offset": str(offset), "length": str(length), **members}) + "\n"


PAGE = json.dumps({"url": FORGED, "ts": "2024-01-02T03:04:05Z", "title": "Forged"}).encode() + b"\n"
PAGE_LIST = b'{"format":"json-pages-1.0","id":"pages"}\n' + PAGE
WARC = gzip.compress(RECORD.bytes(), mtime=0)


def warc_of(files):
    return next((name, data) for name, data in files if name.startswith("archive/"))


def index_of(files):
    return next((name, data) for name, data in files if name.startswith("indexes/") and not name.endswith(".idx"))


def added(*extra):
    return lambda files: files + [(name, data(files) if callable(data) else data) for name, data in extra]


def first(*extra):
    return lambda files: [*extra, *files]


def replaced(name, change):
    """A file is changed, but nothing that states its hash."""
    def forge(files):
        wanted = name(files)[0] if callable(name) else name
        return [(each, change(data) if each == wanted else data) for each, data in files]
    return forge


def without(name):
    return lambda files: [(each, data) for each, data in files if each != name]


def to_signed_record(files):
    """A line that gives the first signed record another URL."""
    name, data = warc_of(files)
    return line(name.split("/", 1)[1], 0, len(data)).encode()


def alone(name):
    """A WARC file, and an index that names it."""
    data = WARC if name.lower().endswith("gz") else RECORD.bytes()
    return added((f"archive/{name}", data), ("indexes/added.cdx", line(name, 0, len(data)).encode()))


def resources(change, again=False):
    """Changes the list of files. `again`: also its hash in the digest file, but not in what is signed."""
    def forge(files):
        package = json.loads(dict(files)[LIST])
        package["resources"] = change(package["resources"])
        return listed(json.dumps(package).encode(), again)(files)
    return forge


def listed(data, again=False):
    def forge(files):
        new = data(files) if callable(data) else data
        files = replaced(LIST, lambda _: new)(files)
        return replaced(DIGEST, lambda digest: json.dumps({**json.loads(digest), "hash": sha256(new)}).encode())(files) if again else files
    return forge


def resource(path, data):
    return {"name": path.split("/")[-1], "path": path, "hash": sha256(data), "bytes": len(data)}


def digest(change):
    def forge(data):
        document = json.loads(data)
        return json.dumps(change(document) or document).encode()
    return replaced(DIGEST, forge)


def signed(**members):
    """Members of what is signed; `None` leaves one out."""
    def change(document):
        for name, value in members.items():
            data = document["signedData"]
            now = value(data.get(name, "")) if callable(value) else value
            data.pop(name, None)
            if now is not None:
                data[name] = now
    return digest(change)


def flipped(text, place=None):
    """Another letter of base64."""
    at = len(text) // 2 if place is None else place
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1:]


def twice(name, member, value, last):
    """A JSON object with a member twice, of which programs take the first or the last."""
    text = json.dumps(value)
    def change(data):
        data = data.strip()
        return data[:-1] + f', "{member}": {text}}}'.encode() if last else f'{{"{member}": {text}, '.encode() + data[1:]
    return replaced(name, change)


def of_lines(change):
    return lambda data: b"\n".join(change(each) for each in data.split(b"\n"))


def in_index(**members):
    """Changes members of all lines of an uncompressed index."""
    def change(each):
        if b"{" not in each:
            return each
        head, _, rest = each.partition(b"{")
        return head + json.dumps({**json.loads(b"{" + rest), **members}).encode()
    def index(data):
        plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        new = of_lines(change)(plain)
        return gzip.compress(new, mtime=0) if data[:2] == b"\x1f\x8b" else new
    return replaced(index_of, index)


def in_pages(**members):
    return replaced(PAGES, of_lines(lambda each: json.dumps({**json.loads(each), **members}).encode() if b'"url"' in each else each))


def flip(name, part):
    def change(data):
        at = min(int(len(data) * part), len(data) - 1)
        return data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1:]
    return replaced(name, change)


def second_directory(how):
    """A second directory, of the forged files: with an end record that one program skips and another uses, or right before the
    end record, where programs look that allow bytes before a ZIP."""
    def forge(data):
        place = data.rindex(b"PK\x05\x06")
        other = packed([(LIST, b'{"profile":"data-package","wacz_version":"1.1.1","resources":[]}'), ("archive/forged.warc.gz", WARC),
            ("indexes/forged.cdx", line("forged.warc.gz", 0, len(WARC)).encode()), (PAGES, PAGE_LIST)])
        end = other.rindex(b"PK\x05\x06")
        count, size, start = struct.unpack("<HII", other[end + 10:end + 20])
        directory, entries = bytearray(other[start:end]), other[:start]
        if how == "before":
            # The same size as the first, with a comment; and its offsets count from its own first byte.
            wanted = struct.unpack("<I", data[place + 12:place + 16])[0]
            return data[:place] + entries + padded(directory, wanted) + data[place:]
        # The offsets in the second directory count from the start of the whole file.
        place = len(data)
        at = 0
        while at < len(directory):
            names, extra, comment = struct.unpack("<HHH", directory[at + 28:at + 34])
            offset = struct.unpack("<I", directory[at + 42:at + 46])[0]
            directory[at + 42:at + 46] = struct.pack("<I", offset + place)
            at += 46 + names + extra + comment
        def end_record(disk=0, on_disk=count, comment=0):
            return struct.pack("<4sHHHHIIH", b"PK\x05\x06", disk, 0, on_disk, count, size, len(data) + len(entries), comment)
        bad = {"comment": end_record(comment=7), "disk": end_record(disk=1), "entries": end_record(on_disk=count - 1)}[how]
        return data + entries + bytes(directory) + bad
    return forge


def padded(directory, size):
    """A directory whose first entry has a comment, so that it has this size."""
    names, extra, _ = struct.unpack("<HHH", directory[28:34])
    comment = max(size - len(directory), 0)
    directory[32:34] = struct.pack("<H", comment)
    end = 46 + names + extra
    return bytes(directory[:end] + b" " * comment + directory[end:])


def inside_payload(files):
    """A line that names bytes of a signed record's block, where no record begins."""
    name, data = warc_of(files)
    return line(name.split("/", 1)[1], 40, len(data) - 40).encode()


OTHER_KEY = base64.b64encode(hashlib.sha256(b"another key").digest()).decode()
RIGHT = [resource("archive/added.warc.gz", WARC), resource("pages/added.jsonl", PAGE_LIST)]
# What someone could state of the added files.
STATED = {"hash": lambda one: one, "md5": lambda one: {**one, "hash": "md5:" + hashlib.md5(WARC).hexdigest()},
    "no-hash": lambda one: {key: one[key] for key in ("name", "path", "bytes")}, "other-hash": lambda one: {**one, "hash": sha256(b"")},
    "dotted": lambda one: {**one, "path": "./" + one["path"]}}
ADDED = added(("archive/added.warc.gz", WARC), ("indexes/added.cdx", line("added.warc.gz", 0, len(WARC)).encode()), ("pages/added.jsonl", PAGE_LIST))


def chain(*steps):
    def forge(files):
        for step in steps:
            files = step(files)
        return files
    return forge


# Names and what is done to the files.
FILES = {
    # Files that the signed list doesn't name.
    "page-list": added(("pages/added.jsonl", PAGE_LIST)),
    "extra-pages": added(("pages/extraPages.jsonl", PAGE_LIST)),
    "page-list-gzip": added(("pages/added.jsonl.gz", gzip.compress(PAGE_LIST))),
    "page-list-upper-case": added(("pages/ADDED.JSONL", PAGE_LIST)),
    "index-of-signed-record": added(("indexes/added.cdx", to_signed_record)),
    "index-cdxj": added(("indexes/added.cdxj", to_signed_record)),
    "index-gzip": added(("indexes/added.cdx.gz", lambda files: gzip.compress(to_signed_record(files)))),
    "index-in-folder": added(("indexes/a/b.cdx", to_signed_record)),
    "index-inside-payload": added(("indexes/added.cdx", inside_payload)),
    "index-user": added(("indexes/added.cdx", lambda files: line(warc_of(files)[0].split("/", 1)[1], 0, 9, url="https://bank.example@site.example/").encode())),
    "warc-gzip": alone("added.warc.gz"),
    "warc-plain": alone("added.warc"),
    "warc-upper-case": alone("ADDED.WARC.GZ"),
    "warc-in-folder": alone("sub/added.warc.gz"),
    "warc-dotted": alone("../archive/added.warc.gz"),
    "warc-absolute": added(("/archive/added.warc.gz", WARC), ("indexes/added.cdx", line("added.warc.gz", 0, len(WARC)).encode())),
    "warc-backslash": added(("archive\\added.warc.gz", WARC), ("indexes/added.cdx", line("added.warc.gz", 0, len(WARC)).encode())),
    "warc-two-slashes": alone("/added.warc.gz"),
    "warc-other-name": alone("added.bin"),
    "warc-only": added(("archive/added.warc.gz", WARC)),
    "warc-first": first(("archive/0.warc.gz", WARC)),
    "data-folder": added(("data/archive/added.warc.gz", WARC), ("data/indexes/added.cdx", line("added.warc.gz", 0, len(WARC)).encode())),
    "idx-only": added(("indexes/added.idx", b"!meta 0 {}\n")),
    "all-kinds": ADDED,
    # Names that are there twice.
    **{f"twice-{name}-{'first' if is_first else 'last'}": (first if is_first else added)((path, data))
        for name, path, data in [("list", LIST, b'{"profile":"data-package","resources":[]}'), ("pages", PAGES, PAGE_LIST), ("digest", DIGEST, b"{}")]
        for is_first in (True, False)},
    "twice-warc-last": lambda files: files + [(warc_of(files)[0], WARC)],
    "twice-warc-first": lambda files: [(warc_of(files)[0], WARC)] + files,
    "twice-index-last": lambda files: files + [(index_of(files)[0], to_signed_record(files))],
    "twice-index-first": lambda files: [(index_of(files)[0], to_signed_record(files))] + files,
    # The list of files.
    **{f"list-{name}": chain(ADDED, resources(lambda list, change=change: list + [change(one) for one in RIGHT]))
        for name, change in STATED.items()},
    **{f"list-again-{name}": chain(ADDED, resources(lambda list, change=change: list + [change(one) for one in RIGHT], again=True))
        for name, change in STATED.items()},
    "list-title": listed(lambda files: json.dumps({**json.loads(dict(files)[LIST]), "title": "Judgment"}).encode()),
    "list-title-again": listed(lambda files: json.dumps({**json.loads(dict(files)[LIST]), "title": "Judgment"}).encode(), again=True),
    "list-main-page-again": listed(lambda files: json.dumps({**json.loads(dict(files)[LIST]), "mainPageUrl": FORGED}).encode(), again=True),
    "list-empty": resources(lambda list: []),
    "list-without-hashes": resources(lambda list: [{key: one[key] for key in ("name", "path")} for one in list]),
    "list-space": listed(lambda files: dict(files)[LIST] + b" "),
    "list-missing": without(LIST),
    "list-twice-resources-last": chain(ADDED, twice(LIST, "resources", RIGHT, last=True)),
    "list-twice-resources-first": chain(ADDED, twice(LIST, "resources", RIGHT, last=False)),
    # The digest file and the signature.
    "digest-missing": without(DIGEST),
    "digest-hash": digest(lambda document: {**document, "hash": sha256(b"")}),
    "digest-path": digest(lambda document: {**document, "path": "other.json"}),
    "digest-twice-hash-last": twice(DIGEST, "hash", sha256(b""), last=True),
    "digest-twice-signed-last": twice(DIGEST, "signedData", {"hash": sha256(b""), "signature": "AA==", "publicKey": "AA=="}, last=True),
    "digest-twice-signed-first": twice(DIGEST, "signedData", {"hash": sha256(b""), "signature": "AA==", "publicKey": "AA=="}, last=False),
    "signature": signed(signature=flipped),
    "signature-short": signed(signature=lambda text: text[:8]),
    "signature-missing": signed(signature=None),
    "signature-empty": signed(signature=""),
    "signed-hash": signed(hash=sha256(b"another list")),
    "signed-hash-missing": signed(hash=None),
    "key": signed(publicKey=OTHER_KEY),
    # A change of what was signed, with each of its files.
    "warc-start": flip(lambda files: warc_of(files), 0),
    "warc-middle": flip(lambda files: warc_of(files), 0.5),
    "warc-end": flip(lambda files: warc_of(files), 1),
    "warc-replaced": replaced(lambda files: warc_of(files), lambda _: WARC),
    "warc-longer": replaced(lambda files: warc_of(files), lambda data: data + WARC),
    "warc-missing": lambda files: without(warc_of(files)[0])(files),
    "index-url": in_index(url=FORGED),
    "index-status": in_index(status="404"),
    "index-type": in_index(mime="application/pdf"),
    "index-digest": in_index(digest="sha256:00"),
    "index-place": in_index(offset="0"),
    "index-length": in_index(length="9"),
    "index-file": in_index(filename="added.warc.gz"),
    "index-replaced": lambda files: replaced(index_of, lambda _: to_signed_record(files))(files),
    "index-missing": lambda files: without(index_of(files)[0])(files),
    "page-title": in_pages(title="Judgment"),
    "page-url": in_pages(url=FORGED),
    "page-time": in_pages(ts="2025-01-02T03:04:05Z"),
    "page-text": in_pages(text="guilty"),
    "page-added": replaced(PAGES, lambda data: data + b"\n" + PAGE),
    "pages-missing": without(PAGES),
}
# What is done to the whole file.
ZIPS = {
    **{f"end-record-{how}": second_directory(how) for how in ("comment", "disk", "entries", "before")},
    "bytes-before": lambda data: b"MZ" + data,
    "bytes-after": lambda data: data + b"more",
}


def forge(name, files):
    """The bytes of a forged archive."""
    return packed(FILES[name](files)) if name in FILES else ZIPS[name](packed(files))
