"""The mark of a verification, which is the same everywhere, and the issues of an archive."""

import json
import re
import shutil
import zipfile

import pytest

from packed import Package, Record
from support.archives import write_captures
from support.expecting import expect
from support.journey import SITE, TITLE
from support.places import FIXTURES
from support.signing import signed
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


def open_archive(host, page, name):
    page.goto(f"{host.home}/?archive=/archives/{name}.wacz#view=details")


def damaged(path, to):
    """A copy in which a byte of a page's text differs."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as package:
        start = package.getinfo("pages/pages.jsonl").header_offset
    data[data.index(b'"title"', start) + 1] ^= 0x20
    to.write_bytes(data)
    return to


def test_mark_is_the_same_everywhere(host, page, tmp_path):
    path, _ = signed(tmp_path, "anonymous")
    host.add_verified(path)
    host.add_verified(damaged(FIXTURES / "second.wacz", tmp_path / "second.wacz"))
    host.add_verified(FIXTURES / "no-pages.wacz")
    collection = host.create_collection("All", "anonymous", "second", "no-pages")

    def add_verification(route):
        path = route.request.url.removeprefix(host.home)
        results = json.loads(host.request("GET", path)[2])
        hits = [hit | {"verification": "records-differ"} for hit in results["hits"]]
        route.fulfill(json=results | {"hits": hits})

    page.route("**/api/search?*", add_verification)
    signed_by_a_key = page.get_by_role("button", name="Signed, unknown key", exact=True)
    is_damaged = page.get_by_role("button", name="Damaged or changed", exact=True)
    # The list has a column for it.
    for address, count in [("/", 0), ("/#as=list", 1), (f"/?collection={collection}#view=archives", 0)]:
        page.goto("about:blank")
        page.goto(f"{host.home}{address}")
        expect(is_damaged).to_have_count(1)
        expect(signed_by_a_key).to_have_count(count)
        expect(page.get_by_role("button", name="Hashes agree")).to_have_count(0)
    page.goto(f"{host.home}/#search=limpet")
    expect(page.locator(".hits").get_by_role("button", name="Records differ", exact=True).first).to_be_visible()
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#url={SITE}/&ts=2024")
    expect(page.locator(".toolbar").get_by_role("button", name="Signed, unknown key", exact=True)).to_be_visible()
    page.goto("about:blank")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#view=report")
    expect(page.get_by_role("article").get_by_role("button", name="Signed, unknown key", exact=True)).to_be_visible()


def test_mark_of_a_new_archive_follows_its_verification(host, page, tmp_path):
    """It ends after the archive was read, and before the page hears of jobs; or while the mark says that it waits."""
    path, _ = signed(tmp_path, "anonymous")
    host.add_verified(path)
    before = host.archive("anonymous") | {"verification": "not-verified"}
    del before["verificationSummary"]
    page.route("**/api/archives/anonymous", lambda route: route.fulfill(json=before), times=1)
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#view=pages")
    expect(page.locator(".page-line").first).to_be_visible()
    mark = page.locator(".archive-page .trust")
    expect(mark).to_have_text("Signed, unknown key")
    page.route("**/api/archives/anonymous", lambda route: route.fulfill(json=before))
    page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": [
        {"id": 1, "kind": "verify", "archive": "anonymous", "subject": "anonymous.wacz", "state": "waiting"}]}))
    page.reload()
    expect(mark).to_have_text("Waiting to be verified")
    page.unroute("**/api/archives/anonymous")
    host.change("POST", "/api/archives/anonymous/verify")
    expect(mark).to_have_text("Signed, unknown key")


def test_mark_says_what_it_proves(host, page, tmp_path):
    """Two sentences and a link, with the mouse and with the keyboard; the mark isn't colour alone."""
    path, _ = signed(tmp_path, "anonymous")
    host.add_verified(path)

    def add_signer(route):
        """Adds a domain. Tests have no certificate of an authority that the server trusts."""
        body = host.request("GET", route.request.url.removeprefix(host.home))[2].decode()
        route.fulfill(body=body.replace('"signed-anonymously"', '"signed"').replace('"verifiedAt"', '"signer":"signer.example","verifiedAt"'),
            content_type="application/json")

    page.route(re.compile(r"/api/archives(\?|$)"), add_signer)
    page.goto(host.home)
    mark = page.get_by_role("button", name="Signed by signer.example")
    expect(mark.locator("svg")).to_be_visible()
    size = mark.locator("svg").bounding_box()
    assert (size["width"], size["height"]) == (12, 12) and mark.bounding_box()["height"] >= 24
    mark.click()
    popover = page.get_by_role("group", name="What this mark means")
    expect(popover).to_contain_text("This file was signed with the key of signer.example, at the time of its time stamp or before. Its captures haven't changed since.")
    expect(popover).to_contain_text("It doesn't show that these pages came from the web: a person with that key could have made them.")
    page.keyboard.press("Escape")
    expect(popover).to_have_count(0)
    mark.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(popover.get_by_role("link", name="Details")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{host.home}/?archive=/archives/anonymous.wacz#view=details")
    expect(page.get_by_role("heading", name="Verification")).to_be_visible()
    # On the archive's own page, too.
    page.locator(".archive-head").get_by_role("button", name="Signed, unknown key").click()
    expect(popover).to_contain_text("This file was signed with a key, and its captures haven't changed since.")


def test_mark_in_a_collection_is_about_one_archive(host, page):
    """Its parts can come from the others."""
    for name in ["sample", "no-pages"]:
        host.add_verified(FIXTURES / f"{name}.wacz")
    collection = host.create_collection("Both", "sample", "no-pages")
    for source, is_collection in [(f"collection={collection}", True), ("archive=/archives/sample.wacz", False)]:
        page.goto(f"{host.home}/?{source}#url={SITE}/")
        page.get_by_role("button", name="Hashes agree").click()
        popover = page.get_by_role("group", name="What this mark means")
        expect(popover.get_by_role("link", name="Details")).to_be_visible()
        expect(popover.get_by_text("can come from other archives of the collection")).to_have_count(int(is_collection))


def issues(page):
    return page.get_by_role("region", name="Issues found in this file")


@pytest.mark.parametrize("findings, expected", [
    # One cause: the lines of the index and the records that it doesn't list are the same captures.
    ([("error", "index-outside-warc", "The index points past the end of a WARC file.", "indexes/index.cdx line 1"),
      ("error", "index-outside-warc", "The index points past the end of a WARC file.", "indexes/index.cdx line 2"),
      ("warning", "record-unindexed", "The index doesn't list a capture: https://a.example/", "archive/a.warc.gz byte 0"),
      ("warning", "record-unindexed", "The index doesn't list a capture: https://a.example/b", "archive/a.warc.gz byte 9")],
     ["2 captures can't be found or shown: the index is wrong"]),
    # One change of the list of files, which the signature notices too.
    ([("error", "package-hash", "datapackage.json doesn't match its hash.", "datapackage.json"),
      ("error", "signature-other-file", "The signature isn't for this file's datapackage.json.", "datapackage-digest.json")],
     ["The list of files was changed, so its hashes and its signature prove nothing"]),
    # What is seen comes first, even if it's less severe; what only tools notice comes last.
    ([("notice", "idx-missing", "A gzipped index has no .idx file.", "indexes/index.cdx.gz"),
      ("error", "resource-hash", "A file doesn't match its hash (SHA-256) in datapackage.json.", "archive/a.warc.gz"),
      ("warning", "pages-missing", "The archive has no page list.", "pages/pages.jsonl")],
     ["This archive has no page list", "1 file in this archive was damaged or changed, so what you see may be untrue",
      "A gzipped index has no .idx file."]),
    # The server lists at most 20 of a kind.
    ([("error", "warc-damaged", "A WARC record can't be read: it ends early.", "archive/a byte 0",
       {"urls": ["https://a.example/", "https://a.example/b"], "urlCount": 9})], ["9 captures can't be shown: their records are damaged"]),
    # A verification of an earlier version has the URLs only in its text.
    ([("error", "resource-hash", "A file doesn't match its hash: 1 record in it can't be read: https://a.example/", "archive/a.warc.gz")],
     ["1 file in this archive was damaged or changed, so what you see may be untrue"]),
    ([("error", "resource-hash", "A file doesn't match its hash.", "archive/a.warc.gz", {"urls": ["https://a.example/"]})],
     ["1 capture can't be shown or may be untrue: its record was damaged or changed"]),
    ([("error", "index-bad-line", "An index line can't be read.", "indexes/index.cdx line 1"),
      ("error", "index-bad-line", "39 more issues of this kind, 40 in total.", "indexes/index.cdx line 1 and others", {"total": 40})],
     ["40 captures can't be found or shown: the index is wrong"]),
    ([("warning", "idx-bad-line", "A line of the .idx file can't be used.", "indexes/index.idx line 1"),
      ("warning", "idx-bad-line", "A line of the .idx file can't be used.", "indexes/index.idx line 3")],
     ["A line of the .idx file can't be used (2 times)."]),
    ([("error", "signature-mismatch", "The signature doesn't match the hash and the key.", "datapackage-digest.json")],
     ["The signature is invalid or can't be checked, so it proves nothing"]),
    # Text in other findings isn't taken for URLs.
    ([("warning", "new-code", "Something is odd: https://a.example/", "x")], ["Something is odd: https://a.example/."]),
], ids=lambda value: value[0][:30] if isinstance(value[0], str) else "")
def test_findings_of_one_cause_are_one_issue(host_with_sample, page, findings, expected):
    host = host_with_sample
    keys = ["severity", "code", "what", "location"]
    fields = [finding[4] if len(finding) > 4 else {} for finding in findings]
    listed = [dict(zip(keys, finding)) | {"consequence": "It may matter."} | more for finding, more in zip(findings, fields, strict=True)]
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=host.archive("sample") | {"findings": listed}))
    open_archive(host, page, "sample")
    expect(issues(page).locator(".issue-title strong")).to_have_text(expected)
    expect(issues(page).locator(".issue-urls .url")).to_have_text([url for more in fields for url in more.get("urls", [])])
    # Nothing that the server said is lost.
    for finding in listed:
        expect(issues(page)).to_contain_text(finding["what"])
        expect(issues(page)).to_contain_text(finding["location"])


