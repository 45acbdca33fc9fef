"""Writes Fuzz/corpus, the seeds of the fuzzers: small inputs, reproducibly.

Run by hand after a change here or in Fixtures. Doesn't change Fuzz/crashes with the findings.
"""

import base64
import gzip
import json
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "Fuzz" / "corpus"


def seed(reader, name, content):
    folder = CORPUS / reader
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def member(content):
    return gzip.compress(content, 9, mtime=0)


def cdxj(path, time, **fields):
    entry = {"url": "http://example.org/" + path, "mime": "text/html", "status": "200", "digest": "sha1:X",
             "length": "205", "offset": "0", "filename": "data.warc"} | fields
    return f"org,example)/{path} {time} {json.dumps(entry)}\n"


def downloads():
    seed("download-request", "older.json", '{"url":"https://tiktok.com/@user/video/123","client_id":"A1","timestamp":1234567890}')
    seed("download-request", "v2.json", '{"url":"https://[::1]:8080/a.pdf?x#y","username":"John","options":{"form":"audio",'
        '"container":"mp3","audio_quality":"48k","height":720,"mode":"media"}}')
    seed("download-request", "invalid.json", '{"url":"ytsearch:cats","username":"../x","client_id":7,"options":{"height":720.5},"timestamp":"1"}')
    seed("tool-output", "yt-dlp", 'RHINFO {"is_live": false, "title": "Caf\\u00e9"}\n[download] x does not pass filter, skipping ..\n'
        'RHPROGRESS {"downloaded_bytes": 1024, "total_bytes": 80823, "speed": 1.5e6, "eta": 3}\nRHSTEP Merger\r\n'
        "reply: 'HTTP/1.1 429 Too Many Requests'\nheader: Retry-After: 120\nERROR: [x] 1: HTTP Error 429\nRHFILE /s/out/media.mp4\n")
    seed("tool-output", "ffprobe.json", '{"streams":[{"codec_type":"audio","sample_rate":"48000","disposition":{"attached_pic":0}}],'
        '"format":{"duration":"5.0"}}')
    seed("tool-output", "head", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n"
        "Transfer-Encoding: chunked\r\nContent-Disposition: attachment; filename*=UTF-8''%e2%82%ac.pdf\r\n\r\n")


def packages():
    for name in ["no-pages.wacz", "damaged/multi-wacz.wacz", "damaged/nul-name.wacz"]:
        seed("zip", Path(name).name, (ROOT / "Fixtures" / name).read_bytes())
    path = CORPUS / "zip" / "deflated.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in [("archive/data.warc", warc("plain")), ("pages/pages.jsonl", PAGES),
                ("indexes/index.cdxj", cdxj("", "20240102030405")), ("datapackage.json", "{}"), ("../evil", "x")]:
            made.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(CORPUS / "zip" / "zip64.wacz", "w") as made:
        with made.open(zipfile.ZipInfo("archive/data.warc"), "w", force_zip64=True) as entry:
            entry.write(warc("plain"))
        made.comment = b"with a comment"
    for fixture in ["second", "no-pages"]:
        with zipfile.ZipFile(ROOT / "Fixtures" / f"{fixture}.wacz") as package:
            seed("datapackage", f"{fixture}.json", package.read("datapackage.json"))
            index = package.read(next(name for name in package.namelist() if name.startswith("indexes/")))
            seed("cdxj", f"{fixture}.cdxj", index if index[:2] != b"\x1f\x8b" else gzip.decompress(index))
    with zipfile.ZipFile(ROOT / "Fixtures" / "second.wacz") as package:
        seed("pages", "second.jsonl", package.read("pages/pages.jsonl"))


PAGES = (
    '{"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": true}\n'
    '{"id": "1", "url": "http://example.org/", "title": "Caf\\u00e9 \\ud83d\\ude00", "ts": "2024-01-02T03:04:05Z", '
    '"text": "Hello \\"you\\"\\n", "size": 12, "status": 200, "mime": "text/html", "depth": 0, "seed": true, '
    '"favIconUrl": "http://example.org/favicon.ico", "loadState": [1, {"a": null}]}\n'
    '\n{"url": ""}\nnot json\n{"url": "http://example.org/b", "ts": 1704164645000}\n')

