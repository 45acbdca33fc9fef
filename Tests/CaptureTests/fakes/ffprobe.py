"""A fake ffprobe: describes the fake media of `media.py`, and refuses everything else."""

import json
import os
import sys

import media

CODECS = {"mp4": ("h264", "aac"), "mkv": ("h264", "aac"), "webm": ("vp9", "opus"), "m4a": (None, "aac"), "mp3": (None, "mp3"),
    "flac": (None, "flac"), "wav": (None, "pcm_s16le"), "opus": (None, "opus"), "ogg": (None, "vorbis")}


def value_of(arguments, *names):
    return next((arguments[number + 1] for number in range(len(arguments) - 1) if arguments[number] in names), None)


def describe(path):
    ext = os.path.splitext(path)[1][1:].lower()
    video, audio = CODECS.get(ext, CODECS["mp4"])
    streams = []
    if video:
        streams.append({"index": 0, "codec_name": video, "codec_type": "video", "width": 1920, "height": 1080, "duration": "12.000000",
            "r_frame_rate": "25/1", "avg_frame_rate": "25/1", "nb_frames": "300", "nb_read_packets": "300"})
    streams.append({"index": len(streams), "codec_name": audio, "codec_type": "audio", "sample_rate": "44100", "channels": 2,
        "duration": "12.000000", "nb_read_packets": "500"})
    return {"streams": streams, "format": {"filename": path, "nb_streams": len(streams), "nb_programs": 0,
        "format_name": "mov,mp4,m4a,3gp,3g2,mj2" if ext in ("mp4", "m4a") else "matroska,webm" if ext in ("mkv", "webm") else ext,
        "start_time": "0.000000", "duration": "12.000000", "size": str(os.path.getsize(path)), "bit_rate": "133333",
        "probe_score": 100, "tags": {}}}


def main():
    _, *arguments = sys.argv[1:]
    if "-version" in arguments:
        print("ffprobe version 5.1.6-0+deb12u1 Copyright (c) 2007-2024 the FFmpeg developers")
        return 0
    path = value_of(arguments, "-i") or arguments[-1]
    path = path.removeprefix("file:")
    try:
        is_intact = media.is_intact(path)
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return 1
    if not is_intact:
        print(f"{path}: Invalid data found when processing input", file=sys.stderr)
        return 1
    found = describe(path)
    style = value_of(arguments, "-of", "-print_format", "-output_format", "-o") or "default"
    entries = value_of(arguments, "-show_entries") or ""
    wanted = value_of(arguments, "-select_streams")
    if wanted:
        kind = {"v": "video", "a": "audio"}.get(wanted[0])
        found["streams"] = [stream for stream in found["streams"] if stream["codec_type"] == kind]
    has_streams = "-show_streams" in arguments or "stream" in entries
    has_format = "-show_format" in arguments or "format" in entries
    shown = {**({"streams": found["streams"]} if has_streams else {}), **({"format": found["format"]} if has_format else {})}
    if style.startswith("json"):
        print(json.dumps(shown, indent=4))
        return 0
    # key=value lines, or only the values that were asked for
    only = [(part.partition("=")[0], part.partition("=")[2].split(",")) for part in entries.split(":") if part]
    for section, names in only or [("format", list(found["format"]))]:
        for values in found["streams"] if section == "stream" else [found["format"]]:
            chosen = {name: values.get(name, "N/A") for name in names if name}
            is_bare = "nk=1" in style or "nokey=1" in style or style.startswith("csv")
            print("\n".join(str(value) if is_bare else f"{name}={value}" for name, value in chosen.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
