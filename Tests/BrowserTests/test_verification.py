"""The verification of an archive: what its page says, and the button that verifies it again."""

import hashlib
import json
import re
import zipfile

import pytest

from forgeries import forge, read
from support.expecting import expect
from support.places import FIXTURES
from support.signing import signed
from support.waiting import wait_until
from test_check_evidence import change_signed, rewrite
from test_evidence import open_report

pytestmark = pytest.mark.one_chromium


def open_page(host, page, name):
    page.goto(f"{host.home}/?archive=/archives/{name}.wacz#view=details")


def section(page):
    return page.get_by_role("region", name="Verification")


def test_new_archive_is_verified(host, page):
    """While its page is open, without a reload, and without losing what was typed."""
    host.add(FIXTURES / "sample.wacz")
    open_page(host, page, "sample")
    field = page.get_by_role("combobox", name="Search this archive")
    field.fill("typed")
    expect(section(page)).to_contain_text("Everything in this file that has a hash matches it.")
    expect(section(page)).to_contain_text("It isn't signed, so nothing shows who made it.")
    expect(section(page)).to_contain_text("31 of 31 index lines lead to their record")
    expect(field).to_have_value("typed")
    page.get_by_text("What this does and doesn't prove").click()
    expect(section(page)).to_contain_text("a person who changes a file can also change its hashes")
    expect(page.get_by_role("button", name="Hashes agree")).to_be_visible()


def damage(host):
    """Changes a byte of the page list in the store."""
    file = next((host.store / "files").glob("*.wacz"))
    data = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as package:
        start = package.getinfo("pages/pages.jsonl").header_offset
    data[data.index(b'"title"', start) + 1] ^= 0x20
    file.chmod(0o600)
    file.write_bytes(data)


def test_archive_is_verified_again(host, page):
    """A file that was damaged in the store: the page says so, and that this is new."""
    host.add(FIXTURES / "sample.wacz")
    open_page(host, page, "sample")
    expect(section(page).get_by_role("button", name="Verify again")).to_be_visible()
    damage(host)
    section(page).get_by_role("button", name="Verify again").click()
    expect(section(page)).to_contain_text("Something in this file doesn't match its hash or is missing: 1 error.")
    expect(section(page)).to_contain_text("New issues since the verification of")
    section(page).get_by_role("button", name="1 error").click()
    expect(page.get_by_role("heading", name="Issues found in this file")).to_be_focused()
    issues = page.get_by_role("region", name="Issues found in this file")
    expect(issues).to_contain_text("A file doesn't match its hash (SHA-256) in datapackage.json, nor its CRC-32 in the ZIP.")
    expect(issues).to_contain_text("It was changed or damaged since the import.")
    expect(page.get_by_role("button", name="Damaged or changed")).to_be_visible()
    page.goto(host.home)
    expect(page.get_by_role("button", name="Damaged or changed")).to_be_visible()