def test_issue_leads_to_a_whole_copy(host, page, tmp_path):
    """A damaged record: its URL, the archive that has it whole, with its mark, and the link there."""
    url = "https://reef.example/"
    whole = write_captures(tmp_path / "whole.wacz", "Reef Watch", [({"url": url}, b"<title>Reef</title><h1>The whole reef</h1>")])
    broken = shutil.copy(whole, tmp_path / "broken.wacz")
    data = bytearray(broken.read_bytes())
    with zipfile.ZipFile(broken) as package:
        entry = next(entry for entry in package.infolist() if entry.filename.startswith("archive/"))
    start = data.index(b"\x1f\x8b", data.index(b"\x1f\x8b", entry.header_offset) + 2)
    data[start + 40:start + 60] = bytes(20)
    broken.write_bytes(data)
    host.add_verified(whole)
    host.add_verified(broken)
    open_archive(host, page, "broken")
    issue = issues(page).locator(".issue").filter(has_text=url).first
    expect(issue).to_contain_text("1 capture can't be shown or may be untrue: its record was damaged or changed")
    expect(issue.get_by_role("link", name=url)).to_be_visible()
    expect(issue).to_contain_text("“Reef Watch (whole.wacz)” has a capture of")
    expect(issue.get_by_role("button", name="Hashes agree")).to_be_visible()
    issue.get_by_role("link", name="Open it there").click()
    expect(page).to_have_url(re.compile(r"archive=/archives/whole\.wacz#url="))
    expect(Viewer(page).read("h1")).to_have_text("The whole reef")


