"""Resolving the URLs of a page's parts, in each engine, by lookups and by ranges.

The service worker receives URLs that the replay engine doesn't rewrite: relative to the root, or without a scheme.
"""

from urllib.parse import quote

import pytest

from support.archives import PIXEL, write_captures
from support.host import Host

SITE = "http://site.example"
OTHER = "https://other.example"
PARTS = {
    "style.css": ("text/css", b"#text { color: rgb(1, 2, 3) }"),
    "script.js": ("text/javascript", b"document.getElementById('text').setAttribute('data-script', 'ran')"),
    "imported.js": ("text/javascript", b"self.imported = 'The worker has imported a script'"),
    "pixel.png": ("image/png", PIXEL),
    "second.png": ("image/png", PIXEL),
    "xml.xsl": ("text/xsl", b"""<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">
<html><head><title>A feed</title></head><body><p id="text">The feed has <xsl:value-of select="feed/item"/></p></body></html>
</xsl:template></xsl:stylesheet>"""),
}
WITHOUT_SCHEME = """<!doctype html><title>Without a scheme</title>{head}
<link rel="stylesheet" href="//other.example/style.css"><p id="text">A page</p>
<img src="//other.example/pixel.png"><img referrerpolicy="no-referrer" src="//other.example/second.png">
<script src="//other.example/script.js"></script>"""
XHTML = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>XHTML</title><link rel="stylesheet" href="/style.css"/></head>
<body><p id="text">An XHTML page, <a href="/next">next</a>, <a href="http://site.example/next">absolute</a></p>
<img src="/pixel.png" alt=""/><img src="/static/pixel.png" alt=""/><img src="/api/pixel.png" alt=""/>
<img src="https://other.example/pixel.png" alt=""/><img src="//other.example/second.png" alt=""/>
<img src="https://static.wixstatic.com/media/a.png/v1/fill/w_300,h_200/a.png" alt=""/>
<img src="https://pbs.twimg.com/profile_images/1/AbC_normal.jpg" alt=""/>
<script src="/script.js"></script></body></html>"""
SRCDOC = """<!doctype html><title>A frame</title><p id="text">A page</p>
<iframe srcdoc="<img src='/pixel.png'><img src='/second.png'>"></iframe>"""
# The worker can't tell who opens these frames.
FRAMED = """<!doctype html><title>Frames</title><p id="text">A page</p>
<iframe referrerpolicy="no-referrer" src="/next"></iframe><iframe referrerpolicy="no-referrer" src="/next"></iframe>
<iframe referrerpolicy="no-referrer" src="/next#text"></iframe><iframe src="/linking"></iframe>"""
LINKING = """<!doctype html><title>A link</title><a id="link" rel="noreferrer" href="/next">next</a>
<script>addEventListener("load", () => document.getElementById("link").click());</script>"""
WORKER = """<!doctype html><title>A worker</title><p id="text">A page</p><script>
const code = `importScripts("${location.origin}/imported.js"); postMessage(imported);`;
new Worker(URL.createObjectURL(new Blob([code]))).onmessage = ({ data }) => { document.getElementById("text").textContent = data; };
</script>"""
COOKIES = b"""<!doctype html><title>Cookies</title><p id="text"></p><script>
for (const cookie of ["own=2; path=/", "past=3", "past=; expires=Thu, 01 Jan 1970 00:00:00 GMT", "old=4", "old=; max-age=0"]) {
    document.cookie = cookie;
}
document.getElementById("text").textContent = `Cookies: ${document.cookie.split("; ").sort().join(", ")}.`;
</script>"""
PAGES = {
    "/": ("text/html", WITHOUT_SCHEME.format(head="")),
    "/silent": ("text/html", WITHOUT_SCHEME.format(head="<meta name=referrer content=no-referrer>")),
    "/srcdoc": ("text/html", SRCDOC),
    "/framed": ("text/html", FRAMED),
    "/linking": ("text/html", LINKING),
    "/worker": ("text/html", WORKER),
    "/xhtml": ("application/xhtml+xml", XHTML),
    "/feed": ("application/xml", '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/xml.xsl"?>'
        "<feed><item>one item</item></feed>"),
    "/next": ("text/html", "<!doctype html><title>Next</title><p id=text>The next page</p>"),
}

OTHER_SIZES = [
    "https://static.wixstatic.com/media/a.png/v1/fill/w_600,h_400/a.png",
    "https://pbs.twimg.com/profile_images/1/AbC_bigger.jpg",
]

LOADED = """() => {
    const frames = [...document.querySelectorAll('iframe')].map((frame) => frame.contentDocument);
    const images = [document, ...frames].flatMap((page) => [...page.images]);
    return document.readyState === 'complete' && images.length > 0 && images.every((image) => image.complete)
        && images.map((image) => image.naturalWidth);
}"""
FRAMES = """() => {
    const frames = [...document.querySelectorAll("iframe")].map((frame) => frame.contentDocument);
    return frames.length === 4 && document.referrer === ""
        && frames.every((page) => page?.getElementById("text")?.innerText === "The next page");
}"""
LOOK = """() => [getComputedStyle(document.getElementById('text')).color,
    document.getElementById('text').getAttribute('data-script')]"""


def capture(url, content_type):
    """The writer derives its type from the file name. `content_type` is the type in the response."""
    return {"url": url, "file": "capture.html", "type": content_type}


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path, origins="names")
    captures = [(capture(f"{SITE}{path}", kind), text.encode()) for path, (kind, text) in PAGES.items()]
    for folder in [f"{SITE}/", f"{SITE}/static/", f"{SITE}/api/", f"{OTHER}/"]:
        captures += [(capture(f"{folder}{name}", kind), body) for name, (kind, body) in PARTS.items()]
    captures += [(capture(url, "image/png"), PIXEL) for url in OTHER_SIZES]
    captures.append(({"url": f"{SITE}/cookies", "fields": [("Set-Cookie", "seen=1; path=/")]}, COOKIES))
    host.add(write_captures(tmp_path / "parts.wacz", "Parts", captures))
    with host:
        yield host


@pytest.mark.few("chromium lookups", "firefox ranges")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_parts_of_pages_are_found(host, engine, mode):
    """URLs without a scheme, relative to the root in XHTML and XML, in frames made from text or without a referrer, and of
    images in another size.
    Workers made from text import scripts. Scripts see the page's cookies."""
    def open_page(path):
        engine.go("about:blank")
        engine.go(f"{host.home}/?archive=/archives/parts.wacz&replay={mode}#url={quote(SITE + path, safe='')}&ts=")
        expect_at(path)

    def expect_at(path):
        engine.wait_for("(url) => document.querySelector('.url-bar input').value === url && !document.querySelector('.panel')",
            f"{SITE}{path}", what=f"{path} is shown")

    def expect_images(count):
        assert engine.wait_for(LOADED, what="the images have loaded", in_page=True) == [1] * count
        engine.wait_for(f"() => ({LOOK})()[0] === 'rgb(1, 2, 3)' && ({LOOK})()[1] === 'ran'",
            what="style sheet and script have an effect", in_page=True)

    for path in ["/", "/silent"]:
        open_page(path)
        expect_images(2)
    open_page("/xhtml")
    engine.wait_for("() => document.title === 'XHTML – Parts'", what="the tab has the title of a page without the engine's script")
    expect_images(7)
    engine.follow("next")
    engine.wait_for_text_in_page("The next page")
    expect_at("/next")
    engine.back()
    expect_at("/xhtml")
    engine.follow("absolute")
    engine.wait_for_text_in_page("The next page")
    open_page("/feed")
    engine.wait_for_text_in_page("The feed has one item")
    open_page("/srcdoc")
    assert engine.wait_for(LOADED, what="the images have loaded", in_page=True) == [1, 1]
    open_page("/framed")
    engine.wait_for(FRAMES, what="frames without a referrer show their pages", in_page=True)
    # The service worker must not wait for a worker that waits for its script.
    open_page("/worker")
    engine.wait_for_text_in_page("The worker has imported a script")
    open_page("/cookies")
    engine.wait_for_text_in_page("Cookies: own=2, seen=1.")
