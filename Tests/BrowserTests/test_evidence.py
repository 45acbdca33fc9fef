"""The evidence report of a page, an archive and a collection, and the script that repeats what it states."""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from support.expecting import expect
from support.journey import SITE, TITLE
from support.places import CHECKOUT, FIXTURES
from support.signing import certified, signed
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

SCRIPT = CHECKOUT / "Scripts" / "check-evidence"
URL, TIME = f"{SITE}/", "20241121090000"
# Of the index and the WARC file of the sample, as warcio reads them.
RECORD = {"offset": 6796, "length": 1419, "file": "archive/fieldguide.example.warc.gz", "id": "<urn:uuid:f87db852-a24f-5a92-b3a5-2d951c6ca21d>"}
ARCHIVES = Path(os.environ.get("REPLAYHOST_FIXTURES", "/absent"))
PUBLISHED = ARCHIVES / "webrecorder__py-wacz" / "tests" / "fixtures" / "valid_signed_example_1.wacz"
FORGERIES = ARCHIVES / "right" / "forged"
published = pytest.mark.needs("published archives")


def add_verified(host, path, *options):
    identifier = host.add(path, *options)
    wait_until(lambda: host.archive(identifier)["verification"] != "not-verified", f"{identifier} is verified")
    return identifier


def open_report(host, page, identifier, url="", time="", kind="archive"):
    target = f"archive=/archives/{identifier}.wacz" if kind == "archive" else f"collection={identifier}"
    page.goto(f"{host.home}/?{target}#view=report" + (f"&page={url}&ts={time}" if url else ""))
    sheet = page.get_by_role("article")
    expect(sheet.get_by_role("heading", name="Evidence report", level=1)).to_be_visible()
    expect(sheet).to_have_attribute("aria-busy", "false")
    return sheet


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_report_of_a_page_states_its_evidence(host, page):
    add_verified(host, FIXTURES / "sample.wacz")
    sheet = open_report(host, page, "sample", URL, TIME)
    for text in [URL, "This file isn't signed. Nothing shows who made it, when, or whether somebody changed it on purpose. Its contents match its own hashes.",
            "Title in this library", "21 November 2024, 09:00:00 UTC", "by the clock of the computer that captured it", TITLE, "sample.wacz",
            sha256(FIXTURES / "sample.wacz"), RECORD["id"], f"at byte offset {RECORD['offset']}, {RECORD['length']} bytes long", RECORD["file"],
            "This file isn't signed. Nothing shows who made it.", "31 of 31 index lines lead to their record",
            "It isn't signed, so nothing shows who made it: a person who changes a file can also change its hashes."]:
        expect(sheet).to_contain_text(text)
    open_report(host, page, "sample", URL, "20240101")
    expect(sheet).to_contain_text("3 May 2024, 10:15:00 UTC")
    expect(sheet).to_contain_text("this is the closest capture")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=report&page={SITE}/winter.html")
    expect(sheet).to_contain_text("This URL isn't in “Tidepool Field Guide”, so there is no report about it.")
    expect(page.get_by_role("button", name="Print or save as PDF")).to_be_hidden()


