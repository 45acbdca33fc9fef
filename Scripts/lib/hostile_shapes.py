"""hostile_shapes.py FOLDER PROGRAM[:NAME] …: measures what small hostile files cost, in a table with a row for each program.

Writes small files into FOLDER that can cost much memory, time or disk space. With a new store for each file, each PROGRAM imports
it, indexes its text, verifies it, exports it repaired, exports its files, and rebuilds the catalog. Then a server gets the file as
an upload, runs its jobs, and gets requests for lists, captures, ranges and a search. A cell shows seconds of processor time, the
peak of resident memory in MB, and what the step adds to the disk in MB. Each step ends by itself after 30 s of processor time, or
a file of 1 GB.

`--only WORD` selects files whose name contains WORD. `--data MB` limits the memory that each process may allocate (prlimit --data).
`--check` fails if a step with a file under 1 MB costs more than 96 MB of memory, 10 s of processor time or 100 MB of disk, or if a
program crashes. The server runs several steps at once: it may take 128 MB, and 10 s besides those of the steps that its jobs repeat.
"""

import argparse
import functools
import gzip
import http.client
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import serving
from writers.wacz import response_head, write_zipnum

MB = 1_000_000
CPU_LIMIT = 30
STEPS = ["import", "text", "verify", "repaired", "files", "rebuild", "serve"]
URL = "http://example.com/"
PACKAGE = b'{"profile":"data-package","wacz_version":"1.1.1","title":"Shape","resources":[%s]}'
LISTED = b'{"name":"data.warc.gz","path":"archive/data.warc.gz"}'


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


class Deflated:
    """Data that is deflated already: `size` zeros, then `rest`."""

    def __init__(self, size, rest):
        head, checksum = self.zeros(size)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        self.body = head + packer.compress(rest) + packer.flush()
        self.checksum, self.size = zlib.crc32(rest, checksum), size + len(rest)

    @staticmethod
    @functools.cache
    def zeros(size):
        packer, checksum, body, piece = zlib.compressobj(9, zlib.DEFLATED, -15), 0, b"", bytes(MB)
        for _ in range(size // MB):
            body += packer.compress(piece)
            checksum = zlib.crc32(piece, checksum)
        return body + packer.flush(zlib.Z_FULL_FLUSH), checksum


def write_zip(path, files):
    """Writes a ZIP of files (name, bytes or `Deflated`, is deflated). Unlike zipfile, it's fast for a million files and allows equal names."""
    central, offset, count = [], 0, 0
    with open(path, "wb") as out:
        for name, data, packed in files:
            name = name.encode()
            if isinstance(data, bytes):
                body, checksum, length = deflated(data) if packed else data, zlib.crc32(data), len(data)
            else:
                body, checksum, length = data.body, data.checksum, data.size
            fields = struct.pack(
                "<HHHHHIIIHH", 20, 0, 8 if packed else 0, 0, 33, checksum, len(body), length, len(name), 0)
            out.write(b"PK\3\4" + fields + name + body)
            central.append(b"PK\1\2\x14\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name)
            offset += 30 + len(name) + len(body)
            count += 1
        size = sum(map(len, central))
        out.writelines(central)
        if count >= 0xFFFF:
            out.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, offset))
            out.write(struct.pack("<IIQI", 0x07064B50, 0, offset + size, 1))
        short = min(count, 0xFFFF)
        out.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, short, short, size, offset, 0))


def record(body, fields=b""):
    return gzip.compress(response_head(URL, "text/html", len(body), fields=fields) + body + b"\r\n\r\n", mtime=0)


WARC = record(b"<p>A page</p>")


def line(number="", length=len(WARC)):
    """Returns an index line with `number` in the path; numbers of equal width sort."""
    return (
        f'com,example)/{number} 20240101000000 {{"url":"{URL}{number}","mime":"text/html","status":"200","offset":"0",'
        f'"length":"{length}","filename":"data.warc.gz"}}\n').encode()


def page(number="", more=""):
    return f'{{"url":"{URL}{number}","ts":"2024-01-01T00:00:00Z"{more}}}\n'.encode()


