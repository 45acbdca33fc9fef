"""The list of all captured URLs of an archive or a collection. Expected URLs are in Fixtures/site/sample.json."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from support.expecting import expect
from support.journey import SITE, TITLE, open_tab
from support.places import FIXTURES
from support.viewer import Viewer, as_shown
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

CAPTURES = json.loads((FIXTURES / "site" / "sample.json").read_text())["captures"]


def rows(page):
    return page.locator(".urls tbody tr")


def urls(page):
    return page.locator(".urls tbody td.url")


def expect_urls(page, wanted):
    """The URLs of captures in any order, each as often as it was captured."""
    expect(rows(page)).to_have_count(len(wanted))
    shown = [text.removeprefix("POST ") for text in urls(page).all_inner_texts()]
    assert sorted(shown) == sorted(as_shown(capture["url"]) for capture in wanted)


def open_list(page, host, filters=""):
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=urls{filters}")


def test_every_capture_is_listed_and_opens(shared_host_with_sample, page):
    page.goto(f"{shared_host_with_sample.home}/?archive=/archives/sample.wacz#view=pages")
    different = {capture["url"] for capture in CAPTURES}
    tab = page.get_by_role("link", name=f"URLs {len(different)}", exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-current", "page")
    expect_urls(page, CAPTURES)
    expect(page.locator(".url-list .range")).to_have_text(f"{len(CAPTURES)} captures of {len(different)} URLs")
    expect(page.get_by_role("columnheader")).to_have_text(["URL", "Type", "Status", "Date", "Size", "Original file"])
    row = rows(page).filter(has=page.get_by_role("link", name=f"{SITE}/species/kraken.html", exact=True))
    expect(row.locator("td").nth(1)).to_have_text("html")
    expect(row.locator("td").nth(2)).to_have_text("404")
    expect(row.locator("td").nth(3)).to_have_text("21 November 2024")
    page.get_by_role("link", name=f"{SITE}/tides.html", exact=True).click()
    expect(Viewer(page).read("h1")).to_have_text("How the tide works")
    page.go_back()
    expect_urls(page, CAPTURES)
    open_tab(page, "Pages")
    expect(page.get_by_role("link", name=f"Species - {TITLE}")).to_be_visible()


def test_filters_are_in_the_url(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample)
    page.get_by_role("searchbox", name="Text in the URL").fill("limpet")
    limpets = [capture for capture in CAPTURES if "limpet" in capture["url"]]
    expect_urls(page, limpets)
    page.get_by_label("Type", exact=True).select_option("html")
    expect_urls(page, [capture for capture in limpets if capture["url"].endswith(".html")])
    expect(page).to_have_url(re.compile("#view=urls&q=limpet&type=html$"))
    page.reload()
    expect_urls(page, [capture for capture in limpets if capture["url"].endswith(".html")])
    expect(page.get_by_role("searchbox", name="Text in the URL")).to_have_value("limpet")
    expect(page.get_by_label("Type", exact=True)).to_have_value("html")
    for filters, wanted in [
        ("&status=4xx", [capture for capture in CAPTURES if capture.get("status") == 404]),
        ("&method=POST", [capture for capture in CAPTURES if capture.get("form")]),
        ("&q=*.svg&match=pattern", [capture for capture in CAPTURES if capture["url"].endswith(".svg")]),
        ("&before=202406", [capture for capture in CAPTURES if capture["time"] < "2024-06"]),
    ]:
        open_list(page, shared_host_with_sample, filters)
        page.reload()
        expect_urls(page, wanted)
    page.get_by_label("Captured before").fill("")
    page.get_by_role("searchbox", name="Text in the URL").fill("nowhere")
    expect(page.locator(".url-list .range")).to_have_text("No URLs match.")


def test_invalid_date_is_named(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample)
    since = page.get_by_label("Captured since")
    since.fill("2024-06")
    autumn = [capture for capture in CAPTURES if capture["time"] >= "2024-06"]
    expect_urls(page, autumn)
    since.fill("1 March 2024")
    # Not while it's typed.
    expect_urls(page, autumn)
    since.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("“1 March 2024” isn't a date.")
    expect(urls(page)).to_have_count(0)
    since.fill("2024")
    expect_urls(page, CAPTURES)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_list_continues_while_it_is_scrolled(shared_host_with_sample, page):
    """Rows that are far away leave the document. Back leads to the same rows and position, also after a reload."""
    def answer(route):
        query = parse_qs(urlsplit(route.request.url).query)
        first, limit = int(query.get("cursor", ["0"])[0]), int(query["limit"][0])
        found = [{"url": f"{SITE}/{number}", "timestamp": "20241121090000", "status": 200, "type": "html", "length": 10}
            for number in range(first, min(first + limit, 850))]
        route.fulfill(json={"urls": found, **({"next": str(first + limit)} if first + limit < 850 else {})})

    page.route("**/api/archives/sample/urls?**", answer)
    open_list(page, shared_host_with_sample)
    expect(page.locator(".url-list .range")).to_have_text("31 captures of 26 URLs")
    for number in [150, 250, 840]:
        row = page.get_by_role("link", name=f"{SITE}/{number}", exact=True)
        page.wait_for_function("""(name) => {
            scrollBy(0, 500);
            return [...document.querySelectorAll(".urls .url")].some(({ textContent }) => textContent === name);
        }""", arg=f"{SITE}/{number}")
    head = page.get_by_role("columnheader", name="Status").bounding_box()
    assert head["y"] == 0, "the head of the table stays"
    wait_until(lambda: rows(page).count() <= 300, "rows that are far away are gone")
    table = page.locator(".urls")
    expect(table).to_have_attribute("aria-rowcount", "851")
    # The head is row 1.
    expect(rows(page).filter(has=row)).to_have_attribute("aria-rowindex", "842")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()["y"]
    row.click()
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    for leave in [page.go_back, page.reload]:
        leave()
        expect(row).to_be_visible()
        wait_until(lambda: abs(row.bounding_box()["y"] - before) <= 1, "the list is where it was")
    page.wait_for_function("""(name) => {
        scrollBy(0, -500);
        return [...document.querySelectorAll(".urls .url")].some(({ textContent }) => textContent === name);
    }""", arg=f"{SITE}/150")
    # A browser prints what is there when the event ends. Later, rows that are far away may leave again.
    assert page.evaluate("""() => {
        dispatchEvent(new Event("beforeprint"));
        return document.querySelectorAll(".urls tbody td.url").length;
    }""") == 850


def test_original_file_is_downloaded(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample, "&q=anemone.png")
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Download {SITE}/pictures/anemone.png").click()
    assert download.value.suggested_filename == "anemone.png"
    assert Path(download.value.path()).read_bytes() == (FIXTURES / "site" / "media" / "anemone.png").read_bytes()


def test_missing_url_is_explained(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample, "&q=fieldguide.example/winter.html")
    expect(page.locator(".url-list .range")).to_contain_text("No URLs match.")
    page.get_by_role("link", name=f"Why isn't {SITE}/winter.html here?").click()
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()


def test_prefix_needs_a_host(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample, "&q=fieldgui&match=prefix")
    expect(page.locator(".url-list .range")).to_have_text("No URLs match. “starts with” needs the whole host: example.org/")


def test_types_are_counted(shared_host_with_sample, page):
    open_list(page, shared_host_with_sample)
    count = sum(1 for capture in CAPTURES if capture["url"].endswith(".pdf"))
    expect(page.get_by_label("Type", exact=True).locator("option[value=pdf]")).to_have_text(f"PDF ({count})")


def test_list_is_continued_after_empty_parts(shared_host_with_sample, page):
    """As for a large index: the first part is empty, the second is short, the third is the last. The end of the list is visible."""
    seen = []

    def answer(route):
        cursor = re.search("cursor=([^&]*)", route.request.url)
        seen.append(cursor.group(1) if cursor else "")
        name = {"": [], "a": ["one"], "b": ["two"]}[seen[-1]]
        found = {"urls": [{"url": f"{SITE}/{each}", "timestamp": "20241121090000", "type": "html"} for each in name]}
        following = {"": "a", "a": "b"}.get(seen[-1])
        route.fulfill(json=found | ({"next": following} if following else {}))

    page.route("**/api/archives/sample/urls?**", answer)
    open_list(page, shared_host_with_sample)
    expect(urls(page)).to_have_text([f"{SITE}/one", f"{SITE}/two"])
    assert seen == ["", "a", "b"]
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_long_search_can_be_stopped_and_continued(shared_host_with_sample, page):
    waiting = []
    page.route("**/api/archives/sample/urls?**", lambda route: waiting.append(route))
    open_list(page, shared_host_with_sample)
    wait_until(lambda: page.evaluate("1") and waiting, "the first part is requested")
    expect(page.get_by_text("Searching…")).to_be_visible()
    expect(urls(page)).to_have_count(0)
    waiting[0].fulfill(json={"urls": [], "next": "a"})
    wait_until(lambda: page.evaluate("1") and len(waiting) == 2, "the next part is requested")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. No URLs found so far.")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    wait_until(lambda: page.evaluate("1") and len(waiting) == 3, "the part is requested again")
    assert "cursor=a" in waiting[2].request.url
    waiting[2].fulfill(json={"urls": [{"url": SITE, "timestamp": "2024", "type": "html"}]})
    expect(urls(page)).to_have_text([SITE])


def test_archive_without_page_list_leads_to_its_urls(host, page):
    host.add(FIXTURES / "no-pages.wacz")
    # As before its pages were detected.
    page.route("**/api/archives/no-pages/pages?**", lambda route: route.fulfill(json={"total": 0, "pages": []}))
    page.goto(f"{host.home}/?archive=/archives/no-pages.wacz#view=pages")
    expect(page.get_by_text("No page list in this file.")).to_be_visible()
    page.get_by_role("link", name="Browse its 1 URL.").click()
    page.get_by_role("link", name="https://leaf.example/", exact=True).click()
    expect(Viewer(page).read("body")).to_contain_text("This archive lists no pages.")


def test_detected_pages_are_said_to_be_detected(host, page):
    host.add(FIXTURES / "no-pages.wacz")
    details = lambda: json.loads(host.request("GET", "/api/archives/no-pages")[2])
    wait_until(lambda: details().get("text", {}).get("isComplete"), "the archive is indexed")
    page.goto(f"{host.home}/?archive=/archives/no-pages.wacz#view=pages")
    expect(page.get_by_text("These pages were detected: the archive has no page list.")).to_be_visible()
    expect(page.locator(".page-line a")).to_have_count(1)
    expect(page.get_by_text("1 page (detected)")).to_be_visible()
    page.locator(".page-line a").click()
    expect(Viewer(page).read("body")).to_contain_text("This archive lists no pages.")


def test_detected_main_page_opens(host, page):
    host.add(FIXTURES / "no-pages.wacz")
    wait_until(lambda: "mainPage" in host.archive("no-pages"), "the pages are detected")
    page.goto(host.home)
    expect(page.get_by_text("1 page (detected)")).to_be_visible()
    page.get_by_role("link", name="Open", exact=False).first.click()
    expect(Viewer(page).read("body")).to_contain_text("This archive lists no pages.")


def test_collection_lists_the_urls_of_its_archives(host_with_sample, page):
    host = host_with_sample
    host.add(FIXTURES / "second.wacz")
    collection = host.create_collection("Both", "sample", "second")
    page.goto(f"{host.home}/?collection={collection}#view=urls&q=tides")
    link = page.get_by_role("link", name=f"{SITE}/tides.html", exact=True).first
    link.click()
    expect(page).to_have_url(re.compile(rf"\?collection={collection}#url="))
    expect(Viewer(page).read("h1")).to_have_text("How the tide works")
    page.go_back()
    expect(link).to_be_visible()
