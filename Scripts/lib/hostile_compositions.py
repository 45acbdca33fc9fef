"""hostile_compositions.py FOLDER PROGRAM: composes small hostile files by a seed, and measures what steps with them cost.

Each composition joins amplifiers at random: repetition, texts without an end, keys that differ, layers of compression, data before a
record that must be decompressed to reach it, and many names of one record. They are in the documents, style sheets, scripts and notes
of a page. PROGRAM imports the file and runs some steps with it. A composition fails if a step crashes, or if it costs more than 96 MB
of memory, 10 s of processor time or 100 MB of disk. A server may take 128 MB, and the time of all steps together.

Prints a line for each composition that fails, keeps its file in FOLDER, and ends with an error if there is one.
"""

import argparse
import gzip
import itertools
import os
import random
import struct
import sys
import time
import zlib
from pathlib import Path

from hostile_shapes import MB, URL, Deflated, Program, is_too_much, line, page, parts, write_zip
from writers.wacz import response_head

SIZE_MAX = MB
STEPS = {
    "text": lambda exports: ["jobs", "run"],
    "verify": lambda exports: ["verify", "small"],
    "repaired": lambda exports: ["export", "small", "--repaired", "--output", exports / "repaired.wacz"],
    "files": lambda exports: ["export", "small", "--files", exports / "files"],
    "page": lambda exports: ["export", "small", "--page", URL, "--output", exports / "page.wacz"],
    "explain": lambda exports: ["explain", URL + "missing", "--in", "small"],
    "get": lambda exports: ["get", URL, "--in", "small", "--output", exports / "body"],
    "rebuild": lambda exports: ["doctor", "--rebuild", "--assets", "www"],
}


# Amplifiers of a body ----------------------------------------------------------------------------------------------------

# Parts that are repeated; those with %d differ from each other. Many of them have no end.
UNITS = {
    "text/html": [
        b"<p>word ", b"<div>", b"<b a=1>", b"<b a%d=/%d>", b"&amp;", b"<!--", b"<p title='", b"<iframe src=/%d></iframe>", b"<iframe src=/1>",
        b"<link rel=stylesheet href=/%d>", b"<title>word%d ", b"<style>@import '", b"<script>'\\'", b"<meta charset=utf-8>", b"word%d "],
    "text/css": [b"url(", b"@import '", b"@import url(", b"a{b:url(/%d)}", b"\\'", b"/*"],
    "text/javascript": [b"\\'", b"'", b"\"/%d.js\",", b"'/a.png',", b"\\u0026", b"`"],
    "application/json": [b"[", b"{\"a\":", b"\"/%d\",", b"\"\\\\"],
    "text/plain": [b"\0", b"a", b"word%d ", b"\xd1\x81\xd0\xbb\xd0\xbe%d ", b"line\n"],
}
NOTE = b"\"http://example.com/%d\":{\"status\":200},"


