"""Archived pages report their URLs. The viewer shows only what the index confirms."""

import re
from itertools import cycle
from urllib.parse import urlsplit

import pytest

from support.archives import write_archive
from support.expecting import expect
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

SITE = "https://site.example"
FIRST, SECOND = f"{SITE}/first", f"{SITE}/second"
MESSAGES = 20_000
REQUESTS_MAX = 50
UNCAPTURED = "This page isn't in"
CHANGED = "This page changed its URL to one that wasn't captured. The last confirmed URL is shown."


@pytest.fixture
def viewer(host, page, tmp_path):
    """An archive of two pages, open at the first."""
    pages = {f"{SITE}{path}": f"<!doctype html><title>{path}</title><h1>{path}</h1>" for path in ["/first", "/second"]}
    host.add(write_archive(tmp_path / "site.wacz", "Site", pages))
    page.add_init_script("""addEventListener("message", ({ data }) => {
        if (data?.replayhost === "look") window.pageWasChecked = true;
    });""")
    page.goto(f"{host.home}/?archive=/archives/site.wacz")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("/first")
    expect(viewer.address).to_have_value(FIRST)
    # From now on, the page reports only what a test sends.
    wait_until(lambda: page.evaluate("window.pageWasChecked === true"), "the viewer has checked the page")
    return viewer


def send_from_page(viewer, *messages):
    """Sends messages from the archived page to the viewer, as the engine's script does."""
    send = "messages => { for (const one of messages) parent.postMessage(one, '*'); }"
    viewer.archived_frame.evaluate(send, messages)


def load(url, title="", **more):
    return {"wb_type": "load", "url": url, "ts": "20241121090000", "title": title, "icons": [], **more}


def expect_confirmed(viewer, url):
    """In the toolbar and in the tab's URL."""
    expect(viewer.address).to_have_value(url)
    encoded = re.escape(url).replace(":", "%3A").replace("/", "%2F").replace(r"\#", "%23")
    expect(viewer.page).to_have_url(re.compile(f"#url={encoded}&ts=20241121090000$"))


# Spellings of one URL, with the same key in the index.
SPELLINGS = [
    "http://www.bank.example@site.example/second", "https://www.bank.example:secret@site.example/second",
    "//site.example/second", "HTTP://SITE.EXAMPLE:80/second",
]
NOT_IN_THE_INDEX = [
    "https://www.bank.example/", "https://www.bank.example/\u202e#", "https://www.bank.example/\ud800",
    "https://site.example\\@www.bank.example/", "javascript:alert(1)", "about:blank", " ", "\u0000", "https://", "//",
    "https://www.bank.example/" + "a" * 8000,
    "https://www.bank.example/" + "\u5b57" * 8000,
]


KINDS = ["load", "replace-url"]


def return_to_first(viewer):
    send_from_page(viewer, load(FIRST, "First"))
    expect_confirmed(viewer, FIRST)
    expect(viewer.page).to_have_title("First – Site")


def test_url_is_shown_as_the_index_spells_it(viewer):
    """With the fragment that the page reports."""
    for kind in KINDS:
        for number, url in enumerate(SPELLINGS):
            send_from_page(viewer, {**load(f"{url}#{number}"), "wb_type": kind})
            expect_confirmed(viewer, f"{SECOND}#{number}")
            expect(viewer.page).not_to_have_title(re.compile("bank"))
        return_to_first(viewer)


def test_url_of_pushstate_is_shown_as_the_index_spells_it(viewer):
    viewer.archived_frame.evaluate("history.pushState(null, '', '/second?#part')")
    expect_confirmed(viewer, f"{SECOND}#part")


def test_url_that_is_not_in_the_index_is_not_shown(viewer):
    hint = viewer.page.get_by_text(CHANGED)
    # Both kinds are answered by the same lookup: each URL comes in one of them, and the first in both.
    for kind, url in [(KINDS[-1], NOT_IN_THE_INDEX[0]), *zip(cycle(KINDS), NOT_IN_THE_INDEX, strict=False)]:
        send_from_page(viewer, {**load(url, "Bank"), "wb_type": kind})
        expect(hint).to_be_visible()
        expect_confirmed(viewer, FIRST)
        expect(viewer.read("h1")).to_be_visible()
        send_from_page(viewer, load(FIRST))
        expect(hint).to_be_hidden()


def test_page_that_reports_a_false_url_while_loading_is_shown_with_its_own(viewer):
    """And not with the previous page's URL."""
    send_from_page(viewer, load(SECOND), {**load("https://www.bank.example/"), "wb_type": "replace-url"})
    expect(viewer.page.get_by_text(CHANGED)).to_be_visible()
    expect_confirmed(viewer, SECOND)


