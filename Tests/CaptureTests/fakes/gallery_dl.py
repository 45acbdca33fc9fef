"""A fake gallery-dl: writes the images that the query of the URL names, and prints their paths.

    …?count=3        so many images
    …?count=3&bad=1  also paths outside of its folder, a link, an empty file and a file that isn't an image
    …?exit=16        the exit code; 16: a log-in is required, 64: no extractor

The first argument is the folder of the fakes, which isn't gallery-dl's.
"""

import json
import os
import struct
import sys
import zlib
from urllib.parse import parse_qs, urlsplit


def image(number):
    """A PNG image of 2 by 2 pixels. Each number has its own color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + bytes([number % 256, 128, 255 - number % 256]) * 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row * 2)) + chunk(b"IEND", b""))


def main(folder, *arguments):
    if arguments == ("--version",):
        print("1.32.18")
        return 0
    with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as notes:
        print(json.dumps({"what": "gallery-dl", "arguments": arguments, "url": arguments[-1]}), file=notes)
    target = arguments[arguments.index("--directory") + 1]
    query = {name: values[-1] for name, values in parse_qs(urlsplit(arguments[-1]).query).items()}
    first, last = arguments[arguments.index("--range") + 1].split("-")
    os.makedirs(target, exist_ok=True)
    if "bad" in query:
        os.symlink("/etc/passwd", os.path.join(target, "link.png"))
        for name in ("empty.png", "page.html"):
            with open(os.path.join(target, name), "w", encoding="utf-8") as file:
                file.write("" if name == "empty.png" else "<p>")
        for path in ("/etc/passwd", os.path.join(target, "../../job.json"), os.path.join(target, "missing.png"),
                *(os.path.join(target, name) for name in ("link.png", "empty.png", "page.html"))):
            print(path)
    for number in range(int(first), min(int(last), int(query.get("count", 0))) + 1):
        path = os.path.join(target, f"post_{number}.png")
        with open(path, "wb") as file:
            file.write(image(number))
        print(path, flush=True)
    with open(os.path.join(target, "info.json"), "w", encoding="utf-8") as file:
        json.dump({"category": "instagram", "post_shortcode": "Cx1", "username": "harbour",
            "description": "Boats at low tide\nSeen from the quay"}, file)
    code = int(query.get("exit", 0))
    if code:
        print("[instagram][error] HttpError: something went wrong", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
