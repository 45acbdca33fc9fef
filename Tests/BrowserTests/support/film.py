"""A film of any length out of a short one, without an encoder: its clusters again and again, and a new table of cues.

WebM is a tree of elements: an id, a size, and data or further elements. RFC 8794 §4 to §6; ids are of RFC 9559 §5.1.
"""

import struct

SEGMENT, INFO, TRACKS, CLUSTER, CUES = 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675, 0x1C53BB6B
DURATION, TIMECODE = 0x4489, 0xE7
CUE_POINT, CUE_TIME, CUE_POSITIONS, CUE_TRACK, CUE_PLACE = 0xBB, 0xB3, 0xB7, 0xF7, 0xF1


def lengthen(film, times):
    """The film `times` times in a row, seekable at the start of every cluster. Its unit of time is the millisecond."""
    head, segment = [(name, data) for name, data in elements(film)][:2]
    parts = [(name, data) for name, data in elements(segment[1])]
    info = next(data for name, data in parts if name == INFO)
    tracks = next(data for name, data in parts if name == TRACKS)
    clusters = [data for name, data in parts if name == CLUSTER]
    duration = next(number(data) for name, data in elements(info) if name == DURATION)
    shifted = [shift(cluster, round(duration * turn)) for turn in range(times) for cluster in clusters]
    before = element(INFO, b"".join(
        element(name, struct.pack(">d", duration * times) if name == DURATION else data)
        for name, data in elements(info))) + element(TRACKS, tracks)
    start = len(before) + len(cues([(0, time) for time, _ in shifted]))
    places = []
    for time, cluster in shifted:
        places.append((start, time))
        start += len(cluster)
    body = before + cues(places) + b"".join(cluster for _, cluster in shifted)
    return element(head[0], head[1]) + element(SEGMENT, body)


def shift(cluster, by):
    """A cluster that begins later, with its time."""
    time = next(int.from_bytes(data) for name, data in elements(cluster) if name == TIMECODE) + by
    return time, element(CLUSTER, b"".join(
        element(name, time.to_bytes(4) if name == TIMECODE else data) for name, data in elements(cluster)))


def cues(places):
    return element(CUES, b"".join(
        element(CUE_POINT, element(CUE_TIME, time.to_bytes(8)) + element(
            CUE_POSITIONS, element(CUE_TRACK, b"\x01") + element(CUE_PLACE, place.to_bytes(8))))
        for place, time in places))


def element(name, data):
    """One element, its size in eight bytes."""
    return name.to_bytes((name.bit_length() + 7) // 8) + (len(data) | 1 << 56).to_bytes(8) + data


def elements(data):
    """The elements in `data`, without descending. A size of only ones means: up to the end."""
    at = 0
    while at < len(data):
        width = 9 - data[at].bit_length()
        name, at = int.from_bytes(data[at : at + width]), at + width
        width = 9 - data[at].bit_length()
        size, at = int.from_bytes(data[at : at + width]) - (1 << 7 * width), at + width
        end = len(data) if size == (1 << 7 * width) - 1 else at + size
        yield name, data[at:end]
        at = end


def number(data):
    return struct.unpack(">d" if len(data) == 8 else ">f", data)[0]
