"""Tests a record of 3 GB, as gzip member and uncompressed. Called by `Scripts/soak 40-large-record` with an empty folder.

Fails if the server's memory grows with the record, if a byte is wrong, or if the server continues to read for a sleeping client.
SIZE= sets the number of bytes.
"""

import hashlib
import http.client
import json
import os
import random
import sys
import time
import zlib

import serving
from writers.wacz import Package, page_list, response_head

SIZE = int(os.environ.get("SIZE", "3000000000"))
#: The limit for resident memory of import and server, independent of SIZE.
MEMORY_MAX = 96 << 20
URL = "https://large.example/film"
TIMESTAMP = "20240101000000"
PART = 1 << 20


class Payload:
    """The record's body: half of each MB is noise, half is text. Each MB begins with its number."""

    def __init__(self):
        self.noise = random.Random(5).randbytes(PART // 2 - 8)
        self.text = (b"The tide comes in, the tide goes out. " * PART)[: PART // 2]

    def part(self, number):
        return (number.to_bytes(8, "big") + self.noise + self.text)[: SIZE - number * PART]

    def parts(self):
        return (self.part(number) for number in range((SIZE + PART - 1) // PART))

    def range(self, first, length):
        whole = b"".join(self.part(number) for number in range(first // PART, (first + length - 1) // PART + 1))
        return whole[first % PART :][:length]


def write(path, is_compressed):
    """Writes a WACZ of one capture; returns the SHA-256 of its payload."""
    warc, payload, sha256 = "data.warc.gz" if is_compressed else "data.warc", Payload(), hashlib.sha256()
    with Package(path, "A large record") as package:
        with package.open(f"archive/{warc}") as file:
            deflater = zlib.compressobj(1, zlib.DEFLATED, 31)
            compress = deflater.compress if is_compressed else bytes
            file.write(compress(response_head(URL, "video/webm", SIZE)))
            for part in payload.parts():
                sha256.update(part)
                file.write(compress(part))
            file.write(compress(b"\r\n\r\n") + (deflater.flush() if is_compressed else b""))
        entry = {"url": URL, "mime": "video/webm", "status": "200", "length": str(file.size), "offset": "0", "filename": warc}
        package.add("indexes/index.cdx", f"example,large)/film {TIMESTAMP} {json.dumps(entry)}\n".encode())
        package.add("pages/pages.jsonl", page_list([]))
    return sha256.hexdigest()


def request(port, archive, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    began = time.perf_counter()
    connection.request("GET", f"/c/{archive}/{TIMESTAMP}id_/{URL}", headers={"Host": f"localhost:{port}", **fields})
    answer = connection.getresponse()
    return connection, answer, began


def read_whole(pid, port, archive, digest):
    """Reads the whole body; checks its hash, and measures the time and the server's memory."""
    buffer, sha256, count, thirds = bytearray(PART), hashlib.sha256(), 0, []
    with serving.Watch(pid) as watch:
        connection, answer, began = request(port, archive)
        first = None
        while got := answer.readinto(buffer):
            first = first or time.perf_counter() - began
            count += got
            sha256.update(memoryview(buffer)[:got])
            if count >= (len(thirds) + 1) * SIZE // 3:
                thirds.append(f"{serving.private(pid) / 1e6:.1f}")
        spent = time.perf_counter() - began
        connection.close()
    assert (answer.status, count) == (200, SIZE), (answer.status, count)
    assert sha256.hexdigest() == digest, "the body differs from the payload"
    print(f"  whole: {spent:.1f} s, {count / spent / 1e6:.0f} MB/s, first byte {first * 1000:.1f} ms, "
          f"server peak {watch.peak / 1e6:.1f} MB ({watch.peak_private / 1e6:.1f} MB private; "
          f"after each third {', '.join(thirds)})")
    return watch.peak


def read_ranges(pid, port, archive):
    payload = Payload()
    for first in [0, SIZE // 2, SIZE - 1000]:
        spent = serving.processor_seconds(pid)
        with serving.Watch(pid) as watch:
            connection, answer, began = request(port, archive, Range=f"bytes={first}-{first + 999}")
            body = answer.read()
            seconds = time.perf_counter() - began
            connection.close()
        assert answer.status == 206 and answer.headers["Content-Range"] == f"bytes {first}-{first + 999}/{SIZE}", answer.headers
        assert body == payload.range(first, 1000), first
        print(f"  1,000 bytes at {first:,}: {seconds * 1000:.1f} ms, processor {serving.processor_seconds(pid) - spent:.2f} s, "
              f"server peak {watch.peak / 1e6:.1f} MB")
        assert watch.peak < MEMORY_MAX, watch.peak


def read_slowly(pid, port, archive, seconds=6):
    """A client reads a part, sleeps and disconnects: the server must not read ahead or keep the rest."""
    connection, answer, _ = request(port, archive)
    answer.read(PART)
    time.sleep(1)
    settled, spent = serving.resident(pid), serving.processor_seconds(pid)
    with serving.Watch(pid) as watch:
        time.sleep(seconds)
    spent = serving.processor_seconds(pid) - spent
    connection.sock.close()
    answer.close()
    time.sleep(1)
    left = serving.processor_seconds(pid)
    time.sleep(1)
    idle = serving.processor_seconds(pid) - left
    print(f"  a client that sleeps {seconds} s: server {settled / 1e6:.1f} MB before, peak {watch.peak / 1e6:.1f} MB, "
          f"processor {spent:.2f} s meanwhile, {idle:.2f} s in the second second after it has disconnected")
    assert spent < 0.5 and idle < 0.5, (spent, idle)
    return watch.peak


def main(folder):
    for name, is_compressed in [("uncompressed", False), ("gzip", True)]:
        path, store = f"{folder}/{name}.wacz", f"{folder}/store-{name}"
        digest = write(path, is_compressed)
        archive, seconds, memory = serving.import_file(store, path)
        size = os.path.getsize(path)
        os.unlink(path)
        print(f"{name}: a record of {SIZE:,} bytes in a file of {size:,}: import {seconds:.1f} s, peak {memory / 1e6:.1f} MB")
        assert memory < MEMORY_MAX, f"the import needed {memory} bytes"
        # They would take processor time that this script measures.
        serving.run_jobs(store)
        with serving.serve(store) as (process, port):
            peaks = [read_whole(process.pid, port, archive, digest)]
            read_ranges(process.pid, port, archive)
            peaks.append(read_slowly(process.pid, port, archive))
            assert max(peaks) < MEMORY_MAX, f"the server needed {max(peaks)} bytes"
        for place, _, names in os.walk(store):
            for each in names:
                os.unlink(os.path.join(place, each))


if __name__ == "__main__":
    main(sys.argv[1])