def parts(**replaced):
    """Returns the files of a small archive. Arguments replace some of them with lists of (name, bytes, is deflated)."""
    usual = {
        "warc": [("archive/data.warc.gz", WARC, False)],
        "index": [("indexes/index.cdx", line(), False)],
        "pages": [("pages/pages.jsonl", b'{"format":"json-pages-1.0"}\n' + page(), False)],
        "package": [("datapackage.json", PACKAGE % LISTED, False)],
        "more": [],
    }
    return [file for group in (usual | replaced).values() for file in group]


def package(data):
    return parts(package=[("datapackage.json", data, True)])


def filled(head, unit, tail, size):
    """Repeats `unit` up to `size` bytes."""
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


def numbered(make, count):
    return b"".join(make(f"{number:07}") for number in range(count))


def zipnum(blocks, idx_lines=None):
    """Returns a gzipped index with a member for each of `blocks`, and its .idx."""
    data = io.BytesIO()
    idx = write_zipnum(blocks, data, block=1)
    if idx_lines is not None:
        idx = idx.split(b"\n", 1)[0] + b"\n" + idx_lines
    return [("indexes/index.cdx.gz", data.getvalue(), False), ("indexes/index.idx", idx, True)]


def with_body(body, fields):
    """Returns an archive with one capture of this body."""
    warc = record(body, fields)
    return parts(warc=[("archive/data.warc.gz", warc, False)], index=[("indexes/index.cdx", line(length=len(warc)), False)])


def squeezed(body):
    """Returns a body in two layers of gzip, and its header field. The inner layer, of one repeated byte or phrase, compresses again."""
    return gzip.compress(gzip.compress(body, mtime=0), mtime=0), b"Content-Encoding: gzip, gzip\r\n"


def captures_of(body, fields=b"", count=1, media_type="text/html", page_text=""):
    """Returns an archive with one record, which the index and the page list name under `count` URLs."""
    warc = gzip.compress(response_head(URL, media_type, len(body), fields=fields) + body + b"\r\n\r\n", mtime=0)
    lines = numbered(lambda number: line(number, len(warc)).replace(b"text/html", media_type.encode()), count)
    return parts(
        warc=[("archive/data.warc.gz", warc, False)], index=[("indexes/index.cdx", lines, True)],
        pages=[("pages/pages.jsonl", numbered(lambda number: page(number, page_text), count), True)])


def many_words(size):
    """Returns text of that many bytes with words that differ, and repeat every 100 kB."""
    return filled(b"", b" ".join(b"w%x" % (number * 2654435761 % (1 << 32)) for number in range(10_000)) + b" ", b"", size)