def test_records_that_differ_as_packed_are_no_damage(host, page, tmp_path):
    """The details say that the archive was made from a WARC file, and not when that was captured."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Reef</h1>"
    head = ("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://reef.example/\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\nContent-Type: application/http;msgtype=response\r\n"
        f"WARC-Payload-Digest: sha256:{hashlib.sha256(b'other').hexdigest()}\r\nContent-Length: {len(block)}\r\n\r\n")
    path = tmp_path / "reef.warc"
    path.write_bytes(head.encode() + block + b"\r\n\r\n")
    host.add(path)
    open_page(host, page, "reef")
    expect(section(page)).to_contain_text("The files that have a hash match it. 1 record doesn't match the digests written in it "
        "(changed, or computed wrongly).")
    expect(page.get_by_role("region", name="Issues found in this file")).to_contain_text("https://reef.example/")
    facts = page.get_by_role("region", name="About")
    expect(facts).to_contain_text(re.compile(r"CreatedAt the import of reef\.warc, with replayhost \d"))
    expect(facts).not_to_contain_text("reef.wacz")
    expect(page.get_by_role("region", name="Made from")).to_have_count(0)
    page.goto(host.home)
    expect(page.get_by_role("button", name="Records differ")).to_be_visible()


def test_archive_that_may_be_an_attack_is_not_called_undamaged(host, page, tmp_path):
    path = tmp_path / "odd.wacz"
    path.write_bytes((FIXTURES / "sample.wacz").read_bytes())
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("../evil", b"x")
    host.add(path)
    open_page(host, page, "odd")
    expect(section(page)).to_contain_text("Other programs may read this ZIP differently, or be harmed by it, which may be an attack.")
    expect(section(page)).not_to_contain_text("ndamaged")
    page.goto(host.home)
    expect(page.get_by_role("button", name="May be an attack")).to_be_visible()
    expect(page.get_by_text("Hashes agree")).to_have_count(0)


def open_verified(host, page):
    """Opens the page of an archive that was verified before, so that the page itself requests nothing more."""
    host.add(FIXTURES / "sample.wacz")
    wait_until(lambda: host.archive("sample")["verification"] != "not-verified", "it's verified")
    open_page(host, page, "sample")


def held(page, routes):
    """Returns a request that waits to be continued, once the page has made it."""
    wait_until(lambda: page.wait_for_timeout(10) or routes, "the page makes the request", 180)
    return routes.pop()


def test_second_verification_starts_while_the_first_result_is_read(host, page):
    open_verified(host, page)
    button = section(page).get_by_role("button", name="Verify again")
    expect(button).to_be_visible()
    results, orders = [], []
    page.route("**/api/archives/sample", lambda route: results.append(route))
    page.route("**/verify", lambda route: orders.append(route))
    button.click()
    held(page, orders).continue_()
    result = held(page, results)
    expect(button).to_have_attribute("aria-disabled", "false")
    damage(host)
    button.click()
    order = held(page, orders)
    with page.expect_response("**/api/archives/sample"):
        result.continue_()
    page.unroute("**/api/archives/sample")
    order.continue_()
    expect(section(page)).to_contain_text("Something in this file doesn't match its hash")


def test_older_list_of_jobs_does_not_end_a_verification(host, page):
    """The list was read before the verification was queued, and arrives after."""
    open_verified(host, page)
    button = section(page).get_by_role("button", name="Verify again")
    expect(button).to_be_visible()
    damage(host)
    lists, orders = [], []
    page.route("**/api/jobs", lambda route: lists.append(route))
    page.route("**/verify", lambda route: orders.append(route))
    button.click()
    order, waiting = held(page, orders), held(page, lists)
    older = json.loads(host.request("GET", "/api/jobs")[2])
    verified = max(older["jobs"], key=lambda job: job["id"])
    order.fulfill(json={"job": verified | {"id": verified["id"] + 1, "kind": "verify", "archive": "sample", "state": "waiting"}})
    expect(section(page)).to_contain_text("Waiting to be verified")
    waiting.fulfill(json=older)
    page.unroute("**/api/jobs")
    assert page.evaluate("() => fetch('/api/jobs').then((response) => response.status)") == 200
    host.change("POST", "/api/archives/sample/verify")
    expect(section(page)).to_contain_text("Something in this file doesn't match its hash")
    expect(button).to_have_attribute("aria-disabled", "false")


def test_signer_is_whom_the_certificate_names(host, page, tmp_path):
    """Nothing signs which of several names the file states."""
    path, _ = signed(tmp_path, "domain", names=["signer.example", "bank.example"])
    host.add(path)
    open_page(host, page, "domain")
    expect(section(page)).to_contain_text("It says that signer.example, bank.example signed it, but that isn't proven.")


@pytest.mark.parametrize(("name", "verdict"), [
    ("anonymous", "It was signed with the key below. Nothing shows whose key that is."),
    ("domain", "It says that signer.example signed it, but that isn't proven."),
    ("forged", "The signature, which names an anonymous key, is invalid and proves nothing."),
    ("other", "The signature, which names an anonymous key, is for other contents and proves nothing."),
])
def test_signature_is_explained(host, page, tmp_path, name, verdict):
    path, fingerprint = signed(tmp_path, name)
    host.add(path)
    open_page(host, page, name)
    expect(section(page)).to_contain_text(verdict)
    expect(section(page)).to_contain_text(fingerprint)


@pytest.mark.parametrize(("forgery", "contents", "signature", "in_report"), [
    ("warc-plain", "Nothing that the signature covers disagrees with its hashes. Some content isn't covered.", "The list of files was signed with the key below.",
     ["Valid for the files that it covers", "As the signed file states; whether it's true wasn't checked"]),
    ("end-record-comment", "Other programs may read this ZIP differently, or be harmed by it, which may be an attack.",
     "The signature is valid only for what replayhost reads in the ZIP.",
     ["Valid only for what replayhost reads", "As the file states; not proven by its signature"]),
    ("page-title", "Something in this file doesn't match its hash", "The list of files was signed with the key below.",
     ["Valid for the list of files", "As the file states; not proven by its signature"]),
])
def test_right_signature_is_not_said_to_be_of_the_whole_file(host, page, tmp_path, forgery, contents, signature, in_report):
    path = tmp_path / "forged.wacz"
    path.write_bytes(forge(forgery, read(signed(tmp_path, "anonymous")[0])))
    host.add_verified(path)
    open_page(host, page, "forged")
    expect(section(page)).to_contain_text(contents)
    expect(section(page)).to_contain_text(signature)
    assert "It was signed" not in section(page).inner_text()
    sheet = open_report(host, page, "forged")
    for text in in_report:
        expect(sheet).to_contain_text(text)


@pytest.mark.parametrize(("created", "said"), [
    ("2024-05-04T00:00:00Z", "4 May 2024, 00:00 UTC. Nothing proves it, and the file has later captures."),
    ("2024-11-22T00:00:00Z", "22 November 2024, 00:00 UTC. Nothing proves it."),
])
def test_claimed_time_of_signing_is_called_a_claim(host, page, tmp_path, created, said):
    """Its captures are of 3 May to 21 November 2024."""
    path = rewrite(signed(tmp_path, "anonymous")[0], tmp_path / "claims.wacz", change_signed(created=created))
    host.add_verified(path)
    open_page(host, page, "claims")
    expect(section(page).locator("div", has_text="Claimed time of signing").last).to_have_text(f"Claimed time of signing{said}")
    open_report(host, page, "claims")
    later = page.get_by_role("region", name="Signature", exact=True).get_by_text("The file has captures of a later time.")
    expect(later).to_have_count(1 if "later" in said else 0)
