"""Contents that look like media to the fake ffprobe, and to programs that look at the first bytes only."""

import hashlib

# The smallest that decoders take: 1x1, grey.
JPEG = bytes.fromhex(
    "ffd8ffdb004300" + "03" * 64 + "ffc0000b080001000101011100ffc40014000100000000000000000000000000000009ffc400141001000000"
    "00000000000000000000000000ffda0008010100003f0054dfffd9")
STARTS = {
    "mp4": b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "m4a": b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42",
    "mkv": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01", "webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01",
    "mp3": b"ID3\x04\x00\x00\x00\x00\x00\x00", "flac": b"fLaC\x00\x00\x00\x22", "opus": b"OggS\x00\x02", "ogg": b"OggS\x00\x02",
    "wav": b"RIFF\x24\x00\x00\x00WAVEfmt ",
}
# The end of an intact file. ffprobe finds out that a file is cut by other means.
END = b"END OF FAKE MEDIA"


def content(seed, size, ext):
    """The same bytes for the same seed."""
    start = STARTS.get(ext, STARTS["mp4"])
    block = hashlib.shake_256(seed.encode()).digest(1 << 16)
    size = max(size, len(start) + len(END))
    return start + (block * (size // len(block) + 1))[: size - len(start) - len(END)] + END


def is_intact(path):
    with open(path, "rb") as file:
        start = file.read(16)
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(END)))
        return any(start.startswith(known[:16]) for known in STARTS.values()) and file.read() == END
