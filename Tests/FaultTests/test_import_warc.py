"""`replayhost import` packs WARC and ARC files. What is expected comes from warcio, cdxj-indexer, py-wacz, the specifications, and
how the files were made.

CUTS= and FLIPS= set the numbers of cut places and changed bits of each form, COUNT= that of empty records, BOMB= the megabytes of
a bomb, SEED= the seed.
"""

import gzip
import http.server
import io
import json
import os
import random
import subprocess
import threading
from collections import Counter

import pytest
# First, since it changes what `requests` uses.
from warcio.capture_http import capture_http

import requests
from cdxj_indexer.main import CDXJIndexer
from imported import Packed, by_place, check_package, import_all, import_one, imported_with_peak, records_of, tool
from made_warc import (ALL, ARC_RECORDS, ARC_URLS, CONVERSION, CONVERTED, CORAL, CRAB, DATES, DOCUMENTS, HOME, INFO, KEPT,
    LARGE_FORM, METADATA, NAMES, PAGES, PARTS, RESOURCE, REVISIT, SITE, STAR, Site, URLS, WHOLE, arc_head, arc_of, bomb,
    cut_forms, form, head_of, members, random_records, related)
from packed import STAMP, Record
from program import Server
from support.places import BINARY
from warcio.archiveiterator import ArchiveIterator

CUTS = int(os.environ.get("CUTS", "40"))
FLIPS = int(os.environ.get("FLIPS", "67"))
COUNT = int(os.environ.get("COUNT", "50000"))
BOMB = int(os.environ.get("BOMB", "256")) << 20
SEED = int(os.environ.get("SEED", "20261124"))


def expected_index(data, name, folder):
    """The lines of cdxj-indexer, without digests that it calculates itself."""
    path, out = folder / "compared" / name, io.StringIO()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    CDXJIndexer(out, [str(path)], post_append=True, records="response,revisit,resource").process_all()
    digests = {}
    with open(path, "rb") as file:
        for record in (iterator := ArchiveIterator(file)):
            record.raw_stream.read()
            digests[str(iterator.get_record_offset())] = record.rec_headers.get_header("WARC-Payload-Digest")
    lines = []
    for row in out.getvalue().splitlines():
        key, stamp, rest = row.split(" ", 2)
        line = {"key": key, "timestamp": stamp, **json.loads(rest)}
        # WARC 1.1 §4: the two line ends belong to the record. cdxj-indexer leaves them out, unless they're compressed.
        length = int(line["length"]) + (0 if name.endswith(".gz") else 4)
        lines.append({**line, "digest": digests[line["offset"]], "length": str(length)})
    return sorted(lines, key=by_place)


def compare_index(packed, folder):
    """Compares the index with that of cdxj-indexer for the packed WARC files."""
    expected = [line for name, data in packed.warcs.items() for line in expected_index(data, name, folder)]
    assert packed.urls == [line["url"] for line in expected]
    for line, other in zip(packed.index, expected):
        line = {**line, "digest": line["digest"] if other["digest"] else None}
        assert comparable(line) == comparable(other)


def comparable(line):
    """An index line without what may differ: empty values, and the order of arguments in keys, which other writers sort as text."""
    key = sorted(line["key"].replace("?", "&").split("&")) if line["url"].startswith("http") else None
    return {**{name: value for name, value in line.items() if value not in (None, "")}, "key": key}


@pytest.fixture(scope="module")
def site():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def record_wget(folder, site, *options):
    wget = ["wget", "-q", "--no-proxy", "-P", folder / "wget", *options]
    subprocess.run([*wget, "-r", f"--warc-file={folder / 'site'}", f"{site}/"])
    subprocess.run([*wget, "--post-data=q=sea star&n=1", f"--warc-file={folder / 'form'}", f"{site}/form"])
    subprocess.run([*wget, "--header=Content-Type: application/json", '--post-data={"q": ["a", "b"], "n": {"m": 1}}',
        f"--warc-file={folder / 'json'}", f"{site}/json"])


def record_warcio(folder, site, *_):
    with capture_http(str(folder / "warcio.warc.gz")):
        for path in PAGES:
            requests.get(site + path)
        requests.post(f"{site}/form", data={"q": "sea star", "n": "1"})
        requests.post(f"{site}/json", json={"q": ["a", "b"], "n": {"m": "deep"}, "x": 1.5})
        requests.post(f"{site}/plain", data="just text".encode(), headers={"Content-Type": "text/plain"})
        requests.post(f"{site}/files", files={"file": ("a.txt", b"contents")}, data={"k": "v"})
        requests.put(f"{site}/bytes?x=1", data=bytes(range(256)))
        requests.get(f"{site}/missing")


