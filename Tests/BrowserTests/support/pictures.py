"""Small PNG images (ISO/IEC 15948)."""

import struct
import zlib

GREY, RGB = 0, 2


def png(width, height, kind, lines, more=b""):
    """An image of `GREY` or `RGB` with 8 bits each. `lines`: each is a filter byte and pixels; the header can claim another size.

    `more` is between the header and the pixels.
    """
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + more + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def plain(color, width=40, height=30):
    """An image of one colour: red, green and blue from 0 to 255."""
    return png(width, height, RGB, (b"\0" + bytes(color) * width) * height)