def slow_pdf():
    """Returns a PDF whose page draws a form that draws the next one ten times, and so on: 10 to the power of 9 texts."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>",
        b"<</Length 5>>stream\n/F Do\nendstream"]
    for level in range(9):
        content = b"/F Do " * 10
        objects.append(
            b"<</Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</XObject<</F %d 0 R>>>>/Length %d>>stream\n%s\nendstream"
            % (len(objects) + 2, len(content), content))
    text = b"BT /T 9 Tf (word) Tj ET"
    objects.append(
        b"<</Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</Font<</T<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        b"/Length %d>>stream\n%s\nendstream" % (len(text), text))
    data, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj %s endobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1, table, len(objects) + 1, len(data))


def chunked(body, size):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for at in range(0, len(body), size) for part in [body[at:at + size]]) + b"0\r\n\r\n"


def records_behind(before, count):
    """Returns an archive whose ZIP compresses its WARC file: zeros, then records."""
    content = [record(b"<p>Page %d</p>" % number) for number in range(count)]
    places = [(before + sum(map(len, content[:number])), len(content[number])) for number in range(count)]
    lines = b"".join(
        line(f"{number:07}", length).replace(b'"0"', b'"%d"' % offset) for number, (offset, length) in enumerate(places))
    return parts(
        warc=[("archive/data.warc.gz", Deflated(before, b"".join(content)), True)], index=[("indexes/index.cdx", lines, True)],
        pages=[("pages/pages.jsonl", numbered(page, count), True)])


def text_shapes():
    """Yields shapes whose cost is in their texts, titles and bodies."""
    title = b"<title>%s</title>"
    yield "150 titles of 4 MB", lambda: captures_of(*squeezed(title % (b"a" * (4 * MB))), count=150)
    yield "150 titles of 4 MB of words", lambda: captures_of(*squeezed(title % many_words(4 * MB)), count=150)
    yield "text of 250 MB", lambda: captures_of(*squeezed(b"word " * (50 * MB)), media_type="text/plain")
    yield "text of 250 MB in one word", lambda: captures_of(*squeezed(b"a" * (250 * MB)), media_type="text/plain")
    yield "3,000 pages, one text of 30 MB", lambda: captures_of(*squeezed(many_words(30 * MB)), count=3_000, media_type="text/plain")
    yield "3,000 pages of 10 MB without text", lambda: captures_of(*squeezed(b"<i>" * (3 * MB)), count=3_000)
    yield "HTML, 9 million open elements", lambda: captures_of(*squeezed(b"<div>" * (9 * MB)))
    yield "HTML, attribute of 100 MB", lambda: captures_of(*squeezed(b'<p title="' + b"a" * (100 * MB) + b'">word'))
    yield "HTML, 20 million references", lambda: captures_of(*squeezed(b"&amp;" * (20 * MB)))
    yield "20,000 URLs of one body of 3 MB", lambda: captures_of(*squeezed(bytes(3 * MB)), count=20_000, media_type="image/png")
    yield "3,000 pages, body in small chunks", lambda: captures_of(
        chunked(many_words(300_000), 10), b"Transfer-Encoding: chunked\r\n", 3_000, "text/plain")
    yield "500 slow PDFs", lambda: captures_of(slow_pdf(), count=500, media_type="application/pdf")
    yield "pages with texts of 20 kB", lambda: captures_of(
        b"<p>A page</p>", count=300, page_text=',"text":"' + many_words(20_000).decode() + '"')
    yield "30,000 page titles that differ", lambda: parts(pages=[("pages/pages.jsonl", numbered(
        lambda number: page(number, f',"title":"{number * 3}"'), 30_000), True)])


def wacz_bytes(folder, files):
    path = folder / "member.tmp"
    write_zip(path, files)
    data = path.read_bytes()
    path.unlink()
    return data


def many_entries(count):
    return parts(more=((f"x/{number}", b"", False) for number in range(count)))


def shapes(folder):
    """Yields each name with the function that creates the file."""
    resource = b'{"name":"a","path":"archive/a","hash":"sha256:","bytes":1},'
    comma_end = LISTED + b"]}"
    yield "resources, 31 MB", lambda: package(filled(PACKAGE[:-4], resource, comma_end, 31 * MB))
    yield "resources, 15 MB", lambda: package(filled(PACKAGE[:-4], resource, comma_end, 15 * MB))
    yield "resources, 90,000", lambda: package(
        PACKAGE[:-4] + b"".join(b'{"path":"archive/%d"},' % number for number in range(90_000)) + comma_end)
    multi = PACKAGE.replace(b"data-package", b"multi-wacz-package")
    yield "multi-WACZ, 31 MB", lambda: [
        ("datapackage.json", filled(multi[:-4], resource, comma_end, 31 * MB), True),
        ("a.wacz", wacz_bytes(folder, parts()), False)]
    yield "multi-WACZ, deflated member", lambda: [
        ("datapackage.json", multi % b"", False),
        ("a.wacz", wacz_bytes(folder, parts(index=[("indexes/index.cdx", numbered(line, 1_000_000), False)])), True)]
    yield "multi-WACZ, 1,000 members", lambda: [("datapackage.json", multi % b"", False)] + [
        (f"{number}.wacz", wacz_bytes(folder, [
            ("archive/data.warc.gz", WARC[:1], False), ("indexes/index.cdx", line(number), False)]), True)
        for number in range(1_000)]
    yield "requirements, 15 MB", lambda: package(
        filled(b'{"relation":{"requires":[', b"{},", b'{}]},' + (PACKAGE % LISTED)[1:], 15 * MB))
    yield "JSON, nested", lambda: package(b'{"a":' + b"[" * (15 * MB))
    yield "JSON, one string", lambda: package(b'{"title":"' + b"a" * (15 * MB) + b'",' + (PACKAGE % LISTED)[1:])
    yield "JSON, one path", lambda: package(PACKAGE % (b'{"path":"' + b"a" * (15 * MB) + b'"}'))
    yield "JSON, one number", lambda: package(b'{"created":' + b"1" * (15 * MB) + b"," + (PACKAGE % LISTED)[1:])
    yield "JSON, one key", lambda: package(b'{"' + b"a" * (15 * MB) + b'":1,' + (PACKAGE % LISTED)[1:])
    yield "datapackage-digest.json, 31 MB", lambda: parts(
        more=[("datapackage-digest.json", filled(b'{"a":[', b'{"a":"b"},', b"1]}", 31 * MB), True)])
    yield "webarchive.yaml, 31 MB", lambda: parts(
        pages=[], package=[("webarchive.yaml", filled(b"title: a\npages:\n", b"- url: http://a/\n", b"", 31 * MB), True)])
    yield "webarchive.yaml, 3 MB", lambda: parts(
        pages=[], package=[("webarchive.yaml", filled(b"title: a\npages:\n", b"- url: x\n", b"", 3 * MB), True)])
    yield "990,000 ZIP entries", lambda: many_entries(990_000)
    yield "99,000 ZIP entries", lambda: many_entries(99_000)
    yield "9,000 ZIP entries", lambda: many_entries(9_000)
    yield "9,000 equal names", lambda: parts(more=[("x", b"", False)] * 9_000)
    yield "600,000 pages", lambda: parts(pages=[("pages/pages.jsonl", numbered(
        lambda number: b'{"url":"a%s"}\n' % number.encode(), 600_000), True)])
    yield "60 MB of equal pages", lambda: parts(pages=[("pages/pages.jsonl", b'{"url":"a"}\n' * 5_000_000, True)])
    yield "240,000 pages, 1 MB", lambda: parts(pages=[("pages/pages.jsonl", b"".join(
        b'{"url":"%s"}\n' % os.urandom(2).hex().encode() for _ in range(240_000)), True)])
    yield "page titles of 15 MB", lambda: parts(pages=[("pages/pages.jsonl", page(
        more=',"title":"' + "a" * (15 * MB) + '"') * 4, True)])
    yield "3,000 page lists", lambda: parts(
        pages=[(f"pages/{number}.jsonl", page(number), True) for number in range(3_000)])
    yield "index, one line of 31 MB", lambda: parts(
        index=[("indexes/index.cdx", line() + b"a" * (31 * MB), True)])
    yield "index, lines of 1 MB", lambda: parts(index=[("indexes/index.cdx", line() + b"".join(
        line(number).replace(b'"status"', b'"a":[' + b"{}," * 300_000 + b'1],"status"') for number in range(60)), True)])
    yield "index, 400,000 lines", lambda: parts(index=[("indexes/index.cdx", numbered(line, 400_000), True)])
    yield "index, 240,000 lines, 1 MB", lambda: parts(index=[("indexes/index.cdx", b"".join(sorted(
        line(os.urandom(2).hex()) for _ in range(240_000))), True)])
    yield "index, gzip in deflate", lambda: parts(
        index=[("indexes/index.cdx.gz", gzip.compress(line() * 3_000_000, mtime=0), True)])
    yield "3,000 indexes", lambda: parts(
        index=[(f"indexes/{number}.cdx", line(number), True) for number in range(3_000)])
    yield "3,000 stored indexes", lambda: parts(
        index=[(f"indexes/{number}.cdx", line(number), False) for number in range(3_000)])
    yield "ZipNum, .idx of 31 MB", lambda: parts(index=zipnum(
        [line()], b'com,example)/ 20240101000000 {"offset":0,"length":150}\n' * 550_000))
    yield "ZipNum, block of 1-byte lines", lambda: parts(index=zipnum([b"a\n" * (8 * MB - 100_000)]))
    yield "ZipNum, 60 blocks of 15 MB", lambda: parts(index=zipnum(
        [line(f"{number:02}") + b"\n" * (15 * MB) for number in range(60)]))
    yield "WARC, header of 1 MB", lambda: parts(index=[], warc=[
        ("archive/data.warc", b"WARC/1.1\r\n" + b"a:\n" * 340_000, True)])
    yield "WARC, 700,000 records", lambda: parts(index=[], warc=[("archive/data.warc.gz", WARC * 700_000, True)])
    yield "WARC, 900 MB of zeros", lambda: parts(index=[], warc=[("archive/data.warc.gz", record(bytes(900 * MB)), False)])
    for before in [60, 880]:
        yield f"WARC, 2,000 records behind {before} MB", lambda before=before: records_behind(before * MB, 2_000)
    yield "body, gzip", lambda: with_body(gzip.compress(bytes(200 * MB), mtime=0), b"Content-Encoding: gzip\r\n")
    yield "body, gzip in gzip", lambda: with_body(*squeezed(bytes(900 * MB)))
    yield from text_shapes()
    yield from record_shapes()


def warc_record(kind="response", url=URL, head=b"", body=b"", fields=b"", block_type=b"application/http"):
    """Returns an uncompressed WARC record. `head` is the HTTP header without its first line, or a whole one."""
    if kind == "response" and not head.startswith(b"HTTP/"):
        head = b"HTTP/1.1 200 OK\r\n" + head
    block = head + b"\r\n" + body if head else body
    return (b"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n%sContent-Type: %s\r\n"
            b"Content-Length: %d\r\n\r\n%s\r\n\r\n") % (kind.encode(), url.encode(), fields, block_type, len(block), block)


def warc_file(make, size=950_000):
    """Returns gzipped records (bytes or lists of bytes) up to `size` bytes, for the numbers 0, 1, 2 …"""
    file, number = bytearray(), 0
    while True:
        records = make(number)
        for one in records if isinstance(records, list) else [records]:
            file += gzip.compress(one, mtime=0)
        if len(file) > size:
            return bytes(file)
        number += 1


def record_shapes():
    """WARC files and their records: headers, URLs, request bodies, documents. A name that begins with "WARC file" gives a WARC file."""
    html = b"Content-Type: text/html\r\n"
    page_url = lambda number: f"{URL}{number}"
    yield "WARC file, heads of 1 MB", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"X:\r\n" * 240_000), 70_000)
    yield "WARC file, 1,990 fields", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"X:\r\n" * 1_990))
    yield "WARC file, 1,990 header fields", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html, fields=b"WARC-Xyz:\r\n" * 1_980))
    yield "WARC file, header lines", lambda: warc_file(lambda number: b"WARC/1.1\r\n" + b"a:\n" * 340_000, 720_000)
    yield "WARC file, folded lines", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"X: a\r\n" + (b" " + b"b" * 120 + b"\r\n") * 1_980))
    for name, head in [
        ("cookies", html + b"Set-Cookie: %s"), ("content types", b"Content-Type: text/%s"),
        ("type parameters", b"Content-Type: text/html;%s"),
    ]:
        filling = b" " if name == "type parameters" else b"a"
        yield f"WARC file, {name} of 250 kB", lambda head=head, filling=filling: warc_file(lambda number: warc_record(
            url=page_url(number), head=head % (filling * 250_000) + b"\r\n"))
    yield "WARC file, digests of 200 kB", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html, fields=b"WARC-Payload-Digest: sha1:" + b"a" * 200_000 + b"\r\n"))
    yield "WARC file, URLs of 200 kB", lambda: warc_file(lambda number: warc_record(
        url=page_url(number) + "a" * 200_000, head=html))
    for name, tail in [("paths", "a"), ("slashes", "/"), ("arguments", "&"), ("names", "a=b&"), ("escapes", "%25"), ("spaces", " ")]:
        yield f"WARC file, URLs of 16 kB of {name}", lambda tail=tail: warc_file(lambda number: warc_record(
            url=page_url(number) + "?" * (tail in "&a=b&") + tail * (16_000 // len(tail)), head=html))
    yield "WARC file, hosts of 16 kB", lambda: warc_file(lambda number: warc_record(
        url=f"http://{number}{'a.' * 8_000}com/", head=html))
    for name, media_type, body in [
        ("multipart", b"multipart/x; boundary=b", b"--b" * 2_700_000),
        ("JSON", b"application/json", b'{"a":"' + b"b" * 8_000_000 + b'"}'),
        ("form", b"application/x-www-form-urlencoded", b"%61" * 2_700_000),
    ]:
        yield f"WARC file, {name} requests", lambda media_type=media_type, body=body: warc_file(lambda number: [
            warc_record(url=page_url(number), head=html),
            warc_record("request", page_url(number), b"POST / HTTP/1.1\r\nContent-Type: %s\r\n" % media_type, body)])
    yield "WARC file, referrers of 250 kB", lambda: warc_file(lambda number: [
        warc_record(url=page_url(number), head=html),
        warc_record("request", page_url(number), b"GET / HTTP/1.1\r\nReferer: http://a/" + b"a" * 250_000 + b"\r\n")])
    yield "WARC file, page records", lambda: warc_file(lambda number: warc_record(
        "resource", f"urn:pageinfo:{URL}{number}{'a' * 16_000}", b"", b"{}", block_type=b"application/json"))
    yield "WARC file, revisits", lambda: warc_file(lambda number: warc_record(
        "revisit", page_url(number), b"HTTP/1.1 200 OK\r\n" + html,
        fields=b"WARC-Refers-To-Target-URI: " + URL.encode() + b"a" * 60_000 + b"\r\n"))
    yield "WARC file, warcinfo of 1 MB", lambda: warc_file(lambda number: warc_record(
        "warcinfo", URL, b"", b"software: a\r\n" * 80_000, block_type=b"application/warc-fields"))
    packed = functools.cache(lambda text, count: gzip.compress(text * count, mtime=0))
    yield "WARC file, documents of 200 MB", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"Content-Encoding: gzip\r\n", body=packed(b"<p>word", 30_000_000)), 600_000)
    yield "WARC file, documents of tags", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html, body=b"<b a=1>" * 140_000))
    yield "WARC file, texts of control characters", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"Content-Encoding: gzip\r\n", body=packed(b"\x01", 4_000_000)), 400_000)
    yield "WARC file, gzip as a whole", lambda: gzip.compress(b"".join(
        warc_record(url=page_url(number), head=html, body=bytes(9_000_000)) for number in range(90)), mtime=0)
    # RFC 8878 §3.1.1: a frame with a window of 8 MiB, and blocks of 128 KiB: a repeated byte, or plain and cut off.
    frame, zeros, cut = b"\x28\xb5\x2f\xfd\0\x68", b"\x02\0\x10\0", b"\0\0\x10"
    plain = lambda content: struct.pack("<I", len(content) << 3)[:3] + content
    yield "WARC file, Zstandard as a whole", lambda: frame + plain(
        warc_record(url=page_url(0), head=html) + b"WARC/1.1\r\nContent-Length: 9999999999\r\n\r\n") + zeros * 230_000
    yield "WARC file, Zstandard frames cut off", lambda: frame + plain(
        warc_record(url=page_url(0), head=html)) + b"\1\0\0" + (frame + cut) * 100_000
    yield "WARC file, chunks of a byte", lambda: warc_file(lambda number: warc_record(
        url=page_url(number), head=html + b"Transfer-Encoding: chunked\r\n", body=b"1\r\na\r\n" * 160_000 + b"0\r\n\r\n"))
    yield "WARC file, ARC lines", lambda: gzip.compress(
        b"filedesc://a 0.0.0.0 20240101000000 text/plain 2\n1\n\n" + b"a b c d e f g h i j\n" * 3_000_000, mtime=0)
    yield "pages, URLs of 60 kB", lambda: parts(pages=[("pages/pages.jsonl", numbered(
        lambda number: page(number + "a" * 60_000), 1_000), True)])
    yield "pages, titles of 60 kB", lambda: parts(pages=[("pages/pages.jsonl", numbered(
        lambda number: page(number, ',"title":"' + "a" * 60_000 + '"'), 1_000), True)])
    yield "pages, extraPages of 16 kB", lambda: parts(pages=[("pages/extraPages.jsonl", numbered(
        lambda number: page(number + "a" * 16_000, ',"favIconUrl":"' + "b" * 60_000 + '"'), 1_000), True)])
    yield "index, URLs of 60 kB", lambda: parts(index=[("indexes/index.cdx", numbered(
        lambda number: line(number + "a" * 60_000), 500), True)])
    yield "index, types of 100 kB", lambda: parts(index=[("indexes/index.cdx", numbered(
        lambda number: line(number).replace(b"text/html", b"text/" + b"a" * 100_000), 500), True)])
    yield "index, one time, lines of 100 kB", lambda: parts(index=[("indexes/index.cdx", line().replace(
        b'"status"', b'"requestBody":"' + b"a" * 100_000 + b'","status"') * 900, True)])
    yield "ZipNum, .idx lines of 100 kB", lambda: parts(index=zipnum(
        [line()], b"com,example)/" + b"a" * 100_000 + b' 20240101000000 {"offset":0,"length":150}\n' * 1))
    yield "main page of 60 kB", lambda: package(
        b'{"mainPageUrl":"http://a/' + b"a" * 60_000 + b'","description":"' + b"b" * (8 * MB) + b'",' + (PACKAGE % LISTED)[1:])
    yield "WARC, digests that differ", lambda: parts(index=[], warc=[("archive/data.warc.gz", b"".join(gzip.compress(warc_record(
        url=page_url(number), head=html, fields=b"WARC-Block-Digest: sha1:" + b"A" * 32 + b"\r\n"), mtime=0)
        for number in range(4_000)), False)])
    yield "WARC, fields in one stream", lambda: parts(index=[], warc=[("archive/data.warc", b"".join(warc_record(
        url=page_url(number), head=html, fields=b"A:\r\n" * 1_900) for number in range(9_000)), True)])


def files(folder, word):
    for name, make in shapes(folder):
        if word and word not in name:
            continue
        ending = ".warc.gz" if name.startswith("WARC file") else ".wacz"
        path = folder / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ending)
        if not path.exists():
            # In a separate process, since a program's peak includes its parent's memory at the start.
            writer = os.fork()
            if writer == 0:
                data = make()
                if isinstance(data, bytes):
                    path.write_bytes(data)
                else:
                    write_zip(path, data)
                os._exit(0)
            assert os.waitpid(writer, 0)[1] == 0, name
        yield name, path


def disk_usage(*folders):
    """Returns the bytes that files and folders take on the disk."""
    paths = [path for folder in folders if folder.exists() for path in [folder, *folder.rglob("*")]]
    return sum(path.lstat().st_blocks * 512 for path in paths)


def drain(port, path, **fields):
    """Reads and discards a response. Memory of this process would count for the programs that it starts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", path, headers={"Host": f"localhost:{port}"} | fields)
    answer = connection.getresponse()
    try:
        while answer.read(1 << 20):
            pass
    except http.client.IncompleteRead:
        pass
    connection.close()


