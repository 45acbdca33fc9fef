"""The page of an archive or a collection: its head, its tabs, and what each of them leads to."""

import json
import re
import shutil
from collections import Counter
from urllib.parse import parse_qs, urlsplit

import pytest

from support.archives import write_archive, write_captures
from support.expecting import expect, expect_loaded
from support.journey import SITE, TITLE, expect_home, open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

CAPTURES = json.loads((FIXTURES / "site" / "sample.json").read_text())["captures"]
LONG = 50_000


def open_page(host, page, name="sample", view="overview"):
    page.goto(f"{host.home}/?archive=/archives/{name}.wacz#view={view}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def expect_names(elements, names):
    expect(elements).to_have_count(len(names))
    assert elements.evaluate_all("all => all.map((one) => one.ariaLabel)") == names


def choose(page, name):
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=name, exact=True).click()


def test_overview_sums_up_the_archive(shared_host_with_sample, page):
    """Sites and months as in Fixtures/site/sample.json. Each number leads to the list that it counts."""
    open_page(shared_host_with_sample, page)
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    card = page.locator(".main-card")
    expect(card).to_contain_text(TITLE)
    expect(card).to_contain_text("21 November 2024, 09:00 UTC")
    hosts = Counter(urlsplit(capture["url"]).hostname for capture in CAPTURES)
    expect(page.get_by_role("region", name="Sites").get_by_role("listitem")).to_have_text(
        [f"{host} {count}" for host, count in hosts.most_common()])
    months = Counter(capture["time"][:7] for capture in CAPTURES)
    bars = page.get_by_role("list", name="Captures by month").get_by_role("link")
    names = ["May", "June", "July", "August", "September", "October", "November"]
    texts = [f"{name} 2024: {months[f'2024-{number:02}']} captures" for number, name in enumerate(names, 5)]
    expect_names(bars, texts)
    expect(bars.first).to_have_text("May2024")
    page.get_by_text("As a list").click()
    expect(page.locator(".as-list li")).to_have_text([text for text in texts if ": 0 " not in text])
    page.get_by_role("region", name="Sites").get_by_role("link", name="media.fieldguide.example").click()
    expect(page.locator(".urls tbody tr")).to_have_count(hosts["media.fieldguide.example"])
    page.go_back()
    card.click()
    expect_home(Viewer(page))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_picture_of_the_archive_is_shown(shared_host_with_sample, browser):
    """Without one, or if it can't be shown, the first letter of the site."""
    page = browser.page
    browser.allow(r"404 .*/api/archives/sample/thumbnail\)$")
    details = {**shared_host_with_sample.archive("sample"), "thumbnail": "/api/archives/sample/thumbnail"}
    page.route("**/api/archives/sample", lambda route: route.fulfill(json=details))
    picture = {"path": FIXTURES / "site" / "media" / "anemone.png"}
    page.route("**/api/archives/sample/thumbnail", lambda route: route.fulfill(**picture))
    open_page(shared_host_with_sample, page)
    expect(page.locator(".archive-mark img")).to_have_count(2)
    picture.clear()
    picture["status"] = 404
    page.reload()
    expect(page.locator(".archive-mark")).to_have_text(["F", "F"])
    details["thumbnail"] = "https://elsewhere.example/picture.png"
    page.reload()
    expect(page.locator(".archive-mark")).to_have_text(["F", "F"])


def test_lists_begin_near_the_top(shared_host_with_sample, page):
    page.set_viewport_size({"width": 360, "height": 740})
    for view, row in [("pages", ".page-line"), ("files", ".files li")]:
        open_page(shared_host_with_sample, page, view=view)
        expect(page.locator(row).first).to_be_visible()
        assert page.locator(row).first.bounding_box()["y"] < 400, view


def answer_with_pages(page, total=LONG):
    """As for an archive that lists this many pages."""
    def answer(route):
        query = parse_qs(urlsplit(route.request.url).query)
        offset, limit, wanted = int(query["offset"][0]), int(query["limit"][0]), query.get("q", [""])[0]
        numbers = [number for number in range(total) if wanted in f"Page {number}"] if wanted else range(total)
        route.fulfill(json={"total": len(numbers), "pages": [
            {"position": number, "list": "pages", "url": f"{SITE}/{number}", "title": f"Page {number}",
                "timestamp": f"{2000 + number % 20}0102030405", "capturedAt": f"{2000 + number % 20}-01-02T03:04:05Z"}
            for number in numbers[offset:offset + limit]]})

    page.route("**/api/archives/sample/pages?**", answer)


