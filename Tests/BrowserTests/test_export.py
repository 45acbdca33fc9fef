"""Saving an archive, or a part of it, from its page; and WARC files that are added in the browser."""

import io
import json
import re
import zipfile

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from support.archives import write_captures
from support.expecting import expect
from support.journey import expect_species, open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium
SPECIES = "https://fieldguide.example/species/"
TIDES = "https://tides.example/"


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


def three_captures(path):
    """A page and a picture with three captures each. The first is the main page."""
    times = [f"{year}-01-01T00:00:00Z" for year in (2020, 2021, 2022)]
    pages = [({"url": TIDES, "time": time}, f"<!doctype html><title>Tides of {time[:4]}</title><h1>Text {time[:4]}</h1>".encode()) for time in times]
    pictures = [({"url": f"{TIDES}map.svg", "time": time, "file": "map.svg"}, f"<svg xmlns='http://www.w3.org/2000/svg'><!-- {time[:4]} --></svg>".encode()) for time in times]
    return write_captures(path, "Tides", pages + pictures)


def body_of(path):
    """The title of an archive of one page, and the page's HTML."""
    with zipfile.ZipFile(path) as package:
        records = ArchiveIterator(io.BytesIO(package.read("archive/data.warc.gz")))
        return json.loads(package.read("datapackage.json"))["title"], [record.content_stream().read() for record in records if record.rec_type == "response"]


def test_the_capture_that_is_shown_is_saved_and_named(host, page, tmp_path):
    """Of three captures of a page, the viewer shows the middle one."""
    host.add(three_captures(tmp_path / "tides.wacz"))
    archive = f"{host.home}/?archive=/archives/tides.wacz"
    page.goto(f"{archive}#url={TIDES}&ts=20210101000000")
    expect(Viewer(page).read("h1")).to_have_text("Text 2021")
    # The copy that is printed is of this frame.
    for click in [page.get_by_role("button", name="Export this page…").click, lambda: choose(page, "Export page…")]:
        click()
        expect(page.get_by_label("URL of the page")).to_have_value(TIDES)
        expect(page.get_by_label("Captured", exact=True)).to_have_value("20210101000000")
        path = saved(page, page.get_by_role("button", name="Export page").click, tmp_path)
        assert path.name == "Tides of 2021.wacz"
        assert body_of(path) == ("Tides of 2021", [b"<!doctype html><title>Tides of 2021</title><h1>Text 2021</h1>"])
        expect(page.get_by_text("captured 1 January 2021, 00:00:00 UTC")).to_be_visible()
    # Another one can be chosen, and the latest is proposed for another URL.
    choose(page, "Export page…")
    page.get_by_label("Captured", exact=True).select_option("20200101000000")
    assert saved(page, page.get_by_role("button", name="Export page").click, tmp_path).name == "Tides of 2020.wacz"
    choose(page, "Export page…")
    page.get_by_label("URL of the page").fill(f"{TIDES}map.svg")
    expect(page.get_by_label("Captured", exact=True)).to_have_value("20220101000000")
    page.keyboard.press("Escape")
    # Lists.
    page.goto(f"{archive}#view=urls&q={TIDES}")
    for year in (2020, 2021, 2022):
        row = page.get_by_role("row").filter(has_text="html").filter(has_text=str(year))
        file = saved(page, row.get_by_role("link", name="Download").click, tmp_path)
        assert file.read_text() == f"<!doctype html><title>Tides of {year}</title><h1>Text {year}</h1>"
    # The report. The archive's picture is that of its main page.
    wait_until(lambda: host.archive("tides")["verification"] == "hashes-agree", "the archive is verified")
    details = {**json.loads(host.request("GET", "/api/archives/tides")[2]), "thumbnail": "/api/archives/tides/thumbnail", "picturedPage": TIDES}
    page.route("**/api/archives/tides", lambda route: route.fulfill(json=details))
    page.route("**/api/archives/tides/thumbnail", lambda route: route.fulfill(path=FIXTURES / "site" / "media" / "anemone.png"))
    for year in (2020, 2021):
        page.goto(f"{archive}#view=report&page={TIDES}&ts={year}0101000000")
        sheet = page.get_by_role("article")
        expect(sheet).to_contain_text(f"Tides of {year}")
        expect(sheet).to_contain_text(f"1 January {year}, 00:00:00 UTC")
        expect(sheet).to_have_attribute("aria-busy", "false")
        assert re.findall("Tides of (202.)", sheet.inner_text()) == [str(year)]
        expect(sheet.locator("figure")).to_have_count(1 if year == 2020 else 0)


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
