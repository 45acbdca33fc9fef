"""Saving an archive, or a part of it, from its page; and WARC files that are added in the browser."""

import io
import zipfile

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from support.expecting import expect
from support.journey import expect_species
from support.places import FIXTURES
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium
SPECIES = "https://fieldguide.example/species/"


def open_export(page, address):
    page.goto(address)
    page.get_by_text("Save or export").click()
    return page.locator("details.export")


def saved(page, click, folder):
    """Clicks, and returns the downloaded file."""
    with page.expect_download() as download:
        click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_saved_page_replays_alone(host, page, tmp_path):
    host.add(FIXTURES / "sample.wacz")
    part = open_export(page, f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    part.get_by_label("Save one page").fill(SPECIES)
    path = saved(page, part.get_by_role("button", name="Save page").click, tmp_path)
    assert path.name == "sample-page.wacz"
    expect(part.get_by_role("link", name="sample-page.wacz")).to_be_visible()
    host.add(path)
    # The archive's page would ask for the archive once more.
    page.goto("about:blank")
    host.run("remove", "sample", "--yes")
    page.goto(f"{host.home}/?archive=/archives/sample-page.wacz#url={SPECIES}")
    expect_species(Viewer(page))


def test_every_kind_is_saved(host, browser, tmp_path):
    page = browser.page
    # For the page that isn't captured.
    browser.allow("404")
    host.add(FIXTURES / "sample.wacz")
    host.add(FIXTURES / "second.wacz")
    host.create_collection("Both", "sample", "second")
    part = open_export(page, f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    original = saved(page, part.get_by_role("link", name="Save the file").click, tmp_path)
    assert original.read_bytes() == (FIXTURES / "sample.wacz").read_bytes()
    repaired = saved(page, part.get_by_role("button", name="Save a repaired copy").click, tmp_path)
    assert zipfile.ZipFile(repaired).testzip() is None
    part.get_by_label("Save the captured files").select_option("image")
    files = saved(page, part.get_by_role("button", name="Save files").click, tmp_path)
    assert "fieldguide.example/shell.svg" in zipfile.ZipFile(files).namelist()
    part.get_by_label("Save one page").fill("https://elsewhere.example/")
    part.get_by_role("button", name="Save page").click()
    expect(part.get_by_role("alert")).to_contain_text("isn't in \"")
    part = open_export(page, f"{host.home}/?collection=both#view=pages")
    both = saved(page, part.get_by_role("button", name="Save collection").click, tmp_path)
    assert zipfile.ZipFile(both).namelist() == ["sample.wacz", "second.wacz", "datapackage.json"]


def test_warc_file_is_added(host, page, tmp_path):
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    with open(tmp_path / "site.warc.gz", "wb") as file:
        writer = WARCWriter(file, gzip=True)
        body = io.BytesIO(b"<title>From a WARC</title><h1>Kept by a crawler</h1>")
        writer.write_record(writer.create_warc_record("https://reef.example/", "response", payload=body, http_headers=head))
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files(tmp_path / "site.warc.gz")
    expect(page.get_by_role("heading", name="site", level=1)).to_be_visible()
    page.get_by_role("link", name="From a WARC").click()
    expect(Viewer(page).read("h1")).to_have_text("Kept by a crawler")