@pytest.mark.parametrize("has_state", [True, False])
def test_report_of_an_unchanged_answer_names_the_record_that_is_shown(host, page, tmp_path, has_state):
    path = tmp_path / f"unchanged-{has_state}.warc.gz"
    with path.open("wb") as output:
        writer = WARCWriter(output)
        for day, status in [(1, "200 OK"), (2, "304 Not Modified")][not has_state:]:
            head = StatusAndHeaders(status, [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record("http://tide.example/", "response", http_headers=head,
                payload=io.BytesIO(b"<p>ebb" if status[0] == "2" else b""), warc_headers_dict={"WARC-Date": f"2024-06-0{day}T00:00:00Z",
                    "WARC-Record-ID": f"<urn:example:{day}>"}))
    sheet = open_report(host, page, add_verified(host, path), "http://tide.example/", "20240602000000")
    expect(sheet).to_contain_text("<urn:example:2>")
    expect(sheet).to_contain_text("This record has no content of its own")
    if has_state:
        expect(sheet).to_contain_text("in this record of another capture:")
        expect(sheet).to_contain_text("1 June 2024, 00:00:00 UTC")
        expect(sheet).to_contain_text("<urn:example:1>")
    else:
        expect(sheet).to_contain_text("wasn't found in this archive")


def test_report_of_a_damaged_archive_names_what_is_affected(host, page):
    add_verified(host, FIXTURES / "damaged" / "index-past-the-end.wacz")
    sheet = open_report(host, page, "index-past-the-end")
    affected = sheet.get_by_role("region", name="What is affected")
    expect(sheet.get_by_role("region", name="In short")).to_contain_text("Every file that has a hash matches it, but some captures can't be shown, or only in part.")
    expect(affected.locator(".url").first).to_contain_text("leaf.example")
    assert ".." not in sheet.inner_text().replace("…", "")


def test_report_is_printed_on_paper(host, page, tmp_path):
    """All of it and no control, in dark mode too. Each page names the file."""
    add_verified(host, FIXTURES / "sample.wacz")
    page.emulate_media(color_scheme="dark")
    open_report(host, page, "sample", URL, TIME)
    path = tmp_path / "report.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    text = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout
    joined = re.sub(r"\s+", "", text)
    for stated in ["Evidence report", URL, "21 November 2024, 09:00:00 UTC", sha256(FIXTURES / "sample.wacz"), RECORD["id"],
            "What this shows", "Check it yourself", "check-evidence"]:
        assert re.sub(r"\s+", "", stated) in joined, stated
    pages = text.rstrip("\f").split("\f")
    for number, one in enumerate(pages, 1):
        assert re.search(rf"^ *SHA-256 {sha256(FIXTURES / 'sample.wacz')} +{number} ?/ ?{len(pages)}$", one, re.MULTILINE), one
    for control in ["Print or save", "Copy citation", "Open the page", "Replay engine"]:
        assert control not in text
    described = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    assert "(A4)" in described and int(re.search(r"Pages: +(\d+)", described)[1]) <= 4
    page.emulate_media(media="print", color_scheme="dark")
    assert page.get_by_role("article").evaluate("(sheet) => getComputedStyle(sheet).color") == "rgb(34, 33, 30)"


def test_report_of_a_member_and_of_a_collection(host, page):
    add_verified(host, FIXTURES / "sample.wacz")
    add_verified(host, FIXTURES / "no-pages.wacz")
    collection = host.create_collection("The shore", "sample", "no-pages")
    sheet = open_report(host, page, collection, URL, TIME, kind="collection")
    expect(sheet).to_contain_text("The shore")
    expect(sheet).to_contain_text(RECORD["id"])
    expect(sheet).to_contain_text(sha256(FIXTURES / "sample.wacz"))
    expect(sheet).to_contain_text("can come from other archives of the collection “The shore”.")
    page.goto("about:blank")
    open_report(host, page, collection, kind="collection")
    for name in ["sample.wacz", "no-pages.wacz"]:
        expect(sheet).to_contain_text(sha256(FIXTURES / name))
    sheet.get_by_role("link", name=TITLE).click()
    expect(sheet).to_contain_text("It isn't signed, so nothing shows who made it")


def test_citations_are_copied(host, page):
    add_verified(host, FIXTURES / "sample.wacz")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=host.home)
    open_report(host, page, "sample", URL, TIME)
    file = f"file sample.wacz, SHA-256 {sha256(FIXTURES / 'sample.wacz')}"
    expected = {
        "Plain": f"“{TITLE}”, {URL}, captured 21 November 2024, 09:00:00 UTC. Web archive “{TITLE}” (title in this library, {file}).",
        "Chicago": f"“{TITLE}.” Captured November 21, 2024. {URL}. Web archive “{TITLE}” (title in this library), {file}.",
        "BibTeX": f"@misc{{fieldguide-example-20241121,\n  title = {{{{{TITLE}}}}},\n  howpublished = {{\\url{{{URL}}}}},\n"
            f"  year = {{2024}},\n  month = nov,\n  note = {{Captured November 21, 2024. Web archive “{TITLE}” (title in this library), {file}}}\n}}",
    }
    for style, text in expected.items():
        page.get_by_role("button", name="Copy citation").click()
        page.get_by_role("menuitem", name=style).click()
        expect(page.locator(".toast")).to_contain_text("Copied.")
        assert page.evaluate("() => navigator.clipboard.readText()") == text
        page.locator(".toast").get_by_role("button", name="Dismiss").click()


