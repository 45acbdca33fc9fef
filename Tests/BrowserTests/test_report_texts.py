"""The evidence report of archives whose author wants it to say more than it does: URLs, texts, digests, and files that are gone."""

import hashlib
import json
import re
import subprocess
import sys
import unicodedata
import zipfile
from urllib.parse import quote

import pytest
from surt import surt

from support.archives import TIME
from support.expecting import expect
from support.signing import signed
from test_check_evidence import change_signed, rewrite
from test_evidence import FORGERIES, PUBLISHED, open_report, published
from writers.captures import WARC, index_lines, page_entry
from writers.wacz import Package, page_list

pytestmark = pytest.mark.one_chromium

SITE = "https://hostile.example"
STAMP = "20241121090000"
LINES = [f"{SITE}/a\nb", f"{SITE}/a\rb", f"{SITE}/a\tb", f"{SITE}/a\u2028b", f"{SITE}/a  b"]
# The URL Standard has no host for these.
HOSTLESS = ["http://[oops]/", "http://a b.example/", "http://%zz/", "http:///", "http://", "//host.example/",
    f"{SITE}/#part", "urn:example:page", "no-url", "data:text/html,a"]


# Drawn over the lines above, or as lines of the report, or from right to left.
MARK = "\u01c2"
DRAWN = "a" + "\u0301" * 260 + "b" + "\u20dd\u200d" * 50 + "\u0e49" * 50
WIDE = ["\u2003" * 150, " \u200b\u00a0" * 60, "\u2800" * 60, "\u3164" * 60, "\u1160" * 60, "\u3000" * 60]
FORGED = "".join(f"{gap}Signer{gap}archive.nytimes.com{line}Result Valid" for gap, line in zip(WIDE, ["\n", "\r", "\u2028", "\u2029", "\x85", "\x0b"]))
HOSTILE = f"{MARK}\u202e{DRAWN}{WIDE[0]}Signer{FORGED}\u05d0\u05d1 "

# The texts from an archive in one part of the page: where they're isolated, and what is wrong with them.
FAULTS = r"""([mark, selector]) => {
    const root = document.querySelector(selector);
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const faults = [];
    let found = 0;
    while (nodes.nextNode()) {
        const text = nodes.currentNode.data;
        const parent = nodes.currentNode.parentElement;
        if (text.includes(mark)) {
            found += 1;
            if (!parent.closest("bdi, [dir]") || !root.contains(parent.closest("bdi, [dir]"))) faults.push("isn't isolated");
            if (parent.closest("h1, h2, dt, th, caption")) faults.push("is a label");
            if (Array.from(text).length > (parent.closest("pre, .url") ? 20_000 : 400)) faults.push("is endless");
        }
        const checks = { "has a control or separator": /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/,
            "changes the direction": /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
            "has a stack": /(?:[\u0300-\u036f\u20d0-\u20f0\u0e34-\u0e4e][\u200b-\u200d]*){5}/,
            "has a gap": /[\p{Zs}\u2800\u3164\uffa0\u1160][\p{Zs}\u200b-\u200d\ufeff]*[\u00a0\u2000-\u200a\u202f\u205f\u3000\u2800\u3164\uffa0\u1160]/u };
        for (const [fault, pattern] of Object.entries(checks)) if (pattern.test(text)) faults.push(fault);
        if (!parent.closest("pre") && /[ \n\t]{2}/.test(text)) faults.push("has spaces in a row");
        faults.splice(0, faults.length, ...faults.map((fault) => (fault.includes(": ") ? fault : `${fault}: ${text.slice(0, 200)}`)));
    }
    return [found, faults];
}""".replace("\\\\", "\\")


def write_indexed(path, entries, body=b"<!doctype html><title>A page</title><p>text", **head):
    """Writes a WACZ of one record, which the index lists once for each URL: `entries` has the members of its lines."""
    warc = WARC("data.warc.gz", TIME)
    warc.add_response({"url": f"{SITE}/", "time": TIME}, body)
    line = json.loads(index_lines([warc])[0].split(b" ", 2)[2])
    entries = [{**line, **entry} for entry in entries]
    lines = sorted(f"{surt(entry['url'])} {STAMP} {json.dumps(entry)}\n" for entry in entries)
    with Package(path, "Hostile", created=TIME, main_page=(f"{SITE}/", TIME)) as package:
        package.head.update(head)
        package.add(f"archive/{warc.name}", warc.bytes())
        package.add("indexes/index.cdx", "".join(lines).encode())
        package.add("pages/pages.jsonl", page_list([page_entry({"url": f"{SITE}/", "time": TIME}, body)]))
    return path