def repeated(unit, size):
    """Repeats a part up to a size, with another number each time if it has places for numbers."""
    places = unit.count(b"%d")
    if not places:
        return unit * max(1, size // len(unit))
    count = max(1, size // (len(unit) + 5 * places))
    return b"".join(unit % ((number,) * places) for number in range(count))


def stored_brotli(data):
    """Wraps data in brotli without compressing it, with the largest window. RFC 7932 §9."""
    out, first = bytearray(), True
    for at in range(0, len(data), 1 << 16):
        piece = data[at:at + (1 << 16)]
        # WBITS (24), ISLAST, MNIBBLES, MLEN - 1 in 16 bits, ISUNCOMPRESSED
        head = 0xF | (len(piece) - 1) << 7 | 1 << 23 if first else (len(piece) - 1) << 3 | 1 << 19
        out += head.to_bytes(3, "little") + piece
        first = False
    return bytes(out) + b"\x03" if out else b"\x3b"


def stored_zstd(data):
    """Wraps data in a Zstandard frame without compressing it, with the largest window that is allowed. RFC 8878 §3.1.1."""
    blocks = b"".join(
        struct.pack("<I", len(piece) << 3)[:3] + piece for at in range(0, len(data), 1 << 17) for piece in [data[at:at + (1 << 17)]])
    return b"\x28\xb5\x2f\xfd\0\x68" + blocks + b"\1\0\0"


LAYERS = {"gzip": lambda data: gzip.compress(data, mtime=0), "deflate": zlib.compress, "br": stored_brotli, "zstd": stored_zstd}


def encoded(body, layers):
    """Returns a body in layers of content codings, and its header field."""
    for layer in layers:
        body = LAYERS[layer](body)
    return body, f"Content-Encoding: {', '.join(layers)}\r\n".encode() if layers else b""


# Files -------------------------------------------------------------------------------------------------------------------

def record(url, mime, body, fields):
    return gzip.compress(response_head(url, mime, len(body), fields=fields) + body + b"\r\n\r\n", mtime=0)


class Composition:
    """What is combined, by a seed and a number."""

    def __init__(self, seed, number):
        pick = random.Random(f"{seed} {number}")
        self.mime = pick.choice([*UNITS, "note"])
        self.unit = NOTE if self.mime == "note" else pick.choice(UNITS[self.mime])
        self.size = pick.choice([10_000, 300_000, 3 * MB, 16 * MB, 60 * MB])
        if b"%d" in self.unit:
            self.size = min(self.size, 16 * MB)
        self.layers = [pick.choice(["gzip", "gzip", "deflate", "br", "zstd"]) for _ in range(pick.choice([0, 1, 1, 2, 2, 4]))]
        self.records = min(pick.choice([1, 1, 1, 10, 300]), max(1, 60 * MB // self.size))
        self.names = pick.choice([1, 1, 64, 1000, 10_000])
        self.before = pick.choice([0, 0, 0, 8, 60, 880]) * MB
        self.listed = pick.random() < 0.7
        self.steps = ["text", "verify", "serve"] if pick.random() < 0.1 else pick.sample(list(STEPS), 2)

    def __str__(self):
        amplified = f"{self.unit.decode(errors='replace')!r} up to {self.size / MB:g} MB in [{' '.join(self.layers)}]"
        return f"{self.mime}: {amplified}; {self.records} records, {self.names} names, {self.before // MB} MB before"

    def write(self, path):
        """Writes the file; smaller amplifiers until it's below the limit."""
        while True:
            write_zip(path, self.files())
            if path.stat().st_size < SIZE_MAX:
                return
            self.size //= 4
            self.records = max(1, self.records // 4)
            self.names = max(1, self.names // 4)

    def files(self):
        body = repeated(self.unit, self.size)
        if self.mime == "note":
            body = b"{\"urls\":{" + body[:-1] + b"}}"
        body, fields = encoded(body, self.layers)
        mime = "application/json" if self.mime == "note" else self.mime
        head = b"<title>Page</title><link rel=stylesheet href=/1><script src=/1></script><iframe src=/1></iframe>"
        main = [(URL, record(URL, "text/html", head, b""))] if mime != "text/html" else []
        main += [(URL + str(number), record(URL + str(number), mime, body, fields)) for number in range(self.records)]
        if self.mime == "note":
            main += [(f"urn:pageinfo:{URL}", main[-1][1])]
        warc, lines = b"", []
        for url, content in main:
            place = (self.before + len(warc), len(content))
            lines.append(self.line(url, mime if url != URL or len(main) == 1 else "text/html", *place))
            warc += content
        if mime == "text/html":
            lines.append(self.line(URL, mime, self.before, len(main[0][1])))
        for number in range(1000, 1000 + self.names - 1):
            lines.append(self.line(f"{URL}{number}", mime, *place))
        pages = page() + b"".join(page(number) for number in range(1000, 1000 + self.names - 1)) if self.listed else b""
        packed = Deflated(self.before, warc) if self.before else warc
        return parts(
            warc=[("archive/data.warc.gz", packed, bool(self.before))],
            index=[("indexes/index.cdx", b"".join(sorted(set(lines))), True)],
            pages=[("pages/pages.jsonl", b"{\"format\":\"json-pages-1.0\"}\n" + pages, True)] if pages else [])

    @staticmethod
    def line(url, mime, offset, length):
        number = url.removeprefix(URL)
        text = line(number if url.startswith(URL) else "", length).replace(b"\"0\"", b"\"%d\"" % offset, 1)
        if not url.startswith(URL):
            text = text.replace(b"com,example)/ ", url.encode() + b" ", 1).replace(b"\"" + URL.encode() + b"\"", b"\"" + url.encode() + b"\"")
        return text.replace(b"text/html", mime.encode())


# Measuring ---------------------------------------------------------------------------------------------------------------

def measured(program, composition, path):
    """Yields each step with its cost, and what went wrong."""
    program.clear()
    cost, code, _, error = program.run("import", path, "--id", "small")
    yield "import", cost, f"exit {code}: {error[-200:]}" if code else ""
    if code:
        return
    for step in composition.steps:
        if step == "serve":
            program.clear()
            yield step, *program.serve(path)
        else:
            cost, code, _, error = program.run(*STEPS[step](program.exports))
            yield step, cost, f"exit {code}: {error[-200:]}" if code else ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("program")
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--first", type=int, default=0, help="the number of the first composition")
    arguments.add_argument("--seconds", type=int, default=1800, help="ends after this time")
    arguments.add_argument("--data", type=int, metavar="MB", help="limits the memory that each process may allocate")
    arguments.add_argument("--memory", type=int, default=0, metavar="MB", help="how much more memory a debug build may take")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    program = Program(given.program, given.folder, given.data)
    end, failures, done = time.monotonic() + given.seconds, 0, 0
    for number in itertools.islice(itertools.count(given.first), given.count):
        if time.monotonic() > end:
            break
        composition = Composition(given.seed, number)
        path = given.folder / f"composition-{given.seed}-{number}.wacz"
        # Once, for all that have it.
        Deflated.zeros(composition.before)
        write_apart(composition, path)
        costs, failed = {}, []
        for step, cost, remark in measured(program, composition, path):
            costs[step] = (cost[0], cost[1] - given.memory * MB, cost[2])
            if is_too_much(step, costs, remark):
                failed.append("{}: {:.1f} s, {:.0f} MB, {:.0f} MB of disk {}".format(step, cost[0], cost[1] / MB, cost[2] / MB, remark or ""))
        done += 1
        if failed:
            failures += 1
            print(f"{number:4} {composition} ({path.stat().st_size / 1000:.0f} kB)\n       " + "\n       ".join(failed), flush=True)
        else:
            path.unlink()
    program.clear()
    print(f"seed {given.seed}: {done} compositions, {failures} cost too much")
    if failures:
        sys.exit(1)


def write_apart(composition, path):
    """Writes a file in a process of its own: a program's peak includes the memory of the one that starts it."""
    writer = os.fork()
    if writer == 0:
        composition.write(path)
        os._exit(0)
    assert os.waitpid(writer, 0)[1] == 0, composition


if __name__ == "__main__":
    main()