DATA_PACKAGE = {
    "profile": "data-package", "wacz_version": "1.1.1", "title": "T", "description": "D", "software": ["a", "b"],
    "created": "2024-01-02T03:04:05Z", "modified": 5, "mainPageUrl": "http://example.org/",
    "mainPageDate": "2024-01-02T03:04:05.678Z", "home": {"url": "http://example.org/", "ts": "20240102"},
    "resources": [
        {"name": "data.warc", "path": "archive/data.warc", "hash": "sha256:" + "ab" * 32, "bytes": 1e2},
        {"path": "pages/pages.jsonl", "stats": {"hash": "md5:" + "00" * 16, "bytes": 0}}, {"name": 5}, 7],
    "relation": {"requires": [{"filename": "a.wacz", "hash": "sha1:" + "A" * 32, "crawlId": 7}]},
    "signedData": {"signature": "s", "domain": "example.org"}, "hash": "sha256:x", "path": "datapackage.json"}

YAML = (
    "config:\n  useSurt: true\ntitle: 'A title'\ndesc: \"text\"\nmainPageUrl: http://example.org/\npages:\n"
    "  - url: http://example.org/\n    title: One\n    date: 2024-01-02T03:04:05Z\n    id: 1\n  - title: no url\n")


def documents():
    seed("datapackage", "all.json", json.dumps(DATA_PACKAGE))
    seed("datapackage", "nested.json", '{"resources": ' + "[" * 70 + "]" * 70 + "}")
    seed("datapackage", "webarchive.yaml", YAML)
    seed("pages", "all.jsonl", PAGES)
    seed("pages", "marked.jsonl", b"\xef\xbb\xbf" + b'{"url":"http://example.org/"}')
    sidecar = {"format": 2, "id": "an-archive", "title": "An archive", "originalName": "a.wacz", "source": "/a.wacz",
               "importedAt": "2024-01-02T03:04:05.678901Z", "tags": ["a"], "notes": "n", "port": 9123}
    key = "ab" * 32
    collection = {"format": 1, "id": "a-collection", "title": "A collection", "members": ["an-archive"], "createdAt":
             "2024-01-02T03:04:05.678901Z"}
    manifest = {"format": 1, "madeAt": "2024-01-02T03:04:05.678901Z", "collections": [],
                "archives": [{"key": key, "size": 12, "sha256": key, "sidecar": sidecar}]}
    seed("backup-manifest", "one.json", json.dumps(manifest, indent=1))
    seed("backup-manifest", "collection.json", json.dumps(manifest | {"collections": [collection]}))
    seed("backup-manifest", "empty.json", json.dumps(manifest | {"archives": []}))
    seed("backup-manifest", "other-format.json", json.dumps({"format": 9}))


def signatures():
    def read(name):
        return (ROOT / "Fixtures" / "signatures" / name).read_text()

    common = {"hash": read("hash.txt"), "created": read("signed-at.txt").strip(), "signature": read("p256.sig")}
    domain = {"domain": "archive.example", "domainCert": read("p256.pem"), "timeSignature": read("p256.tsr"),
              "timestampCert": read("stamper.pem")}
    anonymous = {"publicKey": read("p256.pub")}
    for name, members in [("anonymous", anonymous), ("domain", domain)]:
        seed("signature", f"{name}.json", json.dumps({"hash": common["hash"], "signedData": common | members}))
    seed("signature", "key.der", base64.b64decode(read("p256.pub")))
    seed("signature", "stamp.der", base64.b64decode(read("stamps/two-signers.tsr")))
    for name in ["below-narrow", "rsa"]:
        seed("signature", f"{name}.der", base64.b64decode(read(f"{name}.pem").split("-----")[2]))