def failure(code, err):
    """Returns the exit code and what the error says; nothing after a success."""
    reason = re.search(r'"what":"((?:[^"\\]|\\.)*)', err)
    return f"exit {code}: {reason[1] if reason else err[-200:]}" if code != 0 else ""


class Program:
    """A program with limits, a store and a folder for exports. Each step returns its cost, and why it failed or `None`."""

    def __init__(self, program, folder, data):
        # Limits end what would otherwise go on for hours.
        limits = [f"--cpu={CPU_LIMIT}", "--fsize=1000000000"] + ([f"--data={data * MB}"] if data else [])
        self.command = ["prlimit", *limits, "--", program]
        self.store, self.exports = folder / "store", folder / "exports"

    def clear(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.rmtree(self.exports, ignore_errors=True)
        self.exports.mkdir(parents=True)

    def run(self, *arguments):
        """Runs a command. Returns its cost, exit code, output and errors."""
        before = disk_usage(self.store, self.exports)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            command = [*self.command, *arguments, "--json", "--store", self.store]
            process = subprocess.Popen(command, stdout=out, stderr=err)
            usage = serving.waited(process)
            texts = []
            for file in [out, err]:
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        disk = disk_usage(self.store, self.exports) - before
        return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, disk), process.returncode, *texts

    def serve(self, path):
        """Uploads a file, waits for its jobs, and sends requests. Returns the cost of the server, and its last words if it died."""
        before = disk_usage(self.store)
        with serving.serve(self.store, command=self.command) as (process, port):
            try:
                archive = self.upload(path, port)
                for target in [
                    f"/api/archives/{archive}", f"/api/archives/{archive}/pages?limit=100", f"/c/{archive}/20240101000000id_/{URL}",
                    f"/c/{archive}/20240101000000ir_/{URL}", f"/c/{archive}/cdx?url={URL}", "/api/search?q=page",
                ] if archive else []:
                    drain(port, target)
                if archive:
                    drain(port, f"/archives/{archive}.wacz", Range="bytes=0-99")
                drain(port, "/api/health")
                cost = serving.processor_seconds(process.pid), serving.memory(process.pid, "VmHWM"), disk_usage(self.store) - before
                return cost, None
            except (OSError, http.client.HTTPException, StopIteration) as error:
                return (0, 0, disk_usage(self.store) - before), f"died ({type(error).__name__})"

    def upload(self, path, port):
        """Returns the ID of the archive, or `None` if the file was refused, once the server has no more jobs."""
        token = json.loads((self.store / "server.json").read_text())["token"]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        fields = {
            "Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Replayhost-Token": token,
            "Content-Type": "application/wacz" if path.suffix == ".wacz" else "application/warc"}
        with open(path, "rb") as file:
            connection.request("POST", f"/api/archives?name={path.name}", file, fields | {"Content-Length": str(path.stat().st_size)})
        connection.getresponse().read()
        connection.close()
        archives = [archive["id"] for archive in self.read(port, "/api/archives")["archives"]]
        expected = {(kind, archive) for kind in ["text", "verify"] for archive in archives}
        while True:
            jobs = self.read(port, "/api/jobs")["jobs"]
            ended = {(job["kind"], job.get("archive")) for job in jobs if job["state"] not in ["waiting", "running"]}
            if expected <= ended:
                return archives[0] if archives else None
            time.sleep(0.2)

    @staticmethod
    def read(port, path):
        return json.loads(serving.get(port, path, timeout=600)[2])

    def steps(self, path):
        """Runs the steps one after the other; yields their names, costs, and what went wrong."""
        self.clear()
        cost, code, out, err = self.run("import", path)
        if code != 0:
            yield "import", cost, failure(code, err)
        else:
            answer = json.loads(out.splitlines()[0])
            archive = answer.get("archive", {}).get("id")
            yield "import", cost, " ".join(sorted({finding["code"] for finding in answer.get("archive", {}).get("findings", [])}))
            for name, arguments in [
                ("text", ["jobs", "run"]), ("verify", ["verify", archive]),
                ("repaired", ["export", archive, "--repaired", "--output", self.exports / "repaired.wacz"]),
                ("files", ["export", archive, "--files", self.exports / "files"]), ("rebuild", ["doctor", "--rebuild", "--assets", "www"]),
            ]:
                if archive is not None or name in ["text", "rebuild"]:
                    cost, code, _, err = self.run(*arguments)
                    yield name, cost, failure(code, err)
        self.clear()
        yield "serve", *self.serve(path)


