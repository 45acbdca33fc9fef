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
PRINTED = page("printed", """
    <img src=/dot.svg alt=dot><p class=imported>imported</p><p class=linked>linked</p>
    <p style="background: url(/dot.svg)">styled</p><textarea>old</textarea>
    <select><option>one<option>two</select><details><summary>more</summary>details</details>
    <x-box></x-box><iframe src=/inner></iframe><p onclick="0">clicked</p>
    <script>
    const box = document.querySelector("x-box").attachShadow({ mode: "open" });
    box.innerHTML = "<b>in the shadow</b><img src=/dot.svg>";
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("b { color: rgb(0, 0, 255) }");
    box.adoptedStyleSheets = [sheet];
    </script>""", "<link rel=stylesheet href=/print.css><meta http-equiv=refresh content='3600; url=/plain'>")
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
    ("printed", {}, PRINTED), ("inner", {}, page("inner", "<img src=/dot.svg><noscript>Not without scripts</noscript>")),
    ("print.css", {"file": "print.css"}, b"@import 'more.css' print, screen; .linked { background: url(dot.svg); color: rgb(255, 0, 0) }"),
    ("more.css", {"file": "more.css"}, b".imported { color: rgb(0, 128, 0) }"),
    ("dot.svg", {"file": "dot.svg"}, b'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><rect width="7" height="7"/></svg>'),
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


@pytest.mark.few("webkit")
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
    # Chromium asks only on a page that was used before, and learns of the click into the PDF too late for that.
    viewer.address.click()

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


# The frame in which a copy is printed, which stays when nothing is printed.
COPY = "___replayhost_print"
HOLD = """if (location.hostname === "127.0.0.1" && location.pathname === "/print") {
    window.print = () => { window.isPrinting = true; };
}"""


def printed_copy(viewer):
    """The frame with the copy that would be printed."""
    def copy():
        viewer.page.wait_for_timeout(1)  # Playwright learns of frames only while it is asked something.
        frame = viewer.page.frame(name=COPY)
        return frame and frame.evaluate("window.isPrinting") and frame

    return wait_until(copy, "the copy is printed")


def test_whole_page_is_printed(actions, viewer):
    """By the page's own button, in its current state."""
    viewer.page.add_init_script(HOLD)
    open_at(viewer, actions, "actions")
    viewer.read("input").fill("new value")
    viewer.read("canvas").evaluate("canvas => canvas.getContext('2d').fillRect(0, 0, 20, 20)")
    viewer.read("#print").click()
    copy = printed_copy(viewer)
    html = copy.content()
    for part in ["The end of the page", 'value="new value"', '<img width="20" height="20" src="data:image/png']:
        assert part in html
    assert "Not without scripts" not in html and "<script" not in html
    assert copy.child_frames[0].content().count("An inner frame") == 1
    # The viewer removes it at the end.
    copy.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(viewer.page.locator(f"[name={COPY}]")).to_have_count(0)


def test_printed_copy_contains_what_the_page_loaded(actions, viewer):
    """Style sheets, images, inner frames and open shadow trees. The copy itself loads nothing."""
    viewer.page.add_init_script(HOLD)
    open_at(viewer, actions, "printed")
    viewer.read("textarea").fill("new")
    viewer.read("select").select_option("two")
    viewer.read("summary").click()
    expect(viewer.read("x-box b")).to_have_css("color", "rgb(0, 0, 255)")
    wait_until(lambda: viewer.archived_frame.evaluate("frames[0].document.images[0]?.naturalWidth") == 7, "the frame is loaded")
    viewer.page.get_by_role("button", name="Print this page").click()
    copy = printed_copy(viewer)
    style = "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]"
    assert copy.evaluate(style, [".imported", "color"]) == "rgb(0, 128, 0)"
    assert copy.evaluate(style, [".linked", "color"]) == "rgb(255, 0, 0)"
    for selector in [".linked", "[style]"]:
        assert copy.evaluate(style, [selector, "backgroundImage"]).startswith('url("data:image/svg+xml')
    assert copy.evaluate("[document.images[0].naturalWidth, document.querySelector('textarea').value]") == [7, "new"]
    assert copy.evaluate("[document.querySelector('select').value, document.querySelector('details').open]") == ["two", True]
    shadow = "document.querySelector('x-box').shadowRoot"
    assert copy.evaluate(f"getComputedStyle({shadow}.querySelector('b')).color") == "rgb(0, 0, 255)"
    assert copy.evaluate(f"{shadow}.querySelector('img').naturalWidth") == 7
    inner = copy.child_frames[0]
    assert inner.content().count("data:image/svg+xml") == 1 and "Not without scripts" not in inner.content()
    assert copy.evaluate("document.querySelectorAll('script, meta, link, base, [onclick]').length") == 0
    assert copy.evaluate("[origin, document.title]") == ["null", "printed"]