def indexes():
    lines = [cdxj(path, time) for path in ["", "a", "a?b=1", "z/"] for time in ["20200229120000", "20240102030405"]]
    post = cdxj("p?__wb_method=post&x=1", "20240102030405", method="POST", requestBody="x=1")
    seed("cdxj", "sorted.cdxj", "!meta 0 {\"format\": \"cdxj\"}\n" + "".join(lines) + post)
    seed("cdxj", "unsorted.cdxj", "".join(reversed(lines[:4])))
    seed("cdxj", "odd.cdxj", " CDX N b a m s k r M S V g\n"
         + cdxj("é", "20240102030405123", offset=18446744073709551615, length=1, status=None)
         + "http://example.org/ 2024 {\"url\": \"urn:x\", \"offset\": -1}\norg,example)/ 20240102030405\n\xff\n")
    blocks = [member("".join(lines[:4]).encode()), member("".join(lines[4:]).encode())]
    idx = '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n'
    offset = 0
    for first, block in zip([lines[0], lines[4]], blocks):
        key = first[:first.index("{")]
        idx += f'{key}{{"offset": {offset}, "length": {len(block)}}}\n'
        offset += len(block)
    seed("zipnum", "two-blocks", idx.encode() + b"".join(blocks))
    tabs = f"org,example)/ 20200229120000\tindex.cdx.gz\t0\t{len(blocks[0])}\t1\n"
    seed("zipnum", "tabs", tabs.encode() + blocks[0])
    seed("zipnum", "texts", "".join(lines[:4]) + "\0" + "".join(lines[4:]))


def warc(kind):
    def record(fields, block, version="1.1"):
        head = f"WARC/{version}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return head.encode() + f"Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"

    common = {"WARC-Date": "2024-01-02T03:04:05Z", "WARC-Target-URI": "http://example.org/",
              "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-000000000000>"}
    http = common | {"WARC-Type": "response", "Content-Type": "application/http; msgtype=response",
                     "WARC-Payload-Digest": "sha1:" + "A" * 32}
    records = [
        record({"WARC-Type": "warcinfo", "WARC-Date": "2024-01-02T03:04:05Z"}, b"software: x\r\n"),
        record(http, HEAD.encode() + b"<p>Hello</p>"),
        record(http, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" + chunked(member(b"hi"))),
        record(common | {"WARC-Type": "revisit", "WARC-Refers-To-Date": "2024-01-01T00:00:00Z",
                         "WARC-Refers-To-Target-URI": "<http://example.org/a>"}, b"", "1.0"),
        record(common | {"WARC-Type": "resource", "Content-Type": "text/plain"}, b"a resource", "0.18")]
    if kind == "gzip":
        return b"".join(member(each) for each in records[:3])
    return b"".join(records)


def zstd_frame(content):
    """A frame whose content isn't compressed. RFC 8878 §3.1.1"""
    return b"\x28\xb5\x2f\xfd\0\x68" + struct.pack("<I", len(content) << 3 | 1)[:3] + content


def skippable(content, magic):
    return struct.pack("<II", magic, len(content)) + content


# A dictionary of `zstd` 1.5.4, and a frame that needs it.
ZSTD_DICTIONARY = (
    "N6Qw7EGcAAAnEMCSNB0zMAMzMAMzsKslZJFyI8nNbEs3jciKrLVRE1GBE7hyFmMMUwEANB4mDMwOAAAABODEjBEXmZqYwyLhWB0DiBAAAAAAAAAAAAAA"
    "IAAALwAAAAAAANTYODabdADAAAAAAAAAAAAAAAABAAAABAAAAAgAAABsYW5rdG9uIHJlZWYgc3BvbmdlIHJlZWYgcGxhbmt0b24gdGlkZSB0aWRlIGFu"
    "ZW1vbmFuZW1vbmUgbGFnb29uIGNvcmFsIGNvcmFsIHNwb25nZSB1cmNoaW4gbGFnb29uIGFuc2ggc3RhcmZpc2ggdXJjaGluIHBsYW5rdG9uIA==")
ZSTD_FRAME = (
    "KLUv/SZBnLNVBABTyBwLszC/TdZ0tFuYhaGcRgWTS9LMg2bdNQWXFXxdzVfLGSyMEqSHCqKHCqAHEZ7HCZzHCaLn8TQq8HU0SIGvOc4KRkFlbwpSoAKK"
    "XtekUUEOhFCEE1yW7JltJSneRgXWKxDhBDMQQgyOsDAOCpwUzEAIMThCBvw5bX5vepcSLi4hBP7ihwlM5QdkoTCV")

HEAD = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip, br\r\nX-Folded: a\r\n b\r\n"
    "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\nno colon\r\nEmpty:\r\n\r\n")


