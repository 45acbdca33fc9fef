"""The evidence report of a page, an archive and a collection, and the script that repeats what it states."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from packed import STAMP, Package, Record
from support.expecting import expect
from support.journey import SITE, TITLE
from support.places import CHECKOUT, FIXTURES
from support.signing import signed
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
    host.add_verified(FIXTURES / "sample.wacz")
    sheet = open_report(host, page, "sample", URL, TIME)
    for text in [URL, "This file isn't signed. Nothing shows who made it, when, or whether it was changed on purpose. Its contents match its own hashes.",
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
    sheet = open_report(host, page, host.add_verified(path), "http://tide.example/", "20240602000000")
    expect(sheet).to_contain_text("<urn:example:2>")
    expect(sheet).to_contain_text("This record has no content of its own")
    if has_state:
        expect(sheet).to_contain_text("in this record of another capture:")
        expect(sheet).to_contain_text("1 June 2024, 00:00:00 UTC")
        expect(sheet).to_contain_text("<urn:example:1>")
    else:
        expect(sheet).to_contain_text("wasn't found in this archive")


# What the report says of its record, by page. What `repeats` shows is in the record of `differs`, which was changed after its digest was made.
READ = {"agrees": "It matches each digest in it that can be checked.", "differs": "It doesn't match one of its digests.",
    "without": "It has no digest that can be checked.", "repeats": "It doesn't match one of its digests."}


def write_compared(path):
    """Writes a WARC file with a page for each key of `READ`."""
    with path.open("wb") as output:
        writer = WARCWriter(output, gzip=False)
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        for name in ["agrees", "differs", "without"]:
            record = writer.create_warc_record(f"http://tide.example/{name}", "response", http_headers=head,
                payload=io.BytesIO(b"<title>The tide</title><p>" + name.encode()), warc_headers_dict={"WARC-Date": "2024-06-01T00:00:00Z"})
            writer.ensure_digest(record)
            if name == "differs":
                digest = record.rec_headers["WARC-Payload-Digest"]
            writer.write_record(record)
        writer.write_record(writer.create_revisit_record("http://tide.example/repeats", digest, "http://tide.example/differs",
            "2024-06-01T00:00:00Z", http_headers=head, warc_headers_dict={"WARC-Date": "2024-06-01T00:00:00Z"}))
    before, without, after = path.read_bytes().rpartition(b"http://tide.example/without\r\n")
    path.write_bytes((before + without + re.sub(rb"(?m)^WARC-\w+-Digest", b"X-Digest", after, count=2)).replace(b"<p>differs", b"<p>forged!"))
    return path


def test_report_says_whether_the_record_matches_its_digests(host, page, tmp_path):
    compared = host.add_verified(write_compared(tmp_path / "compared.warc"))
    for name, sentence in READ.items():
        sheet = open_report(host, page, compared, f"http://tide.example/{name}", "20240601000000")
        read = sheet.get_by_role("region", name="The record").get_by_text("The record was read when this report was made.")
        expect(read.last).to_contain_text(sentence)
        expect(read).to_have_count(2 if name == "repeats" else 1)
        doubt = sheet.get_by_text("Don't rely on this capture. Its content doesn't match a digest in its record.")
        expect(doubt).to_have_count(1 if sentence == READ["differs"] else 0)


def test_report_does_not_call_an_added_record_changed(host, page, tmp_path):
    """No verification read it, as the signature doesn't cover it. It never matched its digests."""
    path, _ = signed(tmp_path, "anonymous")
    record = Record("https://added.example/", b"<h1>Added</h1>", digest=lambda _: "sha256:" + "0" * 64)
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("archive/added.warc", record.bytes())
        package.writestr("indexes/added.cdx", Package.line(record, "added.warc", 0, len(record.bytes())))
    identifier = host.add_verified(path)
    assert host.run("edit", identifier, "--show-uncovered").returncode == 0
    sheet = open_report(host, page, identifier, record.url, STAMP)
    expect(sheet).to_contain_text("Don't rely on this capture. Its content doesn't match a digest in its record.")
    expect(sheet).to_contain_text("The signature of this file doesn't cover this capture.")
    expect(sheet).not_to_contain_text("Changed since")


def test_report_states_nothing_of_a_record_that_changed_unseen(host, page):
    """A disk can give other bytes than when the file was verified, while size and times are the same."""
    host.add_verified(FIXTURES / "sample.wacz")

    def answer(route):
        path = route.request.url.removeprefix(host.home)
        records = json.loads(host.request("GET", path)[2])["records"]
        assert [record["digests"] for record in records] == ["agrees"]
        route.fulfill(json={"records": [{**records[0], "digests": "differs"}]})

    page.route("**/records?*digests=true*", answer)
    sheet = open_report(host, page, "sample", URL, TIME)
    expect(sheet).to_contain_text("Changed since it was checked. This report doesn't prove anything about what the file contains now.")
    expect(sheet.get_by_role("heading", level=2)).to_have_text(["In short"])