def run_commands(page, folder):
    """Runs all commands of the report, and checks what they print."""
    shutil.copy(SCRIPT, folder / "check-evidence")
    for block in page.get_by_role("article").locator("pre").all():
        command, expected = block.inner_text(), block.get_attribute("data-expected")
        result = subprocess.run(["bash", "-e", "-c", command], cwd=folder, capture_output=True, text=True)
        # The script says by its exit code that a file isn't signed.
        assert result.returncode == (2 if "RESULT not signed" in result.stdout else 0), f"{command}\n{result.stdout}{result.stderr}"
        assert expected is None or expected in result.stdout + result.stderr, f"{command}\n{result.stdout}{result.stderr}"
    return page.get_by_role("article").locator("pre").count()


@pytest.mark.parametrize("name", ["it's $HOME; a (file).wacz", "-a  it's \u2003\u0301 caf\u00e9 \u05d0.wacz"])
def test_commands_repeat_the_report(host, page, tmp_path, name):
    """In a folder with the file, under a name with characters that a shell reads, or that are hard to read."""
    (tmp_path / "files").mkdir()
    path = shutil.copy(FIXTURES / "sample.wacz", tmp_path / "files" / name)
    identifier = add_verified(host, path)
    open_report(host, page, identifier, URL, TIME)
    assert run_commands(page, tmp_path / "files") == 4


def test_commands_run_nothing_from_the_file_in_other_shells(host, page, tmp_path):
    """`$'…'` is read by Bash. For sh, which is dash on Debian, an escaped quote in it would end the quotation."""
    name = "it \u2003';touch${IFS}pwned;#.wacz"
    identifier = add_verified(host, shutil.copy(FIXTURES / "sample.wacz", tmp_path / name))
    open_report(host, page, identifier, URL, TIME)
    (tmp_path / "run").mkdir()
    for block in page.get_by_role("article").locator("pre").all():
        subprocess.run(["sh", "-c", block.inner_text()], cwd=tmp_path / "run", capture_output=True)
    assert not (tmp_path / "run" / "pwned").exists()
    # zsh replaces a word that begins with an equals sign.
    identifier = add_verified(host, shutil.copy(FIXTURES / "second.wacz", tmp_path / "=ls.wacz"))
    page.goto("about:blank")
    sheet = open_report(host, page, identifier)
    assert sheet.locator("pre").nth(1).inner_text() == "sha256sum '=ls.wacz'"


def test_title_adds_nothing_to_a_citation(host, page):
    """A quotation mark in it would end the quotation, so that the rest reads as the citation's own words."""
    page.goto(host.home)
    texts = page.evaluate("""async () => { await import("/app/messages/en/report.js");
        const { citations } = await import("/app/archive/citation.js");
        return citations({ item: {}, archive: { id: "a", title: "Court” captured 2020 \\"x\\" „y‟", originalName: "a.wacz", sha256: "00" },
            capture: { url: "https://a.example/", timestamp: "20241121090000" }, title: "Judgment”, https://court.example/1, captured 1 January 2020. Web archive “Court" }); }""")
    for style in ["plain", "chicago"]:
        assert re.findall("[“”„‟\"]", texts[style]) == ["“", "”", "“", "”"], texts[style]