def chunked(content, extension=""):
    return f"{len(content):x}{extension}\r\n".encode() + content + b"\r\n0\r\n\r\n"


def records():
    seed("warc", "plain.warc", warc("plain"))
    seed("warc", "members.warc.gz", warc("gzip"))
    seed("warc", "lf-only.warc", warc("plain").replace(b"\r\n", b"\n")[:500])
    whole, padding = warc("plain"), skippable(b"abc", 0x184D2A50)
    parts = [whole[start:start + 400] for start in range(0, len(whole), 400)]
    seed("zstd-frames", "one", zstd_frame(whole))
    seed("zstd-frames", "parts", b"".join(map(zstd_frame, parts)))
    seed("zstd-frames", "padded", padding + zstd_frame(b"") + zstd_frame(parts[0]) + padding + b"\0\0")
    seed("zstd-frames", "dictionary", skippable(base64.b64decode(ZSTD_DICTIONARY), 0x184D2A5D) + base64.b64decode(ZSTD_FRAME))
    seed("http-head", "response", HEAD + "body")
    seed("http-head", "request", "POST /a b HTTP/1.1\r\nHost: example.org\r\nCookie: a=b\r\n\r\nx=1")
    seed("http-head", "short", b"HTTP/2 404\nA: \xe9\n\n")
    seed("encoding", "meta", b"text/html\n\n<html><head><meta http-equiv=content-type content='text/html; charset=koi8-r'>\xf0")
    seed("encoding", "late", b"text/html\n\n<html><head><!--" + b"x" * 1024 + b"--><meta charset=gbk></head>\xc4\xe3")
    seed("encoding", "xml", b"text/html; charset=none\n\n<?xml version='1.0' encoding='euc-jp'?>\xc6\xfc\xcb")
    seed("encoding", "mark", b"text/html; charset=utf-8\n\n\xff\xfe<\0p\0>\0\xe9\0\0\xd8x\0")
    seed("encoding", "identified", b"text/html\ntext/html; charset=iso-2022-jp\n\x1b$BF|K\\\x1b(Bx\xff")
    seed("encoding", "guess", b"text/html\n\n" + "東京の天気は晴れです。".encode("shift_jis") + b"\x81")
    seed("chunked", "one", chunked(b"hello"))
    seed("chunked", "two", b"5;name=value\r\nhello\r\n6 \r\n world\r\n0\r\nTrailer: x\r\n\r\n")
    seed("chunked", "lf-only", b"3\nabc\n0\n\n")
    seed("chunked", "cut", b"ff\r\nabc")
    seed("chunked", "huge", b"ffffffffffffffff\r\nabc")
    seed("gzip", "two-members", member(b"hello ") + member(b"world" * 50))
    seed("gzip", "padded", member(b"") + b"\0" * 20)
    with_fields = b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03" + struct.pack("<H", 3) + b"abc" + b"name\0" + b"comment\0"
    seed("gzip", "with-fields", with_fields + raw_deflated(b"hello") + struct.pack("<II", zlib.crc32(b"hello"), 5))
    text = b"Hello, hello, hello. " * 5
    zstd = b"\x28\xb5\x2f\xfd\x20" + bytes([len(text)]) + struct.pack("<I", len(text) << 3 | 1)[:3] + text
    brotli = b"\x0b\x02\x80hello\x03"
    # The first byte has two bits for the number of codings after the first, and two for each coding: gzip deflate br zstd.
    for name, first, content in [
            ("gzip", 0x00, member(text)), ("zlib", 0x04, zlib.compress(text)), ("deflate", 0x04, raw_deflated(text)),
            ("brotli", 0x08, brotli), ("zstd", 0x0C, zstd), ("zstd-skippable", 0x0C, b"\x50\x2a\x4d\x18\x01\0\0\0x" + zstd),
            ("gzip-in-zstd", 0x31, b"\x28\xb5\x2f\xfd\x20\x19" + struct.pack("<I", 25 << 3 | 1)[:3] + member(b"hello")),
            ("plain", 0x08, text)]:
        seed("content-codings", name, bytes([first]) + content)


