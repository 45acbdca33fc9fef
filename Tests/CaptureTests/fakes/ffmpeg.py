"""A fake ffmpeg: copies its input, writes a picture or subtitles, or only reads; fails on what the fake ffprobe refuses."""

import os
import shutil
import sys

import media

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
TEXTS = (".vtt", ".srt", ".ass", ".lrc", ".ttml")


def main():
    _, *arguments = sys.argv[1:]
    if "-version" in arguments:
        print("ffmpeg version 5.1.6-0+deb12u1 Copyright (c) 2000-2024 the FFmpeg developers")
        return 0
    source = next((arguments[number + 1] for number in range(len(arguments) - 1) if arguments[number] == "-i"), None)
    if source is None:
        print("Hyper fast Audio and Video encoder\nusage: ffmpeg [options] [[infile options] -i infile]…", file=sys.stderr)
        return 1
    source, target = source.removeprefix("file:"), arguments[-1].removeprefix("file:")
    if not os.path.exists(source):
        print(f"{source}: No such file or directory", file=sys.stderr)
        return 1
    if not source.endswith(PICTURES + TEXTS) and not media.is_intact(source):
        print(f"{source}: Invalid data found when processing input", file=sys.stderr)
        return 1
    if target in ("-", "/dev/null", "pipe:1") or "null" in arguments:
        return 0
    if target.endswith(PICTURES):
        with open(target, "wb") as file:
            file.write(media.JPEG)
    elif target.endswith(TEXTS):
        with open(source, encoding="utf-8") as read, open(target, "w", encoding="utf-8") as file:
            file.write(read.read())
    else:
        shutil.copyfile(source, target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
