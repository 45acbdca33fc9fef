"""What the viewer says about a capture that its page doesn't show, and what happens to words in its URL field."""

import re
import zipfile

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.journey import SITE
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium


def open_url(host, page, url, archive="sample"):
    page.goto(f"{host.home}/?archive=/archives/{archive}.wacz#url={url}")
    return Viewer(page)


def note(page):
    return page.locator(".hint-bar")


def test_error_of_the_site_is_said(shared_host_with_sample, page):
    viewer = open_url(shared_host_with_sample, page, f"{SITE}/species/kraken.html")
    expect(note(page)).to_have_text("The site answered 404.")
    viewer.page.get_by_label("URL in this archive").fill(f"{SITE}/tides.html")
    viewer.page.get_by_label("URL in this archive").press("Enter")
    expect(viewer.read("h1")).to_have_text("How the tide works")
    expect(note(page)).to_be_hidden()


def test_answer_to_a_form_is_not_the_page_at_its_url(shared_host_with_sample, page):
    """The explanation comes first, and what it offers is said to be an answer."""
    viewer = open_url(shared_host_with_sample, page, f"{SITE}/sightings")
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    reason = page.locator('.reason[data-code="post-only"]')
    expect(reason).to_contain_text("It's in this archive only as the answer to a form or a script.")
    reason.get_by_role("link", name=f"{SITE}/sightings").click()
    expect(viewer.read("h1")).to_be_visible()
    expect(note(page)).to_have_text("This is the answer to a form.")


def test_words_in_the_url_field_are_searched(host, page, tmp_path):
    """A host with such a name is opened instead."""
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {
        "https://reef.example/": "<!doctype html><title>Reef</title><h1>Tides of the reef</h1>",
        "http://intranet/": "<!doctype html><title>Intranet</title><h1>Intranet</h1>"}))
    host.wait_until_indexed()
    viewer = open_url(host, page, "https://reef.example/", "reef")
    expect(viewer.read("h1")).to_have_text("Tides of the reef")
    field = page.get_by_label("URL in this archive")
    field.fill("intranet")
    field.press("Enter")
    expect(viewer.read("h1")).to_have_text("Intranet")
    # It's in the history once the viewer knows it.
    expect(page).to_have_url(re.compile("intranet"))
    field.fill("reef tides")
    field.press("Enter")
    expect(page.locator("main").get_by_text("1 page", exact=True)).to_be_visible()
    assert "in=reef" in page.url and "search=reef%20tides" in page.url
    page.go_back()
    expect(viewer.read("h1")).to_have_text("Intranet")
    # The page can be there before the viewer, which then shows its URL in the field.
    expect(page).to_have_title(re.compile("Intranet"))
    field.fill("tides")
    field.press("Enter")
    expect(page.get_by_role("heading", name="Search results")).to_be_visible()
    assert "search=tides" in page.url


def test_urls_are_decoded_to_read_and_encoded_to_copy(host, page, browser, tmp_path):
    url = "https://reef.example/w%C3%B6rter/a%2Fb"
    host.add(write_archive(tmp_path / "reef.wacz", "Reef", {url: "<!doctype html><title>Words</title><h1>Words</h1>"}))
    viewer = open_url(host, page, url, "reef")
    expect(viewer.read("h1")).to_have_text("Words")
    field = page.get_by_label("URL in this archive")
    expect(field).to_have_value("https://reef.example/wörter/a%2Fb")
    copied = field.evaluate("""(field) => {
        field.focus();
        field.select();
        const data = new DataTransfer();
        field.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, cancelable: true, bubbles: true }));
        return data.getData("text/plain");
    }""")
    assert copied == url
    field.fill("https://reef.example/wörter/a%2Fb")
    field.press("Enter")
    expect(viewer.read("h1")).to_have_text("Words")
    expect(page.get_by_role("heading", name="This page isn't in")).to_have_count(0)


def test_compressed_warc_files_replay_by_lookups(host, page, tmp_path):
    """By ranges, the engine can't read WARC files that the ZIP compresses."""
    plain = write_archive(tmp_path / "plain.wacz", "Reef", {"https://reef.example/": "<!doctype html><h1>Reef</h1>"})
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(tmp_path / "reef.wacz", "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            target.writestr(entry.filename, source.read(entry))
    host.add(tmp_path / "reef.wacz")
    page.goto(f"{host.home}/?archive=/archives/reef.wacz&replay=ranges#url=https://reef.example/")
    expect(Viewer(page).read("h1")).to_have_text("Reef")
    expect(note(page)).to_contain_text("This archive replays by lookups")
