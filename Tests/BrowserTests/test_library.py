"""The library: filters, sorting, selection, and lists of any length."""

import json
import re
from datetime import datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from support.archives import PIXEL, write_archive
from support.expecting import expect, expect_loaded
from support.journey import TITLE
from support.places import FIXTURES, IS_BUNDLED
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

MARKUP = '<img src=x onerror="document.title=1">\u202e'


@pytest.fixture
def tagged(host, tmp_path):
    """Three archives and a collection with different tags and notes."""
    for name in ["north", "south", "east"]:
        html = f"<title>{name}</title>{name}"
        host.add(write_archive(tmp_path / f"{name}.wacz", name.title(), {f"https://{name}.example/": html}))
    host.change("PATCH", "/api/archives/north", {"tags": ["coast", "50% & more"], "notes": "lighthouse\nand gulls"})
    host.change("PATCH", "/api/archives/south", {"tags": ["coast"], "notes": "dunes"})
    host.create_collection("Compass", "north", "south", tags=["50% & more"])
    return host


def titles(page):
    return page.locator(".windowed h2")


def facet(page, name):
    return page.get_by_role("navigation", name="Tags, sites, years").get_by_role("link", name=re.compile(f"^{re.escape(name)}"))


def test_library_is_filtered_by_a_tag(tagged, page):
    """By a click. The URL keeps the filter, and Back restores the previous one."""
    page.goto(tagged.home)
    collections = page.get_by_role("region", name="Collections")
    expect(titles(page)).to_have_text(["East", "South", "North"])
    facet(page, "coast").click()
    expect(titles(page)).to_have_text(["South", "North"])
    expect(collections).to_have_count(0)
    facet(page, "50% & more").click()
    expect(titles(page)).to_have_text(["North"])
    page.reload()
    expect(titles(page)).to_have_text(["North"])
    page.get_by_role("link", name="Remove filter: coast").click()
    expect(titles(page)).to_have_text(["North"])
    expect(collections.get_by_role("link", name="Compass", exact=True)).to_be_visible()
    page.go_back()
    page.go_back()
    expect(titles(page)).to_have_text(["South", "North"])


def test_tag_of_an_archive_filters_the_library(tagged, page):
    page.goto(f"{tagged.home}/?archive=/archives/south.wacz#view=overview")
    page.get_by_role("link", name="coast").click()
    expect(titles(page)).to_have_text(["South", "North"])


def test_library_is_filtered_by_text(tagged, page):
    """In titles, tags, notes, file names, ids and sites. All words must match. The URL keeps them."""
    page.goto(tagged.home)
    box = page.get_by_role("searchbox", name="Filter archives")
    for text, shown in [
        ("GULLS", ["North"]), ("coast dunes", ["South"]), ("coast", ["South", "North"]), ("east.wacz", ["East"]),
        ("south.example", ["South"]), ("lighthouse dunes", []),
    ]:
        box.fill(text)
        expect(titles(page)).to_have_text(shown)
    expect(page.get_by_text("No archives match “lighthouse dunes”.")).to_be_visible()
    box.fill("north")
    expect(titles(page)).to_have_text(["North"])
    expect(page).to_have_url(f"{tagged.home}/#q=north")
    page.reload()
    expect(box).to_have_value("north")
    expect(titles(page)).to_have_text(["North"])
    box.fill("")
    expect(titles(page)).to_have_count(3)


def test_library_is_sorted_and_shown_as_a_list(tagged, page):
    page.goto(tagged.home)
    expect(titles(page)).to_have_text(["East", "South", "North"])
    page.get_by_label("Sort").select_option("Title A–Z")
    expect(titles(page)).to_have_text(["East", "North", "South"])
    page.get_by_role("link", name="List", exact=True).click()
    expect(page.locator(".row")).to_have_count(3)
    expect(page).to_have_url(f"{tagged.home}/#sort=title&as=list")
    page.reload()
    expect(page.locator(".row h2")).to_have_text(["East", "North", "South"])
    page.go_back()
    expect(page.locator(".card h2")).to_have_text(["East", "North", "South"])


