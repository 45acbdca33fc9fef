"""Page info: the captures that make up a page, what stands for something else, and that a page can't hide any of it."""

import hashlib
import re
from email.utils import parsedate_to_datetime
from urllib.parse import quote

import pytest

from support.accessibility import violations
from support.archives import PIXEL, name_requirement, write_captures
from support.expecting import expect
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

SITE = "https://parts.example"
MISSING = f"{SITE}/missing.png"
MODES = ["lookups", "ranges"]
# When the page was captured, and what it loads
NEWS = "2021-05-03T08:00:00Z"
NEXT = "2021-05-04T08:00:00Z"
PAGE = b"""<!doctype html><title>News</title><link rel="stylesheet" href="/style.css"><h1>News</h1>
<img src="/young.png"><img src="http://parts.example/form.png"><img src="/similar.png?_=1620000000001">
<img src="/repeated.png"><img src="/missing.png"><iframe src="/frame.html"></iframe><iframe srcdoc="<img src='/inner.png'>"></iframe>
<a href="/next.html">Next</a>"""
CAPTURES = [
    ("/", NEWS, "text/html", PAGE),
    ("/style.css", "2021-05-03T08:00:01Z", "text/css", b"h1 { background: url(/background.png) }"),
    ("/background.png", "2021-05-03T08:00:02Z", "image/png", PIXEL),
    ("/young.png", "2024-05-03T08:00:00Z", "image/png", PIXEL + b"young"),
    ("/form.png", "2021-05-03T08:00:03Z", "image/png", PIXEL + b"form"),
    ("/similar.png?_=1620000000000", "2021-05-03T08:00:04Z", "image/png", PIXEL + b"similar"),
    ("/repeated.png", "2020-01-02T03:04:05Z", "image/png", PIXEL + b"repeated"),
    ("/repeated.png", "2021-05-03T08:00:05Z", "image/png", b""),
    ("/frame.html", "2021-05-03T08:00:06Z", "text/html", b"<!doctype html><title>Frame</title><img src='/old.png'>"),
    ("/old.png", "2019-07-08T09:10:11Z", "image/png", PIXEL + b"old"),
    ("/inner.png", "2021-05-03T08:00:07Z", "image/png", PIXEL + b"inner"),
    ("/next.html", NEXT, "text/html", b"<!doctype html><title>Next</title><h1>Next</h1>"),
]


def digits(time):
    return "".join(letter for letter in time if letter.isdigit())


def write(path, captures=CAPTURES, seen=None):
    """The second capture of a URL is a revisit of the first."""
    first = {}
    described = []
    for url, time, kind, body in captures:
        capture = {"url": SITE + url, "time": time, "type": kind}
        if kind != "text/html":
            capture["file"] = url.split("?")[0]
        if url in first:
            capture["revisitOf"] = first[url]
        first.setdefault(url, time)
        described.append((capture, body))
    return write_captures(path, path.stem, described, seen)


def parts_of(host, page, name="parts", kind="archives", url="/", time=NEWS):
    path = f"/api/{kind}/{name}/parts?url={quote(SITE + url, '')}&ts={digits(time)}"
    return page.evaluate("async (path) => (await fetch(path)).json()", path)


def add(host, file):
    """Adds an archive, and waits until it is verified: the mark of an open page doesn't follow the verification."""
    name = host.add(file)
    wait_until(lambda: host.archive(file.stem)["verification"] != "not-verified", f"{file.stem} is verified")
    return name


def open_page(host, browser, mode, target="archive=/archives/parts.wacz"):
    page = browser.page
    page.goto(f"{host.home}/?{target}&replay={mode}#url={SITE}/&ts={digits(NEWS)}")
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("News")
    return page, viewer


def wait_for_parts(host, page, expected, missing=None, **target):
    """Waits until the parts are those with these URLs, in any order, and these URLs weren't captured; `None` for any."""
    def is_there():
        found = parts_of(host, page, **target)
        is_expected = sorted(part["url"] for part in found["parts"]) == sorted(expected)
        return is_expected and missing in (None, found["missing"]) and found["isComplete"]

    wait_until(is_there, f"the parts are {expected}")
    return parts_of(host, page, **target)


