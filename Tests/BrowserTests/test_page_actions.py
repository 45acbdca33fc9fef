"""Actions of archived pages: links to other frames, PDF and other documents, downloads, printing and dialogs."""

import io
import wave
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.archives import write_captures
from support.engines import ENGINES
from support.viewer import Viewer
from support.waiting import wait_until

# Playwright's own `expect`: a click into a PDF needs the frame's final position, some time after it's visible.
expect.set_options(timeout=30_000)

SITE = "https://actions.example"
STAMP = "20241121090000"
# Chromium logs each refused navigation, before the page's script makes it.
REFUSED = "Unsafe attempt to initiate navigation|Blocked opening"


def page(title, body, head=""):
    return f"<!doctype html><meta charset=utf-8><title>{title}</title>{head}<body><h1>{title}</h1>{body}".encode()


def pdf(opening=b"null", annotation=b"null"):
    """A PDF of one page with text. `opening`: an action on opening; `annotation`: an annotation."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[7 0 R]>>",
        b"<</Length 58>>stream\nBT /F1 36 Tf 40 90 Td (Tide table) Tj ET\n                 \nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", opening, annotation]
    body, offsets = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%b endobj\n" % (number, text)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return body + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def sound():
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(1600))
    return out.getvalue()


NAV = page("nav", """
    <a target=main href=/two>named</a> <a target=_parent href=/plain>parent</a> <a target=_top href=/plain>top</a>
    <a target=nowhere href=/plain>unknown</a> <a href="javascript:void(parent.main.location.href='/two')">script</a>
    <a href="#" onclick="window.open('/two', 'main'); return false">opened</a>
    <a target=main href=/two onclick="return false">cancelled</a>
    <form target=main action=/two><input name=q value=1><button>send</button></form>""")
ACTIONS = page("actions", """
    <a id=w target=win href=/plain>window</a> <a download=tides.txt href=/notes.txt>save as</a>
    <a href=/report.txt>attachment</a> <button id=print onclick="print()">print</button><output></output>
    <button id=ask onclick="alert('Hello'); document.querySelector('output').textContent =
        confirm('Sure?') + ' ' + prompt('Name?', 'Ada') + ' ' + prompt('Age?')">ask</button>
    <canvas width=20 height=20></canvas><input value=old><iframe srcdoc="<p>An inner frame</p>"></iframe>
    <noscript>Not without scripts</noscript><div style="height: 4000px"></div><p id=end>The end of the page</p>""")
HTML_AS_PDF = b"<!doctype html><title>No PDF</title><script>top.location = 'https://leak-navigation.example/'</script>"
POLYGLOT = b"<!doctype html><script>top.location = 'https://leak-polyglot.example/'</script><!--%PDF-1.7\n" + pdf()

LINK = (b"<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/Border[0 0 0]"
    b"/A<</S/URI/URI(http://leak-link.example/)>>>>")
SCRIPT = (b"<</S/JavaScript/JS(app.launchURL\\('http://leak-launch.example/'\\); "
    b"this.getURL\\('http://leak-url.example/'\\); this.submitForm\\('http://leak-submit.example/'\\);)>>")
FRAMES = "<frameset cols='30%,70%'><frame name=nav src=/nav><frame name=main src=/one></frameset>"
INNER = "<iframe name=nav src=/base-nav></iframe><iframe name=main src=/one></iframe>"
REPORT = {"fields": [("Content-Disposition", 'attachment; filename="tide report.txt"')]}
CAPTURES = [({"url": f"{SITE}/{path}", **more}, body) for path, more, body in [
    ("", {}, page("frames", "", FRAMES)), ("nav", {}, NAV), ("one", {}, page("one", "")), ("two", {}, page("two", "")),
    ("two?q=1", {}, page("two", "with a query")), ("base", {}, page("base", INNER)),
    ("base-nav", {}, page("nav", "<a href=/two>by base</a>", "<base target=main>")),
    ("plain", {}, page("plain", "")), ("actions", {}, ACTIONS),
    ("notes.txt", {"file": "notes.txt"}, b"low water 06:42\n"),
    ("report.txt", {"file": "report.txt", **REPORT}, b"high water 12:55\n"),
    ("data.zip", {"file": "data.zip"}, b"PK\x05\x06" + bytes(18)), ("nothing", {"status": 204, "file": "a.txt"}, b""),
    ("tides.pdf", {"file": "tides.pdf"}, pdf()), ("link.pdf", {"file": "link.pdf"}, pdf(annotation=LINK)),
    ("uri.pdf", {"file": "uri.pdf"}, pdf(opening=b"<</S/URI/URI(http://leak-uri.example/)>>")),
    ("form.pdf", {"file": "f.pdf"}, pdf(opening=b"<</S/SubmitForm/F<</FS/URL/F(http://leak-form.example/)>>>>")),
    ("script.pdf", {"file": "script.pdf"}, pdf(opening=SCRIPT)), ("html.pdf", {"file": "html.pdf"}, HTML_AS_PDF),
    ("polyglot.pdf", {"file": "polyglot.pdf"}, POLYGLOT),
    ("moved.pdf", {"file": "moved.pdf", "status": 301, "location": "https://leak-moved.example/"}, pdf()),
    ("a.svg", {"file": "a.svg"}, b'<svg xmlns="http://www.w3.org/2000/svg"><text y="20">A drawing</text></svg>'),
    ("a.json", {"file": "a.json"}, b'{"tide": "low"}'),
    ("a.xml", {"file": "a.xml"}, b"<?xml version='1.0'?><tides><tide>low</tide></tides>"),
    ("a.wav", {"file": "a.wav"}, sound()),
]]
# A page that Scoop adds to a capture.
SNAPSHOT = "file:///dom-snapshot.html"
CAPTURES.append(({"url": SNAPSHOT, "fields": [("Content-Disposition", "Attachment")]}, page("snapshot", "")))


@pytest.fixture
def actions(host, tmp_path):
    host.add(write_captures(tmp_path / "actions.wacz", "Actions", CAPTURES))
    return host


@pytest.fixture
def viewer(actions, browser):
    browser.allow(REFUSED)
    return Viewer(browser.page)


def address(host, path):
    url = path if "://" in path else f"{SITE}/{path}"
    return f"{host.home}/?archive=/archives/actions.wacz#url={quote(url, safe='')}&ts={STAMP}"


def open_at(viewer, host, path):
    """Opens a page in a new viewer."""
    viewer.page.goto("about:blank")
    viewer.page.goto(address(host, path))


IN_MAIN = "(text) => document.querySelector('[name=main]').contentDocument.body.innerText.includes(text)"
FRAMES_LOADED = """() => Object.entries({ nav: "nav", main: "one" }).every(([name, title]) => {
    const inner = document.querySelector(`[name=${name}]`).contentDocument;
    return inner.readyState === "complete" && inner.title === title;
})"""
CLICK = """(frame, text) => {
    const inner = frame ? document.querySelector(`[name=${frame}]`).contentDocument : document;
    [...inner.querySelectorAll("a, button")].find((one) => one.textContent === text).click();
}"""


@pytest.mark.parametrize("name", ENGINES)
def test_links_open_in_other_frames_in_each_engine(actions, playwright, tmp_path, name):
    """Dialogs are answered, and a PDF is shown if the engine can show it."""
    engine = ENGINES[name](tmp_path / "browser", playwright=playwright)
    try:
        engine.allow(REFUSED)
        engine.go(address(actions, ""))
        for text, expected in [("named", "two"), ("send", "with a query")]:
            engine.wait_for(FRAMES_LOADED, what="both frames have loaded", in_page=True)
            engine.run_in_page(CLICK, "nav", text)
            engine.wait_for(IN_MAIN, expected, what=f"“{text}” opens {expected}", in_page=True)
            engine.reload()
        engine.wait_for(FRAMES_LOADED, what="both frames have loaded", in_page=True)
        engine.run_in_page(CLICK, "nav", "parent")
        engine.wait_for_text_in_page("plain", "h1")
        engine.go("about:blank")
        engine.go(address(actions, "actions"))
        engine.wait_for_text_in_page("actions", "h1")
        engine.run_in_page(CLICK, "", "ask")
        engine.wait_for_text_in_page("true Ada null", "output")
        engine.wait_for_text("The page asked “Age?”", ".hint-bar")
        engine.go("about:blank")
        engine.go(address(actions, "tides.pdf"))
        engine.wait_for("() => Boolean(document.querySelector(navigator.pdfViewerEnabled ? '.pdf-panel iframe' "
            ": '.document-panel'))", what="the PDF is shown")
        engine.check()
    finally:
        engine.close()


def test_links_open_in_their_target(actions, viewer):
    """Sibling and parent frames, by name, by `base` and by script; unknown names; cancelled clicks."""
    nav, main = (viewer.archived.frame_locator(f"[name={name}]") for name in ["nav", "main"])
    for path, link, place, title in [
        ("", "named", main, "two"), ("", "script", main, "two"), ("", "opened", main, "two"),
        ("base", "by base", main, "two"), ("", "top", viewer, "plain"), ("", "unknown", viewer, "plain"),
    ]:
        open_at(viewer, actions, path)
        expect(main.locator("h1")).to_have_text("one")
        if link == "named":
            nav.get_by_role("link", name="cancelled", exact=True).click()
        nav.get_by_role("link", name=link, exact=True).click()
        expect(viewer.read("h1") if place is viewer else main.locator("h1")).to_have_text(title)
    expect(viewer.address).to_have_value(f"{SITE}/plain")
    open_at(viewer, actions, "actions")
    viewer.follow("window")
    expect(viewer.read("h1")).to_have_text("plain")


def reader_title(page):
    """Returns the title in the browser's PDF viewer, which is the file name."""
    page.wait_for_timeout(10)
    reader = next((one for one in page.frames if one.url.startswith("chrome-extension:")), None)
    return reader and reader.evaluate("document.title")