def test_columns_sort_the_list(tagged, page):
    page.goto(f"{tagged.home}/#as=list")
    heads = page.get_by_role("group", name="Columns of the list")
    heads.get_by_role("button", name="Title").click()
    expect(titles(page)).to_have_text(["East", "North", "South"])
    heads.get_by_role("button", name="Title").click()
    expect(titles(page)).to_have_text(["South", "North", "East"])
    expect(heads.get_by_role("button", pressed=True)).to_have_text("Title ↓")
    expect(page.get_by_label("Sort")).to_have_value("-title")
    expect(page).to_have_url(f"{tagged.home}/#sort=-title&as=list")
    columns = """() => [...document.querySelectorAll(".list-columns .about > *")].map((head) => head.getBoundingClientRect().left)"""
    row = """() => [...document.querySelectorAll(".row:first-of-type :is(h2, .subtitle, .facts > span, .marks)")].map((one) => one.getBoundingClientRect().left)"""
    # The outline of a link has room in the title, and the mark in its button.
    assert all(abs(head - place) < 8 for head, place in zip(page.evaluate(columns), page.evaluate(row)[:6], strict=True))


def test_small_picture_is_not_made_larger(host, page):
    """Such as a site's icon. It stands on the archive's colour."""
    serve_many(page, 1)
    listed = {"total": 1, "archives": [archive(1) | {"thumbnail": "/api/archives/a1/thumbnail"}]}
    page.route(re.compile(r"/api/archives\?"), lambda route: route.fulfill(json=listed))
    page.route("**/api/archives/a1/thumbnail", lambda route: route.fulfill(body=PIXEL, content_type="image/png"))
    page.goto(host.home)
    expect(page.locator(".archive-mark img")).to_have_css("object-fit", "scale-down")


@pytest.mark.parametrize("total, shown", [(99, ".card"), (100, ".row")])
def test_large_library_is_a_list(host, page, total, shown):
    """Unless a person chooses cards."""
    serve_many(page, total)
    page.goto(host.home)
    expect(page.locator(f"{shown} h2").first).to_be_visible()
    page.get_by_role("link", name="Cards", exact=True).click()
    expect(page.locator(".card h2").first).to_be_visible()


def test_states_are_results_of_verifications(host, page):
    for name in ["sample", "damaged/wrong-hash"]:
        host.add(FIXTURES / f"{name}.wacz")
    wait_until(lambda: all("verificationSummary" in archive for archive in host.archives()), "the archives are verified")
    page.goto(host.home)
    facet(page, "Damaged or changed").click()
    expect(titles(page)).to_have_count(1)
    expect(page).to_have_url(f"{host.home}/#state=damaged")
    page.get_by_role("link", name="Remove filter: Damaged or changed").click()
    facet(page, "Hashes agree").click()
    expect(titles(page)).to_have_text([TITLE])


def test_states_and_sites_filter(host, page):
    for name in ["sample.wacz", "damaged/index-past-the-end.wacz"]:
        host.add(FIXTURES / name)
    page.goto(host.home)
    facet(page, "With issues").click()
    expect(titles(page)).to_have_count(1)
    # The second one, once it's verified.
    expect(page.locator(".card")).to_contain_text(re.compile("⚠ Issues|Can't show everything"))
    page.get_by_role("link", name="Remove filter: With issues").click()
    facet(page, "fieldguide.example").click()
    expect(titles(page)).to_have_text([TITLE])
    expect(page).to_have_url(f"{host.home}/#site=fieldguide.example")


