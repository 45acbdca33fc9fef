#!/usr/bin/env python3
"""Measures `replayhost verify`: HTML and video, in gzip members and uncompressed.

Beside it, on the same bytes: `openssl dgst -sha256` of the file, `gzip -t` of the WARC (compressed by gzip -1
if it isn't), and `wacz validate` (py-wacz), which
unpacks the file. Prints wall and processor time, peak memory, and the bytes in the temporary folder. GB sets the size of each
file (default 4.5), PEER=0 leaves `wacz validate` out.

Usage: bench_verify.py FOLDER
"""

import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

SIZE = int(float(os.environ.get("GB", "4.5")) * 1e9)
REPLAYHOST = os.environ["REPLAYHOST_BINARY"]
WORDS = ("tide pool reef coral limpet anemone kelp shore drift current harbour lantern gull mussel barnacle urchin star rock "
    "spray moon wind salt sand shell crab otter field guide season species survey count winter summer north south").split()


def html(seed):
    picked = random.Random(seed)
    paragraphs = "".join(
        f"<p class=\"p{picked.randrange(9999)}\">{' '.join(picked.choices(WORDS, k=60))} {picked.getrandbits(128):x}</p>\n"
        for _ in range(90))
    return f"<!doctype html><title>Page {seed}</title><h1>{seed}</h1>{paragraphs}".encode()


def video(seed):
    return random.Random(seed).randbytes(40_000_000)


class Pool:
    """Bodies with their digests, and compressed once, so that a large file is made quickly."""

    def __init__(self, make, mime, count):
        self.items = []
        for seed in range(count):
            body = make(seed)
            block = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
            deflater = zlib.compressobj(6, wbits=-15)
            self.items.append({
                "block": block, "deflated": deflater.compress(block + b"\r\n\r\n") + deflater.flush(),
                "blockDigest": "sha256:" + hashlib.sha256(block).hexdigest(),
                "payloadDigest": "sha256:" + hashlib.sha256(body).hexdigest()})
        self.mime = mime


def member(head, item):
    """A gzip member of a head, stored, and a block that is compressed already."""
    text = head + item["block"] + b"\r\n\r\n"
    stored = b"\x00" + struct.pack("<HH", len(head), len(head) ^ 0xFFFF) + head
    trailer = struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + stored + item["deflated"] + trailer


class Package:
    """A ZIP of stored entries, with zip64 where it's needed, that is written once from start to end."""

    def __init__(self, path):
        self.file, self.path, self.entries, self.listed = open(path, "wb"), path, [], []

    def add(self, name, parts):
        """Adds a file from its parts, and corrects its header when they are written."""
        start = self.file.tell()
        extra = struct.pack("<HHQQ", 1, 16, 0, 0)
        self.file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x5821, 0, 0xFFFFFFFF, 0xFFFFFFFF, len(name),
            len(extra)) + name.encode() + extra)
        crc, size, digest = 0, 0, hashlib.sha256()
        for part in parts:
            self.file.write(part)
            crc, size = zlib.crc32(part, crc), size + len(part)
            digest.update(part)
        end = self.file.tell()
        self.file.seek(start + 14)
        self.file.write(struct.pack("<I", crc))
        self.file.seek(start + 30 + len(name) + 4)
        self.file.write(struct.pack("<QQ", size, size))
        self.file.seek(end)
        self.entries.append((name, crc, size, start))
        self.listed.append({"name": name.split("/")[-1], "path": name, "hash": "sha256:" + digest.hexdigest(), "bytes": size})

    def close(self):
        start = self.file.tell()
        for name, crc, size, offset in self.entries:
            extra = struct.pack("<HHQQQ", 1, 24, size, size, offset)
            self.file.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x5821, crc, 0xFFFFFFFF, 0xFFFFFFFF,
                len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF) + name.encode() + extra)
        end = self.file.tell()
        count = len(self.entries)
        self.file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, end - start, start))
        self.file.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        self.file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
        self.file.close()


