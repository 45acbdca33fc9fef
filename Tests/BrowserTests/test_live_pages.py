"""Pages look in replay as they did live: the same bytes and header fields, from a web server and from an archive.

Each page writes what it sees into `#o`. One page shows all of them in frames, so that each mode needs one load.
"""

from urllib.parse import quote

import pytest

from support.archives import write_captures
from support.engines import ENGINES
from support.engines.engine import NotThere, ScriptError
from support.host import Host
from support.pictures import GREY, png
from support.waiting import wait_until
from support.website import WebSite

SITE = "https://live.example"
BEFORE, TIME, AFTER = (f"2024-01-01T00:00:0{second}Z" for second in [0, 5, 9])
HTML = "text/html; charset=utf-8"


def row(width):
    """An image of one row."""
    return png(width, 1, GREY, bytes(width + 1))


def page(script="", head="", body=""):
    return f"<!doctype html><html><head><meta charset=utf-8>{head}</head><body><p id=o></p>{body}<script>{script}</script>"


def refresh(content):
    return page(head=f'<meta http-equiv="refresh" content="{content}">')


def when_loaded(expression):
    return f"addEventListener('load', () => setTimeout(() => {{ o.textContent = {expression}; }}, 300))"


def again(expression):
    """Writes what is seen again and again."""
    return f"setInterval(() => {{ o.textContent = {expression}; }}, 50);"


WIDTHS = when_loaded("[...document.images].map((image) => image.naturalWidth).join()")
TEXT = "((it) => (it.contentDocument?.body ?? it.contentDocument?.documentElement)?.textContent.trim() ?? 'none')"
GZIP = [("Content-Encoding", "gzip")]

# The pages by path. With a list, each request gets the next capture; a captured 304 was the answer to a conditional one.
PAGES = {
    "class-field": page("class Q { location = 5; top = 6 } o.textContent = `${new Q().location} ${new Q().top}`;"),
    "refresh-single-quotes": refresh("0; URL='/next'"),
    "refresh-double-quotes": refresh("0;url=&quot;/next&quot;"),
    "refresh-without-quotes": refresh("1 ; url = /next"),
    "refresh-with-host": refresh("0; url='SITE/next'"),
    "refresh-relative": refresh("0; url='next'"),
    "refresh-with-query": refresh("0; url='/next?a=1'"),
    "refresh-to-a-quote": refresh("0; url=/it's'"),
    "refresh-bare": refresh("0; /next"),
    "refresh-field": {"body": page(), "fields": [("Refresh", "0; url=/next")]},
    "refresh-field-quoted": {"body": page(), "fields": [("Refresh", "0;URL='next'")]},
    "image-as-page": page(WIDTHS, body="<img src=/51.png><img src=/52.png><img src=/53.png>"),
    "unchanged": [{"body": "<p id=o>state before", "time": BEFORE}, {"body": "", "status": 304},
        {"body": "<p id=o>state after", "time": AFTER}],
    "unchanged-image": page(WIDTHS, body="<img src=/unchanged.png>"),
    "cookie": [{"body": "", "status": 302, "location": "/cookie?c=1"}, {"body": "<p id=o>home", "time": AFTER}],
    "object": page(again(f"[page, plain, gone].map({TEXT}).join('|')"), body="<object id=page data=/part></object>"
        "<object id=plain data=/plain.txt></object><object id=gone data=/gone.html>nothing</object>"),
    "object-added": page(f"const it = Object.assign(document.createElement('object'), {{ data: '/part' }}); document.body.append(it);"
        + again(f"[it].map({TEXT}).join()")),
    "object-parent": page(body="<object data=/part-parent></object>"),
    "object-image": page(again("`${it.offsetWidth >= 55} ${none.clientHeight > 0}`"), body="<object id=it data=/55.png></object>"
        "<object data=/gone.png><b id=none style='display: block'>nothing</b></object>"),
    "object-size": page(again("(it.firstElementChild ?? it).clientWidth"), body="<object id=it data=/part width=77></object>"),
    "object-svg": page(when_loaded(f"[it].map({TEXT}).join()"), body="<object id=it data=/part.svg type=image/svg+xml></object>"),
    "embed": page(when_loaded("it.getSVGDocument?.()?.documentElement.textContent ?? ''"),
        body="<embed id=it src=/part.svg type=image/svg+xml>"),
}

PARTS = {
    "next": page("o.textContent = 'next'"), "next?a=1": page("o.textContent = 'next with a query'"),
    "it's'": page("o.textContent = 'quotes'"),
    "51.png": {"body": row(51), "type": "text/html"}, "52.png": {"body": row(52), "type": HTML},
    "53.png": {"body": row(53), "type": "text/plain"},
    "unchanged.png": [{"body": row(54), "type": "image/png", "time": BEFORE}, {"body": b"", "type": "image/png", "status": 304}],
    "cookie?c=1": {"body": "", "status": 302, "location": "/cookie"}, "55.png": {"body": row(55), "type": "image/png"},
    "part": "<p>part of a page", "plain.txt": {"body": "plain text", "type": "text/plain"},
    "part-parent": "<script>parent.o.textContent = 'written by the part'</script>",
    "part.svg": {"body": '<svg xmlns="http://www.w3.org/2000/svg"><text y="20">SVG</text></svg>', "type": "image/svg+xml"},
}