def test_archives_of_one_title_show_their_files(host, tmp_path, page):
    """Those of one file name show when they were added. A host that is an IP address has no letter."""
    for name in ["monday", "tuesday"]:
        host.add(write_archive(tmp_path / f"{name}.wacz", "Front page", {f"https://{name}.example/": f"<title>{name}</title>"}))
    page.goto(host.home)
    expect(page.locator(".archive-mark")).to_have_text(["T", "M"])
    expect(titles(page)).to_have_text(["Front page", "Front page"])
    expect(page.locator(".card").nth(0)).to_contain_text("tuesday.wacz")
    expect(page.locator(".card").nth(1)).to_contain_text("monday.wacz")
    page.get_by_role("button", name="Select", exact=True).click()
    expect(page.get_by_role("checkbox", name="Select Front page (monday.wacz)")).to_be_visible()
    (tmp_path / "later").mkdir()
    later = host.add(write_archive(tmp_path / "later" / "monday.wacz", "Front page", {"http://192.0.2.1/": "<title>Later</title>"}))
    expect(page.locator(".archive-mark")).to_have_text(["F", "T", "M"])
    for place, name in [(0, later), (2, "monday")]:
        added = datetime.fromisoformat(host.archive(name)["importedAt"])
        expect(page.locator(".card").nth(place)).to_contain_text(f"Added {added.day} {added:%B %Y, %H:%M} UTC")
        expect(page.get_by_role("checkbox", name=f"Select Front page ({name})", exact=True)).to_be_visible()
    expect(page.locator(".card").nth(1)).to_contain_text("tuesday.wacz")
    page.goto(f"{host.home}/?archive=/archives/monday.wacz#view=overview")
    expect(page.locator(".facts-line")).to_contain_text(f"Added {added.day} {added:%B %Y, %H:%M} UTC · ")


def test_archives_of_one_title_are_told_apart_everywhere(host, tmp_path, page):
    """In search results and their filters, on the archive's page, in a collection, and where a URL isn't captured."""
    url = "https://guide.example/low"
    for name in ["monday", "tuesday", "wednesday"]:
        pages = {"https://guide.example/": f"<title>Home</title>{name}", url: "<title>Low tide</title>zebrafish"}
        if name == "wednesday":
            pages.pop(url)
        host.add(write_archive(tmp_path / f"{name}.wacz", "Field guide", pages))
    host.add(write_archive(tmp_path / "other.wacz", "Harbour", {"https://harbour.example/": "<title>Harbour</title>"}))
    host.wait_until_indexed()
    monday, tuesday = "Field guide (monday.wacz)", "Field guide (tuesday.wacz)"
    page.goto(f"{host.home}/#search=zebrafish")
    expect(page.locator(".hits > li").first).to_contain_text(re.compile(r"Field guide \((mon|tues|wednes)day\.wacz\)"))
    page.get_by_role("button", name="and 1 other archive").click()
    expect(page.locator(".popover")).to_contain_text(re.compile(r"Field guide \((mon|tues)day\.wacz\)"))
    page.keyboard.press("Escape")
    page.get_by_role("navigation", name="Narrow the results").get_by_role("link", name=tuesday).click()
    expect(page.get_by_role("link", name=f"Remove filter: {tuesday}")).to_be_visible()
    page.goto(f"{host.home}/?archive=/archives/monday.wacz#view=overview")
    expect(page.locator(".facts-line")).to_contain_text("monday.wacz · ")
    page.goto(f"{host.home}/?archive=/archives/other.wacz#view=overview")
    expect(page.locator(".facts-line")).not_to_contain_text("other.wacz")
    page.goto(f"{host.home}/?archive=/archives/wednesday.wacz#url={url}")
    for name in [monday, tuesday]:
        expect(page.get_by_role("link", name=f"Open in “{name}”")).to_be_visible()
    collection = host.create_collection("Both", "monday", "tuesday")
    page.goto(f"{host.home}/?collection={collection}#view=archives")
    expect(page.locator(".members li a[href*=overview]")).to_have_text([monday, tuesday])
    expect(page.get_by_role("button", name=f"Remove {monday} from the collection")).to_be_visible()
    expect(page.get_by_label("Add an archive").locator("option")).to_have_text(["Harbour", "Field guide (wednesday.wacz)"])
    page.goto(f"{host.home}/?collection={collection}#view=pages")
    expect(page.locator(".page-line .member").first).to_have_text(re.compile(r"Field guide \((mon|tues)day\.wacz\)"))


