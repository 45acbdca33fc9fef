"""The script that repeats what an evidence report states, with files that state more than they prove."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from support.places import FIXTURES
from support.signing import certified, signed
from test_evidence import FORGERIES, PUBLISHED, RECORD, SCRIPT, TIME, URL, published, sha256


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
    ({"kind": "revisit"}, str, 2, "none  the content is in another record (this is a revisit), and was not checked"),
    ({"more": "WARC-Target-URI: https://bank.example/\r\n"}, str, 1, "FAIL  no field of the record that is checked here occurs twice"),
    ({"more": "WARC-Other:\r\nwarc-target-uri: https://bank.example/\r\n"}, str, 1, "FAIL  no field of the record that is checked here occurs twice"),
    ({"more": "Content-Length: 3\r\n"}, str, 1, "FAIL  no field of the record that is checked here occurs twice"),
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
    assert code == 1 and "FAIL  method, checksum and sizes before each file in the ZIP are those in its directory" in text, text

    # With bit 3 in the header only, a size of 5 is still not that of the directory; APPNOTE 4.4.4: it would be 0.
    path.write_bytes(data[:header + 6] + b"\x08" + data[header + 7:header + 22] + (5).to_bytes(4, "little") + data[header + 26:])
    assert "FAIL  method, checksum and sizes" in check(path)[1]

    # A file that the directory doesn't name, between two others.
    with zipfile.ZipFile(path, "w") as package:
        for entry in ["archive/a.warc", "hidden.warc", "datapackage.json"]:
            package.writestr(entry, b'{"resources": []}')
        del package.filelist[1], package.NameToInfo["hidden.warc"]
    assert "none  58 bytes of the ZIP belong to no file of its directory" in check(path)[1]


@pytest.mark.parametrize("name, data", [("archive/evil.warc/", b"WARC/1.1"), ("pages/more.jsonl", b"{}")])
def test_script_names_every_file_that_is_not_listed(tmp_path, name, data):
    """Also one whose name is that of a folder."""
    path = rewrite(FIXTURES / "sample.wacz", tmp_path / "more.wacz", lambda files: files.update({name: data, "empty/": b""}))
    text = check(path)[1]
    assert f"none  no hash in the file list protects '{name}'" in text and "empty" not in text


@pytest.mark.parametrize("change", [lambda one: one.pop("hash"), lambda one: one.update(hash="")])
def test_script_names_a_listed_file_without_a_hash(tmp_path, change):
    """The signature is still right, for what has a hash."""
    def drop(files):
        package = json.loads(files["datapackage.json"])
        [one] = [one for one in package["resources"] if one["path"] == "pages/pages.jsonl"]
        change(one)
        files["datapackage.json"] = json.dumps(package).encode()
    code, text = check(signed(tmp_path, "anonymous", change=drop)[0])
    assert code == 0 and "none  no hash in the file list protects 'pages/pages.jsonl': anyone could have added or changed it" in text, text


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
    assert "none  no hash in the file list protects 'indexes/added.cdx'" in check(path)[1]
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


def test_script_names_the_hosts_of_a_certificate_only(tmp_path):
    path, roots = certified(tmp_path, "", "bank.example", "DNS.1=bank.example\nURI.1=http://a.example/, DNS:court.example\nDNS.2=*.bank.example")
    shown = subprocess.run(["openssl", "x509", "-in", tmp_path / "signer.pem", "-noout", "-ext", "subjectAltName"], capture_output=True, text=True, check=True)
    assert ", DNS:court.example" in shown.stdout
    code, text = check(path, "--trust", roots)
    assert code == 0 and text.endswith("RESULT signed by 'bank.example', '*.bank.example'\n"), text


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