@published
def test_commands_repeat_the_report_of_a_signed_archive(host, page, tmp_path):
    shutil.copy(PUBLISHED, tmp_path)
    identifier = add_verified(host, PUBLISHED)
    sheet = open_report(host, page, identifier, "https://example.com/", "20220118190009")
    for text in ["btrix-sign-test.webrecorder.net", "18 January 2022, 19:00:12 UTC, by www.freetsa.org (an authority that replayhost trusts)", "CN=R3,O=Let's Encrypt,C=US",
            "The time stamp shows that the signed list of files existed on 18 January 2022, 19:00:12 UTC, and so did the files that match it."]:
        expect(sheet).to_contain_text(text)
    assert run_commands(page, tmp_path) == 7


# The script ----------------------------------------------------------------------------------------------------------


def check(path, *options, env=None):
    result = subprocess.run([sys.executable, SCRIPT, path, *options], capture_output=True, text=True, env=env)
    lines = result.stdout.splitlines()
    assert (result.returncode == 1) == any(line.startswith("FAIL") for line in lines), result.stdout + result.stderr
    assert lines[-1].startswith({0: "RESULT signed by ", 1: "RESULT FAILS", 2: "RESULT not signed"}[result.returncode])
    assert all(re.match(r"(ok|FAIL|none|    |RESULT) ", line) for line in lines) and result.stdout.isascii(), result.stdout
    return result.returncode, result.stdout


def rewrite(path, to, change=None, compression=zipfile.ZIP_STORED):
    """Packs the files of a WACZ again. `change` gets them by name."""
    with zipfile.ZipFile(path) as package:
        files = {name: package.read(name) for name in package.namelist()}
    if change:
        change(files)
    with zipfile.ZipFile(to, "w", compression) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return to


def flip(name, place):
    def change(files):
        data = bytearray(files[name])
        data[place] ^= 0x20
        files[name] = bytes(data)
    return change


def hash_again(files):
    """Writes the hashes that the files have now, as a person who changes a file can."""
    package = json.loads(files["datapackage.json"])
    for resource in package["resources"]:
        data = files[resource["path"]]
        resource.update(hash="sha256:" + hashlib.sha256(data).hexdigest(), bytes=len(data))
    files["datapackage.json"] = json.dumps(package).encode()
    digest = json.loads(files["datapackage-digest.json"])
    digest["hash"] = "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()
    files["datapackage-digest.json"] = json.dumps(digest).encode()


def change_signed(**members):
    def change(files):
        digest = json.loads(files["datapackage-digest.json"])
        digest["signedData"].update({key: value(digest["signedData"]) if callable(value) else value for key, value in members.items()})
        files["datapackage-digest.json"] = json.dumps(digest).encode()
    return change


def change_record(files):
    """Another record in its place, and all hashes around it."""
    name, (offset, length) = RECORD["file"], (RECORD["offset"], RECORD["length"])
    record = gzip.compress(gzip.decompress(files[name][offset:offset + length]).replace(b"HTTP/1.1 200 OK", b"HTTP/1.1 200 KO"))
    index = files["indexes/index.cdx"].decode().splitlines()
    for number, line in enumerate(index):
        key, time, entry = line.split(" ", 2)
        entry = json.loads(entry)
        if entry["filename"] == name.removeprefix("archive/") and int(entry["offset"]) == offset:
            entry.update(offset=str(len(files[name])), length=str(len(record)))
            index[number] = f"{key} {time} {json.dumps(entry)}"
    files["indexes/index.cdx"] = "\n".join([*index, ""]).encode()
    files[name] += record
    hash_again(files)


CLAIMS = ["--url", URL, "--time", TIME]


def test_script_confirms_an_unsigned_archive():
    code, text = check(FIXTURES / "sample.wacz", "--sha256", sha256(FIXTURES / "sample.wacz"), *CLAIMS)
    assert code == 2, text
    assert RECORD["id"] in text and "the record's block matches its digest" in text and "isn't signed" in text