@pytest.mark.parametrize("mode", MODES)
def test_parts_are_those_of_the_requests(host, browser, tmp_path, mode):
    """The times are those that the browser received for the requests of the page, and page info shows them."""
    add(host, write(tmp_path / "parts.wacz"))
    answers = []
    browser.context.on("response", lambda answer: answers.append(answer))
    page, viewer = open_page(host, browser, mode)
    expected = {SITE + url: digits(time) for url, time, _, _ in CAPTURES if url != "/next.html"}
    found = wait_for_parts(host, page, expected, [MISSING])
    received = {}
    for answer in answers:
        prefix, separator, url = answer.url.partition("_/")
        if separator and "/parts-" in prefix and not answer.request.service_worker and answer.request.frame != viewer.agent_frame:
            time = answer.header_value("memento-datetime")
            received[url] = parsedate_to_datetime(time).strftime("%Y%m%d%H%M%S") if time else None
    asked = {"https://parts.example/form.png": "http://parts.example/form.png",
        "https://parts.example/similar.png?_=1620000000000": "https://parts.example/similar.png?_=1620000000001"}
    # The test's own list is what the browser saw.
    requested = {asked.get(url, url): time for url, time in expected.items()}
    assert received.keys() == requested.keys() | {MISSING}
    # By ranges, responses state no time.
    assert mode == "ranges" or received == requested | {MISSING: None}
    assert {part["url"]: part["timestamp"] for part in found["parts"]} == expected
    assert {part["url"]: part["asked"] for part in found["parts"] if "asked" in part} == asked
    assert {part["url"]: part["match"] for part in found["parts"] if "match" in part} == dict(zip(asked, ["other-form", "similar"]))
    assert [part["content"]["timestamp"] for part in found["parts"] if "content" in part] == ["20200102030405"]

    button = page.get_by_role("button", name="Page info", exact=True)
    button.focus()
    page.keyboard.press("i")
    info = page.get_by_role("group", name="Page info")
    for text in ["10 captures make up this page so far. Earliest: 2 years before the page. Latest: 3 years after the page.",
            "2 captures are more than a day from the page", "3 captures have another URL or reuse content", "1 request wasn't captured",
            "3 May 2021 at 08:00:00 UTC", "Hashes agree", "archive/parts.warc.gz, byte "]:
        expect(info).to_contain_text(text)
    listed = info.locator("details").filter(has_text="more than a day").get_by_role("link")
    expect(listed).to_have_text([f"{SITE}/young.png", f"{SITE}/old.png"])
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(info).to_be_hidden()
    expect(button).to_be_focused()

    page.keyboard.press("F6")
    # What a link opens is no part of the page. That takes a second to find out, and so does what this frame belongs to.
    viewer.follow("Next")
    expect(viewer.read("h1")).to_have_text("Next")
    viewer.archived_frame.evaluate("""() => {
        const frame = document.createElement("iframe");
        document.body.append(frame);
        frame.contentWindow.location.href = location.href.replace("next.html", "frame.html");
    }""")
    wait_for_parts(host, page, [f"{SITE}/next.html", f"{SITE}/frame.html", f"{SITE}/old.png"], [], url="/next.html", time=NEXT)
    wait_for_parts(host, page, expected, [MISSING])


# Each would hide a part, if a page could. They run in the page, unrewritten.
LOAD = """const load = () => new Promise((done) => {
    const image = new Image();
    image.onload = () => done();
    image.src = "/old.png";
});
"""
ATTACKS = {
    "agent": """() => {
        const agent = top.___replayhost_agent;
        agent.addEventListener("message", (event) => event.stopImmediatePropagation(), true);
        agent.postMessage = agent.fetch = () => {};
        return load();
    }""",
    "report": """async () => {
        await load();
        const own = { url: "https://parts.example/", timestamp: "20210503080000" };
        const requests = [{ asked: own, answer: own, isDocument: true }, { asked: own, page: own, isDocument: false,
            answer: { url: "https://parts.example/", timestamp: "20210503080009" } }];
        for (const from of [self, top.___replayhost_agent]) {
            await from.fetch("/requests", { method: "POST", referrerPolicy: "no-referrer", headers: { "content-type": "application/json" },
                body: JSON.stringify({ requests }) });
        }
    }""",
    "silent frame": """() => new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.referrerPolicy = "no-referrer";
        frame.onload = () => done();
        frame.src = "/frame.html";
        document.body.append(frame);
    })""",
    "second load": """async () => {
        await load();
        setTimeout(() => location.reload());
    }""",
    "worker": """async () => {
        for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister();
        await load();
    }""",
}