def test_every_url_of_an_archive_has_a_report(host, page):
    """Also those that no browser can parse: the citation of a page needed its host."""
    urls = [*LINES, *HOSTLESS]
    identifier = host.add_verified(write_indexed(host.store.parent / "urls.wacz", [{"url": url} for url in urls]))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=host.home)
    for url in urls:
        page.goto("about:blank")
        sheet = open_report(host, page, identifier, quote(url, safe=""), STAMP)
        expect(sheet.get_by_role("region", name="The captured page")).to_contain_text(f"{STAMP[6:8]} November")
        page.get_by_role("button", name="Copy citation").click()
        page.get_by_role("menuitem", name="BibTeX").click()
        expect(page.locator(".toast")).to_contain_text("Copied.")
    page.goto("about:blank")
    open_report(host, page, identifier, quote(LINES[3], safe=""), STAMP)
    page.get_by_role("button", name="Copy citation").click()
    page.get_by_role("menuitem", name="BibTeX").click()
    expect(page.locator(".toast")).to_contain_text("Copied.")
    # RFC 3986: UTF-8, percent-encoded.
    assert "\\url{https://hostile.example/a%E2%80%A8b}" in page.evaluate("() => navigator.clipboard.readText()")


@pytest.mark.parametrize("is_linked, what, short", [
    (True, "changed", "Changed since it was checked."), (False, "changed", "Not verified yet."),
    (True, "gone", "The file can't be found, so nothing about it can be checked now."),
    (False, "gone", "The file can't be found, so nothing about it can be checked now."),
])
def test_report_of_a_file_that_is_gone_or_changed_says_only_that(host, page, tmp_path, is_linked, what, short):
    """A signed one, which was reported as unchanged since; alone, for a page, and in a collection."""
    path, _ = signed(tmp_path, "anonymous")
    identifier = host.add_verified(path, *(["--link"] if is_linked else []))
    collection = host.create_collection("All", identifier)
    sheet = open_report(host, page, identifier)
    expect(sheet).to_contain_text("This file was signed with a key, and its captures haven't changed since.")
    stored = path if is_linked else host.store / "files" / f"{host.archive(identifier)['sha256']}.wacz"
    if what == "gone":
        stored.rename(tmp_path / "elsewhere.wacz")
    else:
        stored.chmod(0o600)
        with stored.open("ab") as file:
            file.write(b"more")
    for target, kind, url in [(identifier, "archive", ""), (identifier, "archive", quote("https://fieldguide.example/")), (collection, "collection", "")]:
        page.goto("about:blank")
        open_report(host, page, target, url, kind=kind)
        if kind == "archive":
            expect(sheet.get_by_role("region")).to_have_count(1)
            expect(sheet).to_contain_text(short)
            expect(page.get_by_role("button", name="Copy citation")).to_be_hidden()
        elif what == "gone" or is_linked:
            expect(sheet.locator("tbody code")).to_have_count(0)
        expect(sheet).not_to_contain_text("Unchanged since")
        expect(sheet).not_to_contain_text(re.compile("as the file states", re.IGNORECASE))


LANGUAGES = ["Ti\u1ebfng Vi\u1ec7t", unicodedata.normalize("NFD", "Ti\u1ebfng Vi\u1ec7t"),
    "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48 \u0e1c\u0e39\u0e49\u0e43\u0e2b\u0e0d\u0e48",
    # Genesis 1:1, a letter with five points, and the name of Jerusalem, with points and accents.
    "\u05d1\u05b0\u05bc\u05e8\u05b5\u05d0\u05e9\u05b4\u05c1\u0596\u05d9\u05ea \u05e9\u05c1\u05bc\u05b7\u05bd\u05a3 \u05d9\u05b0\u05e8\u05d5\u05bc\u05e9\u05b8\u05c1\u05dc\u05b7\u034f\u05b4\u0591\u05dd",
    "\u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f\u093e\u0923\u093e\u0902 \u091c\u093c\u0901",
    # The ten letters of Kalachakra, and "going for refuge".
    "\u0f67\u0f90\u0fb5\u0fa8\u0fb3\u0f71\u0f80\u0f83 \u0f66\u0f92\u0fb2\u0f74\u0f56\u0f66",
    "\u101c\u103b\u103e\u1031\u102c\u1037 \u100a\u103e\u102d\u102f\u1037", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "\u65e5\u672c\u3000\u8a9e \u304b\u3099", "\u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3"]


