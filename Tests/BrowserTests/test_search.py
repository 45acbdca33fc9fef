"""Search: suggestions, results, filters, the way to a page and back, and hostile texts."""

import json
import re
from urllib.parse import quote

import pytest

from support.accessibility import view_problems
from support.archives import write_archive, write_captures
from support.expecting import expect, expect_loaded
from support.journey import SITE, TITLE
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

HOSTILE = '<img src=x onerror="document.title=\'attacked\'">'


def captured(url, time, title, text, lang="en"):
    html = f"<!doctype html><html lang={lang}><title>{title}</title><body><h1>{title}</h1><p>{text}</p>"
    return {"url": url, "time": time}, html.encode()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The sample, an archive of 50 pages, one with the word in other years and languages, and one with hostile texts."""
    from support.host import Host
    folder = tmp_path_factory.mktemp("library")
    host = Host(folder)
    host.add(FIXTURES / "sample.wacz")
    host.add(write_archive(folder / "tables.wacz", "Tide tables", {
        f"https://tables.example/{day:03}": f"<title>Day {day:03}</title><p>High water and a quokkaword on day {day}."
        for day in range(1, 51)}))
    host.add(write_captures(folder / "reef.wacz", "Reef Watch", [
        captured("https://reef.example/limpets", "2016-03-04T05:06:07Z", "Limpets of the reef", "Early limpet notes."),
        captured("https://reef.example/limpets", "2017-03-04T05:06:07Z", "Limpets of the reef", "Middle limpet notes."),
        captured("https://reef.example/limpets", "2019-03-04T05:06:07Z", "Limpets of the reef", "Late limpet notes."),
        captured("https://reef.example/napf", "2018-03-04T05:06:07Z", "Die Napfschnecke", "Englisch limpet.", "de"),
    ], lists_text=False))
    host.add(write_archive(folder / "hostile.wacz", f"{HOSTILE}\u202etxet", {
        "https://hostile.example/": f"<title>{HOSTILE.replace('<', '&lt;')}\u202e gnp.exe</title>"
        f"<p>zebrafish {HOSTILE.replace('<', '&lt;')} \u202egnirts \u2066end"}))
    with host:
        yield host.wait_until_indexed()


def field(page):
    return page.get_by_role("combobox", name="Search text, titles and URLs")


def hits(page):
    return page.locator(".hits > li")


def titles(page):
    return page.locator(".hits h2 a")


def facet(page, name):
    return page.get_by_role("navigation", name="Narrow the results").get_by_role("link", name=name)


def summary(page, text):
    """The number of results, on the page and for screen readers."""
    expect(page.locator("main h1 + p")).to_have_text(text)
    expect(page.locator("#announcements")).to_have_text(text)


def test_word_is_found_narrowed_opened_and_returned_to(library, page):
    page.goto(library.home)
    field(page).fill("limpet")
    field(page).press("Enter")
    expect(page).to_have_url(f"{library.home}/#search=limpet")
    expect(page).to_have_title("limpet – replayhost")
    expect(page.locator(".hits mark").first).to_have_text(re.compile("^limpet", re.I))
    expect(titles(page).filter(has_text="Limpets of the reef")).to_have_count(1)
    expect(hits(page).filter(has_text="Limpets of the reef")).to_contain_text("Reef Watch · 3 captures 2016–2019")
    facet(page, f"{TITLE}").click()
    expect(page).to_have_url(f"{library.home}/#search=limpet&in=sample")
    expect(page.get_by_role("link", name=f"Remove filter: {TITLE}")).to_be_visible()
    expect(titles(page).filter(has_text="reef")).to_have_count(0)
    found = titles(page).all_inner_texts()
    page.reload()
    expect(titles(page)).to_have_text(found)
    expect(field(page)).to_have_value("limpet")
    page.get_by_role("link", name=f"Common limpet - {TITLE}").click()
    expect(Viewer(page).read("main")).to_contain_text("limpet")
    expect(page).to_have_url(re.compile(
        rf"/\?archive=/archives/sample\.wacz#url={quote(SITE, safe='')}%2Fspecies%2Flimpet\.html&ts=20241121"))
    page.go_back()
    expect(page).to_have_url(f"{library.home}/#search=limpet&in=sample")
    expect(titles(page)).to_have_text(found)
    page.get_by_role("link", name=f"Remove filter: {TITLE}").click()
    expect(titles(page).filter(has_text="Limpets of the reef")).to_have_count(1)
    page.go_back()
    expect(titles(page)).to_have_text(found)


def test_filters_are_combined(library, page):
    """Counts, a year as one filter, and all filters removed at once."""
    page.goto(f"{library.home}/#search=limpet")
    expect(facet(page, "2018 1 page")).to_be_visible()
    expect(facet(page, "German 1 page")).to_be_visible()
    facet(page, "2017 1 page").click()
    expect(titles(page)).to_have_text(["Limpets of the reef"])
    expect(hits(page)).to_contain_text("Captured 4 March 2017")
    expect(page.get_by_role("link", name="Remove filter: 2017")).to_be_visible()
    page.goto(f"{library.home}/#search=limpet&site=reef.example&lang=de&after=2016")
    expect(titles(page)).to_have_text(["Die Napfschnecke"])
    for name in ["reef.example", "German", "From 2016"]:
        expect(page.get_by_role("link", name=f"Remove filter: {name}")).to_be_visible()
    page.get_by_role("link", name="Remove filter: German").click()
    expect(page).to_have_url(f"{library.home}/#search=limpet&site=reef.example&after=2016")
    expect(titles(page)).to_have_count(2)
    page.get_by_role("link", name="Clear filters").click()
    expect(page).to_have_url(f"{library.home}/#search=limpet")
    expect(page.get_by_role("list", name="Active filters")).to_be_hidden()


def test_more_results_stay_after_back(library, page):
    page.goto(f"{library.home}/#search=quokkaword")
    summary(page, "50 pages")
    expect(hits(page)).to_have_count(20)
    page.get_by_role("button", name="More results").click()
    expect(hits(page)).to_have_count(40)
    expect(titles(page).nth(20)).to_be_focused()
    page.get_by_role("button", name="More results").click()
    expect(hits(page)).to_have_count(50)
    expect(page.get_by_role("button", name="More results")).to_be_hidden()
    assert len(set(titles(page).all_inner_texts())) == 50
    link = titles(page).nth(45)
    day = link.inner_text()
    link.click()
    expect(Viewer(page).read("body")).to_contain_text(f"on {day.replace('Day 0', 'day ').replace('day 0', 'day ')}")
    page.go_back()
    expect(hits(page)).to_have_count(50)
    expect(titles(page).nth(45)).to_be_in_viewport()


def test_results_have_the_focus(library, page):
    """Their heading, for the first search and the next."""
    page.goto(library.home)
    for words, found in [("napfschnecke", "1 page"), ("limpet", "5 pages")]:
        field(page).fill(words)
        field(page).press("Enter")
        summary(page, found)
        expect(page.get_by_role("heading", name="Search results")).to_be_focused()


def test_keyboard_only(library, page):
    """`/`, arrows, Escape and Enter. The suggestion that is chosen is the combobox's active descendant."""
    page.goto(library.home)
    expect_loaded(page)
    page.keyboard.press("/")
    expect(field(page)).to_be_focused()
    page.keyboard.type("common limp")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_contain_text(f"Common limpet - {TITLE}")
    expect(options.last).to_have_text("Search for “common limp”")
    expect(field(page)).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#announcements")).to_contain_text("suggestion")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert field(page).get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(field(page)).to_have_value("common limp")
    expect(field(page)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(Viewer(page).read("h1")).to_have_text("Common limpet")
    page.goto(library.home)
    field(page).focus()
    page.keyboard.type("limpet/")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(field(page)).to_have_value("")
    # Escape closes the list, clears the field, then leaves it.
    page.keyboard.press("Escape")
    expect(field(page)).not_to_be_focused()
    expect_loaded(page)
    page.keyboard.press("/")
    page.keyboard.type("napfschnecke")
    page.keyboard.press("Enter")
    expect(titles(page)).to_have_text(["Die Napfschnecke"])
    for _ in range(60):
        page.keyboard.press("Tab")
        if titles(page).first.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(Viewer(page).read("h1")).to_have_text("Die Napfschnecke")


def test_suggestions_lead_to_archives_sites_and_urls(library, page):
    page.goto(library.home)
    for typed, name, address in [
        ("reef wat", "Reef Watch", "/?archive=/archives/reef.wacz#view=overview"),
        ("tables.ex", "tables.example", "/#search=&site=tables.example"),
        ("reef.example/lim", "https://reef.example/limpets",
         "/?archive=/archives/reef.wacz#url=https%3A%2F%2Freef.example%2Flimpets&ts=20190304050607"),
    ]:
        page.goto(library.home)
        field(page).fill(typed)
        page.get_by_role("option", name=name).first.click()
        expect(page).to_have_url(library.home + address)


def test_older_suggestions_never_replace_newer_ones(library, page):
    """The answer for the first text comes after the one for the second."""
    first = []

    def delay(route):
        first.append(route)

    page.route("**/api/suggest?q=limp&*", delay)
    page.goto(library.home)
    field(page).fill("limp")
    wait_until(lambda: page.evaluate("1") and first, "the first text is sent")
    field(page).fill("napf")
    option = page.get_by_role("option", name="Die Napfschnecke")
    expect(option).to_be_visible()
    try:
        first[0].continue_()
    except Exception:  # The page has cancelled the request.
        pass
    page.evaluate("fetch('/api/health').then((answer) => answer.text())")
    expect(option).to_be_visible()
    expect(page.get_by_role("option", name="limpet")).to_have_count(0)


def test_typed_url_leads_to_its_captures(library, page):
    """With or without scheme, and as a pattern. They include captures that aren't pages."""
    captures = page.locator(".url-captures li")
    for typed, times in [
        ("https://reef.example/limpets", [2019, 2017, 2016]), ("reef.example/limpets", [2019, 2017, 2016]),
    ]:
        page.goto(f"{library.home}/#search={quote(typed, safe='')}")
        # The list of the search before has the same texts.
        expect(page.get_by_role("heading", name=f"Captures of {typed}", exact=True)).to_be_visible()
        expect(captures.locator("p")).to_have_text([f"4 March {year}, 05:06 UTC · Reef Watch" for year in times])
    captures.nth(1).get_by_role("link").click()
    expect(Viewer(page).read("body")).to_contain_text("Middle limpet notes.")
    page.go_back()
    expect(captures).to_have_count(3)
    page.goto(f"{library.home}/#search={quote(f'{SITE}/pictures/*', safe='')}")
    expect(captures.locator("a")).to_have_text([f"{SITE}/pictures/{name}" for name in ["anemone.png", "crab.svg", "limpet.svg"]])
    page.goto(f"{library.home}/#search=tables.example%2F*")
    expect(captures).to_have_count(10)
    page.get_by_role("link", name="Tide tables", exact=True).first.click()
    expect(page.locator(".urls tbody tr")).to_have_count(50)
    page.goto(f"{library.home}/#search=limpet.example")
    expect(page.get_by_text("No pages match")).to_be_visible()
    expect(captures).to_have_count(0)


def test_hostile_texts_stay_text(library, page):
    page.goto(f"{library.home}/#search=zebrafish")
    expect(titles(page)).to_have_text([f"{HOSTILE} gnp.exe"])
    expect(page.locator(".snippet")).to_contain_text(HOSTILE)
    expect(hits(page)).to_contain_text(f"{HOSTILE}txet")
    field(page).fill("onerror")
    expect(page.get_by_role("option", name=HOSTILE).first).to_be_visible()
    words = f"{HOSTILE} \u202e \" ' & # % +"
    page.goto(f"{library.home}/#search={quote(words, safe='')}&in={quote(HOSTILE)}&site={quote(HOSTILE)}")
    expect(page.get_by_text("No archive or collection in your library has this ID")).to_contain_text(HOSTILE)
    expect(field(page)).to_have_value(words)
    page.reload()
    expect(field(page)).to_have_value(words)
    field(page).press("Enter")
    expect(field(page)).to_have_value(words)
    shown = page.locator("body").inner_text()
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.title() != "attacked"


def test_nothing_is_found(library, page):
    page.goto(f"{library.home}/#search=xylophonist")
    expect(page.get_by_text("No pages match “xylophonist”.")).to_be_visible()
    expect(page.get_by_role("region", name="Search tips").get_by_role("listitem")).to_have_count(3)
    summary(page, "No pages found")


def test_filters_are_reached_on_a_narrow_screen(library, page):
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{library.home}/#search=quokkaword OR limpet")
    expect(hits(page)).to_have_count(20)
    page.get_by_role("button", name="Narrow the results").click()
    expect(facet(page, "Reef Watch")).to_be_in_viewport()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Remove filter: Tide tables")).to_be_visible()


def test_archives_that_are_not_indexed_are_counted(library, page):
    """Until a job ends. Then the search can be repeated."""
    results = json.loads(library.request("GET", "/api/search?q=limpet&facets=true")[2])
    results["coverage"] = {
        "complete": results["coverage"]["complete"] - 2, "pending": 2, "rebuildReason": "its file was damaged"}
    page.route("**/api/search?**", lambda route: route.fulfill(json=results))
    page.goto(f"{library.home}/#search=limpet")
    note = page.locator(".coverage")
    expect(note.locator("span")).to_have_text(
        "2 archives aren't fully indexed yet, so pages can be missing. The search index is being rebuilt: its file was damaged.")
    expect(page.get_by_role("button", name="Search again")).to_be_hidden()
    page.unroute("**/api/search?**")
    library.change("PATCH", "/api/archives/reef", {"notes": "So that an event is sent."})
    expect(note).to_contain_text("All archives are indexed now.")
    page.get_by_role("button", name="Search again").click()
    expect(note).to_be_hidden()


def test_failure_can_be_tried_again(library, browser):
    page = browser.page
    browser.allow("500|400")
    error = {"error": {"code": "unusable", "what": "the search index can't be read", "hint": "free some space"}}
    page.route("**/api/search?**", lambda route: route.fulfill(status=500, json=error))
    page.goto(f"{library.home}/#search=limpet")
    expect(page.get_by_role("alert")).to_contain_text("Can't searchThe search index can't be read.Free some space.")
    page.unroute("**/api/search?**")
    page.get_by_role("button", name="Try again").click()
    expect(hits(page).first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.goto(f"{library.home}/#search={'a' * 9000}")
    expect(page.get_by_role("alert")).to_contain_text("The search is too long")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_archive_is_searched_from_its_page(library, page):
    page.goto(f"{library.home}/?archive=/archives/sample.wacz#view=pages")
    box = page.get_by_role("combobox", name="Search this archive")
    expect(page.get_by_role("link", name=f"Species - {TITLE}")).to_be_visible()
    expect_loaded(page)
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("limpet & teeth")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{library.home}/#search=limpet%20%26%20teeth&in=sample")
    expect(page.get_by_role("link", name=f"Remove filter: {TITLE}")).to_be_visible()
    expect(hits(page).first).to_be_visible()
    # Other words are searched in the same archive.
    field(page).fill("low water")
    field(page).press("Enter")
    expect(page).to_have_url(f"{library.home}/#search=low%20water&in=sample")


def test_collection_is_searched_from_its_page(library, page):
    collection = library.create_collection("Shores", "sample", "reef")
    page.goto(f"{library.home}/?collection={collection}#view=pages")
    page.get_by_role("combobox", name="Search this collection").fill("limpet")
    page.get_by_role("combobox", name="Search this collection").press("Enter")
    expect(page).to_have_url(f"{library.home}/#search=limpet&collection={collection}")
    expect(page.get_by_role("link", name="Remove filter: Shores")).to_be_visible()
    summary(page, "5 pages")
    facet(page, "Reef Watch").click()
    expect(page).to_have_url(f"{library.home}/#search=limpet&in=reef")
    expect(titles(page)).to_have_count(2)


def test_address_bar_search_leads_to_the_results(library, page):
    """As a browser fills the template of /opensearch.xml."""
    page.goto(f"{library.home}/search?q=quokkaword+%22high+water%22")
    expect(page).to_have_url(f"{library.home}/#search=quokkaword%20%22high%20water%22")
    summary(page, "50 pages")
    link = page.locator("link[rel=search]")
    assert link.get_attribute("href") == "/opensearch.xml"


def show_results(page, home):
    page.goto(f"{home}/#search=limpet&after=2000")
    expect(hits(page).first).to_be_visible()


def show_suggestions(page, home):
    page.goto(home)
    field(page).fill("limpet")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")


def show_nothing(page, home):
    page.goto(f"{home}/#search=xylophonist&site=reef.example")
    expect(page.locator(".tips")).to_be_visible()


def show_url_captures(page, home):
    page.goto(f"{home}/#search=tables.example%2F*")
    expect(page.locator(".url-captures li")).to_have_count(10)


VIEWS = [show_results, show_suggestions, show_nothing, show_url_captures]


@pytest.mark.parametrize("view", VIEWS)
def test_view_fits_and_is_accessible(library, page, view):
    view(page, library.home)
    problems = view_problems(page, f"search-{view.__name__[5:]}")
    assert not problems, "\n".join(problems)


def test_misspelled_word_is_corrected(library, page):
    page.goto(f"{library.home}/#search=limpetz")
    expect(page.locator(".spelling")).to_contain_text("No pages match “limpetz”. These are the results for limpet")
    expect(titles(page).first).to_be_visible()
    page.locator(".spelling").get_by_role("link").click()
    expect(page.locator(".spelling")).to_have_count(0)
    expect(titles(page).filter(has_text="Limpets of the reef")).to_be_visible()


def test_parts_of_an_empty_search_are_offered(library, page):
    page.goto(f"{library.home}/#search=quokkaword+qqqqqqqq")
    found = page.locator(".found")
    expect(found).to_contain_text("No page has “qqqqqqqq”.")
    expect(found.locator(".instead li")).to_have_text(["quokkaword 50 pages"])
    found.get_by_role("link", name="quokkaword").click()
    summary(page, "50 pages")
    page.goto(f"{library.home}/#search=quokkaword+qqqqqqqq+type:html")
    expect(found).to_contain_text("With these filters, no page has “qqqqqqqq”.")


def test_filter_that_empties_a_search_is_named(library, page):
    page.goto(f"{library.home}/#search=quokkaword&type=pdf&lang=de")
    found = page.locator(".found")
    expect(found.locator(".instead li")).to_have_text(["Without filters 50 pages"])
    found.get_by_role("link", name="Without filters").click()
    summary(page, "50 pages")
    page.goto(f"{library.home}/#search=quokkaword+type:pdf")
    expect(found.locator(".instead li")).to_have_text(["Of any type 50 pages"])
    found.get_by_role("link", name="Of any type").click()
    summary(page, "50 pages")
