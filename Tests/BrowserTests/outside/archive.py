"""An archive whose pages try everything to reach another host, and the same pages as a web site without any wall."""

import json
import re
from pathlib import Path
from urllib.parse import quote

from support.archives import write_captures
from support.website import WebSite

HERE = Path(__file__).parent
SITE = "https://escapes.example"
ID = "escapes"
TIMESTAMP = "20241121090000"
ESCAPES = (HERE / "escapes.js").read_text(encoding="utf-8")
REALMS = (HERE / "realms.js").read_text(encoding="utf-8")
# Pages that run everything in escapes.js; each has a name, which is the tag of its attempts.
TAGS = ["first", "poisoned", "restarted", "old"]
RTC = ["rtc-stun-ip", "rtc-turn-udp", "rtc-turn-tcp"]


# What the server or the engine answers at a replay origin, beside the pages: each may become a document in a frame.
ANSWERS = {
    "root": "/?x=1", "index": "/api/index", "api-collection": "/api/c/x", "wombat": "/static/wombat.js",
    "static-none": "/static/none.js", "worker": "/sw.js", "worker-query": "/sw.js?serveIndex=1", "engine": "/engine.js",
    "file": f"/archives/{ID}.wacz", "file-none": "/archives/none.wacz", "nothing": "/nothing", "nothing-below": "/no/thing",
    "cdx": f"/c/{ID}/cdx?url={SITE}/inner", "raw": f"/c/{ID}/{TIMESTAMP}id_/{SITE}/inner",
    "collection-none": f"/COLLECTION/{TIMESTAMP}mp_/{SITE}/none", "script-none": f"/COLLECTION/{TIMESTAMP}js_/{SITE}/none",
    "text": f"/COLLECTION/{TIMESTAMP}id_/{SITE}/inner", "long": "/" + "x" * 90_000,
}


def attempts():
    """The names of what a page tries in escapes.js."""
    return re.findall(r'^        "([a-z-]+)": ', ESCAPES, re.MULTILINE)


def far(name, tag):
    return f"http://{name}.{tag}.evil.test/"


def raw_script(text):
    """A script that the engine does not rewrite: it is in an address that says what it holds."""
    return f'<script src="data:text/javascript,{quote(text, safe="")}"></script>'