def test_head_of_a_narrow_window(shared_host_with_sample, page):
    """No fact is broken, no line begins with a dot, and the field for the title has the whole width."""
    page.set_viewport_size({"width": 360, "height": 740})
    open_page(shared_host_with_sample, page)
    facts = page.locator(".facts-line > span:not(.trust-place)")
    expect(facts).to_have_text(["3 May 2024 – 21 November 2024 ·", "10 pages ·", "31 captures ·", re.compile(r"^\d+ kB$")])
    assert facts.evaluate_all("all => all.map((one) => Math.round(one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight)))") == [1] * 4
    page.get_by_role("button", name="Edit title").click()
    assert page.get_by_role("textbox", name="Title").bounding_box()["width"] > 300


def test_current_tab_stays_in_sight(shared_host_with_sample, page):
    """In a narrow window the tabs scroll, and a shade shows on which side there are more."""
    def is_shaded(side):
        box = page.locator(".tabs").bounding_box()
        x = box["x"] if side == "left" else box["x"] + box["width"] - 4
        beside, edge = [page.screenshot(clip={"x": at, "y": box["y"], "width": 4, "height": 4}) for at in (2, x)]
        return edge != beside

    open_page(shared_host_with_sample, page, view="details")
    for width, more in [(360, ["left"]), (768, []), (320, ["left"])]:
        page.set_viewport_size({"width": width, "height": 740})
        expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=.99)
        wait_until(lambda: [side for side in ["left", "right"] if is_shaded(side)] == more, f"at {width} px, there are more tabs: {more}")
    page.get_by_role("link", name="Overview").click()
    wait_until(lambda: not is_shaded("left") and is_shaded("right"), "the first tab is shown")


def test_buttons_of_a_dialog_stay_in_sight(shared_host_with_sample, page):
    """In a low window, as at 400 %, the rest of the dialog scrolls."""
    page.set_viewport_size({"width": 320, "height": 256})
    open_page(shared_host_with_sample, page)
    expect_loaded(page)
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_in_viewport(ratio=.99)
    actions = dialog.locator(".dialog-actions")
    for _ in range(3):
        field = dialog.locator(":focus")
        expect(field).to_be_in_viewport()
        assert field.evaluate("(one) => one.closest('.dialog-actions') !== null") or \
            field.bounding_box()["y"] < actions.bounding_box()["y"]
        page.keyboard.press("Tab")


def test_long_list_of_pages_scrolls(shared_host_with_sample, page):
    """Only the rows that are near are in the document. Back and a reload keep the position."""
    answer_with_pages(page)
    open_page(shared_host_with_sample, page, view="pages")
    link = lambda number: page.get_by_role("link", name=f"Page {number}", exact=True)
    expect(link(0)).to_be_visible()
    longest = page.evaluate("""async () => {
        let [longest, before] = [0, performance.now()];
        const end = before + 3000;
        for (let step = 0; performance.now() < end; step += 1) {
            scrollBy(0, 400);
            await new Promise(requestAnimationFrame);
            longest = Math.max(longest, document.querySelectorAll(".page-list [role=listitem]").length);
        }
        return longest;
    }""")
    assert longest < 300, "rows in the document"
    link_at_end = link(LONG - 1)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(link_at_end).to_be_visible()
    row = link(LONG - 5)
    row.scroll_into_view_if_needed()
    before = row.bounding_box()["y"]
    row.click()
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    for leave in [page.go_back, page.reload]:
        leave()
        expect(row).to_be_visible()
        wait_until(lambda: abs(row.bounding_box()["y"] - before) <= 2, "the list is where it was")
    row.focus()
    page.keyboard.press("Home")
    expect(link(0)).to_be_focused()
    for key, number in [("ArrowDown", 1), ("End", LONG - 1), ("ArrowUp", LONG - 2)]:
        page.keyboard.press(key)
        expect(link(number)).to_be_focused()