def test_foreign_text_keeps_its_letters(host, page):
    """Also those of languages with many marks. It loses what draws on other lines, or makes lines and gaps."""
    page.goto(host.home)
    shown = page.evaluate("async (texts) => { const { plain } = await import('/app/core/dom.js'); return texts.map((text) => plain(text)); }",
        [*LANGUAGES, "a" + "\u0301" * 260, "1" + "\u20dd\u200d" * 260, "\u0301\u0301a", *[f"a{gap}b" for gap in WIDE], "\u0f40" + "\u0fad" * 50,
            "a\n\r\u2028\u2029\x85b", "\u202eabc\u2066", "x" * 5000])
    assert shown[:len(LANGUAGES)] == LANGUAGES
    rest = shown[len(LANGUAGES):]
    assert rest[0] == "a" + "\u0301" * 4
    assert rest[1].count("\u20dd") == 4
    assert rest[2:] == ["a", *["a b"] * len(WIDE), "\u0f40" + "\u0fad" * 4, "a b", "abc", "x" * 199 + "\u2026"]


def one_line(text):
    """Without what ends a field of a header."""
    return re.sub(r"[\r\n]", " ", text)


def write_record(path, url=f"{SITE}/", entry=None, http=(), fields=(), title="A page", status="200 OK", names=("data.warc", "Hostile"), **head):
    """Writes a WACZ of one record. `entry` is what the index says of it, `names` are those of the WARC file and the archive."""
    body = f"<!doctype html><title>{title}</title><p>text".encode()
    http = {"Content-Type": "text/html", "Content-Length": len(body), **dict(http)}
    block = "".join([f"HTTP/1.1 {status}\r\n", *(f"{name}: {one_line(str(value))}\r\n" for name, value in http.items()), "\r\n"]).encode() + body
    fields = {"WARC-Type": "response", "WARC-Record-ID": "<urn:example:1>", "WARC-Target-URI": url, "WARC-Date": TIME,
        "Content-Type": "application/http; msgtype=response", "Content-Length": len(block), **dict(fields)}
    record = "".join(["WARC/1.1\r\n", *(f"{name}: {one_line(str(value))}\r\n" for name, value in fields.items()), "\r\n"]).encode() + block + b"\r\n\r\n"
    entry = {"url": url, "mime": "text/html", "status": "200", "filename": names[0], "offset": "0", "length": str(len(record)), **(entry or {})}
    with Package(path, names[1], created=TIME, main_page=(url, TIME)) as package:
        package.head.update(head)
        package.add(f"archive/{names[0]}", record)
        package.add("indexes/index.cdx", f"{surt(url)} {STAMP} {json.dumps(entry)}\n".encode())
        package.add("pages/pages.jsonl", page_list([{"url": url, "ts": TIME, "title": names[1]}]))
    return path


def write_hostile(path):
    """An archive with a hostile text in every field that one can write."""
    line = one_line(HOSTILE)
    url = f"{SITE}/{line}"
    return write_record(path, url, {"mime": f"text/html {HOSTILE}", "digest": f"sha256:{HOSTILE}", "request": HOSTILE},
        {"Content-Type": f"text/html; {line}", "Date": f"Thu, 21 Nov 2024 {line}"},
        {"WARC-Record-ID": f"<urn:{line}>", "WARC-Type": "response", "WARC-Block-Digest": f"sha256:000 {line} Verified OK",
            "WARC-Payload-Digest": f"sha256:{line}"}, HOSTILE, (f"{line[:40]}{WIDE[0][:20]}{MARK}.warc", HOSTILE),
        software=HOSTILE, description=HOSTILE, mainPageTitle=HOSTILE), url


