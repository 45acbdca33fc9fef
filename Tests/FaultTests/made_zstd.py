"""WARC files compressed with Zstandard, by the `zstd` command and by hand. WARC-ZSTD 1.0, RFC 8878."""

import functools
import struct
import subprocess
import tempfile
from pathlib import Path

from made_warc import SITE, text_of
from packed import Record

MAGIC = b"\x28\xb5\x2f\xfd"


def zstd(data, *options):
    """A frame with the size of its content and a checksum, as WARC-ZSTD requires."""
    command = ["zstd", "-q", "-c", "--check", f"--stream-size={len(data)}", *options]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def unzstd(data):
    """What can be decompressed of a file that may be cut off."""
    return subprocess.run(["zstd", "-q", "-d", "-c"], input=data, capture_output=True).stdout


def frames(*contents, dictionary=None):
    """A list of frames."""
    if dictionary is None:
        return [zstd(content) for content in contents]
    with tempfile.NamedTemporaryFile() as file:
        file.write(dictionary)
        file.flush()
        return [zstd(content, "-D", file.name) for content in contents]


@functools.cache
def dictionary(number):
    """A dictionary for records, with its own ID."""
    with tempfile.TemporaryDirectory() as folder:
        out, samples = Path(folder, "dictionary"), [Path(folder, str(sample)) for sample in range(300)]
        for sample, path in enumerate(samples):
            path.write_bytes(Record(f"{SITE}/{number}/{sample}", text_of(sample)).bytes())
        train = ["zstd", "-q", "--train", *samples, "--maxdict=4096", f"--dictID={40_000 + number}", "-o", out]
        subprocess.run(train, check=True, capture_output=True)
        return out.read_bytes()


def skippable(content, magic=0x184D2A5D):
    """A skippable frame. The default magic number is that of a dictionary."""
    return struct.pack("<II", magic, len(content)) + content


def frame_start(window=0x68):
    """The start of a frame without size and checksum. The default window has 8 MiB."""
    return MAGIC + bytes([0, window])


def block_start(size, kind=0, is_last=False):
    """The start of a block: kind 0 is plain, and 1 a byte that is repeated."""
    return struct.pack("<I", size << 3 | kind << 1 | is_last)[:3]


def plain_frame(*contents, window=0x68):
    """A frame of contents that aren't compressed, or that are blocks already."""
    blocks = [content if isinstance(content, Blocks) else block_start(len(content)) + content for content in contents]
    return frame_start(window) + b"".join(blocks) + block_start(0, is_last=True)


class Blocks(bytes):
    pass


def repeated(byte, megabytes):
    """Blocks of 4 bytes that each expand to 128 KiB, the maximum."""
    return Blocks((block_start(1 << 17, kind=1) + byte) * (megabytes << 3))