def test_pages_are_filtered(shared_host_with_sample, page):
    open_page(shared_host_with_sample, page, view="pages")
    field = page.get_by_role("searchbox", name="Filter by title or URL")
    field.fill("limpet")
    expect(page.locator(".page-line a")).to_have_text([f"Common limpet - {TITLE}"])
    expect(page).to_have_url(re.compile("#view=pages&q=limpet$"))
    page.reload()
    expect(page.locator(".page-line a")).to_have_text([f"Common limpet - {TITLE}"])
    expect(field).to_have_value("limpet")
    field.fill("nowhere")
    expect(page.locator(".range")).to_have_text("No pages match")
    # A tab keeps what it shows.
    open_tab(page, "Details")
    page.go_back()
    expect(field).to_have_value("nowhere")


@pytest.fixture
def years(host, tmp_path):
    """An archive of pages from several years. Its captures by day are in `DAYS`."""
    host.add(write_captures(tmp_path / "years.wacz", "Years", [
        ({"url": f"https://years.example/{number}", "time": time}, f"<title>Page {number}</title>".encode())
        for number, time in enumerate(TIMES)]))
    return host


TIMES = ["2019-06-01T10:00:00Z", "2021-03-04T11:00:00Z", "2021-03-04T09:00:00Z", "2021-03-20T08:00:00Z", "2021-04-01T07:00:00Z",
    "2021-12-31T23:59:59Z", "2022-01-01T00:00:00Z"]


def bar(page, name):
    return page.locator(".bars").get_by_role("link", name=name)


def test_timeline_leads_from_years_to_captures(years, page):
    open_page(years, page, "years", "timeline")
    expect_names(page.get_by_role("list", name="Years").get_by_role("link"), ["2019: 1 capture", "2020: 0 captures", "2021: 5 captures", "2022: 1 capture"])
    bar(page, "2021: 5 captures").click()
    expect(page.get_by_role("heading", name="Months of 2021")).to_be_visible()
    bar(page, "March 2021: 3 captures").click()
    days = page.locator(".calendar a")
    expect_names(days, ["4 March 2021: 2 captures", "20 March 2021: 1 capture"])
    days.first.click()
    rows = page.locator(".day-captures li")
    expect(rows).to_have_text(["09:00:00200https://years.example/2", "11:00:00200https://years.example/1"])
    expect(page).to_have_url(re.compile("#view=timeline&after=20210304&before=20210305$"))
    page.reload()
    expect(rows).to_have_count(2)
    # The arrow keys choose a day, and Page Down another month.
    days.first.focus()
    page.keyboard.press("ArrowRight")
    expect(rows).to_have_text(["08:00:00200https://years.example/3"])
    expect(days.last).to_be_focused()
    page.keyboard.press("PageDown")
    expect(page.get_by_role("heading", name="April 2021: 1 capture")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="March 2021: 3 captures")).to_be_visible()
    bar(page, "December 2021: 1 capture").click()
    expect(page.get_by_role("heading", name="December 2021: 1 capture")).to_be_visible()
    # Until they're counted, all days are links.
    expect(days).to_have_count(1)
    days.first.click()
    rows.get_by_role("link").click()
    expect(page.locator(".capture-time")).to_be_visible()


def test_span_of_the_timeline_filters_pages(years, page):
    open_page(years, page, "years", "timeline&after=202103&before=202104")
    bar(page, "March 2021").focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_role("heading", name="March 2021 – April 2021: 4 captures")).to_be_visible()
    expect(bar(page, "April 2021")).to_be_focused()
    page.get_by_role("link", name="Show pages").click()
    expect(page.locator(".page-line a")).to_have_text([f"Page {number}" for number in [1, 2, 3, 4]])
    expect(page.locator(".range")).to_have_text("4 pages match")
    page.get_by_role("link", name="Remove filter: March 2021 – April 2021").click()
    expect(page.locator(".page-line a")).to_have_count(len(TIMES))