def test_issues_are_copied_as_text(host, page):
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=host.home)
    # The verification adds findings.
    wait_until(lambda: "verificationSummary" in host.archive("index-past-the-end"), "the archive is verified")
    open_archive(host, page, "index-past-the-end")
    issues(page).get_by_role("button", name="Copy as text").click()
    expect(page.get_by_text("Copied.", exact=True).first).to_be_visible()
    text = page.evaluate("() => navigator.clipboard.readText()")
    _, _, body = host.request("GET", "/api/archives/index-past-the-end")
    for finding in json.loads(body)["findings"]:
        assert f"{finding['severity']} {finding['code']}: {finding['what']} ({finding['location']})" in text


def test_texts_of_a_file_make_no_lines_in_copied_issues(host, page):
    page.goto(host.home)
    text = page.evaluate("""async () => { await import("/app/messages/en/archive.js");
        const { issuesOf, issueText } = await import("/app/components/issues.js");
        return issueText(issuesOf([{ severity: "error", code: "resource-missing", what: "A file\\n  error x: y\u2028z", location: "a\\nSigned\u202e",
            urls: ["https://a.example/\\nSigned"] }])); }""")
    assert len(text.splitlines()) == 4, text
    assert "A file error x: y z (a Signed)" in text and "https://a.example/%0ASigned" in text