def test_texts_of_an_archive_are_only_texts(host, page, tmp_path):
    """Each is isolated, short, on its own lines, and no label; on the screen and in the PDF."""
    path, url = write_hostile(tmp_path / f"{MARK} \u202e{WIDE[0][:20]}Signer{WIDE[2][:10]}a.wacz")
    identifier = host.add_verified(path)
    collection = host.create_collection(f"{MARK}{HOSTILE[2:90]}{FORGED[:200]}", identifier)
    for target, kind, of in [(identifier, "archive", ""), (identifier, "archive", url), (collection, "collection", ""), (collection, "collection", url),
            (identifier, "archive", f"{url}-not-captured")]:
        page.goto("about:blank")
        sheet = open_report(host, page, target, quote(of, safe=""), quote(HOSTILE[-20:]) + STAMP, kind=kind)
        found, faults = page.evaluate(FAULTS, [MARK, ".report-sheet"])
        assert found > 0 and faults == [], (kind, of[:30])
        assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\u2003\u2800]{2}|\u0301{5}", page.title())
        page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
        text = subprocess.run(["pdftotext", "-layout", tmp_path / "report.pdf", "-"], capture_output=True, text=True, check=True).stdout
        # A long URL leaves no page empty.
        assert of != url or f"{SITE}/" in text.split("\f")[0]
        # Labels begin at the margin.
        assert not re.search(r"^\s{0,6}(Signer\s+archive|Result\s+Valid)", text, re.MULTILINE), text
        assert not re.search(r"(?:[\u0300-\u036f\u20d0-\u20f0]\s*){6}", text)


def test_texts_in_findings_are_isolated(host, page, tmp_path):
    path, _ = write_hostile(tmp_path / "hostile.wacz")
    identifier = host.add_verified(path)
    page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz#view=details")
    expect(page.locator(".findings .what").first).to_be_attached()
    for summary in page.locator(".findings summary").all():
        summary.click()
    found, faults = page.evaluate(FAULTS, [MARK, ".findings"])
    assert found > 0 and faults == []


