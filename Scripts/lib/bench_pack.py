#!/usr/bin/env python3
"""Measures `replayhost import` of a WARC file: pages, scripts and images of a web site, in gzip members.

Beside it, on the same file: `wacz create --detect-pages --text` (py-wacz), which makes the same kind of archive, and `gzip -t`, which only
decompresses. Prints wall and processor time and peak memory. GB sets the size of the file (default 2), RUNS the number of
runs (default 3), PEER=0 leaves `wacz create` out.

Usage: bench_pack.py FOLDER
"""

import hashlib
import os
import random
import shutil
import sys
import zlib
from pathlib import Path

import bench_report
from serving import measured

SIZE = int(float(os.environ.get("GB", "2")) * 1e9)
RUNS = int(os.environ.get("RUNS", "3"))
REPLAYHOST = os.environ["REPLAYHOST_BINARY"]
WORDS = ("tide pool reef coral limpet anemone kelp shore drift current harbour lantern gull mussel barnacle urchin star rock "
    "spray moon wind salt sand shell crab otter field guide season species survey count winter summer north south").split()


def page(picked):
    """HTML of 60 kB, of which a quarter is text."""
    def words(count):
        return " ".join(f"{word}{picked.randrange(99)}" for word in picked.choices(WORDS, k=count))

    blocks = []
    for _ in range(70):
        hexadecimal = f"{picked.getrandbits(64):x}"
        blocks.append(
            f'<div class="card card--{picked.randrange(99)}" id="c{hexadecimal}" data-track=\'{{"id":"{hexadecimal}","slot":{picked.randrange(9)}}}\'>'
            f'<a href="/{words(1)}/{hexadecimal}.html" class="card__link" rel="noopener"><img src="/img/{hexadecimal}.jpg" alt="" width="320"'
            f' height="180" loading="lazy"></a><h3 class="card__title">{words(5)}</h3><p>{words(20)}</p></div>')
    script = "".join(f'w.push({{"k":"{picked.getrandbits(96):x}","v":{picked.random():.6f}}});' for _ in range(250))
    return (f"<!doctype html><html lang=en><head><title>{words(4)}</title><script>var w=[];{script}</script></head><body><main>"
        f"{''.join(blocks)}</main></body></html>").encode()


def script(picked):
    return "".join(f"function f{picked.getrandbits(24):x}(a,b){{return a[{picked.randrange(999)}]+b.{picked.choice(WORDS)}}};"
        for _ in range(1500)).encode()


def image(picked):
    return picked.randbytes(picked.randrange(10_000, 150_000))


def record(kind, uri, block, content_type, number, extra=""):
    digest = "sha256:" + hashlib.sha256(block).hexdigest()
    head = (f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n{extra}WARC-Block-Digest: {digest}\r\n"
        f"Content-Type: application/http; msgtype={content_type}\r\nContent-Length: {len(block)}\r\n\r\n").encode()
    return head, block


def member(head, deflated, text):
    """A gzip member of a head, stored, and a block that is compressed already."""
    stored = b"\x00" + len(head).to_bytes(2, "little") + (len(head) ^ 0xFFFF).to_bytes(2, "little") + head
    trailer = zlib.crc32(text, zlib.crc32(head)).to_bytes(4, "little") + ((len(head) + len(text)) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + stored + deflated + trailer


def make(path):
    """Writes SIZE bytes of responses, each with its request."""
    picked = random.Random(18)
    kinds = [("text/html", page)] * 60 + [("text/javascript", script)] * 30 + [("image/jpeg", image)] * 60
    picked.shuffle(kinds)
    pool = []
    for mime, maker in kinds:
        body = maker(picked)
        block = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        deflater = zlib.compressobj(6, wbits=-15)
        deflated = deflater.compress(block + b"\r\n\r\n") + deflater.flush()
        pool.append((block, deflated, "sha256:" + hashlib.sha256(body).hexdigest()))
    request = b"GET / HTTP/1.1\r\nHost: reef.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n"
    number = 0
    with open(path, "wb") as file:
        while file.tell() < SIZE:
            block, deflated, digest = pool[number % len(pool)]
            uri = f"https://reef.example/{number % 97}/{number}"
            head, _ = record("response", uri, block, "response", 2 * number, f"WARC-Payload-Digest: {digest}\r\n")
            file.write(member(head, deflated, block + b"\r\n\r\n"))
            concurrent = f"WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-{2 * number:012}>\r\n"
            head, _ = record("request", uri, request, "request", 2 * number + 1, concurrent)
            deflater = zlib.compressobj(6, wbits=31)
            file.write(deflater.compress(head + request + b"\r\n\r\n") + deflater.flush())
            number += 1
    return number


def main():
    folder = Path(sys.argv[1])
    warc = folder / "site.warc.gz"
    count = make(warc)
    print(f"{warc.stat().st_size / 1e9:.2f} GB, {count:,} captures", flush=True)
    wacz = shutil.which("wacz") or str(Path(__file__).resolve().parents[2] / ".venv/bin/wacz")
    store, target = folder / "store", folder / "peer.wacz"
    commands = {
        "replayhost": [REPLAYHOST, "import", str(warc), "--quiet", "--store", str(store)],
        "gzip -t": ["gzip", "-t", str(warc)],
    }
    if os.environ.get("PEER") != "0":
        commands["wacz create"] = [wacz, "create", "--detect-pages", "--text", "-f", str(warc), "-o", str(target)]
    results = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            shutil.rmtree(store, ignore_errors=True)
            target.unlink(missing_ok=True)
            values = measured(command, env={**os.environ, "TMPDIR": str(folder)})
            results[name].append(dict(zip(["s", "processor s", "peak MB"], values)))
    bench_report.add("import of WARC", f"{warc.stat().st_size / 1e9:.2f} GB", results)


main()
