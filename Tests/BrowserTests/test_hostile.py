"""Texts and pictures of archives that want to be more than that, on every screen: markup, text that turns around, endless text."""

import html
import json
import re
import struct
from urllib.parse import quote

import pytest

from support.accessibility import layout_problems
from support.archives import TIME, write_archive
from support.expecting import expect
from support.host import Host
from support.pictures import RGB, png
from support.signing import signed
from support.viewer import Viewer
from support.waiting import wait_until
from writers.captures import WARC, page_entry
from writers.wacz import Package, page_list

pytestmark = pytest.mark.one_chromium

MARKUP = ('<img src="https://leak-hostile.example/x" onerror="attacked=1">"\'`${attacked=1}</script><script>attacked=1</script>'
    "\u202etxet\u2066")
# Browsers show each of these as one character, within which lines don't break (UAX #29): enclosing marks, and parts of Hangul syllables.
CLUSTERS = "a" + "\u20dd" * 200, "\u1100" * 200
LONG = MARKUP + CLUSTERS[0] + "x" * 100_000
WORDS = MARKUP + " many words" * 10_000
# A file's name has no slash, and at most 255 bytes.
FILE = "<img src=x onerror=attacked=1>'\"&\u202egpj"
SITE = "https://hostile.example"
URLS = [f"{SITE}/", f"{SITE}/\"><img src=x onerror=attacked=1>", f"{SITE}/%3Cimg%20src=x%20onerror=attacked=1%3E?q=<script>attacked=1</script>",
    f"{SITE}/\u202egpj.html", f"{SITE}/{'long-' * 6_000}", f"{SITE}/{'words%20' * 1_000}",
    *(f"{SITE}/{cluster}" for cluster in CLUSTERS)]
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="attacked=1"><script>attacked=1; top.attacked=1</script></svg>'


def claimed(width, height, more=b""):
    """An image of one line, whose header claims a size."""
    return png(width, height, RGB, bytes(1 + 3 * min(width, 9)), more)


POLYGLOT = claimed(1, 1, struct.pack(">I", 0) + b"tEXt") + b"<!doctype html><script>attacked=1; top.attacked=1</script>"
PICTURES = {"svg": SVG, "polyglot": POLYGLOT, "huge": claimed(10_000, 10_000)}


def page_of(title, text="zebrafish"):
    return f"<!doctype html><title>{html.escape(title)}</title><p>{html.escape(text)}".encode()