FIRST_ROWS = """new MutationObserver(() => {
    if (!window.loaded && document.querySelector("article")) {
        window.loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    }
}).observe(document, { subtree: true, childList: true })"""


CUT = """() => [...document.querySelectorAll(".row .marks, .row .file-name, .row .facts, .row .subtitle, .page-line time")]
    .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent)"""


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_rows_have_room(host, page, width):
    """Nothing is cut: file names, states, and the times of pages."""
    for name in ["sample", "damaged/index-past-the-end", "damaged/wrong-hash"]:
        host.add(FIXTURES / f"{name}.wacz")
    wait_until(lambda: all("verificationSummary" in archive for archive in host.archives()), "the archives are verified")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{host.home}/#as=list")
    expect(page.locator(".row .file-name")).to_have_count(2)
    expect(page.get_by_role("button", name="Can't show everything")).to_be_visible()
    assert page.evaluate(CUT) == []
    apart = """() => [...document.querySelectorAll(".row")].every((row) => {
        const [about, actions] = [".about", ".actions"].map((name) => row.querySelector(name).getBoundingClientRect());
        const end = row.getBoundingClientRect().bottom;
        return (about.right <= actions.left || about.bottom <= actions.top) && about.bottom <= end && actions.bottom <= end;
    })"""
    assert page.evaluate(apart)
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    expect(page.locator(".page-line time").first).to_be_visible()
    assert page.evaluate(CUT) == []


@pytest.mark.skipif(not IS_BUNDLED, reason="the app isn't bundled")
def test_first_rows_need_few_requests(tagged, page):
    """Fewer than 12, with the page itself and its style sheet (design: budget)."""
    page.add_init_script(FIRST_ROWS)
    page.goto(tagged.home)
    expect(titles(page)).to_have_count(3)
    loaded = page.evaluate("loaded")
    assert len(loaded) + 1 < 12, loaded
    assert [url for url in loaded if "/api/archives?" in url][0].endswith("&offset=0&limit=50")
    expect_loaded(page)


def test_selected_archives_are_tagged_and_removed(tagged, page):
    """With the keyboard only. A comma separates tags. The dialog says what is deleted from this computer."""
    page.goto(f"{tagged.home}/#sort=title&as=list")
    expect(titles(page)).to_have_text(["East", "North", "South"])
    page.get_by_role("link", name="East", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_text("2 selected")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Select North")).to_be_checked()
    page.get_by_role("button", name="Tags…", exact=True).press("Enter")
    page.get_by_role("combobox", name="Tags").fill("harbour, 50% & more, sea wall")
    page.get_by_role("button", name="Remove tag coast").press("Enter")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(facet(page, "sea wall")).to_be_visible()
    assert tagged.archive("east")["tags"] == ["harbour", "50% & more", "sea wall"]
    assert tagged.archive("north")["tags"] == ["50% & more", "harbour", "sea wall"], "a tag that was typed goes to all"
    page.get_by_role("link", name="South", exact=True).press("Delete")
    expect(page.get_by_role("dialog")).to_contain_text("This deletes the library's copy of “")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="South", exact=True).press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Remove").press("Enter")
    expect(titles(page)).to_have_text(["East", "North"])
    assert sorted(tagged.ids()) == ["east", "north"]