def test_files_are_shown_by_kind(shared_host_with_sample, page):
    open_page(shared_host_with_sample, page, view="files")
    images = {capture["url"] for capture in CAPTURES if re.search(r"\.(svg|png|jpg|ico)$", capture["url"])}
    pictures = page.locator(".files.images img")
    expect(pictures).to_have_count(len(images))
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    page.get_by_role("link", name="PDFs").click()
    expect(page.locator(".range")).to_have_text("No PDFs.")
    page.get_by_role("link", name="Data").click()
    expect(page.locator(".files .open")).to_have_text(["species.json", "tides.json"])
    expect(page).to_have_url(re.compile("#view=files&type=data$"))
    page.reload()
    expect(page.locator(".files .open")).to_have_count(2)
    page.get_by_role("link", name="Audio and video").click()
    expect(page.locator(".files .open")).to_have_text(["waves.webm"])
    with page.expect_download() as download:
        page.get_by_role("link", name="Download waves.webm").click()
    assert download.value.suggested_filename == "waves.webm"
    page.get_by_role("link", name="Images").click()
    page.get_by_role("link", name="anemone.png", exact=True).click()
    expect(page.get_by_role("textbox", name="URL in this archive")).to_have_value(f"{SITE}/pictures/anemone.png")


def test_issues_are_counted_and_noted(host, page):
    host.add(FIXTURES / "damaged" / "index-past-the-end.wacz")
    wait_until(lambda: "verificationSummary" in host.archive("index-past-the-end"), "the archive is verified")
    open_page(host, page, "index-past-the-end")
    expect(page.locator(".replay-note")).to_contain_text("This capture can't be replayed.")
    page.get_by_role("link", name="See details").click()
    expect(page.get_by_role("heading", name="Issues found in this file")).to_be_visible()
    expect(page.get_by_role("navigation", name="Contents").locator("[aria-current]")).to_contain_text("issues")
    expect(page.locator(".replay-note")).to_be_hidden()
    shown = page.locator(".issue:is(.error-finding, .warning-finding)").count()
    assert 0 < shown < sum(host.archive("index-past-the-end")["findingCounts"].values())
    expect(page.locator(".tabs [aria-current] .issue-count")).to_have_text(f"⚠{shown}")


def test_archive_without_main_page_opens_its_overview(host, page):
    host.add(FIXTURES / "no-pages.wacz")
    details = {**host.archive("no-pages"), "mainPage": None, "pageCount": 0, "findings": []}
    page.route("**/api/archives/no-pages", lambda route: route.fulfill(json=details))
    page.goto(f"{host.home}/?archive=/archives/no-pages.wacz")
    expect(page.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    expect(page).to_have_url(re.compile("#view=overview$"))
    page.get_by_role("link", name="Browse URLs").click()
    expect(page.locator(".urls tbody tr")).to_have_count(1)


def test_stored_archive_is_removed_after_a_confirmation(host_with_sample, browser):
    host, page = host_with_sample, browser.page
    # The page may ask how the verification ended while the archive is removed.
    browser.allow("404")
    open_page(host, page, view="pages")
    choose(page, "Remove…")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("frees 185 kB")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="More actions")).to_be_focused()
    assert host.ids() == ["sample"]
    choose(page, "Remove…")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator(".toast")).to_contain_text("This freed 185 kB.")
    expect(page).to_have_url(f"{host.home}/")
    assert host.ids() == []


def test_linked_archive_is_removed_with_undo(host, page, tmp_path):
    file = shutil.copy(FIXTURES / "sample.wacz", tmp_path / "sample.wacz")
    host.add(file, "--link")
    open_page(host, page)
    choose(page, "Remove…")
    expect(page.locator(".toast")).to_contain_text("Its file stays where it is.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    assert host.ids() == ["sample"]


def test_failed_removal_is_told(host, browser, tmp_path):
    page = browser.page
    browser.allow("500")
    host.add(FIXTURES / "sample.wacz")
    collection = host.create_collection("Both", "sample")
    page.route("**/api/collections/both", lambda route: route.fulfill(status=500, json={"error": {"code": "x", "what": "the disk is full"}})
        if route.request.method == "DELETE" else route.continue_())
    page.goto(f"{host.home}/?collection={collection}#view=archives")
    choose(page, "Remove…")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".toast")).to_contain_text("Couldn't remove “Both”. The disk is full.")
    expect(page.get_by_role("heading", name="Both", level=1)).to_be_visible()