def write_hostile(path, title, text, picture):
    """An archive with this text in all places, and a picture as its thumbnail and among its files."""
    captures = [({"url": url, "time": f"{2016 + index}-11-21T09:00:00Z"}, page_of(text, f"zebrafish {text}")) for index, url in enumerate(URLS)]
    for name, body in PICTURES.items():
        captures.append(({"url": f"{SITE}/{name}.png", "file": "a.png", "type": "image/svg+xml" if name == "svg" else "image/png"}, body))
    captures.append(({"url": f"urn:thumbnail:{SITE}/", "file": "a.png"}, PICTURES[picture]))
    warc = WARC("data.warc.gz", TIME)
    captures = [({"time": TIME, **capture}, body) for capture, body in captures]
    for capture, body in captures:
        warc.add_response(capture, body)
    pages = [page_entry(capture, body) for capture, body in captures if "file" not in capture]
    pages += [{"url": url, "ts": TIME, "title": text} for url in ["javascript:attacked=1", "data:text/html,<script>attacked=1</script>", text[:5_000]]]
    with Package(path, title, text, created=TIME, main_page=(URLS[0], "2016-11-21T09:00:00Z")) as package:
        package.head["software"] = text
        warc.add_to(package)
        package.add("pages/pages.jsonl", page_list(pages))
        # The hash of this file is wrong, so that an issue names it.
        package.add(f"archive/{FILE}.warc", b"", listed=b"other")
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Archives, a collection and failed imports with hostile texts. `ids` are those of the archives."""
    folder = tmp_path_factory.mktemp("hostile")
    host = Host(folder)
    host.ids_of = {
        "markup": host.add(write_hostile(folder / f"{FILE}.wacz", MARKUP, MARKUP, "svg")),
        "long": host.add(write_hostile(folder / f"{'long-' * 49}.wacz", LONG, LONG, "huge")),
        "words": host.add(write_hostile(folder / f"{'word ' * 49}.wacz", WORDS, WORDS, "polyglot")),
        "signed": host.add(signed(folder, "domain", MARKUP)[0]),
    }
    with host:
        for name in ["markup", "long", "words"]:
            text = {"markup": MARKUP, "long": LONG, "words": WORDS}[name]
            host.change("PATCH", f"/api/archives/{host.ids_of[name]}", {
                "tags": [MARKUP, f"{name}-{'x' * 180}"], "notes": f"{text}\n{text}"})
        host.collection = host.create_collection(MARKUP + "x" * 500, *[host.ids_of[name] for name in ["markup", "long", "words"]],
            tags=[MARKUP], notes=LONG)
        for name in [f"{FILE}.wacz", f"{'long-' * 49}.wacz"]:
            host.request("POST", f"/api/archives?name={quote(name)}", {"Origin": host.address, "Replayhost-Token": host.token,
                "Content-Type": "application/wacz"}, b"no archive")
        wait_until(lambda: all("verificationSummary" in archive for archive in host.archives()), "all archives are verified")
        yield host.wait_until_indexed()


# For each view: its address, and what is there once it is loaded. `{text}` is MARKUP for a fragment.
LIBRARY = {
    "cards": ("/", ".card"),
    "list": ("/#as=list", ".row"),
    "filtered": ("/#q={text}&tag={text}&site={text}&state={text}&year={text}&sort={text}", "main .notice:not([hidden])"),
    "tagged": ("/#tag={text}", ".card"),
    "results": ("/#search=zebrafish", ".hits > li"),
    "filtered results": ("/#search={text}&in={text}&site={text}&type={text}&lang={text}&after={text}", "main .notice:not([hidden])"),
    "captures of a URL": ("/#search=hostile.example/*", ".url-captures li"),
    "activity": ("/#activity", ".failure"),
    "settings": ("/#settings", "h1"),
    "no archive": ("/?archive=/archives/{text}.wacz", "main h1"),
    "no collection": ("/?collection={text}", "main h1"),
}
TABS = {
    "overview": (".counted li", ".bars"), "pages": (".page-line a",), "urls": (".urls tbody tr",), "files": (".files li",),
    "timeline": (".bars .bar",), "details": (".issue, .verification, h2",), "report": ("article[aria-busy=false]",),
}


def visit(host, page, address, loaded):
    page.goto("about:blank")
    page.goto(host.home + address.replace("{text}", quote(MARKUP, safe="")))
    expect(page.locator(loaded).first).to_be_visible()


ATTACKS = """() => [
    window.attacked && "a script ran", document.title === "attacked" && "a script set the title",
    ...[...document.querySelectorAll("img[src=x], img[src*='://leak'], [onerror], [onload], main script, svg script")].map((one) => one.outerHTML.slice(0, 200)),
    ...[...document.querySelectorAll("a[href]")].filter(({ protocol }) => !["http:", "https:"].includes(protocol)).map((one) => one.outerHTML.slice(0, 200)),
].filter(Boolean)"""


def problems_of(page, where):
    """What ran, links that would run, text that turns around, and what doesn't fit, narrow and wide."""
    found = page.evaluate(ATTACKS)
    if re.search("[\u202a-\u202e\u2066-\u2069]", page.locator("body").inner_text() + page.title()):
        found.append("text that turns around")
    for width in [360, 1600]:
        page.set_viewport_size({"width": width, "height": 800})
        found += [f"{width}: {problem[:300]}" for problem in layout_problems(page)]
    return [f"{where}: {problem}" for problem in found]


@pytest.fixture
def dialogs(page):
    """The browser's own dialogs, which nothing opens."""
    opened = []
    page.on("dialog", lambda dialog: opened.append(dialog.message) or dialog.dismiss())
    yield opened
    assert opened == []


def test_library_search_and_activity_show_texts(library, browser, page, dialogs):
    # No such archive, and no year.
    browser.allow("404|400")
    problems = []
    for name, (address, loaded) in LIBRARY.items():
        visit(library, page, address, loaded)
        problems += problems_of(page, name)
        if name not in ("settings", "captures of a URL"):
            expect(page.locator("main")).to_contain_text("onerror=", use_inner_text=True)
    assert not problems, "\n".join(problems)