def test_only_pdf_is_shown_in_the_pdf_frame(actions, viewer, browser):
    """Not HTML with the type of PDF, nor redirects. A PDF can't open a URL, send a form or run a script."""
    browser.allow("404")
    panel = viewer.page.locator(".pdf-panel iframe")
    for name in ["tides", "uri", "form", "script", "polyglot"]:
        open_at(viewer, actions, f"{name}.pdf")
        expect(panel).to_be_visible()
        wait_until(lambda: reader_title(viewer.page) == f"{name}.pdf", f"{name}.pdf is in the browser's PDF viewer")
        expect(viewer.address).to_have_value(f"{SITE}/{name}.pdf")
    open_at(viewer, actions, "html.pdf")
    card = viewer.page.locator(".document-panel")
    expect(card).to_contain_text("This PDF can't be shown here. Save a copy to open it in another program.")
    open_at(viewer, actions, "moved.pdf")
    expect(viewer.page.locator(".absence-panel")).to_contain_text("https://leak-moved.example/")


def test_pdf_frames_get_nothing_but_pdf(actions):
    """The URL of PDF frames answers only requests of these frames, and only with PDF."""
    good = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe", "Referer": f"{actions.home}/"}
    bare = f"127.0.0.1:{actions.port}"

    def get(name, host=bare, **changes):
        fields = {**good, **{key.replace("_", "-"): value for key, value in changes.items()}}
        return actions.request("GET", f"/pdf/actions/{STAMP}/{SITE}/{name}", fields, host=host)

    for name in ["tides.pdf", "polyglot.pdf"]:
        for changes in [{}, {"Range": "bytes=5-9", "If_None_Match": "*"}]:
            status, headers, body = get(name, **changes)
            assert (status, headers["Content-Type"]) == (200, "application/pdf") and b"%PDF-" in body
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Location"] is None
            assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    for name in ["html.pdf", "moved.pdf", "plain", "missing.pdf"]:
        status, headers, body = get(name)
        assert status == 404 and headers["Content-Type"].startswith("text/plain") and b"script" not in body
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; frame-ancestors 'none'")
    for changes in [
        {"Sec_Fetch_Dest": "document"}, {"Sec_Fetch_Dest": "embed"}, {"Sec_Fetch_Mode": "no-cors"}, {"Referer": ""},
        {"Referer": "https://attacker.example/"}, {"Referer": f"{actions.replay_origin('actions')}/"},
    ]:
        assert get("tides.pdf", **changes)[0] == 403, changes
    for host in [f"localhost:{actions.port}", f"replayhost.localhost:{actions.port}"]:
        assert get("tides.pdf", host=host)[0] == 404