@pytest.mark.parametrize("name, change, failure", [
    ("a byte of the page list", flip("pages/pages.jsonl", 300), "'pages/pages.jsonl' matches its hash in the file list"),
    ("a byte of a WARC file", flip(RECORD["file"], 3000), f"'{RECORD['file']}' matches its hash in the file list"),
    ("a byte of the file list", flip("datapackage.json", 40), "the file list matches its hash"),
    ("a record, with all hashes", change_record, "the record's block matches its digest"),
    ("a file that is missing", lambda files: files.pop("pages/pages.jsonl"), "can be read"),
    ("the URL in the index", lambda files: (files.update({"indexes/index.cdx": files["indexes/index.cdx"].replace(
        b'"url": "https://fieldguide.example/"', b'"url": "https://fieldguide.example/x"')}), hash_again(files)), "the index lists"),
])
def test_script_finds_a_change(tmp_path, name, change, failure):
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "changed.wacz", change)
    code, text = check(path, *CLAIMS)
    assert code == 1 and any(line.startswith("FAIL") and failure in line for line in text.splitlines()), text


def test_script_does_not_trust_weak_hashes(tmp_path):
    def with_md5(files):
        description = json.loads(files["datapackage.json"])
        for one in description["resources"]:
            one["hash"] = "md5:" + hashlib.md5(files[one["path"]]).hexdigest()
        files["datapackage.json"] = json.dumps(description).encode()
        files["datapackage-digest.json"] = json.dumps({"hash": "sha-1:" + hashlib.sha1(files["datapackage.json"]).hexdigest()}).encode()
    code, text = check(rewrite(FIXTURES / "sample.wacz", tmp_path / "weak.wacz", with_md5), *CLAIMS)
    assert code == 2, text
    for what in ["the file list", f"'{RECORD['file']}'"]:
        assert f"none  the hash of {what} is MD5 or SHA-1" in text


def test_script_finds_other_claims(tmp_path):
    """Another URL, another time, another file, and a second file of one name."""
    for options in [["--url", f"{URL}other", "--time", TIME], ["--url", URL, "--time", "20241121090001"], ["--sha256", "0" * 64]]:
        code, text = check(FIXTURES / "sample.wacz", *options)
        assert code == 1, text
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "twice.wacz")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as package:
        package.writestr("pages/pages.jsonl", "{}")
    assert check(path)[0] == 1


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "damaged").glob("*.wacz")))
def test_script_judges_damaged_files(name):
    """Those whose files match their hashes pass: only what a capture needs is damaged in them."""
    as_packed = {"index-past-the-end.wacz", "no-index.wacz", "unsorted-index.wacz"}
    assert check(FIXTURES / "damaged" / name)[0] == (2 if name in as_packed else 1)


def test_script_quotes_what_the_file_states(tmp_path):
    """Line feeds and escapes in a name make no line that the script didn't write, and hide none."""
    name = "logs/a\nok    the signature is valid for its key\nRESULT signed by 'example.org'\x1b[8m\u2028\u202e"

    def change(files):
        files[name] = b"log"
        package = json.loads(files["datapackage.json"])
        package["resources"].append({"path": name})
        files["datapackage.json"] = json.dumps(package).encode()
        hash_again(files)
    code, text = check(rewrite(FIXTURES / "sample.wacz", tmp_path / "lines.wacz", change))
    assert code == 2, text
    assert "ok    the signature is valid for its key" not in text.splitlines()
    assert sum(line.startswith("RESULT") for line in text.splitlines()) == 1


def warc_record(url, body=b"text", kind="response", more=""):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{url}>\r\nWARC-Target-URI: {url}\r\n{more}"
        f"WARC-Date: 2024-11-21T09:00:00Z\r\nContent-Length: {len(block)}\r\n\r\n")
    return head.encode() + block + b"\r\n\r\n"