def archive(number):
    """A summary as the server sends it, some with text that a page must not take for markup."""
    title = MARKUP if number % 50 == 7 else "x" * 100_000 if number % 50 == 8 else f"Archive {number}"
    return {
        "id": f"a{number}", "title": title, "size": 10**9, "storage": "stored", "pageCount": 3, "captureCount": 9,
        "importedAt": "2026-11-20T10:00:00Z", "originalName": MARKUP, "file": f"/archives/a{number}.wacz", "sites": [MARKUP],
        "siteCount": 4, "firstCapture": "2019-01-02T03:04:05Z", "lastCapture": "2024-01-02T03:04:05Z", "tags": [MARKUP],
        "findingCounts": {"error": number % 2, "warning": 0, "notice": 0}, "mainPage": {"url": "https://a.example/"}}


def serve_many(page, total, fail=None):
    """Answers in the server's place with `total` archives. `fail` maps offsets to errors."""
    def answer(route):
        query = {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}
        offset, limit = int(query["offset"]), int(query["limit"])
        route.fulfill(json={"total": total, "archives": [archive(number) for number in range(offset, min(total, offset + limit))]})

    page.route(re.compile(r"/api/archives\?"), answer)
    counts = [{"value": MARKUP, "count": total}]
    page.route("**/api/facets*", lambda route: route.fulfill(json={
        "total": total, "bytes": 1, "freeBytes": 1, "tags": counts, "sites": counts, "years": [], "library":
        {"archives": total, "collections": 0, "bytes": 1}, "states": {"issues": 1}}))


@pytest.mark.parametrize("total", [2_000, 10_000])
def test_many_archives_are_few_elements(host_with_sample, page, total):
    """Hostile texts stay text, the layout holds, and a reload keeps the position."""
    serve_many(page, total)
    page.goto(host_with_sample.home)
    expect(page.get_by_role("link", name="Archive 0", exact=True)).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    assert page.locator(".windowed [tabindex='0']").count() == 1
    for width in [360, 1600]:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
    page.get_by_role("link", name="Archive 0", exact=True).focus()
    page.keyboard.press("End")
    last = page.get_by_role("link", name=f"Archive {total - 1}", exact=True)
    expect(last).to_be_focused()
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    wait_until(lambda: page.evaluate("history.state?.top > 1000"), "the position is kept")
    page.reload()
    expect(last).to_be_in_viewport()


def test_list_can_be_used_while_another_loads(tagged, page):
    """The rows that are there keep the focus and their keys. Those that stay keep the focus afterwards too."""
    page.goto(f"{tagged.home}#tag=coast")
    expect(titles(page)).to_have_text(["South", "North"])
    held = []
    page.route(re.compile(r"/api/archives\?"), lambda route: held.append(route))
    page.get_by_role("link", name="Remove filter: coast").click()
    wait_until(lambda: held or page.wait_for_timeout(10), "the other list loads")
    south, north = (page.get_by_role("link", name=name, exact=True) for name in ["South", "North"])
    south.focus()
    page.keyboard.press("End")
    expect(north).to_be_focused()
    held[0].continue_()
    expect(titles(page)).to_have_text(["East", "South", "North"])
    expect(north).to_be_focused()
    page.keyboard.press("Home")
    expect(page.get_by_role("link", name="East", exact=True)).to_be_focused()


def test_library_that_cannot_be_read_is_tried_again(host_with_sample, browser):
    page = browser.page
    browser.allow("503")
    body = json.dumps({"error": {"code": "store-unusable", "what": "the catalog is locked", "hint": "try again"}})
    page.route(re.compile(r"/api/archives\?"), lambda route: route.fulfill(status=503, content_type="application/json", body=body))
    page.goto(host_with_sample.home)
    expect(page.get_by_role("alert")).to_contain_text("The catalog is locked.")
    page.unroute(re.compile(r"/api/archives\?"))
    page.get_by_role("button", name="Try again").click()
    expect(titles(page)).to_have_text([TITLE])
    expect(page.get_by_role("alert")).to_have_count(0)