def make(path, warc, pool, is_gzip):
    """Writes a WACZ, and its WARC as a file of its own for the peers."""
    package, lines, where = Package(path), [], 0
    name = "data.warc.gz" if is_gzip else "data.warc"

    def records():
        nonlocal where
        number = 0
        while where < SIZE:
            item = pool.items[number % len(pool.items)]
            url = f"https://reef.example/page/{number:08}"
            head = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
                f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n"
                f"WARC-Block-Digest: {item['blockDigest']}\r\nWARC-Payload-Digest: {item['payloadDigest']}\r\n"
                f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(item['block'])}\r\n\r\n").encode()
            record = member(head, item) if is_gzip else head + item["block"] + b"\r\n\r\n"
            line = {"url": url, "mime": pool.mime, "status": "200", "digest": item["payloadDigest"],
                "length": str(len(record)), "offset": str(where), "filename": name}
            lines.append(f"example,reef)/page/{number:08} 20240102030405 {json.dumps(line)}\n")
            where += len(record)
            number += 1
            copy.write(record)
            yield record

    with open(warc, "wb") as copy:
        package.add(f"archive/{name}", records())
    package.add("indexes/index.cdx", (line.encode() for line in lines))
    pages = ['{"format":"json-pages-1.0","id":"pages","title":"All"}\n',
        '{"url":"https://reef.example/page/00000000","ts":"2024-01-02T03:04:05Z"}\n']
    package.add("pages/pages.jsonl", [page.encode() for page in pages])
    description = json.dumps({"profile": "data-package", "wacz_version": "1.1.1", "resources": package.listed}).encode()
    package.add("datapackage.json", [description])
    digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(description).hexdigest()}
    package.add("datapackage-digest.json", [json.dumps(digest).encode()])
    package.close()
    return len(lines)


class Watch(threading.Thread):
    """The largest size of a temporary folder, and the peak memory of a program, while it runs."""

    def __init__(self, folder, process):
        super().__init__(daemon=True)
        self.folder, self.process, self.most, self.peak, self.ends = folder, process, 0, 0, threading.Event()

    def run(self):
        while not self.ends.wait(0.1):
            try:
                # Not ru_maxrss, which includes the process that started it.
                status = Path(f"/proc/{self.process}/status").read_text()
                self.peak = max([self.peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
            except (FileNotFoundError, ProcessLookupError):
                pass
            sizes = 0
            for folder, _, names in os.walk(self.folder):
                for name in names:
                    try:
                        sizes += os.lstat(os.path.join(folder, name)).st_size
                    except FileNotFoundError:
                        pass
            self.most = max(self.most, sizes)


def measure(command, folder):
    """Runs a program; returns wall and processor seconds, peak kB and temporary bytes."""
    temporary = folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    began = time.monotonic()
    child = os.posix_spawnp(command[0], command, {**os.environ, "TMPDIR": str(temporary)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    watch = Watch(temporary, child)
    watch.start()
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - began
    watch.ends.set()
    watch.join()
    return wall, usage.ru_utime + usage.ru_stime, watch.peak, watch.most, os.waitstatus_to_exitcode(status)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(f"each file {SIZE / 1e9:.1f} GB; read once before, so that all find it in memory if it fits")
    for kind, pool in [("html", Pool(html, "text/html", 400)), ("video", Pool(video, "video/mp4", 5))]:
        for is_gzip in (True, False):
            wacz, warc = folder / "bench.wacz", folder / ("bench.warc.gz" if is_gzip else "bench.warc")
            records = make(wacz, warc, pool, is_gzip)
            print(f"{kind}, {'gzip members' if is_gzip else 'uncompressed'}: {records} records, {wacz.stat().st_size} bytes")
            # The same data, compressed, if it isn't.
            packed = warc if is_gzip else folder / "bench.packed.gz"
            if not is_gzip:
                subprocess.run(f"gzip -1 < {warc} > {packed}", shell=True, check=True)
            programs = {"replayhost verify": [REPLAYHOST, "verify", "--quiet", str(wacz)],
                "openssl dgst -sha256": ["openssl", "dgst", "-sha256", str(wacz)], "gzip -t": ["gzip", "-t", str(packed)]}
            rounds = {name: [] for name in programs}
            subprocess.run(["cat", str(wacz), str(packed)], stdout=subprocess.DEVNULL, check=True)
            for _ in range(3):
                for name, command in programs.items():
                    rounds[name].append(measure(command, folder))
            peer = shutil.which("wacz", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
            if peer and os.environ.get("PEER") != "0":
                rounds["wacz validate"] = [measure([peer, "validate", "-f", str(wacz)], folder)]
            medians = {name: sorted(runs)[len(runs) // 2] for name, runs in rounds.items()}
            for name, (wall, processor, peak, temporary, code) in medians.items():
                walls = " ".join(f"{run[0]:.1f}" for run in rounds[name])
                print(f"  {name:22} {wall:7.1f} s  processor {processor:7.1f} s  peak {peak / 1024:6.0f} MB  "
                    f"temporary {temporary:>11}  exit {code}  ({walls})")
            ours = medians.pop("replayhost verify")[0]
            print("  ratios: " + ", ".join(f"{ours / run[0]:.2f} of {name}" for name, run in medians.items()), flush=True)
            for path in {wacz, warc, packed}:
                path.unlink()


main()