def page(title, script="", head="", body=""):
    return (f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><h1>{title}</h1>{body}{raw_script(REALMS + script) if script else ''}</body></html>")


def leave(name, script="", head="", body="", **capture):
    """A page that leaves for another host by itself; without a wall it is gone then."""
    return name, page(f"leave {name}", f"leaving();{script}" if script else "", head, body), capture


def leaving_pages():
    to = lambda name: far(name, "leave")
    yield leave("location", f"location.href = {json.dumps(to('location'))};")
    yield leave("replace", f"location.replace({json.dumps(to('replace'))});")
    yield leave("top", f"top.location = {json.dumps(to('top'))};")
    yield leave("refresh", head=f'<meta http-equiv="refresh" content="0;url={to("refresh")}">')
    yield leave("raw-refresh", "rawHTML(document.body, "
        + json.dumps(f'<meta http-equiv="refresh" content="0;url={to("raw-refresh")}">') + ");")
    yield leave("form", f"rawForm({json.dumps(to('form'))}, '_self');")
    yield leave("form-top", f"rawForm({json.dumps(to('form-top'))}, '_top');")
    yield leave("link", f"rawLink({json.dumps(to('link'))}, '_self');")
    yield leave("agent", f"agent.location = {json.dumps(to('agent'))};")
    yield leave("header", fields=[("Refresh", f"0;url={to('header')}")])
    yield leave("redirect", status=301, location=to("redirect"))


def headers_page():
    """Fields by which an answer makes a browser ask for more."""
    to = lambda name: far(name, "headers")
    report = json.dumps({"group": "g", "max_age": 600, "endpoints": [{"url": to("report-to")}]})
    return {"fields": [
        ("Link", f"<{to('link-preload')}>; rel=preload; as=image"),
        ("Link", f"<{to('link-preconnect')}>; rel=preconnect"),
        ("Link", f"<{to('link-dns')}>; rel=dns-prefetch"),
        ("Link", f"<{to('link-prefetch')}>; rel=prefetch"),
        ("Link", f"<{to('link-style')}>; rel=stylesheet"),
        ("Speculation-Rules", f"\"{to('speculation')}\""),
        ("Content-Security-Policy", f"img-src 'none'; report-uri {to('report-uri')}; report-to g"),
        ("Content-Security-Policy-Report-Only", f"img-src 'none'; report-uri {to('report-only')}"),
        ("Report-To", report),
        ("Reporting-Endpoints", f"g=\"{to('endpoints')}\", default=\"{to('endpoints-default')}\""),
        ("NEL", json.dumps({"report_to": "g", "max_age": 600, "success_fraction": 1})),
    ]}


# Where URLs begin at which a frame can load a capture: for the engine, by id and by replay collection; unchanged (`id_`); and replayed.
FORMS = {
    "engine": f"/c/{ID}/{TIMESTAMP}ir_/", "version": f"/c/COLLECTION/{TIMESTAMP}ir_/", "identity": f"/c/{ID}/{TIMESTAMP}id_/",
    "replayed": f"/COLLECTION/{TIMESTAMP}mp_/",
}
CONNECTED = [f"connected-{form}" for form in FORMS]


def connecting_page(tag):
    """A page without scripts that connects ahead of time, and allows that by its own header field."""
    head = f'<link rel="preconnect" href="{far("preconnect", tag)}"><link rel="dns-prefetch" href="{far("link-dns", tag)}">'
    fields = [("Connection-Allowlist", '("http://*:*/*" "http://*.evil.test")'), ("X-DNS-Prefetch-Control", "on")]
    return page(tag, head=head), fields


def suite_page(tag, addresses):
    script = ESCAPES + f"\nescapeEverywhere({json.dumps(tag)}, {json.dumps(addresses)});"
    return page(f"escapes {tag}", script)


def captures(outside):
    """What the archive holds, as `write_captures` takes it."""
    result = []

    def add(path, html, **capture):
        result.append(({"url": f"{SITE}/{path}", **capture}, html.encode()))

    for tag in TAGS:
        addresses = {name: outside.address(f"{name}.{tag}.evil.test") for name in RTC}
        add(tag, suite_page(tag, addresses))
    add("answers", page("escapes answers", f"escapeFromAnswers({json.dumps(ANSWERS)});"))
    add("poison", page("escapes poison", f"poison({json.dumps(ID)});"))
    add("poison-more", page("escapes poison more", f"poisonMore({json.dumps(ID)}, {json.dumps(SITE)});"))
    add("take-over", page("escapes take over", "takeOver();"))
    for name, html, capture in leaving_pages():
        add(f"leave/{name}", html, **capture)
    add("headers", page("escapes headers", "finish([]);", body='<img src="data:image/gif,x" alt="">'), **headers_page())
    frames = {f"connected-{form}": f"{start}{SITE}/connected-{form}" for form, start in FORMS.items()}
    add("connected", page("connected", f"openFrames({json.dumps(frames)});"))
    for tag in CONNECTED:
        html, fields = connecting_page(tag)
        add(tag, html, fields=fields)
    add("inner", page("inner"))
    add("still", page("still", "finish([]);"))
    return result


def write_escapes(path, outside):
    return write_captures(path, "Escapes", captures(outside))


def address_of(host, page_path, mode, archive=ID):
    return (f"{host.home}/?archive=/archives/{archive}.wacz&replay={mode}"
        f"#url={quote(f'{SITE}/{page_path}', safe='')}&ts={TIMESTAMP}")


# Another archive in the same library. Its page has three frames.
VICTIM = "victim"


def write_victim(path):
    frames = '<iframe src="/inner"></iframe>' * 3
    captures = {"page": f"<!doctype html><title>Victim</title><body><h1>Victim</h1>{frames}", "inner": page("inner")}
    return write_captures(path, "Victim", [
        *(({"url": f"{SITE}/{name}"}, html.encode()) for name, html in captures.items()),
        ({"url": f"{SITE}/empty", "status": 204}, b""), ({"url": f"{SITE}/file.zip", "type": "application/zip"}, b"PK"),
    ])


class OpenSite(WebSite):
    """The same pages served as they are: the control, which shows that each attempt is heard where nothing stops it."""

    def __init__(self, outside):
        pages = {capture["url"].removeprefix(SITE): (capture, body) for capture, body in captures(outside)}
        super().__init__(lambda path: pages.get(path.split("?")[0], ({}, b"<!doctype html>nothing")))