def raw_deflated(content):
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(content) + compressor.flush()


def requests():
    urls = [
        "http://example.org/", "https://www.Example.org:443/A/../b//c/;jsessionid=0123456789ABCDEF0123456789ABCDEF?b=2&a=1#f",
        "http://user:pass@www2.b\u00fccher.example:8080/%7Euser/%e4?q=%20+&&=", "http://[2001:db8::1]/", "http://127.0.0.1./x",
        "http://xn--bcher-kva.example/", "urn:uuid:00000000", "dns:example.org", "ftp://example.org/", "http://", "//example.org",
        "http://0x7f.1/", "http://%77ww.example.org/", "http://example.org/?__wb_method=POST&a=b", "HTTP://EXAMPLE.ORG", "http:///x"]
    for number, url in enumerate(urls, 1):
        seed("surt", f"{number:02}", url)
    fields = ["bytes=0-9", "bytes=-10", "bytes=90-", "bytes=0-0,5-6 ,-1", "bytes=18446744073709551615-", "items=0-1",
              "bytes=5-1", "bytes=,", "Bytes = 1-2", "bytes=\t1-2,,3-4", "bytes=-0", "bytes=" + "0-1," * 70]
    for number, field in enumerate(fields, 1):
        seed("range", f"{number:02}", f"100\n{field}")
    seed("range", "empty", "0\nbytes=-1")
    seed("range", "largest", "18446744073709551615\nbytes=-18446744073709551615,18446744073709551614-18446744073709551615")
    queries = [
        "url=http://example.org/a", "url=example.org/*&limit=3&output=json&fl=urlkey,timestamp", "url=*.example.org&sort=reverse",
        "url=http://example.org/&closest=20220101&output=link", "url=example.org&matchType=host&filter=!~url:b=[12]&filter==status:200",
        "url=http://example.org/&matchType=prefix&collapse=urlkey&collapseTime=4&output=text", "url=http://example.org/*&from=2020&to=2021&page=0&pageSize=1",
        "url=http://example.org/*&showNumPages=true", "url=http://example.org/%C3%A9&fields=url,source,x", "resumeKey=1&url=a", "limit=-1&url=a",
        "url=http://example.org/*&page=9223372036854775807&pageSize=9223372036854775807"]
    for number, query in enumerate(queries, 1):
        seed("cdx-parameters", f"{number:02}", query)
    searches = [
        "q=coral&lang=%22", "q=%22coral reef%22 -star OR lim*&type=html&site=reef.example", "q=title:reef site:reef.example,x lang:de,en",
        "q=before:2020 after:2019-03&lang=%00", "q=天気 café -type:pdf&lang=en%22 OR %22coral&in=sea&collection=x",
        "q=http://www.reef.example/star -lang:%00a&after=2018&before=2024", "q=sea st"]
    for number, query in enumerate(searches, 1):
        seed("search", f"{number:02}", query)


def main():
    shutil.rmtree(CORPUS, ignore_errors=True)
    CORPUS.mkdir(parents=True)
    for make in [indexes, documents, signatures, records, requests, downloads, packages]:
        (CORPUS / "zip").mkdir(exist_ok=True)
        make()
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files)} bytes in {CORPUS.relative_to(ROOT)}")


main()
