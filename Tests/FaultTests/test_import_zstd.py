"""`replayhost import` packs WARC files that are compressed with Zstandard. What is expected comes from the `zstd` command, warcio,
py-wacz, the specifications, and how the files were made.

CUTS= and FLIPS= set the numbers of cut places and changed bits of each form, COUNT= that of small frames, BOMB= the megabytes of a
bomb, SEED= the seed.
"""

import gzip
import json
import os
import random
import subprocess

import pytest
from imported import Packed, check_package, import_all, import_one, imported_with_peak, records_of, tool
from made_warc import ALL, CRAB, HOME, INFO, SITE, STAR, URLS, WHOLE, complete, cut, head_of, members
from made_zstd import MAGIC, block_start, dictionary, frame_start, frames, plain_frame, repeated, skippable, unzstd, zstd
from packed import Record
from support.places import BINARY

CUTS = int(os.environ.get("CUTS", "10"))
FLIPS = int(os.environ.get("FLIPS", "25"))
COUNT = int(os.environ.get("COUNT", "5000"))
BOMB = int(os.environ.get("BOMB", "10240"))
SEED = int(os.environ.get("SEED", "20261127"))
PADDING = skippable(b"padding", 0x184D2A50)


def forms():
    with_dictionary = frames(*ALL, dictionary=dictionary(1))
    return {
        "records.warc.zst": b"".join(frames(*ALL)),
        "one-frame.warc.zst": zstd(WHOLE, "-19"),
        "without-size-and-checksum.warc.zst": zstd(WHOLE, "--no-check", "--no-content-size"),
        "pairs.warc.zst": b"".join(frames(b"".join(ALL[:2]), b"".join(ALL[2:]))),
        "split.warc.zst": b"".join(frames(*cut(WHOLE, 700))),
        "blank-lines.warc.zst": zstd(b"\r\n\r\n" + b"\r\n\r\n".join(ALL)),
        "empty-frames.warc.zst": (zstd(b"") + PADDING).join(frames(b"", *ALL, b"")) + PADDING,
        "dictionary.warc.zst": skippable(dictionary(1)) + b"".join(with_dictionary),
        "compressed-dictionary.warc.zst": skippable(zstd(dictionary(1))) + b"".join(with_dictionary),
        "upper-case.WARC.ZST": b"".join(frames(*ALL)),
        "wrong-ending.warc.gz": b"".join(frames(*ALL)),
        "no-ending": b"".join(frames(*ALL)),
    }


def test_form_of_a_file_makes_no_difference(store, tmp_path):
    (tmp_path / "plain.warc.gz").write_bytes(gzip.compress(WHOLE))
    same = import_one(store, "plain.warc.gz")
    packed = import_all(store, forms())
    assert {name: one and one.urls for name, one in packed.items()} == dict.fromkeys(packed, URLS)
    assert {name: one.codes for name, one in packed.items() if one.codes} == {}
    assert {name: set(one.pages) for name, one in packed.items()} == dict.fromkeys(packed, set(URLS))
    # Each record is a gzip member, as of a file that was one gzip member.
    assert {name: list(one.warcs.values()) for name, one in packed.items()} == dict.fromkeys(packed, list(same.warcs.values()))
    assert records_of(*same.warcs.values()) == records_of(WHOLE)
    assert {name: list(one.warcs) for name, one in packed.items()} == {name: [f"{name.split('.')[0]}.warc.gz"] for name in packed}
    one = packed["compressed-dictionary.warc.zst"]
    check_package(store, one)
    for url in URLS:
        record, other = (store.run_checked("get", url, archive.id, "--record").output for archive in (one, same))
        assert record == other
    (tmp_path / "packed.warc.gz").write_bytes(*same.warcs.values())
    checked = tool("warcio", "check", tmp_path / "packed.warc.gz")
    assert checked.returncode == 0, checked.stdout


def test_folders_and_standard_input(store, tmp_path):
    data = b"".join(frames(*ALL))
    (tmp_path / "crawls").mkdir()
    (tmp_path / "crawls" / "a.warc.zst").write_bytes(data)
    (imported,) = store.run_checked("import", "--json", "crawls").lines()
    assert Packed(store, imported["archive"]).urls == URLS
    command = [BINARY, "import", "-", "--json"]
    run = subprocess.run(command, input=data, env=store.environment(), capture_output=True, check=True)
    assert Packed(store, json.loads(run.stdout)["archive"]).urls == URLS


def random_records(chance, size):
    """Records that don't compress well."""
    bodies = [chance.randbytes(chance.randrange(20, size)).hex().encode() for _ in range(12)]
    return [Record(f"{SITE}/{number:02}", body) for number, body in enumerate(bodies)]