@pytest.mark.parametrize("record, options", [
    pytest.param(record_wget, [], id="wget"), pytest.param(record_wget, ["--no-warc-compression"], id="wget-plain"),
    pytest.param(record_warcio, [], id="warcio")])
def test_recordings_are_kept_and_indexed(store, tmp_path, site, record, options):
    record(tmp_path, site, *options)
    files = sorted(tmp_path.glob("*.warc*"))
    packed = import_one(store, "--as-one", *files)
    assert packed.warcs == {path.name: path.read_bytes() for path in files}
    assert not packed.codes
    compare_index(packed, tmp_path)
    check_package(store, packed)
    for path in files:
        copy = tmp_path / "compared" / path.name
        assert records_of(copy.read_bytes()) == records_of(path.read_bytes())
        assert tool("warcio", "check", copy).returncode == tool("warcio", "check", path).returncode
    titles = {page.removeprefix(site): packed.pages[page].get("title") for page in packed.pages}
    assert titles == {"/": "Reef", "/coral?b=2&a=1": "Corals & Co", "/sea%20star": "Seestern"}
    assert "Staghorn" in packed.pages[f"{site}/coral?b=2&a=1"]["text"]
    assert "Fünfstrahlig" in packed.pages[f"{site}/sea%20star"]["text"]
    store.run_checked("jobs", "run")
    assert [hit["url"] for hit in store.run_checked("search", "staghorn", "--json").lines()] == [f"{site}/coral?b=2&a=1"]


def test_form_of_a_file_makes_no_difference(store):
    packed = import_all(store, {**KEPT, **CONVERTED})
    assert {name: one and one.urls for name, one in packed.items()} == dict.fromkeys(packed, URLS)
    assert {name: list(packed[name].warcs.values()) for name in KEPT} == {name: [data] for name, data in KEPT.items()}
    converted = {name: records_of(b"".join(packed[name].warcs.values())) for name in CONVERTED}
    assert converted == dict.fromkeys(CONVERTED, records_of(WHOLE))
    assert {name: one.codes for name, one in packed.items() if one.codes} == {}
    assert {name for name, one in packed.items() if set(one.pages) != set(URLS)} == set()
    store.run_checked("verify")


@pytest.mark.parametrize("ending", ["warc", "warc.gz"])
def test_records_of_all_types(store, tmp_path, ending):
    """Requests come before their response, after it, or not at all."""
    others = [record.bytes() for record in [CORAL, REVISIT, RESOURCE, METADATA, CONVERSION, *PARTS]]
    records = [INFO.bytes(), related(form(HOME.url, b"q=1"), 1), related(HOME, 2, 1), *others, related(STAR, 3),
        related(form(STAR.url, b"q=1"), 4, 3), related(CRAB, 5), related(form(CRAB.url, LARGE_FORM), 6, 5)]
    (tmp_path / f"a.{ending}").write_bytes(members(*records) if ending.endswith("gz") else b"".join(records))
    packed = import_one(store, f"a.{ending}")
    assert packed.urls == [HOME.url, CORAL.url, REVISIT.url, RESOURCE.url, PARTS[0].url, STAR.url, CRAB.url]
    assert set(packed.pages) == {CORAL.url, PARTS[0].url}
    assert store.run_checked("get", REVISIT.url).output == CORAL.body.decode()
    assert store.run_checked("get", RESOURCE.url).output == "just text"
    check_package(store, packed)
    compare_index(packed, tmp_path)


def test_dates_have_any_precision(store, tmp_path):
    """WARC 1.1 §5.4: "at any of the levels of granularity" of W3CDTF."""
    (tmp_path / "a.warc").write_bytes(b"".join(Record(f"{SITE}/{date}", time=date).bytes() for date in DATES))
    assert {line["url"].split("/")[-1]: line["timestamp"] for line in import_one(store, "a.warc").index} == DATES