def test_frameset_is_printed(actions, viewer):
    viewer.page.add_init_script(HOLD)
    viewer.page.goto(address(actions, ""))
    for frame, title in [("nav", "nav"), ("main", "one")]:
        expect(viewer.archived.frame_locator(f"[name={frame}]").locator("h1")).to_have_text(title)
    viewer.page.get_by_role("button", name="Print this page").click()
    copy = printed_copy(viewer)
    assert [frame.evaluate("document.querySelector('h1').textContent") for frame in copy.child_frames] == ["nav", "one"]
    left, right = copy.evaluate("[...document.querySelectorAll('iframe')].map((frame) => frame.clientWidth)")
    assert abs(right / left - 7 / 3) < .1


# Tries to open dialogs by each window that is new in the tab, again and again, with the unchanged functions of the agent.
ATTACK = """() => {
    const { top } = window;
    const { alert, confirm, prompt } = top.___replayhost_agent;
    const known = new Set(Array.from({ length: top.length }, (_, index) => top[index]));
    const ways = {
        alert: (target) => alert.call(target, "locked"),
        confirm: (target) => confirm.call(target, "locked"),
        prompt: (target) => prompt.call(target, "Password:"),
        itsOwn: (target) => target.prompt("Password:"),
        eval: (target) => target.eval("prompt('Password:')"),
        document: (target) => target.document.documentElement.append("Password:"),
        print: (target) => target.print(),
    };
    window.attack = { tries: 0, reached: [] };
    setInterval(() => {
        for (let index = 0; index < top.length; index += 1) {
            const target = top[index];
            if (known.has(target)) continue;
            target.postMessage({ html: "<img src=x onerror='prompt()'><meta http-equiv=refresh content='0; url=/'>" }, "*");
            try {
                // Some browsers don't throw.
                target.location.href = "javascript:prompt('Password:')";
            } catch {
                // Others do.
            }
            for (const [name, act] of Object.entries(ways)) {
                window.attack.tries += 1;
                try {
                    act(target);
                    window.attack.reached.push(name);
                } catch {
                    // Refused.
                }
            }
        }
    }, 1);
}"""
PRINTS = """() => {
    document.addEventListener("load", ({ target }) => { window.isCopyLoaded ||= target.name === "___replayhost_print"; }, true);
    document.querySelector(".toolbar button[title='Print this page']").click();
}"""


@pytest.mark.few("chromium", "firefox")
@pytest.mark.parametrize("name", ENGINES)
def test_printing_opens_no_dialog_for_the_page(actions, playwright, tmp_path, name):
    engine = ENGINES[name](tmp_path / "browser", playwright=playwright)
    dialogs = []
    try:
        engine.allow(REFUSED)
        if name == "chromium":
            engine.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        engine.go(address(actions, "actions"))
        engine.wait_for_text_in_page("The end of the page")
        engine.run_in_page(ATTACK)
        engine.run(PRINTS)
        engine.wait_for("() => window.isCopyLoaded", what="the copy is loaded")
        tries = engine.run_in_page("() => window.attack.tries")
        # In the other two, a dialog would make this fail. The copy may be gone already.
        engine.wait_for(
            "(tries, length) => window.attack.tries > tries + 50 || window.top.length === length", tries, 2,
            what="the page attacks the copy", in_page=True)
        assert engine.run_in_page("() => window.attack.tries") > 0
        assert engine.run_in_page("() => [...new Set(window.attack.reached)]") == []
        assert dialogs == []
        engine.check()
    finally:
        engine.close()
