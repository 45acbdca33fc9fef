"""WARC and ARC files of every form, whole and damaged. Shares nothing with the program under test."""

import gzip
import http.server
import zlib

from packed import STAMP, TIME, Record

SITE = "https://reef.example"


def members(*contents):
    return b"".join(gzip.compress(content, mtime=0) for content in contents)


def text_of(number):
    return f"<title>Page {number}</title><p>Coral {number}</p>{'.' * number}".encode()


INFO = Record("", b"software: test\r\n", kind="warcinfo", head="",
    headers={"WARC-Target-URI": None, "Content-Type": "application/warc-fields"})
HOME, CORAL, STAR, CRAB = [Record(f"{SITE}/{number}", text_of(number)) for number in range(4)]
RECORDS = [INFO, HOME, CORAL, STAR, CRAB]
URLS = [record.url for record in RECORDS[1:]]
ALL = [record.bytes() for record in RECORDS]
WHOLE = b"".join(ALL)
RESOURCE = Record("urn:text:1", b"just text", kind="resource", head="", headers={"Content-Type": "text/plain; charset=utf-8"})
METADATA = Record(HOME.url, b"via: x\r\n", kind="metadata", head="", headers={"Content-Type": "application/warc-fields"})
CONVERSION = Record(f"{SITE}/a.txt", b"converted", kind="conversion", head="", headers={"Content-Type": "text/plain"})
PARTS = [Record(f"{SITE}/parts", b"12345", headers={"WARC-Segment-Number": "1"}),
    Record(f"{SITE}/parts", b"678", kind="continuation", head="", headers={"WARC-Segment-Number": "2", "Content-Type": None})]
REVISIT = Record(f"{SITE}/again", kind="revisit", payload=CORAL.body, headers={"WARC-Refers-To-Target-URI": CORAL.url,
    "WARC-Refers-To-Date": TIME, "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"})


def with_lf(record):
    """A record whose own lines end in LF."""
    head, block = record.bytes()[:-4].split(b"\r\n\r\n", 1)
    return head.replace(b"\r\n", b"\n") + b"\n\n" + block + b"\n\n"


def with_extra_field(content):
    """A gzip member as Heritrix writes them: with an extra field. RFC 1952 §2.3.1.1."""
    member = bytearray(gzip.compress(content, mtime=0))
    member[3] = 4
    return bytes(member[:10] + b"\x08\0LX\x04\0\0\0\0\0" + member[10:])


def cut(data, size):
    return [data[start:start + size] for start in range(0, len(data), size)]


KEPT = {
    "plain.warc": WHOLE,
    "members.warc.gz": members(*ALL),
    "extra-field.warc.gz": b"".join(map(with_extra_field, ALL)),
    "mixed.warc": b"".join(ALL[:3]) + members(*ALL[3:]),
    "no-last-line-ends.warc": WHOLE[:-4],
    "no-last-line-ends.warc.gz": members(*ALL[:-1], ALL[-1][:-4]),
    "blank-lines.warc": b"\r\n\r\n" + b"\r\n\r\n".join(ALL),
    "lf.warc": b"".join(map(with_lf, RECORDS)),
    "lf.warc.gz": members(*map(with_lf, RECORDS)),
    "brackets.warc": WHOLE.replace(b"-URI: https://reef.example/2", b"-URI: <https://reef.example/2>"),
    "lower-case.warc": WHOLE.replace(b"WARC-Target-URI", b"warc-target-uri").replace(b"Content-Length", b"content-length"),
    "folded.warc": WHOLE.replace(b"WARC-Target-URI: ", b"WARC-Target-URI:\r\n "),
    "no-ending": WHOLE,
    "wrong-ending.wacz": members(*ALL),
    **{f"version-{version}.warc": WHOLE.replace(b"WARC/1.1", f"WARC/{version}".encode()) for version in ("0.17", "0.18", "1.0")},
}
CONVERTED = {
    "whole.warc.gz": gzip.compress(WHOLE),
    "split.warc.gz": members(*cut(WHOLE, 700)),
    "pairs.warc.gz": members(b"".join(ALL[:2]), b"".join(ALL[2:])),
    "later-pair.warc.gz": members(*ALL[:2], b"".join(ALL[2:4]), ALL[4]),
    "later-split.warc.gz": members(*ALL[:2], ALL[2][:300], ALL[2][300:], *ALL[3:]),
}