def test_link_in_a_pdf_asks_before_it_leaves(actions, viewer, browser):
    """The browser's PDF viewer opens links in the whole tab. The browser asks first, and this test stays."""
    browser.allow("Navigation rejected")  # The PDF viewer logs this.
    asked = []

    def stay(dialog):
        asked.append(dialog.type)
        dialog.dismiss()

    viewer.page.on("dialog", stay)
    open_at(viewer, actions, "link.pdf")
    panel = viewer.page.locator(".pdf-panel iframe")
    expect(panel).to_be_visible()
    box = panel.bounding_box()

    def click():
        viewer.page.mouse.click(box["x"] + box["width"] * .6, box["y"] + 200)
        return asked

    # Under load, a second click may come before the first dialog. Each click opens one.
    wait_until(click, "the browser asks before the tab goes elsewhere")
    assert set(asked) == {"beforeunload"}
    expect(viewer.address).to_have_value(f"{SITE}/link.pdf")


def test_other_documents_are_shown(actions, viewer):
    for path, text in [("notes.txt", "low water"), ("a.svg", "A drawing"), ("a.json", "tide"), ("a.xml", "low")]:
        open_at(viewer, actions, path)
        expect(viewer.read(":root")).to_contain_text(text)
        expect(viewer.address).to_have_value(f"{SITE}/{path}")
    open_at(viewer, actions, SNAPSHOT)
    expect(viewer.read("h1")).to_have_text("snapshot")
    expect(viewer.address).to_have_value(SNAPSHOT)
    open_at(viewer, actions, "a.wav")
    wait_until(lambda: viewer.read("video, audio").evaluate("media => media.duration") == .1, "the sound can be played")