def test_report_of_a_damaged_archive_names_what_is_affected(host, page):
    host.add_verified(FIXTURES / "damaged" / "index-past-the-end.wacz")
    sheet = open_report(host, page, "index-past-the-end")
    affected = sheet.get_by_role("region", name="What is affected")
    expect(sheet.get_by_role("region", name="In short")).to_contain_text("Every file that has a hash matches it, but some captures can't be shown, or only in part.")
    expect(affected.locator(".url").first).to_contain_text("leaf.example")
    assert ".." not in sheet.inner_text().replace("…", "")


@pytest.mark.parametrize(("place", "capture", "said"), [
    ("pages/pages.jsonl", (), "Don't rely on the captures that are affected."),
    ("pages/pages.jsonl", (URL, TIME), "The record of this capture matches its own digests, but someone who changes a record can change them too."),
    ("archive/media.fieldguide.example.warc.gz", (), "Don't rely on the captures that are affected."),
])
def test_report_of_a_damaged_archive_names_the_files(host, page, tmp_path, place, capture, said):
    """Of a file that doesn't match its hash, it isn't known which captures are affected."""
    path = tmp_path / "changed.wacz"
    with zipfile.ZipFile(FIXTURES / "sample.wacz") as package, zipfile.ZipFile(path, "w") as changed:
        for name in package.namelist():
            changed.writestr(name, package.read(name) + (b"\n" if name == place else b""))
    host.add_verified(path)
    sheet = open_report(host, page, "changed", *capture)
    expect(sheet.get_by_role("region", name="In short")).to_contain_text(f"see “What is affected”. {said}")
    expect(sheet.get_by_role("region", name="What is affected").get_by_text(place, exact=True)).to_be_visible()


def test_report_is_printed_on_paper(host, page, tmp_path):
    """All of it and no control, in dark mode too. Each page names the file."""
    host.add_verified(FIXTURES / "sample.wacz")
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
    host.add_verified(FIXTURES / "sample.wacz")
    host.add_verified(FIXTURES / "no-pages.wacz")
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
    host.add_verified(FIXTURES / "sample.wacz")
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


@pytest.mark.parametrize("name, needs_bash", [("it's $HOME; a (file).wacz", False), ("-a  it's \u2003\u0301 caf\u00e9 \u05d0.wacz", True)])
def test_commands_repeat_the_report(host, page, tmp_path, name, needs_bash):
    """In a folder with the file, under a name with characters that a shell reads, or that are hard to read."""
    (tmp_path / "files").mkdir()
    path = shutil.copy(FIXTURES / "sample.wacz", tmp_path / "files" / name)
    identifier = host.add_verified(path)
    sheet = open_report(host, page, identifier, URL, TIME)
    assert run_commands(page, tmp_path / "files") == 4
    expect(sheet.get_by_text("They also need Bash or zsh")).to_have_count(int(needs_bash))


def test_commands_run_nothing_from_the_file_in_other_shells(host, page, tmp_path):
    """`$'…'` is read by Bash and zsh. For sh, which is dash on Debian, an escaped quote in it would end the quotation."""
    name = "it \u2003';touch${IFS}pwned;#.wacz"
    identifier = host.add_verified(shutil.copy(FIXTURES / "sample.wacz", tmp_path / name))
    open_report(host, page, identifier, URL, TIME)
    (tmp_path / "run").mkdir()
    for block in page.get_by_role("article").locator("pre").all():
        subprocess.run(["sh", "-c", block.inner_text()], cwd=tmp_path / "run", capture_output=True)
    assert not (tmp_path / "run" / "pwned").exists()
    # zsh replaces a word that begins with an equals sign.
    identifier = host.add_verified(shutil.copy(FIXTURES / "second.wacz", tmp_path / "=ls.wacz"))
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
    identifier = host.add_verified(PUBLISHED)
    sheet = open_report(host, page, identifier, "https://example.com/", "20220118190009")
    for text in ["btrix-sign-test.webrecorder.net", "18 January 2022, 19:00:12 UTC, by www.freetsa.org (an authority that replayhost trusts)", "CN=R3,O=Let's Encrypt,C=US",
            "The time stamp shows that the signed list of files existed on 18 January 2022, 19:00:12 UTC, and so did the files that match it."]:
        expect(sheet).to_contain_text(text)
    assert run_commands(page, tmp_path) == 7


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