def test_fragment_belongs_to_the_page_that_reports_it(viewer):
    """During a lookup, a new page's fragment isn't added to the previous page's URL."""
    send_from_page(viewer, load(SECOND), {"wb_type": "hashchange", "hash": "#part"})
    expect_confirmed(viewer, f"{SECOND}#part")
    send_from_page(viewer, {"wb_type": "hashchange", "hash": "#other"})
    expect_confirmed(viewer, f"{SECOND}#other")
    send_from_page(viewer, load("https://www.bank.example/"), {"wb_type": "hashchange", "hash": "#bank"})
    expect(viewer.page.get_by_text(CHANGED)).to_be_visible()
    expect_confirmed(viewer, f"{SECOND}#other")


def test_typed_url_is_shown_as_the_index_spells_it(viewer):
    others = ["\\\\site.example\\second", "https:\\\\site.example\\second", "\thttps://site.example/second"]
    for number, typed in enumerate([*SPELLINGS, *others]):
        viewer.open_url(f"{typed}#{number}")
        expect_confirmed(viewer, f"{SECOND}#{number}")
        expect(viewer.read("h1")).to_have_text("/second")


def test_invisible_characters_of_a_url_are_shown_encoded(viewer):
    for typed, shown in [
        ("https://site.example/\u202efdp", "https://site.example/%E2%80%AEfdp"),
        ("https://site.example/\u200b\u00ad\u2800", "https://site.example/%E2%80%8B%C2%AD%E2%A0%80"),
        ("https://site.example/a\u3000b", "https://site.example/a%E3%80%80b"),
        ("https://site.example\\@www.bank.example/", "https://site.example/@www.bank.example/"),
        ("//www.bank.example@site.example/none", "https://www.bank.example@site.example/none"),
    ]:
        viewer.open_url(typed)
        expect(viewer.page.locator(".panel p.url")).to_have_text(shown)
        expect(viewer.page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
        expect(viewer.page.get_by_role("heading", name="Closest URLs")).to_be_visible()


def test_very_long_typed_url(viewer):
    viewer.open_url(f"{SITE}/{'a' * 200_000}")
    expect(viewer.page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    viewer.page.get_by_role("button", name="Go back").click()
    expect_confirmed(viewer, FIRST)


def test_page_behind_a_panel_does_not_get_the_typed_url(viewer):
    """After an uncaptured URL was typed, the previous page stays behind the panel, whatever it reports."""
    viewer.open_url("https://www.bank.example/")
    panel = viewer.page.get_by_role("heading", name=UNCAPTURED)
    expect(panel).to_be_visible()
    send_from_page(viewer, load("https://www.bank.example/login", "Bank"), {"wb_type": "title", "title": "Bank"})
    send_from_page(viewer, {"wb_type": "replace-url", "url": "https://www.bank.example/", "ts": "20241121090000"})
    expect(panel).to_be_visible()
    send_from_page(viewer, load(SECOND, "Second"))
    expect(panel).to_be_visible()
    expect(viewer.page).to_have_title("Not captured – Site")
    viewer.page.get_by_role("button", name="Go back").click()
    expect(panel).to_have_count(0)
    expect_confirmed(viewer, FIRST)


def test_url_of_an_unreadable_capture_is_shown_as_the_index_spells_it(viewer):
    for url in SPELLINGS:
        send_from_page(viewer, {"wb_type": "archive-not-found", "url": url, "ts": "20241121090000"})
        expect(viewer.page.get_by_role("heading", name="This capture can't be shown")).to_be_visible()
        expect(viewer.page.locator(".panel p.url")).to_have_text(SECOND)
        send_from_page(viewer, load(FIRST))
        expect(viewer.page.locator(".panel")).to_have_count(0)


class Requests:
    """Records the requests of the viewer and its frames."""

    def __init__(self, page):
        self.urls = []
        page.on("request", lambda request: self.urls.append(request.url))

    def expect_few(self, kind="all kinds"):
        paths = [urlsplit(url).path for url in self.urls]
        assert len(paths) < REQUESTS_MAX, f"{kind}: {len(paths)} requests, such as {paths[-5:]}"


def flood(viewer, message, count=MESSAGES):
    """Sends messages, each with its number where `message` has a `%`. Returns when all are sent."""
    viewer.archived_frame.evaluate("""([message, count]) => {
        for (let number = 0; number < count; number += 1) {
            parent.postMessage(JSON.parse(message.replaceAll("%", number)), "*");
        }
    }""", [message, count])


FLOODS = {
    "load": '{"wb_type": "load", "url": "https://site.example/%", "ts": "20241121090000", "title": "Flood %"}',
    "load of one URL": '{"wb_type": "load", "url": "https://none.example/", "ts": "20241121090000", "title": "%"}',
    "load with icons": '{"wb_type": "load", "url": "https://site.example/first?%", "ts": "20241121090000", "icons": '
        '[{"href": "/COLLECTION/20241121090000im_/https://site.example/%.ico"}]}',
    "load of a page with icons": '{"wb_type": "load", "url": "https://site.example/first", "ts": "20241121090000", '
        '"icons": [{"href": "/COLLECTION/20241121090000im_/https://site.example/%.ico"}]}',
    "replace-url": '{"wb_type": "replace-url", "url": "https://site.example/%", "ts": "20241121090000"}',
    "replace-url, many hosts": '{"wb_type": "replace-url", "url": "https://%.example/", "ts": "20241121090000"}',
    "title": '{"wb_type": "title", "title": "Flood %"}',
    "hashchange": '{"wb_type": "hashchange", "hash": "#%"}',
    "archive-not-found": '{"wb_type": "archive-not-found", "url": "https://%.example/", "ts": "20241121090000"}',
    "archive-not-found of one URL": '{"wb_type": "archive-not-found", "url": "https://none.example/", "ts": "2024"}',
}


def test_flood_of_messages_causes_few_requests(host, viewer):
    """Of each kind in turn. In the end, the newest confirmed URL is shown."""
    requests = Requests(viewer.page)
    for kind, message in FLOODS.items():
        requests.urls.clear()
        flood(viewer, message.replace("COLLECTION", host.archive("site")["replayCollection"]))
        last = [{"wb_type": "hashchange", "hash": "#part"}, {"wb_type": "title", "title": "Last"}]
        send_from_page(viewer, load(SECOND, "Second"), *last)
        expect_confirmed(viewer, f"{SECOND}#part")
        expect(viewer.page).to_have_title("Last – Site")
        expect(viewer.page.locator(".panel")).to_have_count(0)
        requests.expect_few(kind)
        return_to_first(viewer)


def test_flood_of_all_messages_ends_with_the_newest(viewer):
    """Here, the newest message is that a page wasn't found."""
    requests = Requests(viewer.page)
    for message in FLOODS.values():
        flood(viewer, message, MESSAGES // len(FLOODS))
    send_from_page(viewer, {"wb_type": "archive-not-found", "url": "https://last.example/", "ts": "20241121090000"})
    expect(viewer.page.get_by_role("heading", name=UNCAPTURED)).to_be_visible()
    expect(viewer.page.locator(".panel p.url")).to_have_text("https://last.example/")
    requests.expect_few()


def test_endless_flood_does_not_keep_the_previous_url(viewer):
    """While a page keeps sending URLs, confirmed ones are shown."""
    viewer.archived_frame.evaluate("""() => {
        let number = 0;
        setInterval(() => {
            number += 1;
            parent.postMessage({ wb_type: "replace-url", url: `https://${number}@site.example/second` }, "*");
        }, 5);
    }""")
    expect_confirmed(viewer, SECOND)


def test_text_of_findings_is_shown_without_control_characters(host, viewer):
    """Findings can contain file names and URLs from the archive."""
    page = viewer.page
    text = "ab\u202ecd\u2066ef\u200fgh\u061cij\x9bkl"
    finding = {"severity": "error", "code": "x", "what": text, "location": text, "consequence": text}

    details = {**host.archive("site"), "findings": [finding]}
    page.route("**/api/archives/site", lambda route: route.fulfill(json=details))
    page.goto(page.url.split("#")[0] + "#view=details")
    page.reload()
    for kind in ["what", "location code", "consequence"]:
        expect(page.locator(f".findings .{kind}")).to_have_text(re.compile(r"^[aA]bcdefghij kl\.?$"))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\x7f-\x9f]", page.locator("body").inner_text())


def test_archive_page_says_why_pdfs_were_not_read(host, viewer):
    page = viewer.page
    details = host.archive("site")
    page.route("**/api/archives/site", lambda route: route.fulfill(json=details))
    page.goto(page.url.split("#")[0] + "#view=details")
    facts = page.locator(".facts > div")
    for reason, text in [
        ("noPDFReader", "2 PDFs can't be searched: pdftotext isn't installed"),
        ("noPDFSandbox", "2 PDFs can't be searched: no sandbox for pdftotext works on this system."
            " For details, run replayhost doctor"),
        ("encryptedPDF", None),
    ]:
        details["text"] = {**details.get("text", {}), "withoutText": {reason: 2}}
        page.reload()
        expect(facts.filter(has_text="Captured")).to_be_visible()
        found = facts.filter(has=page.get_by_text("Search", exact=True)).locator("dd")
        if text is None:
            expect(found).to_have_count(0)
        else:
            expect(found).to_have_text(text)