@pytest.mark.parametrize("form", ["records", "dictionary", "one-frame"])
def test_cut_files_keep_complete_records(store, form):
    chance = random.Random(SEED)
    # A frame can be read up to its last complete block.
    records = random_records(chance, 60_000 if form == "one-frame" else 3000)
    pieces, start = [INFO.bytes(), *[record.bytes() for record in records]], b""
    if form == "one-frame":
        data = zstd(b"".join(pieces))
        assert len(data) > 300_000
    else:
        start = skippable(dictionary(1)) if form == "dictionary" else b""
        packed = frames(*pieces, dictionary=dictionary(1) if start else None)
        data = start + b"".join(packed)
    urls, wrong = [record.url for record in records], {}
    cuts = {f"{place}.warc.zst": data[:place] for place in (chance.randrange(len(start) + 4, len(data)) for _ in range(CUTS))}
    for name, one in import_all(store, cuts).items():
        size, is_damage_sure = len(cuts[name]) - len(start), True
        if form == "one-frame":
            count = complete(pieces, len(unzstd(cuts[name])), 4)
        else:
            count = complete(packed, size, 0)
            is_damage_sure = count == complete(packed, size - 1, 0)
        kept, found = max(count - 1, 0), one.urls if one else []
        # Of the record in which the file ends, the part that is there is kept.
        if found not in (urls[:kept], urls[:kept + 1]) or one and is_damage_sure and one.codes.keys() != {"warc-damaged"}:
            wrong[name] = (count, len(found), one and dict(one.codes))
    assert wrong == {}


@pytest.mark.parametrize("number", [None, 1], ids=["plain", "dictionary"])
def test_changed_bits_hide_only_their_record(store, number):
    chance = random.Random(SEED)
    records = random_records(chance, 3000)
    used = number and dictionary(number)
    pieces = frames(INFO.bytes(), *[record.bytes() for record in records], dictionary=used)
    files, hit, lost = {}, {}, {}
    for flip in range(FLIPS):
        which = chance.randrange(len(pieces))
        piece, place = bytearray(pieces[which]), chance.randrange(len(pieces[which]))
        piece[place] ^= 1 << chance.randrange(8)
        name = f"{flip}.warc.zst"
        hit[name] = (which, place)
        files[name] = (skippable(used) if used else b"") + b"".join([*pieces[:which], piece, *pieces[which + 1:]])
    for name, one in import_all(store, files).items():
        which, place = hit[name]
        missing = {record.url for place, record in enumerate(records, 1) if place != which} - set(one.urls if one else [])
        # What doesn't begin like a file of frames isn't one.
        if missing and not (one is None and not used and which == 0 and place < len(MAGIC)):
            lost[name] = (which, place, len(missing), one and dict(one.codes))
    assert lost == {}


def test_damaged_part_hides_no_other(store):
    chance = random.Random(SEED)
    first, second, third, fourth, fifth = frames(*ALL)
    halves = frames(ALL[2][:300], ALL[2][300:])
    other = frames(ALL[2], dictionary=dictionary(1))
    # Its block hides the start of the next frame. The program reads 64 KiB at a time.
    hiding = frame_start() + block_start(len(fourth) + 20)
    padding = skippable(bytes((64 << 10) - len(first + second) - 8 - len(hiding) - 1), 0x184D2A50)
    packed = import_all(store, {
        "another-dictionary.warc.zst": b"".join([first, second, *other, fourth, fifth]),
        "cut.warc.zst": b"".join([first, second, third[:-5], fourth, fifth]),
        "hiding.warc.zst": b"".join([first, second, hiding, fourth, fifth]),
        "hiding-half.warc.zst": b"".join([first, second, padding, hiding, fourth, fifth]),
        "window-of-2-GB.warc.zst": b"".join([first, second, plain_frame(ALL[2], window=0xA8), fourth, fifth]),
        "first-half.warc.zst": b"".join([first, second, halves[0][:-5], halves[1], fourth, fifth]),
        "second-half.warc.zst": b"".join([first, second, halves[0], halves[1][:-5], fourth, fifth]),
        "wrong-length.warc.zst": b"".join([first, second, zstd(head_of("urn:x", 10**11) + b"x" * 1000), fourth, fifth]),
        "damaged-start.warc.zst": b"".join([first[:-5], second, fourth, fifth]),
        "other-data.warc.zst": b"".join([first, second, chance.randbytes(200_000), fourth, fifth]),
        "zeros-at-the-end.warc.zst": b"".join([first, second, fourth, fifth, bytes(100)]),
    })
    others = [HOME.url, STAR.url, CRAB.url]
    assert {name: one and one.urls for name, one in packed.items()} == dict.fromkeys(packed, others)
    counts = {name: one.codes.pop("warc-damaged") for name, one in packed.items()}
    # Half a record is damage too, and so is half a frame.
    assert counts == {name: 2 if "half" in name else 1 for name in packed}
    assert {name: one.codes for name, one in packed.items() if one.codes} == {}


