"""Saving an archive, or a part of it, from its page; and WARC files that are added in the browser."""

import io
import zipfile

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from support.expecting import expect
from support.journey import expect_species, open_tab
from support.places import FIXTURES
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium
SPECIES = "https://fieldguide.example/species/"


def choose(page, name):
    """Chooses an entry of the archive's menu."""
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=name, exact=True).click()


def export_page(page, url):
    choose(page, "Export page…")
    page.get_by_label("URL of the page").fill(url)
    page.get_by_role("button", name="Export page").click()


def saved(page, click, folder):
    """Clicks, and returns the downloaded file."""
    with page.expect_download() as download:
        click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_saved_page_replays_alone(host, page, tmp_path):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    path = saved(page, lambda: export_page(page, SPECIES), tmp_path)
    # The title of the page.
    assert path.name == "Species - Tidepool Field Guide.wacz"
    expect(page.get_by_role("link", name=path.name)).to_be_visible()
    host.add(path.rename(tmp_path / "sample-page.wacz"))
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
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    original = saved(page, lambda: choose(page, "Download"), tmp_path)
    assert original.name == "sample.wacz"
    assert original.read_bytes() == (FIXTURES / "sample.wacz").read_bytes()
    repaired = saved(page, lambda: choose(page, "Repaired copy"), tmp_path)
    assert zipfile.ZipFile(repaired).testzip() is None

    def save_images():
        choose(page, "Save files…")
        page.get_by_label("Files to save").select_option("image")
        page.get_by_role("button", name="Save files").click()

    for click in [save_images, page.get_by_role("button", name="Save all images in a ZIP").click]:
        files = saved(page, click, tmp_path)
        assert "fieldguide.example/shell.svg" in zipfile.ZipFile(files).namelist()
        page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=files")
    export_page(page, "https://elsewhere.example/")
    expect(page.get_by_role("alert")).to_contain_text("isn't in \"")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.goto(f"{host.home}/?collection=both#view=pages")
    both = saved(page, lambda: choose(page, "Download"), tmp_path)
    assert zipfile.ZipFile(both).namelist() == ["sample.wacz", "second.wacz", "datapackage.json"]


def test_issue_of_the_index_leads_to_a_repaired_copy(host, page, tmp_path):
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    page.goto(f"{host.home}/?archive=/archives/index-past-the-end.wacz#view=details")
    repaired = saved(page, page.get_by_role("button", name="Make a repaired copy").click, tmp_path)
    host.add(repaired.rename(tmp_path / "repaired.wacz"))
    page.goto(f"{host.home}/?archive=/archives/repaired.wacz#view=details")
    expect(page.get_by_role("heading", name="Verification")).to_be_visible()
    expect(page.get_by_text("the index is wrong")).to_have_count(0)


def test_export_can_be_cancelled(host_with_sample, page):
    host = host_with_sample
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    page.route("**/api/archives/sample/exports", lambda route: None)
    choose(page, "Repaired copy")
    expect(page.get_by_text("Preparing the file…")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()


def test_warc_file_is_added(host, page, tmp_path):
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    with open(tmp_path / "site.warc.gz", "wb") as file:
        writer = WARCWriter(file, gzip=True)
        body = io.BytesIO(b"<title>From a WARC</title><h1>Kept by a crawler</h1>")
        writer.write_record(writer.create_warc_record("https://reef.example/", "response", payload=body, http_headers=head))
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files(tmp_path / "site.warc.gz")
    expect(page.get_by_role("heading", name="site", level=1)).to_be_visible()
    open_tab(page, "Pages")
    page.get_by_role("link", name="From a WARC").click()
    expect(Viewer(page).read("h1")).to_have_text("Kept by a crawler")
