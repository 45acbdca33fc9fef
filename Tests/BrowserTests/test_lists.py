"""Lists are sorted, and saved as files with what they show."""

import csv
import io
import json
import random
import re
import zipfile

import pytest

from support.archives import write_captures
from support.expecting import expect
from support.host import Host

pytestmark = pytest.mark.one_chromium

URL = "https://shore.example/"
TIMES = {"": "2021-03-04T09:00:00Z", "zebra": "2019-01-01T00:00:00Z", "apple": "2023-05-06T07:08:09Z"}


@pytest.fixture(scope="module")
def shore(tmp_path_factory):
    """Three pages, one of them captured twice, and two pictures."""
    folder = tmp_path_factory.mktemp("shore")
    pages = [({"url": URL + name, "time": time}, f"<!doctype html><title>{(name or 'shore').title()}</title><p>driftwood {name}".encode())
             for name, time in [*TIMES.items(), ("zebra", "2022-01-01T00:00:00Z")]]
    pictures = [({"url": f"{URL}{name}.png", "time": TIMES[""], "file": f"{name}.png"}, random.Random(size).randbytes(size)) for name, size in [("small", 10), ("large", 9000)]]
    host = Host(folder)
    host.add(write_captures(folder / "shore.wacz", "Shore", pages + pictures))
    with host:
        yield host.wait_until_indexed()


def save(page, region, form="CSV, for a spreadsheet"):
    """The content of the file that the menu saves."""
    button = region.get_by_role("button", name="Download this list")
    # It looks like a button.
    expect(button).not_to_have_css("border-top-color", "rgba(0, 0, 0, 0)")
    button.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=form).click()
    return download.value.path().read_text(encoding="utf-8")


def titles(page):
    return page.locator(".page-line > a")


def open_tab(host, page, tab):
    page.goto(f"{host.home}/?archive=/archives/shore.wacz#view={tab}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_pages_are_sorted_and_saved(shore, page):
    """The order and the choice of one page for each URL are in the fragment, and in the file."""
    open_tab(shore, page, "pages")
    expect(titles(page)).to_have_text(["Shore", "Zebra", "Apple", "Zebra"])
    page.get_by_role("combobox", name="Sort").select_option("newest")
    expect(titles(page)).to_have_text(["Apple", "Zebra", "Shore", "Zebra"])
    page.get_by_role("checkbox", name="Each URL once").check()
    expect(titles(page)).to_have_text(["Apple", "Zebra", "Shore"])
    expect(page.locator(".copies")).to_have_text(["2 pages"])
    expect(page).to_have_url(re.compile("#view=pages&sort=newest&collapse=url$"))
    page.reload()
    expect(page.get_by_role("combobox", name="Sort")).to_have_value("newest")
    expect(page.get_by_role("checkbox", name="Each URL once")).to_be_checked()
    rows = list(csv.DictReader(io.StringIO(save(page, page.get_by_role("region", name="Pages")))))
    assert [row["title"] for row in rows] == ["Apple", "Zebra", "Shore"]
    page.get_by_role("searchbox", name="Filter by title or URL").fill("apple")
    expect(titles(page)).to_have_text(["Apple"])
    found = json.loads(save(page, page.get_by_role("region", name="Pages"), "JSON, for programs"))
    assert [one["url"] for one in found] == [f"{URL}apple"]
    page.goto(f"{shore.home}/?archive=/archives/shore.wacz#view=pages&after=2021&before=2023&sort=oldest")
    expect(titles(page)).to_have_text(["Shore", "Zebra"])
    page.get_by_role("link", name=re.compile("^Remove filter")).click()
    expect(titles(page)).to_have_text(["Zebra", "Shore", "Zebra", "Apple"])


def test_urls_are_sorted_and_saved(shore, page):
    open_tab(shore, page, "urls")
    page.get_by_role("combobox", name="Sort").select_option("largest")
    expect(page.locator(".urls tbody tr").first).to_contain_text("large.png")
    expect(page).to_have_url(re.compile("#view=urls&sort=largest$"))
    page.get_by_role("combobox", name="Type").select_option("image")
    expect(page.locator(".urls tbody tr")).to_have_count(2)
    rows = list(csv.DictReader(io.StringIO(save(page, page.get_by_role("region", name="URLs")))))
    assert [row["url"] for row in rows] == [f"{URL}large.png", f"{URL}small.png"]


def test_the_largest_captures_are_said_to_be_the_first(shore, page):
    """The server lists 1,000 in another order than that of the index."""
    rows = [{"url": f"{URL}{number}", "timestamp": "20240101000000", "type": "html", "length": 2000 - number} for number in range(1000)]
    asked = []
    page.route("**/api/archives/shore/urls?*", lambda route: (asked.append(route.request.url), route.fulfill(json={"urls": rows})))
    open_tab(shore, page, "urls&sort=largest")
    expect(page.locator(".range")).to_have_text("The largest 1,000 captures")
    assert "sort=largest" in asked[-1] and "limit=1000" in asked[-1]


def test_selected_files_are_saved(shore, page):
    open_tab(shore, page, "files&type=images")
    page.get_by_role("checkbox", name="Select small.png").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save 1 selected file in a ZIP").click()
    with zipfile.ZipFile(download.value.path()) as package:
        assert [name for name in package.namelist() if name.endswith(".png")] == [next(name for name in package.namelist() if "small.png" in name)]


def test_hits_issues_and_the_library_are_saved(shore, page):
    page.goto(f"{shore.home}/#search=driftwood&in=shore&after=2022")
    expect(page.locator(".hits > li").first).to_be_visible()
    hits = list(csv.DictReader(io.StringIO(save(page, page.get_by_role("main")))))
    assert {hit["url"] for hit in hits} == {f"{URL}apple", f"{URL}zebra"}
    page.goto(f"{shore.home}/#q=nothing-has-this")
    expect(page.get_by_text("No archives match")).to_be_visible()
    page.goto(f"{shore.home}/#q=shore")
    page.get_by_role("button", name="More actions", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download this list (JSON)").click()
    assert [archive["title"] for archive in json.loads(download.value.path().read_text())] == ["Shore"]