def is_too_much(step, costs, remark):
    """Returns whether a step with a file under 1 MB crashed, or cost more than it may. Exit 4 refuses a file."""
    seconds, peak, disk = costs[step]
    if step == "serve":
        seconds -= sum(costs[job][0] for job in ["import", "text", "verify"] if job in costs)
    crashed = remark and (remark.startswith("died") or re.match(r"exit (-|1\d\d)", remark))
    return bool(crashed or seconds > 10 or peak > (128 if step == "serve" else 96) * MB or disk > 100 * MB)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("programs", nargs="+")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--data", type=int, metavar="MB")
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'shape':31}{'kB':>7}  {'program':9}" + "".join(f"{name:>16}" for name in STEPS))
    failures = 0
    for name, path in files(given.folder, given.only):
        size = path.stat().st_size
        for number, program in enumerate(given.programs):
            program, _, label = program.partition(":")
            costs, cells, remarks = {}, {}, []
            for step, cost, remark in Program(program, given.folder, given.data).steps(path):
                costs[step] = cost
                failed = size < MB and is_too_much(step, costs, remark)
                failures += failed and number == len(given.programs) - 1
                cells[step] = "{:6.1f}{:5.0f}{:5.0f}".format(cost[0], cost[1] / MB, cost[2] / MB) + ("!" if failed else " ")
                if remark:
                    remarks.append(f"{step}: {remark[:150]}")
            print(
                f"{name if number == 0 else '':31}{size / 1000:7.0f}  {label or Path(program).name:9}"
                + "".join(cells.get(step, "").rjust(17) for step in STEPS) + "".join(f"\n{'':40}{remark}" for remark in remarks),
                flush=True)
    shutil.rmtree(given.folder / "store", ignore_errors=True)
    shutil.rmtree(given.folder / "exports", ignore_errors=True)
    if given.check and failures:
        sys.exit(f"{failures} steps cost too much (!), or crashed the program")


if __name__ == "__main__":
    main()