def test_titles_and_texts_are_read(store, tmp_path):
    records = []
    for name, (fields, body, _, _) in DOCUMENTS.items():
        lines = ["HTTP/1.1 200 OK", *fields, *([] if "Content-Type" in "".join(fields) else ["Content-Type: text/html"])]
        records.append(Record(f"{SITE}/{name}", body, head="\r\n".join(lines)).bytes())
    (tmp_path / "a.warc.gz").write_bytes(members(*records))
    packed = import_one(store, "a.warc.gz")
    titles = {url.removeprefix(f"{SITE}/"): page.get("title") for url, page in packed.pages.items()}
    assert titles == {name: title for name, (_, _, title, _) in DOCUMENTS.items()}
    texts = {name: packed.pages[f"{SITE}/{name}"].get("text", "") for name in DOCUMENTS}
    assert [name for name, (*_, word) in DOCUMENTS.items() if word and word not in texts[name]] == []
    check_package(store, packed)


@pytest.mark.parametrize("name, data", [("a.arc", b"".join(ARC_RECORDS)), ("a.arc.gz", members(*ARC_RECORDS)),
    ("one.arc.gz", gzip.compress(b"".join(ARC_RECORDS)))], ids=["plain", "members", "one-member"])
def test_arc_becomes_warc(store, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    packed = import_one(store, name)
    assert [(line["url"], line["timestamp"]) for line in packed.index] == [
        (url, "20240203040506" if "two" in url else STAMP) for url in ARC_URLS]
    assert [line.get("status") for line in packed.index] == [None, "200", "200", "200", "302", None]
    (warc,) = packed.warcs.values()
    records = records_of(warc)
    blocks = [record.split(b"\n", 1)[1][:-1] for record in ARC_RECORDS[1:]]
    assert [block for kind, _, block in records if kind != "warcinfo"] == blocks
    assert [dict(fields).get("WARC-IP-Address") for kind, fields, _ in records if kind != "warcinfo"] == [
        "192.0.2.1", "192.0.2.7", "192.0.2.7", "2001:db8::7", "192.0.2.7", "192.0.2.7"]
    assert store.run_checked("get", f"{SITE}/two words,  three").output == CORAL.body.decode()
    assert store.run_checked("get", "dns:reef.example").output.startswith(STAMP)
    assert not packed.codes
    check_package(store, packed)


@pytest.mark.parametrize("form", range(6), ids=["plain", "members", "one-member", "arc", "arc-members", "arc-one-member"])
def test_cut_files_keep_complete_records(store, form):
    chance = random.Random(SEED + form)
    records = random_records(chance)
    ending, data, count = list(cut_forms(records))[form]
    cuts = {f"{place}.{ending}": data[:place] for place in (chance.randrange(len(data)) for _ in range(CUTS))}
    packed = import_all(store, cuts)
    urls, wrong = [record.url for record in records], {}
    for name, one in packed.items():
        kept, found = max(count(cuts[name]) - 1, 0), one.urls if one else []
        # The cut may be near the end of a record.
        is_damage_sure = count(cuts[name]) == count(cuts[name][:-5])
        if found not in (urls[:kept], urls[:kept + 1]) or one and is_damage_sure and one.codes.keys() != {"warc-damaged"}:
            wrong[name] = (kept, len(found), one and dict(one.codes))
    assert wrong == {}


@pytest.mark.parametrize("form", ["warc", "warc.gz", "arc.gz"])
def test_changed_bits_hide_only_their_record(store, form):
    chance = random.Random(SEED)
    records = random_records(chance)
    pieces = arc_of(records) if form == "arc.gz" else [INFO.bytes(), *[record.bytes() for record in records]]
    if form.endswith("gz"):
        pieces = [gzip.compress(piece, mtime=0) for piece in pieces]
    files, hit, lost = {}, {}, {}
    for number in range(FLIPS):
        which = chance.randrange(len(pieces))
        piece, place = bytearray(pieces[which]), chance.randrange(len(pieces[which]))
        piece[place] ^= 1 << chance.randrange(8)
        files[f"{number}.{form}"] = b"".join([*pieces[:which], piece, *pieces[which + 1:]])
        # In a plain file, a changed header may hide what follows, since it says where the record ends.
        in_head = form == "warc" and place < piece.find(b"\r\n\r\n")
        hit[f"{number}.{form}"] = (which, place, in_head)
    for name, one in import_all(store, files).items():
        which, place, in_head = hit[name]
        needed = {record.url for number, record in enumerate(records, 1) if number < which or number > which and not in_head}
        missing = needed - set(one.urls if one else [])
        # What doesn't begin like a WARC file isn't one.
        if missing and not (one is None and which == 0 and place < 10):
            lost[name] = (which, place, len(missing), one and dict(one.codes))
    assert lost == {}


def test_many_empty_records_take_little_memory(store, tmp_path):
    with open(tmp_path / "a.warc", "wb") as file:
        for number in range(COUNT):
            file.write(head_of(f"urn:{number}", 0) + b"\r\n\r\n")
    code, peak, output = imported_with_peak(store, "a.warc")
    assert (code, json.loads(output)["archive"]["captureCount"], 0 < peak < 128) == (0, COUNT, True), output


@pytest.mark.parametrize("name, data, captures", [
    pytest.param("a.warc.gz", lambda: bomb(head_of("urn:x", BOMB), BOMB, *ALL[:2]), 2, id="record"),
    # A file that has to be converted is inflated to 64 MiB at most, unless it is large (docs/store.md#limits). The record in which
    # that ends is kept as far as it goes.
    pytest.param("a.warc.gz", lambda: bomb(WHOLE + head_of("urn:x", min(BOMB, 1 << 30) - (1 << 16)), BOMB), 5, id="one-member"),
    pytest.param("a.warc.gz", lambda: bomb(WHOLE, BOMB >> 6), 4, id="zeros-after-records"),
    pytest.param("a.arc.gz", lambda: bomb(arc_head(BOMB), BOMB, *ARC_RECORDS[:3]), 2, id="arc"),
])
def test_gzip_bombs_take_little_memory(store, tmp_path, name, data, captures):
    (tmp_path / name).write_bytes(data())
    code, peak, output = imported_with_peak(store, name)
    assert (code, json.loads(output)["archive"]["captureCount"], 0 < peak < 128) == (0, captures, True), output


def test_full_disk_leaves_nothing(store, mounted, tmp_path):
    """A small ARC file needs more space than there is while it's converted."""
    store.root = mounted(48) / "store"
    (tmp_path / "a.arc.gz").write_bytes(bomb(arc_head(1 << 27), 1 << 27, *ARC_RECORDS[:3]))
    run = store.run("import", "a.arc.gz")
    assert run.code == 1 and "Fatal error" not in run.errors, run.errors
    assert store.listed() == {}
    store.expect_consistent()


def test_wrong_record_hides_no_other(store):
    large, arc = [head + b"x" * 1000 + b"\r\n\r\n" for head in (head_of("urn:x", 10**11), arc_head(10**11))]
    no_length = CORAL.bytes().replace(b"Content-Length", b"Length")
    packed = import_all(store, {
        "a.warc": b"".join([*ALL[:3], large, *ALL[3:]]), "b.warc.gz": members(*ALL[:3], large, *ALL[3:]),
        "c.arc": b"".join([*ARC_RECORDS[:3], arc, ARC_RECORDS[4]]), "d.arc.gz": members(*ARC_RECORDS[:3], arc, ARC_RECORDS[4]),
        "e.warc": b"".join([*ALL[:2], no_length, *ALL[3:]]), "f.warc.gz": members(*ALL[:2], no_length, *ALL[3:]),
        "g.warc": b"".join([*ALL[:2], b"not a record", *ALL[2:]]), "h.warc.gz": members(*ALL[:2]) + b"!" + members(*ALL[2:]),
    })
    arc_urls, others = [ARC_URLS[0], HOME.url, STAR.url], [HOME.url, STAR.url, CRAB.url]
    expected = dict(zip("abcdefgh", [URLS, URLS, arc_urls, arc_urls, others, others, URLS, URLS]))
    assert {name[0]: one and one.urls for name, one in packed.items()} == expected
    assert {name: one.codes for name, one in packed.items() if one.codes != {"warc-damaged": 1}} == {}


def test_file_names_stay_in_their_folder(store):
    packed = import_all(store, {name: members(*ALL) if "gz" in name.lower() else WHOLE for name in NAMES})
    for name, one in packed.items():
        (packed_name,) = one.warcs
        assert not set("/\\\t\n") & set(packed_name)
        assert packed_name.endswith(".warc.gz" if "gz" in name.lower() else ".warc")
        assert one.urls == URLS
    store.run_checked("verify")


def test_several_files_become_one(store, tmp_path):
    """Also if their names differ only in folder, case or accents."""
    names = ["x/a.warc", "y/a.warc", "x/A.warc", "x/é.warc", "x/è.warc"]
    for name, record in zip(names, [HOME, CORAL, STAR, CRAB, RESOURCE]):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(record.bytes())
    packed = import_one(store, "--as-one", "--title", "Both", *names)
    assert sorted(packed.urls) == sorted([*URLS, RESOURCE.url])
    assert sorted(packed.warcs.values()) == sorted(record.bytes() for record in [HOME, CORAL, STAR, CRAB, RESOURCE])
    check_package(store, packed)


def upload(store, data, name):
    running = json.loads((store.root / "server.json").read_text())
    headers = {"Content-Type": "application/wacz", "Origin": running["address"], "Replayhost-Token": running["token"]}
    return requests.post(f"{running['address']}/api/archives?name={name}", data=data, headers=headers).json()["archive"]


def test_same_file_again_is_a_duplicate(store, tmp_path):
    for name, records in [("a.warc.gz", ALL), ("b.arc.gz", ARC_RECORDS)]:
        (tmp_path / name).write_bytes(members(*records))
        outcomes = [store.run_checked("import", "--json", name).lines()[0]["outcome"] for _ in range(2)]
        assert outcomes == ["imported", "duplicate"]
    run = store.run_checked("import", "a.warc.gz")
    assert "already in your library" in run.output + run.errors


@pytest.mark.parametrize("way", ["upload", "standard-input"])
def test_streams_are_packed_like_files(store, tmp_path, way):
    data = members(*ALL)
    archives = []
    if way == "upload":
        with Server(store):
            archives = [upload(store, data, name) for name in ("a.warc.gz", "a.warc.gz", "..%2f..%2fb.warc")]
    for _ in range(2) if way == "standard-input" else []:
        command = [BINARY, "import", "-", "--json"]
        run = subprocess.run(command, input=data, env=store.environment(), capture_output=True, check=True)
        archives.append(json.loads(run.stdout)["archive"])
    packed = [Packed(store, archive) for archive in archives]
    assert [one.urls for one in packed] == [URLS] * len(packed)
    assert packed[0].id == packed[1].id, "the same bytes under the same name are the same archive"
    assert [set(one.warcs.values()) for one in packed] == [{data}] * len(packed)
    if way == "upload":
        assert [list(one.warcs) for one in packed] == [["a.warc.gz"], ["a.warc.gz"], ["b.warc.gz"]]
    store.expect_consistent()


def test_what_is_no_warc_file_is_refused(store, tmp_path):
    (tmp_path / "folder.warc").mkdir()
    os.mkfifo(tmp_path / "fifo.warc")
    files = {"info.warc": ALL[0], "request.warc": form(HOME.url, b"").bytes(), "empty.warc": b"", "line.warc": b"WARC/1.1",
        "zeros.warc.gz": members(bytes(1000)), "start.warc.gz": members(*ALL)[:5], "filedesc.arc": ARC_RECORDS[0],
        "text.warc": b"WARC is a format\n"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    codes = {name: store.run("import", name).code for name in [*files, "fifo.warc", "folder.warc", "missing.warc"]}
    assert codes == {**dict.fromkeys(files, 4), "fifo.warc": 1, "folder.warc": 3, "missing.warc": 3}
    assert store.run("import", "--as-one", "info.warc", "text.warc").code == 4
    store.expect_consistent()


# The first is packed as it is, the second is converted in a temporary file.
@pytest.mark.parametrize("form", ["warc", "arc.gz"])
def test_killed_imports_leave_nothing(store, tmp_path, form):
    """A kill before any call that changes the file system leaves no archive, or the whole one."""
    data = {"warc": WHOLE, "arc.gz": members(*ARC_RECORDS)}[form]
    (tmp_path / f"a.{form}").write_bytes(data)
    whole = store.run_checked("import", f"a.{form}", "--json").lines()[0]["archive"]["sha256"]
    store.run_checked("remove", "a", "--yes")
    store.run("import", f"a.{form}", KILL_COUNT=tmp_path / "calls")
    store.run_checked("remove", "a", "--yes")
    calls = int((tmp_path / "calls").read_text())
    left = Counter()
    for call in range(1, calls, max(1, calls // 12)):
        assert store.run("import", f"a.{form}", KILL_AT=call).code in (-9, 0)
        archives = store.listed()
        left[len(archives)] += 1
        assert [archive["sha256"] for archive in archives.values()] in ([], [whole])
        store.run("import", "missing.wacz")
        store.expect_consistent()
        if archives:
            store.run_checked("remove", "a", "--yes")
    assert left[0] > left[1] >= 0, left
