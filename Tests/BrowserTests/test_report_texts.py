"""The evidence report of archives whose author wants it to say more than it does: URLs, texts, digests, and files that are gone."""

import json
from urllib.parse import quote

import pytest
from surt import surt

from support.archives import TIME
from support.expecting import expect
from support.signing import signed
from test_evidence import add_verified, open_report
from writers.captures import WARC, index_lines, page_entry
from writers.wacz import Package, page_list

pytestmark = pytest.mark.one_chromium

SITE = "https://hostile.example"
STAMP = "20241121090000"
LINES = [f"{SITE}/a\nb", f"{SITE}/a\rb", f"{SITE}/a\tb", f"{SITE}/a\u2028b", f"{SITE}/a  b"]
# The URL Standard has no host for these.
HOSTLESS = ["http://[oops]/", "http://a b.example/", "http://%zz/", "http:///", "http://", "//host.example/",
    f"{SITE}/#part", "urn:example:page", "no-url", "data:text/html,a"]


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
    identifier = add_verified(host, write_indexed(host.store.parent / "urls.wacz", [{"url": url} for url in urls]))
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
    identifier = add_verified(host, path, *(["--link"] if is_linked else []))
    collection = host.create_collection("All", identifier)
    sheet = open_report(host, page, identifier)
    expect(sheet).to_contain_text("Unchanged since it was signed with a key.")
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
        expect(sheet).not_to_contain_text("as the file states")