@pytest.mark.parametrize("name, data, message", [
    ("missing", lambda: b"".join(frames(*ALL, dictionary=dictionary(1))), "Dictionary mismatch"),
    ("wrong", lambda: skippable(dictionary(2)) + b"".join(frames(*ALL, dictionary=dictionary(1))), "Dictionary mismatch"),
    ("cut", lambda: skippable(dictionary(1))[:1000], "bytes are needed"),
    ("compressed-cut", lambda: skippable(zstd(dictionary(1))[:-9]) + zstd(WHOLE), "dictionary is damaged"),
    ("other-data", lambda: skippable(b"no dictionary") + zstd(WHOLE), "dictionary is damaged"),
    ("wrong-tables", lambda: skippable(dictionary(1)[:8] + b"\xff" * 500) + zstd(WHOLE), "dictionary is damaged"),
    ("large", lambda: skippable(bytes((8 << 20) + 1)) + zstd(WHOLE), "larger than 8 MiB"),
    ("bomb", lambda: skippable(plain_frame(repeated(b"x", BOMB))) + zstd(WHOLE), "larger than 8 MiB"),
])
def test_unusable_dictionary_is_named(store, tmp_path, name, data, message):
    (tmp_path / f"{name}.warc.zst").write_bytes(data())
    code, peak, output = imported_with_peak(store, f"{name}.warc.zst")
    assert code == 4 and message in output and f"{name}.warc.zst" in output and 0 < peak < 128, (code, peak, output)
    assert store.listed() == {}
    store.expect_consistent()


@pytest.mark.parametrize("data, captures", [
    # A file that has to be converted is decompressed to 64 MiB at most, unless it is large (docs/store.md#limits). The record in
    # which that ends is kept as far as it goes.
    pytest.param(lambda: b"".join([*frames(*ALL[:2]), plain_frame(head_of("urn:x", BOMB << 20), repeated(b"x", BOMB))]), 2,
        id="record"),
    pytest.param(lambda: plain_frame(WHOLE, head_of("urn:x", BOMB << 20), repeated(b"x", BOMB)), 5, id="one-frame"),
    pytest.param(lambda: plain_frame(WHOLE, repeated(b"\0", 4)), 4, id="zeros-after-records"),
    pytest.param(lambda: plain_frame(repeated(b"\n", BOMB)), None, id="blank-lines"),
    # Frames that are cut off, each of which hides the next 128 KiB.
    pytest.param(lambda: zstd(WHOLE) + (frame_start() + block_start(1 << 17)) * 50_000, 4, id="cut-frames"),
    # After 100,000 damaged frames, the rest is left out.
    pytest.param(lambda: zstd(b"".join(ALL[:2])) + MAGIC * 100_000 + zstd(ALL[2]), 1, id="damaged-frames"),
])
def test_bombs_take_little_memory(store, tmp_path, data, captures):
    (tmp_path / "a.warc.zst").write_bytes(data())
    code, peak, output = imported_with_peak(store, "a.warc.zst")
    assert 0 < peak < 128, peak
    if captures is None:
        assert code == 4 and "Fatal error" not in output, output
    else:
        assert (code, json.loads(output)["archive"]["captureCount"]) == (0, captures), output
        assert [finding["code"] for finding in json.loads(output)["archive"]["findings"]][:1] == ["warc-damaged"]


def test_many_small_frames_take_little_memory(store, tmp_path):
    data = b"".join(plain_frame(head_of(f"urn:{number}", 0) + b"\r\n\r\n") for number in range(COUNT))
    (tmp_path / "a.warc.zst").write_bytes(data)
    code, peak, output = imported_with_peak(store, "a.warc.zst")
    assert (code, json.loads(output)["archive"]["captureCount"], 0 < peak < 128) == (0, COUNT, True), output


def test_other_files_are_refused(store, tmp_path):
    files = {"text.warc.zst": zstd(b"not a WARC file"), "empty.warc.zst": zstd(b""), "start.warc.zst": zstd(WHOLE)[:9],
        "info.warc.zst": zstd(ALL[0]), "gzip.warc.zst": zstd(members(*ALL)), "padding.warc.zst": PADDING}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert {name: store.run("import", name).code for name in files} == dict.fromkeys(files, 4)
    store.expect_consistent()
