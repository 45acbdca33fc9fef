"""Layout and accessibility of all views: narrow, wide and zoomed, light, dark and with forced colours."""

import json
import os
import re
import shutil

import pytest
from support.accessibility import view_problems
from support.archives import write_archive, write_captures
from support.expecting import expect, expect_loaded
from support.jobs import FakeJobs
from support.journey import SITE, TITLE, expect_home
from support.places import FIXTURES, SCREENSHOTS
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


def show_empty_library(host, page, folder):
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()


def show_library(host, page, folder):
    for name in ["sample.wacz", "debian-faq.wacz", "damaged/index-past-the-end.wacz"]:
        host.add(FIXTURES / name)
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()


def show_archive(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=pages")
    expect(page.get_by_role("link", name=f"Species - {TITLE}")).to_be_visible()


def show_findings(host, page, folder):
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    page.goto(f"{host.home}/?archive=/archives/index-past-the-end.wacz#view=details")
    expect(page.get_by_role("heading", name="Issues found in this file")).to_be_visible()


def show_viewer(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))


def show_uncaptured(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#url={SITE}/winter.html")
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    expect(page.get_by_role("link", name=f"Species - {TITLE}")).to_be_visible()


def fill_library(host, folder):
    """Adds a collection, long tags and notes, and unavailable and changed archives. Returns the collection's ID."""
    host.add(FIXTURES / "sample.wacz")
    host.add(FIXTURES / "second.wacz")
    for name in ["debian-faq", "no-pages"]:
        host.add(shutil.copy(FIXTURES / f"{name}.wacz", folder / f"{name}.wacz"), "--link")
    os.remove(folder / "debian-faq.wacz")
    (folder / "no-pages.wacz").write_bytes(b"something else")
    host.change("PATCH", "/api/archives/sample", {
        "tags": ["tidepools", "field guides", "Skerry Bay and all the other bays to the west of it, up to the lighthouse"],
        "notes": "Crawled twice, in May and in November.\n\nThe film is whole.\nAsk " + "x" * 120})
    metadata = {"tags": ["shore"], "notes": "For the exhibition."}
    return host.create_collection("Everything from the shore", "sample", "second", "debian-faq", **metadata)


def show_full_library(host, page, folder):
    fill_library(host, folder)
    page.goto(host.home)
    expect(page.get_by_role("region", name="Collections").get_by_text("3 archives")).to_be_visible()


def show_activity(host, page, folder):
    """With jobs that the server doesn't have: many of one kind, one of another, and failures."""
    fake = FakeJobs(page.context)
    fake.job(id=1, kind="hash", subject="a" * 90 + ".wacz", done=3e9, total=8e9)
    for number in range(10):
        fake.job(id=10 + number, kind="verify", subject=f"{number}.wacz", state="done" if number < 4 else "waiting")
    fake.job(id=2, kind="import", state="failed", attempt=2, subject="/media/usb/crawl.wacz",
        reason="no space left while copying; free some space on that file system")
    for number in range(9):
        fake.job(id=30 + number, kind="import", state="failed", errorCode="archive-refused", subject=f"/media/usb/notes-{number}.wacz",
            reason="this isn't a web archive")
    fake.events.clear()
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/#activity")
    expect(page.get_by_role("region", name="Failures")).to_contain_text("No space left")
    expect(page.get_by_role("region", name="In progress")).to_contain_text("Verifying 4 of 10 archives")


def show_tray(host, page, folder):
    fake = FakeJobs(page.context)
    for number in range(10):
        fake.job(id=10 + number, kind="verify", subject=f"{number}.wacz", state="done" if number < 4 else "waiting")
    fake.events.clear()
    show_library(host, page, folder)
    expect(page.get_by_role("region", name="Progress", exact=True)).to_contain_text("Verifying 4 of 10 archives")


def show_no_activity(host, page, folder):
    page.goto(f"{host.home}/#activity")
    expect(page.get_by_text("No active jobs")).to_be_visible()


def show_settings(host, page, folder):
    page.context.route("**/api/facets*", lambda route: route.fulfill(json={
        "freeBytes": 70e9, "library": {"archives": 590, "collections": 0, "bytes": 61e6}}))
    page.goto(f"{host.home}/#settings")
    expect(page.get_by_text("70 GB")).to_be_visible()


def show_shortcuts(host, page, folder):
    show_empty_library(host, page, folder)
    expect_loaded(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def show_add_by_path(host, page, folder):
    show_empty_library(host, page, folder)
    page.get_by_role("button", name="Add by path…").click()
    expect(page.get_by_role("dialog", name="Add by path")).to_be_visible()


def show_new_collection(host, page, folder):
    show_full_library(host, page, folder)
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("checkbox", name=f"Select {TITLE}").check()
    page.get_by_role("button", name="New collection…").click()


def show_archive_with_metadata(host, page, folder):
    fill_library(host, folder)
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    expect(page.locator(".notes")).to_contain_text("The film is whole.")
    expect(page.get_by_role("heading", name="Captures by month")).to_be_visible()


def show_edit(host, page, folder):
    show_archive_with_metadata(host, page, folder)
    page.get_by_role("button", name="Edit tags and notes").click()


def show_archive_menu(host, page, folder):
    show_archive(host, page, folder)
    page.get_by_role("button", name="More actions").click()


def show_edited_title(host, page, folder):
    show_archive(host, page, folder)
    page.get_by_role("button", name="Edit title").click()


def show_urls(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=urls")
    expect(page.locator(".urls tbody tr").first).to_be_visible()


def show_files(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=files")
    expect(page.locator(".files img").first).to_be_visible()
    page.locator(".files img").first.evaluate("image => image.decode()")


def show_timeline(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=timeline&after=20241121&before=20241122")
    expect(page.locator(".day-captures li").first).to_be_visible()


def show_unavailable(host, page, folder):
    fill_library(host, folder)
    page.goto(f"{host.home}/?archive=/archives/debian-faq.wacz#view=pages")
    expect(page.get_by_text("Can't find").first).to_be_visible()


def show_collection(host, page, folder):
    collection = fill_library(host, folder)
    page.goto(f"{host.home}/?collection={collection}#view=archives")
    expect(page.get_by_label("Add an archive")).to_be_visible()


def show_overview_of_collection(host, page, folder):
    collection = fill_library(host, folder)
    page.goto(f"{host.home}/?collection={collection}#view=overview")
    expect(page.get_by_role("heading", name="Captures by month")).to_be_visible()


def show_collection_in_viewer(host, page, folder):
    page.goto(f"{host.home}/?collection={fill_library(host, folder)}&replay=ranges")
    expect(Viewer(page).read("#edition")).to_have_text("Autumn edition")


def show_stopped_server(host, page, folder):
    show_library(host, page, folder)
    expect_loaded(page)
    host.stop()
    expect(page.locator(".banners").get_by_text("replayhost has stopped")).to_be_visible()


def show_link_to_another_program(host, page, folder):
    links = "<p>Write to <a href='mailto:press%40shore.example'>the press office</a> about it.</p>"
    host.add(write_archive(folder / "mail.wacz", "Shore News", {"https://shore.example/": f"<title>News</title><h1>News</h1>{links}"}))
    page.goto(f"{host.home}/?archive=/archives/mail.wacz")
    Viewer(page).follow("the press office")
    expect(page.get_by_text("This link opens an email to press@shore.example")).to_be_visible()


def show_imports_that_add_nothing(host, page, folder):
    """A duplicate, and a file that isn't an archive."""
    (folder / "holiday.wacz").write_bytes(b"no archive")
    host.add(FIXTURES / "sample.wacz")
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files([FIXTURES / "sample.wacz", folder / "holiday.wacz"])
    expect(page.get_by_text("1 duplicate, 1 failed").last).to_be_visible()


def show_failed_import(host, page, folder):
    (folder / "holiday.wacz").write_bytes(b"no archive")
    host.add(FIXTURES / "sample.wacz")
    page.goto(host.home)
    page.locator("input[type=file]").set_input_files(folder / "holiday.wacz")
    expect(page.get_by_text("Couldn't add “holiday.wacz”")).to_be_visible()


def show_unknown_url(host, page, folder):
    page.goto(f"{host.home}/archives/unknown.wacz")
    expect(page.get_by_role("link", name="Open the library")).to_be_visible()


def show_report(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    wait_until(lambda: host.archive("sample")["verification"] == "hashes-agree", "the archive is verified")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=report&page={SITE}/&ts=20241121090000")
    expect(page.get_by_role("article")).to_contain_text("at byte offset 6796, 1419 bytes long")


def show_what_a_mark_proves(host, page, folder):
    """With a long name of a signer, beside the time of a capture."""
    host.add(FIXTURES / "sample.wacz")
    summary = {"code": "signed", "contents": "hashes-agree",
        "signer": "archive.signing-service.example.org", "verifiedAt": "2026-01-02T03:04:05Z"}
    details = {**host.archive("sample"), "verification": "signed", "verificationSummary": summary}
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=details))

    captures = json.loads(host.request("GET", f"/api/archives/sample/captures?url={SITE}/&limit=100&closest=20241121090000")[2])
    captures["closest"]["verification"] = "signed"
    page.route(re.compile(r"/api/archives/sample/captures\?.*closest"), lambda route: route.fulfill(json=captures))
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    page.get_by_role("button", name="Signed by archive.signing-service.example.org").click()
    expect(page.get_by_role("group", name="What this mark means")).to_be_visible()


def show_selection(host, page, folder):
    """Two selected archives in the list, and how many there are."""
    for name in ["sample.wacz", "debian-faq.wacz", "damaged/index-past-the-end.wacz"]:
        host.add(FIXTURES / name)
    page.goto(f"{host.home}/#as=list&sort=title")
    expect(page.locator(".row h2")).to_have_count(3)
    page.get_by_role("button", name="Select", exact=True).click()
    for title in [TITLE, "A single leaf"]:
        page.get_by_role("checkbox", name=f"Select {title}").check()
    expect(page.get_by_text("2 selected")).to_be_visible()


def show_removal(host, page, folder):
    show_archive(host, page, folder)
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Remove…").click()
    expect(page.get_by_role("dialog")).to_contain_text("frees 185 kB")


def show_loading_library(host, page, folder):
    """The first of many archives, of which the others are still being read."""
    host.add(FIXTURES / "sample.wacz")
    page.route("**/api/archives?*", lambda route: route.fulfill(json={"total": 1000, "archives": host.archives()})
        if "offset=0&" in route.request.url else None)
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect(page.locator(".skeleton").first).to_be_visible()


def show_failed_library(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    error = {"error": {"code": "io", "what": "can't read catalog.sqlite", "hint": "check the disk"}}
    page.route("**/api/archives?*", lambda route: route.fulfill(status=500, json=error))
    page.goto(host.home)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def show_toast(host, page, folder):
    show_archive(host, page, folder)
    page.evaluate("async () => { (await import('/app/components/toast.js')).toast('“Tidepool Field Guide” was added.', "
        "{ text: 'Open', onChosen: () => {} }); }")
    expect(page.locator(".toast")).to_be_visible()


def show_captures(host, page, folder):
    """Of one URL in 15 years, three of them on one day, of which two repeat the first."""
    times = [f"{year}-05-03T10:15:00Z" for year in range(2009, 2024)]
    times += [f"2024-11-21T{hour:02}:00:00Z" for hour in (9, 12, 15)]
    body = b"<!doctype html><title>News</title><h1>News</h1>"
    captures = [({"url": f"{SITE}/", "time": time}, body + time[:4].encode()) for time in times]
    host.add(write_captures(folder / "years.wacz", "Fifteen years", captures))
    page.goto(f"{host.home}/?archive=/archives/years.wacz#url={SITE}/&ts=20241121090000")
    expect(Viewer(page).read("h1")).to_have_text("News")
    page.locator(".capture-chip").click()
    expect(page.get_by_role("grid", name="November 2024")).to_be_visible()
    expect(page.get_by_role("button", name="2 captures, unchanged since 09:00:00")).to_be_attached()


def compare_captures(host, page, folder, way):
    """Of a redirect and an error, with words and lines wider than a window, and much that is the same."""
    same = "".join(f"<p>{number} The water comes and goes.</p>\n" for number in range(100))
    words = ["low" + "w" * 300, "high"]
    captures = [({"url": f"{SITE}/", "time": f"2024-0{month}-01T00:00:00Z", "status": status, "location": f"{SITE}/{'x' * 200}"},
        f"<!doctype html><title>News</title>{same}<p>{words[month - 1]}</p>{same}".encode()) for month, status in [(1, 301), (2, 404)]]
    host.add(write_captures(folder / "news.wacz", "Two captures of the news", captures))
    page.goto(f"{host.home}/?archive=/archives/news.wacz#compare={SITE}/&a=20240101000000&b=202403&as={way}")


def show_compared_text(host, page, folder):
    compare_captures(host, page, folder, "text")
    expect(page.get_by_role("main").get_by_text("1 change", exact=True)).to_be_visible()


def show_compared_source(host, page, folder):
    compare_captures(host, page, folder, "source")
    expect(page.get_by_role("button", name="unchanged lines").first).to_be_visible()


def show_compared_pages(host, page, folder):
    host.add(FIXTURES / "sample.wacz")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#compare={SITE}/&a=20240503&b=20241121&as=pages")
    expect(page.frame_locator('iframe[title^="B, "]').get_by_role("link").first).to_be_visible()


VIEWS = {
    "compare-text": show_compared_text, "compare-source": show_compared_source, "compare-pages": show_compared_pages,
    "selection": show_selection, "removal": show_removal, "library-loading": show_loading_library,
    "library-failed": show_failed_library, "toast": show_toast,
    "report": show_report, "mark": show_what_a_mark_proves,
    "stopped": show_stopped_server, "other-program": show_link_to_another_program,
    "imports-nothing": show_imports_that_add_nothing, "unknown-url": show_unknown_url,
    "library-empty": show_empty_library, "library": show_library, "archive": show_archive, "findings": show_findings,
    "viewer": show_viewer, "captures": show_captures, "not-captured": show_uncaptured, "library-full": show_full_library,
    "tray": show_tray, "activity": show_activity, "activity-none": show_no_activity, "settings": show_settings, "shortcuts": show_shortcuts,
    "add-by-path": show_add_by_path, "import-failed": show_failed_import, "new-collection": show_new_collection,
    "metadata": show_archive_with_metadata, "edit": show_edit, "archive-menu": show_archive_menu, "title": show_edited_title,
    "urls": show_urls, "files": show_files, "timeline": show_timeline, "collection-overview": show_overview_of_collection,
    "unavailable": show_unavailable, "collection": show_collection, "collection-viewer": show_collection_in_viewer,
}


# Expected errors in the browser's console.
ERRORS = {"stopped": "ERR_CONNECTION_REFUSED", "imports-nothing": "422", "import-failed": "422", "unknown-url": "404",
    "library-failed": "500"}


@pytest.mark.parametrize("view", VIEWS)
def test_view_fits_and_is_accessible(host, browser, view, tmp_path):
    """Nothing scrolls sideways or is cut, axe finds nothing, no animation runs, and the focus is always visible."""
    page = browser.page
    if view in ERRORS:
        browser.allow(ERRORS[view])
    VIEWS[view](host, page, tmp_path)
    problems = view_problems(page, view)
    assert not problems, "\n".join(problems)


def test_toolbar_shows_url_and_time(host, page, tmp_path):
    """The whole time, and as much of the URL as tells pages apart."""
    url = "https://harbour.example/news/2024/an-address-of-a-page.html"
    host.add(write_captures(tmp_path / "harbour.wacz", "Harbour Notebook of the northern coast", [
        ({"url": url, "time": f"{year}-09-30T10:09:00Z"}, b"<!doctype html><h1>News</h1>") for year in (2018, 2019)]))
    page.set_viewport_size({"width": 360, "height": 640})
    page.goto(f"{host.home}/?archive=/archives/harbour.wacz#url={url}&ts=2019")
    expect(Viewer(page).read("h1")).to_have_text("News")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in [360, 768, 1280]:
        page.set_viewport_size({"width": width, "height": 640})
        expect_whole_time(page)
        assert page.locator(".url-bar").bounding_box()["width"] >= 320
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for scheme in ["light", "dark"]:
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=SCREENSHOTS / f"toolbar-{width}-{scheme}.png")


def expect_whole_time(page):
    chip = page.locator(".capture-chip")
    expect(chip).to_be_visible()
    assert chip.evaluate("(chip) => chip.scrollWidth <= chip.clientWidth")