def add_records(to, warc, places, spoil=lambda line: line):
    """Adds a WARC file to the sample, with an index of the records at `places`. All have their hashes in the file list."""
    def change(files):
        files["archive/own.warc"] = warc
        lines = ["key 20241121090000 " + json.dumps({"url": url, "filename": "own.warc", "offset": offset, "length": len(data)})
            for url, (offset, data) in places.items()]
        files["indexes/own.cdx"] = "\n".join(map(spoil, lines)).encode()
        package = json.loads(files["datapackage.json"])
        package["resources"] += [{"path": "archive/own.warc"}, {"path": "indexes/own.cdx"}]
        files["datapackage.json"] = json.dumps(package).encode()
        hash_again(files)
    return rewrite(FIXTURES / "sample.wacz", to, change)


OWN = "https://site.example/own"


def test_script_takes_no_record_inside_another(tmp_path):
    """A listed index names a place in a payload where the bytes of a record stand."""
    inner = warc_record("https://bank.example/", b"forged")
    outer = warc_record("https://site.example/file", inner)
    last = warc_record("https://site.example/last")
    places = {"https://site.example/file": (0, outer), "https://bank.example/": (outer.index(inner), inner),
        "https://site.example/last": (len(outer), last)}
    path = add_records(tmp_path / "inside.wacz", outer + last, places)
    found = {url: check(path, "--url", url, "--time", "20241121090000") for url in places}
    assert {url: code for url, (code, _) in found.items()} == {
        "https://site.example/file": 2, "https://bank.example/": 1, "https://site.example/last": 2}, found
    assert "FAIL  a record begins at byte" in found["https://bank.example/"][1]


@pytest.mark.parametrize("record, line, code, text", [
    ({}, str, 2, "none  the record has no digest"),
    ({"kind": "request"}, str, 1, "FAIL  the record is a capture ('request')"),
    ({"kind": "revisit"}, str, 2, "none  the record repeats the content of another capture: that content was not checked"),
    ({"more": "WARC-Target-URI: https://bank.example/\r\n"}, str, 1, "FAIL  each field of the record that counts occurs once"),
    ({"more": "WARC-Other:\r\nwarc-target-uri: https://bank.example/\r\n"}, str, 1, "FAIL  each field of the record that counts occurs once"),
    ({"more": "Content-Length: 3\r\n"}, str, 1, "FAIL  each field of the record that counts occurs once"),
    ({"more": f"WARC-Block-Digest: sha256:{'ab' * 32}\r\n"}, str, 1, "FAIL  the record's block matches its digest"),
    ({}, lambda line: line.replace('{"url"', '{"url": "https://bank.example/", "url"'), 1, "a member occurs twice in JSON"),
])
def test_script_takes_no_record_that_programs_read_differently(tmp_path, record, line, code, text):
    warc = warc_record(OWN, **record)
    path = add_records(tmp_path / "own.wacz", warc, {OWN: (0, warc)}, line)
    found, printed = check(path, "--url", OWN, "--time", "20241121090000")
    assert found == code and text in printed, printed


def test_script_needs_little_memory(tmp_path):
    """A record of 300 MB, which is 300 kB in the file."""
    warc = gzip.compress(warc_record(OWN, bytes(300_000_000)), 9)
    path = add_records(tmp_path / "large.wacz", warc, {OWN: (0, warc)})
    limited = ["bash", "-c", 'ulimit -v 200000; exec "$@"', "bash", sys.executable, SCRIPT, path, "--url", OWN, "--time", "20241121090000"]
    result = subprocess.run(limited, capture_output=True, text=True)
    assert result.returncode == 2, result.stdout + result.stderr


def test_script_compares_the_zip_with_its_directory(tmp_path):
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "sample.wacz")
    data = path.read_bytes()
    name = b"pages/pages.jsonl"
    header = data.index(name) - 30
    # APPNOTE 4.3.7: the size is at byte 22 of the header.
    path.write_bytes(data[:header + 22] + (5).to_bytes(4, "little") + data[header + 26:])
    code, text = check(path)
    assert code == 1 and "FAIL  each file's own header in the ZIP is as its directory states" in text, text

    # A file that the directory doesn't name, between two others.
    with zipfile.ZipFile(path, "w") as package:
        for entry in ["archive/a.warc", "hidden.warc", "datapackage.json"]:
            package.writestr(entry, b'{"resources": []}')
        del package.filelist[1], package.NameToInfo["hidden.warc"]
    assert "none  58 bytes of the ZIP are no part of the files that its directory names" in check(path)[1]