def test_page_cant_hide_a_part(host, browser, tmp_path):
    html = b"<!doctype html><title>News</title><h1>News</h1>"
    for number, (name, attack) in enumerate(ATTACKS.items()):
        path = tmp_path / f"attack-{number}.wacz"
        host.add(write(path, [("/", NEWS, "text/html", html)] + [one for one in CAPTURES if one[0] in ("/frame.html", "/old.png")]))
        page, viewer = open_page(host, browser, "lookups", f"archive=/archives/{path.name}")
        viewer.archived_frame.evaluate(f"() => {{ {LOAD} return ({attack})(); }}")
        frames = [f"{SITE}/frame.html"] if name == "silent frame" else []
        wait_for_parts(host, page, [f"{SITE}/", f"{SITE}/old.png", *frames], name=path.stem)
        if name == "second load":
            expect(viewer.read("h1")).to_have_text("News")


def test_parts_of_other_archives_are_named(host, browser, tmp_path):
    seen = {}
    add(host, write(tmp_path / "parts.wacz", [one for one in CAPTURES if one[0] != "/style.css"], seen))
    add(host, write(tmp_path / "others.wacz", [one for one in CAPTURES if one[0] == "/style.css"], seen))
    host.create_collection("Both", "parts", "others", id="both")
    page, viewer = open_page(host, browser, "lookups", "collection=both")
    expected = [SITE + url for url in dict.fromkeys(url for url, *_ in CAPTURES) if url != "/next.html"]
    found = wait_for_parts(host, page, expected, [MISSING], name="both", kind="collections")
    assert [part["url"] for part in found["parts"] if part["archive"] == "others"] == [f"{SITE}/style.css"]
    page.get_by_role("button", name="Page info", exact=True).click()
    info = page.get_by_role("group", name="Page info")
    expect(info).to_contain_text("1 capture comes from other archives")
    expect(info).to_contain_text("1 capture from others")
    page.keyboard.press("Escape")
    mark = page.get_by_role("banner").locator("[data-trust]")
    expect(mark).to_have_text("Hashes agree (parts are from other archives)")


def test_required_archive_with_content_is_named(host, browser, tmp_path):
    """A picture is a revisit, and its content is in another archive."""
    seen = {}
    first = ({"url": f"{SITE}/repeated.png", "time": "2020-01-02T03:04:05Z", "type": "image/png", "file": "/repeated.png"}, PIXEL)
    base = write_captures(tmp_path / "base.wacz", "Base crawl", [first], seen)
    page_capture = ({"url": f"{SITE}/", "time": NEWS, "type": "text/html"}, b"<!doctype html><h1>News</h1><img src=/repeated.png>")
    again = ({**first[0], "time": NEWS, "revisitOf": first[0]["time"]}, b"")
    file = write_captures(tmp_path / "parts.wacz", "Parts", [page_capture, again], seen)
    name_requirement(file, "base.wacz", hashlib.sha256(base.read_bytes()).hexdigest())
    host.add(base)
    add(host, file)
    page, _ = open_page(host, browser, "lookups")
    found = wait_for_parts(host, page, [f"{SITE}/", f"{SITE}/repeated.png"], [])
    assert [(part.get("archive"), part.get("content", {}).get("archive")) for part in found["parts"]] == [(None, None), (None, "base")]
    page.get_by_role("button", name="Page info", exact=True).click()
    info = page.get_by_role("group", name="Page info")
    expect(info).to_contain_text("1 capture comes from other archives")
    expect(info).to_contain_text("1 capture from Base crawl")
    expect(info).to_contain_text("in Base crawl.")