# Dates of WARC 1.1, and what an index has for them.
DATES = {"2024": "20240101000000", "2024-02": "20240201000000", "2024-02-03": "20240203000000",
    "2024-02-03T04:05Z": "20240203040500", "2024-02-03T04:05:06Z": "20240203040506",
    "2024-02-03T04:05:06.789123456Z": "20240203040506"}
NAMES = ["a b.warc", "tab\there.warc", "line\nbreak.warc.gz", "..warc", "....warc.gz", ".warc", "c:\\x\\..\\y.warc",
    "é" * 124 + ".warc", "%2e%2e%2f.warc", "日本.WARC.GZ", "-.warc", "a.b.c.arc.warc", "\u202egpj.warc"]


def related(record, number, other=None):
    """A copy with an ID, and with that of another record."""
    fields = {"WARC-Record-ID": f"<urn:test:{number}>", "WARC-Concurrent-To": other and f"<urn:test:{other}>"}
    return Record(**{**vars(record), "headers": {**record.headers, **fields}}).bytes()


def form(url, body):
    head = "POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded"
    return Record(url, body, kind="request", head=head, headers={"Content-Type": "application/http;msgtype=request"})


LARGE_FORM = b"q=" + b"x" * (3 << 20)


def brotli(data):
    """An uncompressed meta-block and an empty last one. RFC 7932 §9."""
    return ((len(data) - 1) << 4 | 1 << 20).to_bytes(3, "little") + data + b"\x03"


def chunked(data, wrong=0):
    return b"".join(b"%x\r\n%s\r\n" % (len(part) + (wrong if start else 0), part) for start, part in
        enumerate(cut(data, 60))) + b"0\r\n\r\n"


def page(title, word, charset="utf-8", meta="", filler=0):
    return f"<html><head>{meta}<title>{title}</title></head><body><p>{word}</p>{'<br>' * filler}</body></html>".encode(charset)


# Fields of the head, the stored body, the title, and a word of the text.
CYRILLIC, JAPANESE = ("Коралловый риф", "водоросли"), ("サンゴ礁", "ヒトデ")
DOCUMENTS = {
    "meta-1251": ([], page(*CYRILLIC, "cp1251", "<meta charset=windows-1251>"), *CYRILLIC),
    "equiv-koi8": ([], page(*CYRILLIC, "koi8-r", '<meta http-equiv=Content-Type content="text/html; charset=koi8-r">'), *CYRILLIC),
    "header-sjis": (["Content-Type: text/html; charset=Shift_JIS"], page(*JAPANESE, "shift_jis"), *JAPANESE),
    "bom-utf16": ([], page(*JAPANESE, "utf-16"), *JAPANESE),
    "gzip": (["Content-Encoding: gzip"], gzip.compress(page("Reef &amp; Co", "anemone")), "Reef & Co", "anemone"),
    "br": (["Content-Encoding: br"], brotli(page("Brotli", "anemone")), "Brotli", "anemone"),
    "deflate": (["Content-Encoding: deflate"], zlib.compress(page("Deflate", "anemone")), "Deflate", "anemone"),
    "chunked": (["Transfer-Encoding: chunked"], chunked(page("Chunked", "anemone")), "Chunked", "anemone"),
    "gzip-chunked": (["Transfer-Encoding: chunked", "Content-Encoding: gzip"], chunked(gzip.compress(page("Both", "anemone"))),
        "Both", "anemone"),
    "wrong-chunks": (["Transfer-Encoding: chunked"], chunked(page("Wrong", "anemone", filler=99), wrong=7), "Wrong", None),
    "not-chunked": (["Transfer-Encoding: chunked"], page("Not chunked", "anemone"), "Not chunked", "anemone"),
    "not-gzip": (["Content-Encoding: gzip"], page("Not gzip", "anemone"), "Not gzip", "anemone"),
    "wrong-length": (["Content-Length: 5"], page("Longer", "anemone"), "Longer", "anemone"),
    "large": ([], page("Large", "anemone", filler=500_000), "Large", "anemone"),
}