@pytest.mark.parametrize("name, data", [("archive/evil.warc/", b"WARC/1.1"), ("pages/more.jsonl", b"{}")])
def test_script_names_every_file_that_is_not_listed(tmp_path, name, data):
    """Also one whose name is that of a folder."""
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "more.wacz", lambda files: files.update({name: data, "empty/": b""}))
    text = check(path)[1]
    assert f"none  '{name}' isn't in the file list" in text and "empty" not in text


def test_script_takes_no_path_that_is_listed_twice(tmp_path):
    def change(files):
        package = json.loads(files["datapackage.json"])
        package["resources"] = [{**package["resources"][0], "hash": f"sha256:{'00' * 32}"}, *package["resources"]]
        files["datapackage.json"] = json.dumps(package).encode()
        files["datapackage-digest.json"] = json.dumps({"hash": "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()}).encode()
    code, text = check(rewrite(FIXTURES / "sample.wacz", tmp_path / "twice.wacz", change))
    assert code == 1 and "FAIL  each path occurs once in the file list" in text, text


@pytest.mark.parametrize("name", ["logs/" + "\u202e" * 150, "logs/a)" + " " * 60 + "signature: valid, by archive.nytimes.com"])
def test_script_quotes_in_one_line_without_gaps(tmp_path, name):
    """A gap as wide as a terminal would begin a new line there."""
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "quoted.wacz", lambda files: files.update({name: b"log"}))
    [line] = [line for line in check(path)[1].splitlines() if "logs/" in line]
    assert "  " not in line.removeprefix("none  ") and len(re.search("'(.*?)'", line)[1]) <= 200


def test_script_names_what_the_list_does_not(tmp_path):
    """And finds no capture by an index that isn't listed."""
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "added.wacz", lambda files: files.update({
        "indexes/added.cdx": b'key 20241121090000 {"url": "https://bank.example/", "filename": "a.warc", "offset": 0, "length": 1}'}))
    assert "none  'indexes/added.cdx' isn't in the file list" in check(path)[1]
    assert check(path, "--url", "https://bank.example/", "--time", "20241121090000")[0] == 1


@published
@pytest.mark.parametrize("name, options, code", [
    ("unlisted", ["--url", "https://example.com/", "--time", "20220118190020"], 1), ("stamp", [], 1), ("endrecord", [], 1), ("lines", [], 2),
    ("smuggled", ["--url", "https://bank.example/", "--time", "20240101000005"], 1),
])
def test_script_takes_no_forgery(name, options, code):
    found, text = check(FORGERIES / f"{name}.wacz", *options)
    assert found == code, text
    assert "2022-03-01 12:34:56" not in text


def test_script_finds_no_capture_where_the_index_points_past_the_end():
    code, text = check(FIXTURES / "damaged" / "index-past-the-end.wacz", "--url", "https://leaf.example/", "--time", "20241202080000")
    assert code == 1, text


@pytest.mark.parametrize("name, code", [("anonymous", 0), ("forged", 1), ("other", 1), ("domain", 1)])
def test_script_checks_signatures(tmp_path, name, code):
    """The last has a certificate that no authority issued, and no time stamp."""
    path, fingerprint = signed(tmp_path, name)
    found, text = check(path)
    assert found == code, text
    assert name != "anonymous" or fingerprint in text


@published
def test_script_confirms_a_signed_archive(tmp_path):
    code, text = check(PUBLISHED, "--url", "https://example.com/", "--time", "20220118190009")
    assert code == 0, text
    assert "a trusted time stamp says 2022-01-18 19:00:12 UTC" in text and text.endswith("RESULT signed by 'btrix-sign-test.webrecorder.net'\n")