# The collection has the texts of all three archives.
@pytest.mark.few("long", "collection")
@pytest.mark.parametrize("archive", ["markup", "long", "words", "collection"])
def test_tabs_show_texts(library, browser, page, dialogs, archive):
    browser.allow("404|422")
    problems = []
    target = f"/?collection={library.collection}" if archive == "collection" else f"/?archive=/archives/{library.ids_of[archive]}.wacz"
    for tab, loaded in {**TABS, **({"archives": (".members li",)} if archive == "collection" else {})}.items():
        visit(library, page, f"{target}#view={tab}", loaded[0])
        for selector in loaded[1:]:
            expect(page.locator(selector).first).to_be_visible()
        problems += problems_of(page, f"{archive} {tab}")
        if tab in ("overview", "pages", "details", "report", "archives"):
            expect(page.locator("main")).to_contain_text("onerror=", use_inner_text=True)
    page.goto(f"{library.home}{target}#view=overview")
    page.get_by_role("button", name=re.compile("tags and notes")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    problems += problems_of(page, f"{archive} edit")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Remove…").click()
    if archive != "collection":
        expect(page.get_by_role("dialog")).to_be_visible()
        problems += problems_of(page, f"{archive} removal")
    else:
        page.locator(".toast").get_by_role("button", name="Undo").click()
    assert not problems, "\n".join(problems)


def test_names_in_certificates_are_texts(library, page, dialogs):
    """In the details and the report, and in the mark of a signer, which the test has the server vouch for."""
    problems = []
    identifier = library.ids_of["signed"]
    target = f"/?archive=/archives/{identifier}.wacz"
    for tab, loaded in {"details": ".verification, section", "report": "article[aria-busy=false]"}.items():
        visit(library, page, f"{target}#view={tab}", loaded)
        expect(page.locator("main")).to_contain_text("onerror=")
        problems += problems_of(page, f"certificate {tab}")

    def vouch(route):
        body = json.loads(library.request("GET", route.request.url.removeprefix(library.home))[2])
        if closest := body.get("closest"):
            closest["verification"] = "signed"
        for one in body.get("archives", [body]):
            if summary := one.get("verificationSummary"):
                # A row has one mark, and issues are worse than a signature is good.
                one.update(verification="signed", findingCounts={"error": 0, "warning": 0, "notice": 0})
                summary.update(code="signed", contents="hashes-agree", signer=LONG)
        route.fulfill(json=body)

    page.route(re.compile(r"/api/archives(\?|/[a-z0-9-]+(/captures\?.*)?$|$)"), vouch)
    for address in ["/", "/#as=list", f"{target}#view=overview", target]:
        visit(library, page, address, ".trust")
        page.locator(".trust").first.click()
        expect(page.get_by_role("group", name="What this mark means")).to_contain_text("<img src=")
        problems += problems_of(page, f"signer {address}")
    assert not problems, "\n".join(problems)


def test_thumbnails_are_pictures_or_nothing(library, browser, page):
    """An SVG and a picture of 100 megapixels aren't shown. One with a page behind it is a picture, whatever else it is."""
    for name, status in [("markup", 404), ("long", 404), ("words", 200)]:
        path = f"/api/archives/{library.ids_of[name]}/thumbnail"
        answered, fields, body = library.request("GET", path)
        assert answered == status, name
        if status == 200:
            assert (fields["Content-Type"], fields["X-Content-Type-Options"]) == ("image/png", "nosniff")
            assert "default-src 'none'" in fields["Content-Security-Policy"]
            # Chromium's own page for a picture has inline styles.
            browser.allow("Applying inline style violates .*default-src 'none'")
            page.goto(f"{library.home}{path}")
            assert page.evaluate("[document.contentType, document.scripts.length, window.attacked ?? null]") == ["image/png", 0, None]


def test_viewer_shows_texts(library, browser, page, dialogs):
    """A page's title, messages from a page, a URL that wasn't captured, and the page's parts."""
    browser.allow("404")
    problems = []
    target = f"/?archive=/archives/{library.ids_of['markup']}.wacz"
    visit(library, page, target, ".capture-time")
    expect(page).to_have_title(re.compile(re.escape("<img src=")))
    problems += problems_of(page, "viewer")
    for url in [f"{SITE}/{MARKUP}", f"{SITE}/{'y' * 20_000}", f"javascript:{MARKUP}", "data:text/html,<script>attacked=1</script>"]:
        visit(library, page, f"{target}#url={quote(url, safe='')}&ts=2020", ".panel h1")
        problems += problems_of(page, f"uncaptured {url[:30]}")
    assert not problems, "\n".join(problems)


PAGE = """<!doctype html><title>Talks</title><h1>Talks</h1><a href="mailto:%s">Write</a><script>
// The bar shows the newest message. That of the URL comes once it's known that the URL wasn't captured, so the other one comes again.
onload = () => {
    const talk = setInterval(() => alert(TEXT), 500);
    document.querySelector("a").onclick = () => clearInterval(talk);
    document.title = TEXT;
    history.pushState(null, "", "/" + encodeURIComponent(TEXT.slice(0, 2000)));
};
const TEXT = %s;
</script>"""


def test_messages_of_a_page_are_texts(host, browser, page, dialogs, tmp_path):
    text = json.dumps(LONG).replace("</", "<\\/")
    host.add(write_archive(tmp_path / "talks.wacz", "Talks", {f"{SITE}/": PAGE % (quote(MARKUP), text)}))
    page.goto(f"{host.home}/?archive=/archives/talks.wacz")
    expect(page.locator(".hint-bar")).to_contain_text("<img src=")
    problems = problems_of(page, "message")
    Viewer(page).follow("Write")
    expect(page.locator("body")).to_contain_text("This link opens an email to")
    problems += problems_of(page, "mail")
    assert not problems, "\n".join(problems)