# By sha1sum, sha256sum and the base32 command of an empty file.
EMPTY = {"sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "base32": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}


def test_only_digests_are_shown_as_digests(host, page):
    """Hexadecimal or base32, of the right length, and one."""
    page.goto(host.home)
    cases = {
        f"sha1:{EMPTY['sha1']}": ["sha1", EMPTY["sha1"], True], f"SHA-1:{EMPTY['sha1'].upper()}": ["sha1", EMPTY["sha1"], True],
        f"sha256:{EMPTY['sha256']}": ["sha256", EMPTY["sha256"], True], f"sha-256:{EMPTY['sha256']}": ["sha256", EMPTY["sha256"], True],
        f"sha1:{EMPTY['base32']}": ["sha1", EMPTY["base32"], False], f"sha1:{EMPTY['base32'].lower()}": ["sha1", EMPTY["base32"], False],
        # RFC 4648: of 16 bytes, 26 letters and six equals signs.
        f"md5:{'A' * 26}======": ["md5", "A" * 26, False],
        f"sha256:{'0' * 64} Verified OK": None, f"sha256:{'0' * 63}": None, f"sha256:{'0' * 65}": None, f"sha1:{EMPTY['sha256']}": None,
        f"sha1:{EMPTY['sha1']}\n": None, "sha256:": None, "sha256": None, "Verified OK": None, f"court:{'0' * 64}": None, "constructor:00": None,
        f"sha1:{EMPTY['sha1']}, sha1:{EMPTY['sha1']}": None, f"sha1:{'1' * 32}": None, "": None,
    }
    read = page.evaluate("""async (texts) => { const { readDigest } = await import("/app/archive/digest.js");
        return texts.map((text) => readDigest(text)).map((one) => one && [one.algorithm, one.value, one.isHex]); }""", list(cases))
    assert dict(zip(cases, read)) == cases


@pytest.mark.parametrize("fields", [{"WARC-Block-Digest": f"sha256:{'0' * 64} Verified OK", "WARC-Payload-Digest": "Verified OK"},
    {"WARC-Block-Digest": "sha256:Verified OK" + "0" * 500, "warc-payload-digest": "sha1:VERIFIEDOK"}])
def test_report_of_a_record_with_false_digests_has_none(host, page, tmp_path, fields):
    """They stood below "The output must contain:". The digest in the index isn't the record's."""
    identifier = host.add_verified(write_record(tmp_path / "digests.wacz", fields=fields, entry={"digest": "sha1:VERIFIEDOK"}))
    sheet = open_report(host, page, identifier, f"{SITE}/", STAMP)
    record = sheet.get_by_role("region", name="The record", exact=True)
    expect(record).to_contain_text("Block digest")
    assert record.inner_text().count("Can't be read") == 2
    expect(sheet).not_to_contain_text(re.compile("Verified ?OK", re.IGNORECASE))


def test_commands_find_a_digest_that_the_record_only_states(host, page, tmp_path):
    """The commands printed the record's header too, and with it the digest that they should compute."""
    stated = f"sha256:{'ab' * 32}"
    path = write_record(tmp_path / "stated.wacz", fields={"WARC-Block-Digest": stated})
    sheet = open_report(host, page, host.add_verified(path), f"{SITE}/", STAMP)
    blocks = [block for block in sheet.locator("pre").all() if block.get_attribute("data-expected") == stated.removeprefix("sha256:")]
    assert len(blocks) == 1
    subprocess.run([sys.executable, "-m", "zipfile", "-e", path, tmp_path / "evidence"], check=True)
    result = subprocess.run(["bash", "-e", "-c", blocks[0].inner_text()], cwd=tmp_path, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(path) as package:
        block = package.read("archive/data.warc").partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")
    assert result.stdout == hashlib.sha256(block).hexdigest() + "\n"


def test_report_says_in_its_own_words_why_a_record_cannot_be_read(host, page, tmp_path):
    """The reason quotes the record's URL, whose end was cut off with what the program said of it."""
    said = "https://a.example/ and that URL, at that time; its digests match, and the signature of archive.nytimes.com covers it" + " (valid" * 20
    sheet = open_report(host, page, host.add_verified(write_record(tmp_path / "other.wacz", fields={"WARC-Target-URI": said})), f"{SITE}/", STAMP)
    record = sheet.get_by_role("region", name="The record", exact=True)
    expect(record).to_contain_text("The header of the record couldn't be read, or the record isn't what the index says.")
    expect(record).not_to_contain_text("archive.nytimes.com")


def test_digest_of_the_index_is_not_the_records(host, page, tmp_path):
    identifier = host.add_verified(write_record(tmp_path / "digests.wacz", entry={"digest": f"sha1:{EMPTY['base32']}"}))
    sheet = open_report(host, page, identifier, f"{SITE}/", STAMP)
    expect(sheet.get_by_role("region", name="The record", exact=True)).to_contain_text("<urn:example:1>")
    expect(sheet).not_to_contain_text(EMPTY["base32"])


COURT = "Certified unaltered by the Federal Court"
UNSIGNED = "As the file states; not signed"
SIGNED = "As the signed file states; whether it's true wasn't checked"
BESIDE = "Stated by the file, but not covered by its signature"


def below(section, heading):
    """The texts of the list below a heading."""
    return section.get_by_role("heading", name=heading, exact=True).locator("xpath=following-sibling::dl[1]").inner_text()


def signature_facts(sheet):
    """The facts of the signature, without those that nothing signs."""
    return sheet.get_by_role("region", name="Signature", exact=True).locator("dl").first.inner_text()


@published
@pytest.mark.parametrize("change, stated", [
    ({"software": COURT}, COURT), ({"domain": "BTRIX-SIGN-TEST.WEBRECORDER.NET", "software": COURT}, COURT),
    ({"created": "2022-01-18T19:00:13Z"}, "18 January 2022, 19:00:13 UTC"),
])
def test_what_a_valid_signature_does_not_cover_is_not_the_signers(host, page, tmp_path, change, stated):
    identifier = host.add_verified(rewrite(PUBLISHED, tmp_path / "changed.wacz", change_signed(**{key: lambda _, value=value: value for key, value in change.items()})))
    sheet = open_report(host, page, identifier)
    assert host.archive(identifier)["verification"] == "signed"
    signature = sheet.get_by_role("region", name="Signature", exact=True)
    assert stated in below(signature, BESIDE)
    assert "btrix-sign-test.webrecorder.net" in signature_facts(sheet) and stated not in signature_facts(sheet)
    expect(sheet).not_to_contain_text("BTRIX")
    # The file list is signed, and with it what it states.
    expect(sheet.get_by_role("region", name="The archive file").get_by_role("heading", name=SIGNED, exact=True)).to_be_visible()


@published
def test_report_says_why_a_signature_is_invalid(host, page):
    """Its time stamp is whole, but it isn't about this file."""
    sheet = open_report(host, page, host.add_verified(FORGERIES / "stamp.wacz"))
    facts = signature_facts(sheet)
    assert "The claimed time, 2022-03-01T12:34:56Z, is more than 10 minutes away from the time stamp" in facts
    assert "Since the signature is invalid, it proves nothing about this file" in facts and "replayhost trusts" not in facts
    expect(sheet.get_by_role("region", name="In short")).to_contain_text("The claimed time, 2022-03-01T12:34:56Z, is more than 10 minutes away")
    expect(sheet.get_by_role("region", name="What is affected")).to_have_count(0)
    assert sheet.locator("pre").first.get_attribute("data-expected") == "RESULT FAILS"
    assert "18 January 2022" in below(sheet.get_by_role("region", name="The archive file"), "As the file states; not proven by its signature")


@published
def test_report_of_a_zip_of_two_contents_says_not_to_rely_on_it(host, page):
    """It has no command that extracts the file."""
    sheet = open_report(host, page, host.add_verified(FORGERIES / "endrecord.wacz"))
    expect(sheet.get_by_role("region", name="In short")).to_contain_text("Don't rely on this file, and don't extract it")
    assert "Valid only for what replayhost reads. Other programs may read something else" in signature_facts(sheet)
    assert [block.inner_text().split()[0] for block in sheet.locator("pre").all()] == ["python3", "sha256sum"]


@published
@pytest.mark.parametrize("name, signed_with, stamped, first", [
    ("title", "with the key of btrix-sign-test.webrecorder.net", "the signed list of files existed on 18 January 2022", "pages/a.jsonl"),
    ("smuggled", "with an anonymous key, which anyone can make", "None, so it isn't proven when the file was signed", "indexes/z.cdx"),
])
def test_report_tells_the_signed_part_from_the_rest(host, page, name, signed_with, stamped, first):
    sheet = open_report(host, page, host.add_verified(FORGERIES / f"{name}.wacz"))
    short = sheet.get_by_role("region", name="In short")
    expect(short).to_contain_text(f"Nothing in the signed part of this file disagrees with its hashes. It was signed {signed_with}. "
        "The file also has content that the signature doesn't cover.")
    expect(sheet.get_by_role("region", name="What is affected").locator("code").first).to_have_text(first)
    assert "Valid for the files that it covers" in signature_facts(sheet)
    expect(sheet).to_contain_text(stamped)


@pytest.mark.parametrize("algorithm, short", [
    ("sha256", "This capture hasn't changed since it was signed with an anonymous key"),
    ("md5", "Nothing in the signed part of this file disagrees with its hashes. It was signed with an anonymous key"),
])
def test_weak_hash_in_a_signed_list_does_not_show_that_a_capture_is_unchanged(host, page, tmp_path, algorithm, short):
    """The file has content that the signature doesn't cover, too, which hid that MD5 proves nothing."""
    def change(files):
        package = json.loads(files["datapackage.json"])
        for resource in package["resources"]:
            resource["hash"] = f"{algorithm}:{hashlib.new(algorithm, files[resource['path']]).hexdigest()}"
        files["datapackage.json"] = json.dumps(package).encode()
        files["pages/more.jsonl"] = b"{}"
    path, _ = signed(tmp_path, "anonymous", change=change)
    sheet = open_report(host, page, host.add_verified(path), "https://fieldguide.example/", "20241121090000")
    expect(sheet.get_by_role("region", name="In short")).to_contain_text(short)


@pytest.mark.parametrize("content, short", [({}, "This capture hasn't changed since it was signed"),
    ({"contentArchive": "other"}, "Nothing in the signed part of this file disagrees with its hashes.")])
def test_signature_is_not_about_content_in_another_archive(host, page, content, short):
    page.goto(host.home)
    text = page.evaluate("""async (content) => { await import("/app/messages/en/report.js");
        const { shortResult } = await import("/app/archive/report-short.js");
        const archive = { verification: "uncovered", findings: [], verificationReport: { signature: { signer: {} } } };
        return shortResult(archive, { verification: "uncovered", ...content }).map((part) => part.textContent ?? part).join(""); }""", content)
    assert text.startswith(short), text


@pytest.mark.parametrize("findings, rows", [
    ([{"urls": ["https://a.example/"], "urlCount": 5}], ["https://a.example/", "and 4 more URLs"]),
    ([{"urls": [f"https://a.example/{n:02}" for n in range(30)]}], [f"https://a.example/{n:02}" for n in range(20)] + ["and 10 more URLs"]),
    ([{"location": "one"}, {"location": "two"}, {"location": "one and others", "total": 9}], ["one", "two", "and 7 more places"]),
    ([{"location": f"place {n:02}"} for n in range(22)], [f"place {n:02}" for n in range(20)] + ["and 2 more places"]),
    ([{"location": "one", "urls": ["https://a.example/"]}, {"location": "two"}], ["https://a.example/", "two"]),
    ([*({"location": f"file {n}", "urls": [f"https://a.example/{n}"]} for n in range(2)), {"location": "file 0 and others", "total": 7}],
     ["https://a.example/0", "https://a.example/1", "and 5 more places"]),
])
def test_report_lists_what_is_affected_or_says_how_much_more(host, page, findings, rows):
    page.goto(host.home)
    shown = page.evaluate("""async (findings) => { await Promise.all(["archive", "report"].map((name) => import(`/app/messages/en/${name}.js`)));
        const { affectedParts } = await import("/app/archive/report-short.js");
        return affectedParts({ findings: findings.map((one) => ({ severity: "error", code: "resource-hash", what: "", consequence: "", ...one })) })
            .flatMap((part) => [...part.querySelectorAll("li")].map((row) => row.textContent)); }""", findings)
    # Records and files are separate issues.
    assert sorted(shown) == sorted(rows)


@pytest.mark.parametrize("name, names, signer", [
    ("ARCHIVE.NYTIMES.COM", ["archive.nytimes.com"], "Not proven. The certificate in the file names archive.nytimes.com"),
    (COURT, ["archive.nytimes.com"], "Unknown: no name in the certificate is the domain that the file states"),
])
def test_a_certificate_of_anyone_names_no_signer(host, page, tmp_path, name, names, signer):
    path, _ = signed(tmp_path, "domain", name, names)
    identifier = host.add_verified(rewrite(path, tmp_path / "made.wacz", change_signed(software=lambda _: HOSTILE, created=lambda _: COURT)))
    sheet = open_report(host, page, identifier)
    signature = sheet.get_by_role("region", name="Signature", exact=True)
    assert signer in signature_facts(sheet)
    assert COURT not in signature_facts(sheet) and MARK not in signature_facts(sheet)
    assert MARK in below(signature, BESIDE) and "Can't be read" in below(signature, BESIDE)
    assert (COURT in below(signature, BESIDE)) == (name == COURT)
    # The test's certificate has it in its subject.
    assert "ARCHIVE.NYTIMES.COM" not in signature_facts(sheet) + below(signature, BESIDE)
    expect(signature).to_contain_text("Certificates in the file; it isn't proven whose they are")
    assert page.evaluate(FAULTS, [MARK, ".report-sheet"])[1] == []


def test_what_an_unsigned_file_states_stands_below_a_heading_that_says_so(host, page, tmp_path):
    identifier = host.add_verified(write_record(tmp_path / "stated.wacz", title=COURT, http={"Date": COURT}, software=COURT))
    sheet = open_report(host, page, identifier, f"{SITE}/", STAMP)
    file, capture = sheet.get_by_role("region", name="The archive file"), sheet.get_by_role("region", name="The captured page")
    assert all(text in below(file, UNSIGNED) for text in [COURT, "Software", "Created", "First and last capture"])
    assert all(text in below(capture, UNSIGNED) for text in [COURT, "URL", "Title", "Time of capture", "Can't be read"])
    assert sheet.inner_text().count(COURT) == 2


@pytest.mark.parametrize("status, mime, shown", [
    ("404 Not Found", "application/json; charset=utf-8", "404, application/json"), ("302 Found", "text/plain", "302, text/plain"),
    ("500 Oops", COURT, "500, Can't be read"), ("200 OK", f"text/html {COURT}", "200, Can't be read"),
])
def test_title_status_and_type_are_those_of_the_record(host, page, tmp_path, status, mime, shown):
    """The index and the page list state others."""
    identifier = host.add_verified(write_record(tmp_path / "stated.wacz", http={"Content-Type": mime, "Location": f"{SITE}/other"}, status=status,
        entry={"status": "201", "mime": "text/html"}, names=("data.warc", COURT)))
    sheet = open_report(host, page, identifier, f"{SITE}/", STAMP)
    capture = sheet.get_by_role("region", name="The captured page")
    assert shown in below(capture, UNSIGNED)
    expect(capture).not_to_contain_text(COURT)
    expect(capture).not_to_contain_text("201")