@published
@pytest.mark.parametrize("name, change, failure", [
    ("all hashes", lambda files: (flip("pages/pages.jsonl", 40)(files), hash_again(files)), "the signature is for this file list"),
    ("signature", change_signed(signature=lambda data: data["signature"][:-6] + "AAAA=="), "the signature is valid for its key"),
    ("domain", change_signed(domain="other.example"), "that the key is of 'other.example'"),
    ("claimed time", change_signed(created="2022-01-18T20:00:12Z"), "the signer states this time too"),
    ("time stamp", change_signed(timeSignature=lambda data: data["timeSignature"].replace("A", "B", 40)), ""),
    ("no time stamp", change_signed(timeSignature=None), ""),
])
def test_script_finds_a_change_in_a_signed_archive(tmp_path, name, change, failure):
    code, text = check(rewrite(PUBLISHED, tmp_path / "changed.wacz", change))
    assert code == 1 and any(line.startswith("FAIL") and failure in line for line in text.splitlines()), text


@pytest.mark.parametrize("extensions, domain, code", [
    ("extendedKeyUsage=serverAuth\nkeyUsage=digitalSignature", "bank.example", 0), ("", "bank.example", 0),
    ("extendedKeyUsage=emailProtection\nkeyUsage=digitalSignature", "bank.example", 1),
    ("extendedKeyUsage=serverAuth\nkeyUsage=keyEncipherment", "bank.example", 1),
    ("extendedKeyUsage=serverAuth\nkeyUsage=digitalSignature", ".example", 1),
])
def test_script_takes_only_certificates_for_signatures_of_a_domain(tmp_path, extensions, domain, code):
    """RFC 5280 sections 4.2.1.3 and 4.2.1.12. All are of an authority that is trusted here."""
    path, roots = certified(tmp_path, extensions, domain)
    found, text = check(path, "--trust", roots)
    assert found == code, text


@published
def test_script_works_with_openssl_1_1(tmp_path):
    """A stand-in for OpenSSL 1.1.1, which has no option -no-CAstore: https://docs.openssl.org/1.1.1/man1/verify/"""
    old = tmp_path / "openssl"
    old.write_text(f"""#!/bin/sh
case " $* " in
    " version ") echo "OpenSSL 1.1.1w  11 Sep 2023" ;;
    *" -no-CAstore "*) exit 1 ;;
    *) exec {shutil.which("openssl")} "$@" ;;
esac
""")
    old.chmod(0o755)
    code, text = check(PUBLISHED, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert code == 0, text


@published
def test_script_trusts_only_what_it_is_told_to(tmp_path):
    roots = tmp_path / "roots.pem"
    roots.write_text((FIXTURES / "signatures" / "self-signed.pem").read_text())
    code, text = check(PUBLISHED, "--trust", roots)
    assert code == 1 and "FAIL  a trusted authority certified" in text


def test_report_leads_to_a_verification_that_is_missing(host_with_sample, page):
    host = host_with_sample
    before = {name: value for name, value in host.archive("sample").items() if not name.startswith("verification")} | {"verification": "not-verified"}
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=before))
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=report")
    page.get_by_role("link", name="Verify it").click()
    expect(page.get_by_role("button", name="Verify now")).to_be_visible()


def test_report_follows_the_verification(host_with_sample, page):
    host = host_with_sample
    wait_until(lambda: host.archive("sample")["verification"] == "hashes-agree", "the archive is verified")
    before = {name: value for name, value in host.archive("sample").items() if not name.startswith("verification")} | {"verification": "not-verified"}
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=before))
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=report")
    expect(page.get_by_role("link", name="Verify it")).to_be_visible()
    page.unroute("**/api/archives/sample")
    host.change("POST", "/api/archives/sample/verify")
    expect(page.get_by_role("article")).to_contain_text("31 of 31 index lines lead to their record")