def test_collection_marks_damaged_and_unavailable_archives(host, page, tmp_path):
    file = shutil.copy(FIXTURES / "second.wacz", tmp_path / "second.wacz")
    for path, *options in [(FIXTURES / "sample.wacz",), (file, "--link"), (FIXTURES / "damaged" / "index-past-the-end.wacz",)]:
        host.add(path, *options)
    wait_until(lambda: "verificationSummary" in host.archive("index-past-the-end"), "the damaged archive is verified")
    collection = host.create_collection("All", "sample", "second", "index-past-the-end")
    (tmp_path / "second.wacz").unlink()
    page.goto(f"{host.home}/?collection={collection}#view=archives")
    rows = page.locator(".members li")
    expect(rows).to_have_count(3)
    expect(rows.nth(0).locator(".mark")).to_have_count(0)
    expect(rows.nth(1)).to_contain_text("Unavailable")
    expect(rows.nth(2).locator("p")).to_have_text(re.compile(r"kB \d+ errors?.* Can't show everything$"))
    rows.nth(2).get_by_role("link", name=re.compile("error")).click()
    expect(page.get_by_role("heading", name="Issues found in this file")).to_be_visible()
    # Sums over the archives that can be read.
    page.goto(f"{host.home}/?collection={collection}#view=overview")
    expect(page.get_by_role("region", name="Sites").get_by_role("link", name="fieldguide.example", exact=True)).to_be_visible()


def test_menu_says_what_each_file_is(shared_host_with_sample, page):
    open_page(shared_host_with_sample, page)
    page.get_by_role("button", name="More actions", exact=True).click()
    for name, text in [("Download", "The WACZ file, as you added it"), ("Repaired copy", "A new archive with a new index, for a file with issues")]:
        expect(page.get_by_role("menuitem", name=name, exact=True)).to_have_accessible_description(text)
    page.get_by_role("menuitem", name="Edit title, tags and notes…").click()
    expect(page.get_by_role("dialog")).to_contain_text("The archive file itself stays as it is.")


def test_verification_starts_from_the_menu(host_with_sample, page):
    wait_until(lambda: "verificationSummary" in host_with_sample.archive("sample"), "the archive is verified")
    open_page(host_with_sample, page)
    choose(page, "Verify")
    expect(page.get_by_role("region", name="Verification")).to_contain_text("The result is the same as before.")


def test_tabs_are_read_again_when_the_server_is_back(host, browser, tmp_path):
    """They open while the server is stopped, too."""
    page = browser.page
    browser.allow("Failed to load resource|net::ERR")
    host.add(write_archive(tmp_path / "lamp.wacz", "Lamps", {"https://lamp.example/": "<title>Lamp</title>"}))
    open_page(host, page, "lamp", "details")
    expect_loaded(page)
    # All that the tab is made of has loaded.
    page.evaluate("import('/app/archive/url-list.js').then(() => true)")
    host.stop()
    open_tab(page, "URLs")
    expect(page.get_by_role("alert")).to_be_visible()
    host.start()
    expect(page.locator(".urls tbody tr")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)


PERIODS = {
    "laterPeriod": [("2024", "2025"), ("202412", "202501"), ("20240228", "20240229"), ("20241231", "20250101"), ("202403", -3, "202312"),
        ("202401", 0, "202401")],
    "periodText": [("2024", "2024"), ("202405", "May 2024"), ("20240503", "3 May 2024")],
    "weekdayOf": [("20240101", 0), ("20240107", 6), ("20240229", 3)],
    "readSpan": [({"after": "2024", "before": "2025"}, {"after": "2024", "before": "2025"}), ({"after": "2024", "before": "202502"}, None),
        ({"after": "2025", "before": "2024"}, None), ({"after": "202413", "before": "202501"}, None), ({}, None)],
    "spanOf": [("202405", {"after": "202405", "before": "202406"}), ("202405", "202403", {"after": "202403", "before": "202406"})],
    "isIn": [({"after": "2024", "before": "2025"}, "20241231235959", True), ({"after": "2024", "before": "2025"}, "20250101000000", False),
        ({"after": "202405", "before": "202406"}, "202405", True), ({}, "2024", True)],
}


def test_periods(shared_host_with_sample, page):
    """The last column is the expected result."""
    page.goto(shared_host_with_sample.home)
    for name, rows in PERIODS.items():
        results = page.evaluate("""async ([name, rows]) => {
            const { [name]: call } = await import("/app/core/periods.js");
            return rows.map((row) => call(...row) ?? null);
        }""", [name, [row[:-1] for row in rows]])
        assert results == [row[-1] for row in rows], name