def test_files_are_saved(actions, viewer):
    """By a link's attribute and by the archived header. Also if the first URL in a viewer is a file."""
    open_at(viewer, actions, "actions")
    for link, name, start in [("save as", "tides.txt", b"low water"), ("attachment", "tide report.txt", b"high water")]:
        with viewer.page.expect_download() as saved:
            viewer.follow(link)
        assert saved.value.suggested_filename == name
        assert saved.value.path().read_bytes().startswith(start)
        expect(viewer.read("h1")).to_have_text("actions")
    for path, reason in [
        ("data.zip", "This file can't be shown as a page. Save a copy instead."),
        ("report.txt", "This file can't be shown as a page. Save a copy instead."),
        ("nothing", "The site sent no content for this URL."),
    ]:
        open_at(viewer, actions, path)
        expect(viewer.page.locator(".document-panel")).to_contain_text(reason)
        expect(viewer.address).to_have_value(f"{SITE}/{path}")
    open_at(viewer, actions, "data.zip")
    with viewer.page.expect_download(lambda file: file.suggested_filename == "data.zip") as saved:
        viewer.page.get_by_role("link", name="Save a copy").click()


def test_whole_page_is_printed(actions, viewer):
    """By the page's own button, in its current state."""
    viewer.page.add_init_script("""addEventListener("message", ({ data }) => {
        window.isPrinting ||= data?.replayhost === "prints";
    });""")
    open_at(viewer, actions, "actions")
    viewer.read("input").fill("new value")
    viewer.read("canvas").evaluate("canvas => canvas.getContext('2d').fillRect(0, 0, 20, 20)")
    viewer.read("#print").click()
    wait_until(lambda: viewer.page.evaluate("window.isPrinting"), "the copy is printed")
    copy = viewer.page.frame(name="___replayhost_print")
    if copy:  # Without a printer, some versions of the browser report the end at once.
        html = copy.content()
        for part in ["The end of the page", 'value="new value"', '<img width="20" height="20" src="data:image/png']:
            assert part in html
        assert "Not without scripts" not in html and "<script" not in html
        assert copy.child_frames[0].content().count("An inner frame") == 1