ARC_HEAD = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
HTTP_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def arc_record(url, body, address="192.0.2.7", stamp=STAMP, mime="text/html", head=HTTP_HEAD):
    """ARC 1.0: a line `URL IP-address Archive-date Content-type Archive-length`, the block, and a line end."""
    return f"{url} {address} {stamp} {mime} {len(head + body)}\n".encode() + head + body + b"\n"


ARC_RECORDS = [
    arc_record("filedesc://a.arc", ARC_HEAD, "0.0.0.0", mime="text/plain", head=b""),
    arc_record("dns:reef.example", b"20240102030405\nreef.example. 60 IN A 192.0.2.7\n", "192.0.2.1", mime="text/dns", head=b""),
    arc_record(HOME.url, HOME.body),
    arc_record(f"{SITE}/two words,  three", CORAL.body, stamp="20240203040506"),
    arc_record(STAR.url, STAR.body, "2001:db8::7"),
    arc_record(f"{SITE}/moved", b"", mime="no-type", head=b"HTTP/1.1 302 Found\r\nLocation: /0\r\n\r\n"),
    arc_record(f"{SITE}/old", b"<title>No head</title>", head=b""),
]
ARC_URLS = ["dns:reef.example", HOME.url, f"{SITE}/two%20words,%20%20three", STAR.url, f"{SITE}/moved", f"{SITE}/old"]


def random_records(chance):
    """Records of any size that don't compress well."""
    bodies = [chance.randbytes(chance.randrange(20, 3000)).hex().encode() for _ in range(12)]
    return [Record(f"{SITE}/{number:02}", body) for number, body in enumerate(bodies)]


def arc_of(records):
    return [ARC_RECORDS[0], *[arc_record(record.url, record.body) for record in records]]


def complete(pieces, size, tail):
    """The number of pieces that end within `size` bytes, without the `tail` bytes after their content."""
    ends = [sum(map(len, pieces[:count + 1])) - tail for count in range(len(pieces))]
    return sum(end <= size for end in ends)


def cut_forms(records):
    """For each form: the ending, all bytes, and a function that counts the records before a cut."""
    warc, arc = [INFO.bytes(), *[record.bytes() for record in records]], arc_of(records)
    for kind, pieces, tail in [("warc", warc, 4), ("arc", arc, 1)]:
        def plain(data, pieces=pieces, tail=tail):
            return complete(pieces, len(data), tail)

        def inflated(data, plain=plain):
            return plain(zlib.decompressobj(31).decompress(data))

        packed = [members(piece) for piece in pieces]
        yield kind, b"".join(pieces), plain
        yield f"members.{kind}.gz", b"".join(packed), lambda data, packed=packed: complete(packed, len(data), 0)
        yield f"one.{kind}.gz", members(b"".join(pieces)), inflated


def bomb(head, zeros, *before):
    """Gzip members, and one more that holds a start and zeros."""
    packer = zlib.compressobj(9, wbits=31)
    return members(*before) + packer.compress(head) + b"".join(
        packer.compress(bytes(1 << 20)) for _ in range(zeros >> 20)) + packer.flush()


def head_of(url, length):
    """The header of a record without digests."""
    return (f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\nWARC-Date: {TIME}\r\n"
        f"Content-Length: {length}\r\n\r\n").encode()


def arc_head(length):
    return f"{SITE}/large 192.0.2.7 {STAMP} text/html {length}\n".encode()


PAGES = {
    "/": "<title>Reef</title><a href='/coral?b=2&a=1'>Coral</a> <a href='/sea%20star'>Star</a>",
    "/coral?b=2&a=1": "<title>Corals &amp; Co</title><p>Staghorn</p>",
    "/sea%20star": "<title>Seestern</title><p>Fünfstrahlig</p>",
}


class Site(http.server.BaseHTTPRequestHandler):
    """A site to record."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(PAGES.get(self.path))

    def do_POST(self):
        received = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(f"<title>Received</title>{len(received)} bytes")

    do_PUT = do_POST

    def answer(self, text):
        body = (text or "Not found").encode()
        self.send_response(200 if text else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