# These move in the history, so each is shown by itself: when it is opened, and when a link leads to it.
STEP = "addEventListener('popstate', () => { o.textContent = location.pathname; });"
STEPS = {
    "step-while-parsed": page(f"{STEP} history.pushState({{}}, '', '/a'); history.pushState({{}}, '', '/b'); history.go(-2);"),
    "step-when-loaded": page(f"{STEP} addEventListener('load', () => {{ history.pushState({{}}, '', '/a'); history.back(); }});"),
}
LINKS = page(body="".join(f'<a href="/{path}">{path}</a>' for path in STEPS))

ALL = page(body="".join(f'<iframe name="{name}" src="/{name}"></iframe>' for name in PAGES))

RESULTS = """() => Object.fromEntries([...document.querySelectorAll('iframe')].map((frame) =>
    [frame.name, frame.contentDocument?.getElementById('o')?.textContent ?? '']))"""


def captures(origin):
    """Yields each capture as `write_captures` takes it, for a site at that origin."""
    for path, what in {"": ALL, "links": LINKS, **PARTS, **PAGES, **STEPS}.items():
        for one in what if isinstance(what, list) else [what]:
            capture = {"type": HTML, "time": TIME, **(one if isinstance(one, dict) else {"body": one})}
            body = capture.pop("body")
            body = body.replace("SITE", origin).encode() if isinstance(body, str) else body
            # Only pages have a text for the list of pages.
            yield {"url": f"{SITE}/{path}", **capture, **({} if isinstance(one, str) else {"file": "x.html"})}, body


class Live(WebSite):
    """A web server with the same answers."""

    def __init__(self):
        answers = {}

        def answer(path):
            left = answers.get(path)
            return left and (left.pop(0) if len(left) > 1 else left[0])

        super().__init__(answer)
        for capture, body in captures(self.address):
            # There was no earlier request, and what came later wasn't there yet.
            if capture.get("status") == 304 or capture["url"].endswith("/unchanged") and capture["time"] == AFTER:
                continue
            answers.setdefault(capture["url"].removeprefix(SITE), []).append((capture, body))


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    host = Host(folder)
    host.add(write_captures(folder / "live.wacz", "Live", captures(SITE)))
    with host:
        yield host


# What differs: the engine makes an image of SVG in an `<object>`, and writes `</img>` for the end of a script after an `<embed>`,
# which then doesn't run.
DIFFERENT = {"embed": "", "object-svg": "none"}


MOVED = "(path) => document.getElementById('o')?.textContent === path"


def open_page(engine, host, path, mode="lookups"):
    engine.go("about:blank")
    url = quote(f"{SITE}/{path}", safe="")
    engine.go(f"{host.home}/?archive=/archives/live.wacz&replay={mode}#url={url}&ts=20240101000005")


def look(run, function):
    try:
        return run(function)
    except (NotThere, ScriptError):
        return {}


@pytest.mark.few("chromium", "firefox")
@pytest.mark.parametrize("name", ENGINES)
def test_pages_look_as_they_did_live(host, playwright, tmp_path, name):
    engine = ENGINES[name](tmp_path, playwright=playwright)
    live = Live()
    shown = {}

    def show(run, wanted):
        """Returns whether all pages show what is wanted, or anything at all."""
        shown.update(look(run, RESULTS))
        return shown == wanted if wanted else len(shown) == len(PAGES) and all(shown.values())

    try:
        engine.go(live.address)
        wait_until(lambda: show(engine.run, None), f"the live pages end: {shown}")
        expected = {**shown, **DIFFERENT}
        for mode in ["lookups", "ranges"]:
            open_page(engine, host, "", mode)
            try:
                wait_until(lambda: show(engine.run_in_page, expected), "")
            except AssertionError:
                lines = [f"{path}: {expected[path]!r}, {shown.get(path)!r}" for path in PAGES if expected[path] != shown.get(path)]
                raise AssertionError("\n".join([f"{name}, live and by {mode}:", *lines])) from None
        for path in STEPS:
            engine.go(f"{live.address}/{path}")
            engine.wait_for(MOVED, f"/{path}", what="the live page moved back")
            open_page(engine, host, path)
            engine.wait_for(MOVED, f"/{path}", what="the page that was opened moved back", in_page=True)
            open_page(engine, host, "links")
            engine.wait_for("() => document.links.length", what="the links are shown", in_page=True)
            engine.follow(path)
            engine.wait_for(MOVED, f"/{path}", what="the page that a link led to moved back", in_page=True)
        engine.check()
    finally:
        live.close()
        engine.close()