def test_exported_page_says_where_it_comes_from(host, page, tmp_path):
    """The original, whether it's in the library, and whether the records are the same there."""
    host.add_verified(FIXTURES / "sample.wacz")
    exported = tmp_path / "page.wacz"
    result = host.run("export", "sample", "--page", f"{SITE}/tides.html", "--output", exported)
    assert result.returncode == 0, result.stderr
    with zipfile.ZipFile(exported) as package:
        source, = json.loads(package.read("datapackage.json"))["sources"]
    host.add_verified(exported)
    open_archive(host, page, "page")
    expect(page.get_by_role("region", name="About")).to_contain_text(re.compile(r"CreatedWith replayhost \d"))
    section = page.get_by_role("region", name="Made from")
    expect(section.get_by_role("link", name=TITLE)).to_be_visible()
    expect(section).to_contain_text("A mark is about the original, not about this file.")
    expect(section).to_contain_text(source["hash"].removeprefix("sha256:"))
    section.get_by_role("button", name="Check the records").click()
    expect(section.get_by_role("status")).to_have_text(re.compile(r"^(\d+) of \1 records are identical there\.$"))
    # The original leaves the library.
    host.run("remove", "sample", "--yes")
    wait_until(lambda: host.ids() == ["page"], "the original is removed")
    page.reload()
    expect(section).to_contain_text("(not in your library)")
    expect(section.get_by_role("button")).to_have_count(0)


def test_what_the_signature_does_not_cover_is_shown_if_someone_wants_it(host, page, tmp_path):
    """Anyone can have added it: a WARC file, an index and a page list."""
    path, _ = signed(tmp_path, "anonymous")
    added = "https://added.example/"
    record = Record(added, b"<title>Added</title><h1>Added later</h1>")
    line = Package.line(record, "added.warc", 0, len(record.bytes()))
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("archive/added.warc", record.bytes())
        package.writestr("indexes/added.cdx", line)
        package.writestr("pages/added.jsonl", json.dumps({"url": added, "ts": record.time, "title": "Added"}))
    host.add_verified(path)
    open_archive(host, page, "anonymous")
    choice = page.get_by_role("region", name="Content that the signature doesn't cover")
    expect(page.get_by_role("region", name="Issues found in this file")).to_contain_text("The signature doesn't cover 3 files of this archive")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#view=pages")
    expect(page.get_by_role("link", name=TITLE).first).to_be_visible()
    expect(page.get_by_role("link", name="Added", exact=True)).to_have_count(0)
    open_archive(host, page, "anonymous")
    choice.get_by_role("button", name="Show uncovered content").click()
    expect(choice).to_contain_text("It's listed and shown, with a warning.")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#url={added}&ts=2024")
    expect(Viewer(page).read("h1")).to_have_text("Added later")
    mark = page.locator(".toolbar .trust")
    expect(mark).to_have_text("Not covered by the signature")
    mark.click()
    meaning = page.get_by_role("group", name="What this mark means")
    expect(meaning).to_contain_text("The signature of this archive doesn't cover this capture")
    expect(meaning).not_to_contain_text("hasn't changed")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#view=report&page={added}")
    short = page.get_by_role("region", name="In short")
    expect(short).to_contain_text("The signature of this file doesn't cover this capture.")
    expect(page.get_by_role("article")).to_contain_text("As the file states; not signed")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#url={SITE}/&ts=2024")
    expect(mark).to_have_text("Has content that the signature doesn't cover")
    mark.click()
    expect(meaning).to_contain_text("The signature covers this capture: it hasn't changed since it was signed with an anonymous key, which anyone can make.")
    expect(meaning).to_contain_text("It's shown in this library, with a warning.")
    open_archive(host, page, "anonymous")
    choice.get_by_role("button", name="Hide uncovered content").click()
    expect(choice).to_contain_text("so it's hidden.")
    page.locator(".archive-head .trust").click()
    expect(meaning).to_contain_text("It's hidden in this library.")
    page.goto(f"{host.home}/?archive=/archives/anonymous.wacz#url={added}&ts=2024")
    expect(page.get_by_text("This page isn't in").first).to_be_visible()
