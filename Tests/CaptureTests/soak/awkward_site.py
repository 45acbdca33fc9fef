"""A website of awkward pages: each needs something that is easily lost when a page is saved or replayed.

The URLs of a case begin with its name. A picture's path ends with the name of its colour.
"""

import gzip
import json
import struct
from functools import partial
from urllib.parse import unquote, urlsplit

import films
import pages
from support.pictures import plain

COLOURS = {"red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0)}
SHOW = "const show = (id, text) => { document.getElementById(id).textContent = text }\n"
HTML, TEXT, SCRIPT, STYLE = "text/html; charset=utf-8", "text/plain; charset=utf-8", "text/javascript", "text/css"
SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'>"


class Route:
    """A body that is always the same."""

    def __init__(self, body, kind, status=200, **fields):
        self.body = body.encode() if isinstance(body, str) else body
        self.kind, self.status, self.fields = kind, status, fields

    def __call__(self, answer):
        coding = self.fields.get("Content_Encoding")
        pack = {"gzip": gzip.compress, "br": pages.brotli, "zstd": pages.zstd}.get(coding, bytes)
        answer.send(pack(self.body), self.kind, self.status, **self.fields)


class Media(Route):
    """A file of which browsers request ranges."""

    def __call__(self, answer):
        field = answer.headers.get("Range")
        if not field:
            return answer.send(self.body, self.kind, Accept_Ranges="bytes")
        first, _, last = field.partition("=")[2].partition("-")
        start, end = int(first), min(int(last or len(self.body)), len(self.body) - 1)
        place = f"bytes {start}-{end}/{len(self.body)}"
        answer.send(self.body[start:end + 1], self.kind, 206, Content_Range=place, Accept_Ranges="bytes")


class _Answer(pages._Page):
    """What has no route is answered as on other sites."""

    def do_GET(self):
        site = self.server.site
        path = unquote(urlsplit(self.path).path.encode("latin-1").decode())
        route = site.routes.get(path)
        if route is None:
            return super().do_GET()
        with site.lock:
            site.asked[(self.command, self.path)] += 1
        return route(self)

    do_HEAD = do_GET


def page(body, head="", title="An awkward page"):
    return (f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title><link rel=icon href=data:,>{head}</head>"
        f"<body>{body}</body></html>")


def picture(name, width=40, height=30):
    return Route(plain(COLOURS[name], width, height), "image/png")


def sound(seconds=30, rate=8000):
    """A WAV file with a low tone."""
    data = bytes(128 + (20 if place // 40 % 2 else -20) for place in range(seconds * rate))
    form = struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


def film(folder):
    """Twenty seconds in red, then twenty in blue, with noise, so that it doesn't shrink to nothing."""
    colours = [part for name in ("red", "blue") for part in ("-f", "lavfi", "-i", f"color={name}:size=320x180:rate=10:duration=20")]
    films.ffmpeg(*colours, "-filter_complex", "[0:v][1:v]concat=n=2,noise=alls=20:allf=t", *films.H264, "-b:v", "1500k",
        "-movflags", "+faststart", "film.mp4", folder=folder)
    return (folder / "film.mp4").read_bytes()


def font():
    """A TrueType font with one letter, A, which is three times as wide as the font is high."""
    square = struct.pack(">hhhhh", 1, 0, 0, 900, 900) + struct.pack(">HH", 3, 0) + bytes([1] * 4) + struct.pack(
        ">hhhh", 0, 0, 900, 0) + struct.pack(">hhhh", 0, 900, 0, -900)
    glyphs = square + b"\0" * (-len(square) % 4)
    mapping = struct.pack(">HHHHHHH", 4, 32, 0, 4, 4, 1, 0) + struct.pack(">HH", 65, 0xFFFF) + b"\0\0" + struct.pack(
        ">HH", 65, 0xFFFF) + struct.pack(">HH", (1 - 65) & 0xFFFF, 1) + struct.pack(">HH", 0, 0)
    name = "Wide".encode("utf-16-be")
    tables = {
        b"OS/2": struct.pack(">HhHHHhhhhhhhhhhh", 3, 3000, 400, 5, 0, *[100] * 10, 0) + bytes(10) + bytes(16) + b"TEST" + struct.pack(
            ">HHHhhhHH", 64, 65, 65, 900, -100, 0, 900, 100) + bytes(8) + struct.pack(">hhHHH", 500, 900, 0, 32, 0),
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12) + mapping,
        b"glyf": glyphs,
        b"head": struct.pack(">IIIIHHQQhhhhHHhhh", 0x10000, 0x10000, 0, 0x5F0F3CF5, 3, 1000, 0, 0, 0, 0, 900, 900, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, 900, -100, 0, 3000, 0, 0, 900, 1, 0, 0, 0, 0, 0, 0, 0, 2),
        b"hmtx": struct.pack(">HhHh", 3000, 0, 3000, 0),
        b"loca": struct.pack(">III", 0, 0, len(glyphs)),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, 2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": struct.pack(">HHH", 0, 2, 30) + b"".join(
            struct.pack(">HHHHHH", 3, 1, 0x409, number, len(name), 0) for number in (1, 4)) + name,
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, -100, 50, 0, 0, 0, 0, 0),
    }

    def checksum(data):
        data += b"\0" * (-len(data) % 4)
        return sum(struct.unpack(f">{len(data) // 4}I", data)) & 0xFFFFFFFF

    place, directory, content = 12 + 16 * len(tables), b"", b""
    for tag, data in sorted(tables.items()):
        directory += tag + struct.pack(">III", checksum(data), place + len(content), len(data))
        content += data + b"\0" * (-len(data) % 4)
    return struct.pack(">IHHHH", 0x10000, len(tables), 128, 3, len(tables) * 16 - 128) + directory + content


def answer_by_body(answers, answer):
    """What is answered to a POST is chosen by what was sent."""
    sent = getattr(answer, "sent", b"").decode()
    answer.send(answers(sent).encode(), "application/json" if sent.startswith("{") else TEXT)


def graphql(sent):
    wanted = json.loads(sent)["variables"]["id"] if sent else None
    return json.dumps({"data": {"boat": {"name": {1: "Cormorant", 2: "Puffin"}.get(wanted, "none")}}})


def slow_stream(answer):
    """Five words, in chunks, with pauses."""
    answer.send_response(200)
    answer.send_header("Content-Type", TEXT)
    answer.send_header("Transfer-Encoding", "chunked")
    answer.end_headers()
    for word in ("ebb ", "and ", "flow ", "at ", "noon"):
        answer.wfile.write(b"%x\r\n%s\r\n" % (len(word), word.encode()))
        answer.wfile.flush()
        answer.server.site.stopped.wait(0.3)
    answer.wfile.write(b"0\r\n\r\n")


def cookie_page(answer):
    answer.send(page("<p id=theme></p><p id=script></p><script>" + SHOW + """
        fetch('theme').then(r => r.text()).then(t => show('theme', t))
        document.cookie = 'harbour=outer; path=/cookie/'
        show('script', document.cookie.includes('harbour=outer') ? 'the script sees its cookie' : 'no cookie')
        </script>""").encode(), HTML, Set_Cookie="theme=dark; path=/cookie/")


def cookie_theme(answer):
    answer.send(b"dark" if "theme=dark" in (answer.headers.get("Cookie") or "") else b"no cookie", TEXT)


def with_etag(answer):
    """Not sent again to a browser that has it."""
    if answer.headers.get("If-None-Match") == '"1"':
        answer.send_response(304)
        answer.send_header("ETag", '"1"')
        answer.end_headers()
    else:
        answer.send(plain(COLOURS["blue"]), "image/png", ETag='"1"', Cache_Control="no-cache")


class AwkwardSite(pages.PageSite):
    def __init__(self, folder):
        super().__init__()
        self.server.RequestHandlerClass = _Answer
        self.routes = routes(self, folder)


def redirect(status, target):
    return lambda answer: answer.redirect(target, status)


def routes(site, folder):
    latin, japanese = "Crème brûlée à la façon du port", "灯台の波止場"
    fetched = "fetch('{0}').then(r => r.text()).then(t => show('{1}', t))"
    gone = ("fetch('gone.txt').then(r => r.text().then(t => show('words', r.status + ' ' + t)))")
    film_script = "<video id=film src=film.mp4 preload=metadata muted width=320 height=180></video>"
    return {
        # Frames
        "/cross/": Route(page(f"<h1>The harbour</h1><iframe src='{site.other}/cross/frame'></iframe>"), HTML),
        "/cross/frame": Route(page("<p id=words></p><img src=lime.png><script>" + SHOW + fetched.format("words.txt", "words") + "</script>"), HTML),
        "/cross/words.txt": Route("words from another site", TEXT), "/cross/lime.png": picture("lime"),
        "/nested/": Route(page("<iframe id=outer src=outer></iframe>"), HTML),
        "/nested/outer": Route(page("<p id=own>The outer frame</p><iframe id=inner srcdoc='<p id=words>none</p><img src=blue.png><script>"
            "fetch(`words.txt`).then(r => r.text()).then(t => { document.getElementById(`words`).textContent = t })</script>'></iframe>"), HTML),
        "/nested/words.txt": Route("words in srcdoc", TEXT), "/nested/blue.png": picture("blue"),
        # Workers
        "/worker/": Route(page(f"<p id=file></p><p id=blob></p><script>{SHOW}"
            "new Worker('worker.js').onmessage = e => show('file', e.data)\n"
            "const code = `fetch('${new URL('words.txt?blob', location.href)}').then(r => r.text()).then(t => postMessage(t))`\n"
            "new Worker(URL.createObjectURL(new Blob([code], {type: 'text/javascript'}))).onmessage = e => show('blob', e.data)</script>"), HTML),
        "/worker/worker.js": Route("importScripts('part.js'); fetch('words.txt?file').then(r => r.text()).then(t => postMessage(part + t))", SCRIPT),
        "/worker/part.js": Route("const part = 'imported: '", SCRIPT), "/worker/words.txt": Route("words for a worker", TEXT),
        "/shared/": Route(page(f"<p id=words></p><script>{SHOW}"
            "new SharedWorker('shared.js').port.onmessage = e => show('words', e.data)</script>"), HTML),
        "/shared/shared.js": Route("onconnect = e => fetch('words.txt').then(r => r.text()).then(t => e.ports[0].postMessage(t))", SCRIPT),
        "/shared/words.txt": Route("words for a shared worker", TEXT),
        # Modules
        "/modules/": Route(page("<p id=static></p><p id=dynamic></p><script type=module src=main.js></script>"), HTML),
        "/modules/main.js": Route("import { word } from './one.js'\n" + SHOW + "show('static', word)\n"
            "const name = ['t', 'w', 'o'].join('')\nimport(`./${name}.js`).then(m => show('dynamic', m.default))", SCRIPT),
        "/modules/one.js": Route("export const word = 'a static import'", SCRIPT),
        "/modules/two.js": Route("export default 'a dynamic import, ' + new URL(import.meta.url).pathname.split('/').pop()", SCRIPT),
        "/map/": Route(page("<p id=words></p><script type=module>import { word } from 'tide'\n"
            "document.getElementById('words').textContent = word</script>",
            "<script type=importmap>{\"imports\": {\"tide\": \"./library/tide-1.js\"}}</script>"), HTML),
        "/map/library/tide-1.js": Route("export const word = 'from the import map'", SCRIPT),
        # Images and styles
        "/sizes/": Route(page("<img id=set srcset='blue.png 2400w, lime.png 900w' sizes=100vw src=red.png width=40 height=30>"
            "<picture><source media='(max-width: 900px)' srcset=yellow.png><img id=picture src=red.png width=40 height=30></picture>"), HTML),
        **{f"/sizes/{name}.png": picture(name, 200, 150) for name in COLOURS},
        "/shadow/": Route(page("<div id=host></div><script>document.getElementById('host').attachShadow({mode: 'open'}).innerHTML ="
            "'<style>@import \"first.css\";</style><div id=box></div><span id=wide>A</span>'</script>",
            "<link rel=stylesheet href=fonts.css>"), HTML),
        "/shadow/fonts.css": Route("@font-face { font-family: Wide; src: url('wide.ttf') }", STYLE),
        "/shadow/first.css": Route("@import url(parts/second.css);\n#box { width: 40px; height: 30px }", STYLE),
        "/shadow/parts/second.css": Route("#box { background: url(lime.png) } #wide { font: 100px Wide }", STYLE),
        "/shadow/parts/lime.png": picture("lime"), "/shadow/wide.ttf": Route(font(), "font/ttf"),
        "/lazy/": Route(page("<h1>Top</h1><div style='height: 12000px'></div><img loading=lazy src=yellow.png width=40 height=30>"
            "<div id=place></div><p>The end<script>new IntersectionObserver((entries, observer) => { if (entries[0].isIntersecting) {"
            "observer.disconnect(); place.innerHTML = '<img id=seen src=blue.png width=40 height=30>' } }).observe(place)</script>"), HTML),
        "/lazy/yellow.png": picture("yellow"), "/lazy/blue.png": picture("blue"),
        "/svg/": Route(page("<svg id=used width=40 height=30><use href='shapes.svg#flag'></use></svg><img id=image src=boat.svg>"), HTML),
        "/svg/shapes.svg": Route(f"{SVG}<symbol id='flag'><rect width='40' height='30' fill='#f00'/></symbol></svg>", "image/svg+xml"),
        "/svg/boat.svg": Route(f"{SVG}<rect width='40' height='30' fill='#00f'/></svg>", "image/svg+xml"),
        # What scripts send
        "/form/": Route(page(f"<p id=words></p><script>{SHOW}const form = new URLSearchParams({{boat: 'Puffin', crew: 'Ana & Joé'}})\n"
            "fetch('order', {method: 'POST', body: form}).then(r => r.text()).then(t => show('words', t))</script>"), HTML),
        "/form/order": partial(answer_by_body, lambda sent: f"ordered: {sent}"),
        "/json/": Route(page(f"<p id=words></p><script>{SHOW}fetch('order', {{method: 'POST', headers: {{'Content-Type': 'application/json'}},"
            "body: JSON.stringify({boat: 'Puffin', seats: [1, 2]})}).then(r => r.json()).then(v => show('words', v.answer))</script>"), HTML),
        "/json/order": partial(answer_by_body, lambda sent: json.dumps(
            {"answer": f"{len(json.loads(sent)['seats'])} seats on {json.loads(sent)['boat']}" if sent else "nothing was sent"})),
        "/graphql/": Route(page(f"<p id=first></p><p id=second></p><script>{SHOW}const ask = (id, place) => fetch('api', {{method: 'POST',"
            "headers: {'Content-Type': 'application/json'}, body: JSON.stringify({query: 'query ($id: Int) { boat(id: $id) { name } }',"
            "variables: {id}})}).then(r => r.json()).then(v => show(place, v.data.boat.name))\n"
            "ask(1, 'first').then(() => ask(2, 'second'))</script>"), HTML),
        "/graphql/api": partial(answer_by_body, graphql),
        # Bodies
        "/stream/": Route(page(f"<p id=words></p><script>{SHOW}" + fetched.format("slow.txt", "words") + "</script>"), HTML),
        "/stream/slow.txt": slow_stream,
        "/film/": Route(page(film_script), HTML), "/film/film.mp4": Media(film(folder), "video/mp4"),
        "/sound/": Route(page("<audio id=sound src=sound.wav preload=metadata></audio>"), HTML),
        "/sound/sound.wav": Media(sound(), "audio/wav"),
        "/coded/": Route(page("<p id=brotli></p><p id=zstd></p><script src=brotli.js></script><script src=zstd.js></script>"), HTML,
            Content_Encoding="gzip"),
        "/coded/brotli.js": Route("document.getElementById('brotli').textContent = 'from brotli: é'", "text/javascript; charset=utf-8",
            Content_Encoding="br"),
        "/coded/zstd.js": Route("document.getElementById('zstd').textContent = 'from zstd: é'", "text/javascript; charset=utf-8",
            Content_Encoding="zstd"),
        "/latin/": Route(f"<!doctype html><title>Café</title><p id=words>{latin}</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        "/japanese/": Route(f"<!doctype html><html><head><meta charset=shift_jis><title>{japanese}</title></head><body><p id=words>{japanese}"
            "</p><script src=words.js></script><p id=script></p><script>script.textContent = word</script>".encode("shift_jis"), "text/html"),
        "/japanese/words.js": Route(f"var word = '{japanese}'".encode("shift_jis"), "text/javascript"),
        "/utf16/": Route(f"<!doctype html><html><head><title>{japanese}</title></head><body><p id=words>{latin}, {japanese}".encode("utf-16"),
            "text/html"),
        "/bom/": Route(f"<!doctype html><html><head><title>{japanese}</title></head><body><p id=words>{latin}, {japanese}".encode("utf-8-sig"),
            "text/html"),
        # Statuses
        "/gone/": Route(page(f"<img id=image src=gone.png><p id=words></p><script>{SHOW}{gone}</script>"), HTML),
        "/gone/gone.png": Route(plain(COLOURS["lime"]), "image/png", 404),
        "/gone/gone.txt": Route("words of an error page", TEXT, 404),
        "/error/": Route(page(f"<p id=words></p><script>{SHOW}{gone}</script>"), HTML),
        "/error/gone.txt": Route("words of a broken site", TEXT, 500),
        "/chain/start": redirect(301, "/chain/second"), "/chain/second": redirect(302, f"{site.address}/chain/third"),
        "/chain/third": redirect(307, "end/"),
        "/chain/end/": Route(page("<h1>The end of the chain</h1><img src=lime.png>"), HTML), "/chain/end/lime.png": picture("lime"),
        "/refresh/": Route(page("<h1>Please wait</h1>", "<meta http-equiv=refresh content='0; url=next/'>"), HTML),
        "/refresh/next/": Route(page("<h1>The page behind the refresh</h1><img src=lime.png>"), HTML),
        "/refresh/next/lime.png": picture("lime"),
        # Scripts
        "/push/": Route(page(f"<p id=words></p><p id=place></p><script>{SHOW}"
            "history.pushState({}, '', '/push/deep/er')\n" + fetched.format("words.txt", "words")
            + "\nshow('place', location.pathname)</script><img src=lime.png>"), HTML),
        "/push/deep/words.txt": Route("words of the new place", TEXT), "/push/deep/lime.png": picture("lime"),
        "/push/deep/er": Route(page("<p>Never opened"), HTML),
        "/write/": Route(page("<p id=words></p><script>document.write('<script src=\"written.js\"><\\/script><p id=after>written after it')</script>"), HTML),
        "/write/written.js": Route("document.getElementById('words').textContent = 'from a written script'; document.write('<p id=more>and more</p>')", SCRIPT),
        "/base/": Route(page(f"<img src=blue.png><p id=words></p><script>{SHOW}" + fetched.format("words.txt", "words") + "</script>",
            "<base href='/base/else/where/'>"), HTML),
        "/base/else/where/blue.png": picture("blue"), "/base/else/where/words.txt": Route("words from elsewhere", TEXT),
        "/policy/": Route(page("<p id=words></p><script src=own.js></script>"), HTML, Content_Security_Policy="default-src 'self'"),
        "/policy/own.js": Route("document.getElementById('words').textContent = 'the script of the site has run'", SCRIPT),
        "/scopes/": Route(page("<p id=words></p><script src=const.js></script><script>document.getElementById('words').textContent = tide</script>"), HTML),
        "/scopes/const.js": Route("const tide = 'a constant of another script'", SCRIPT),
        "/inline/": Route(page("<p id=words>the inline script is stopped</p><script>words.textContent = 'an inline script has run'</script>"),
            HTML, Content_Security_Policy="default-src 'self'"),
        # State
        "/cookie/": cookie_page, "/cookie/theme": cookie_theme,
        "/store/": Route(page(f"<img id=first src=red.png><img id=second src=blue.png><p id=again></p><script>{SHOW}"
            "fetch('blue.png').then(r => r.blob()).then(() => fetch('blue.png', {cache: 'no-cache'})).then(r => r.blob())"
            ".then(b => show('again', b.type))</script>", ""), HTML, Cache_Control="no-store", ETag='"page"'),
        "/store/red.png": Route(plain(COLOURS["red"]), "image/png", Cache_Control="no-store"), "/store/blue.png": with_etag,
        "/straße/": Route(page(f"<p id=query></p><p id=hash></p><p id=words></p><script>{SHOW}"
            "show('query', new URLSearchParams(location.search).get('wort'))\nshow('hash', decodeURIComponent(location.hash))\n"
            + fetched.format("wörter.txt?name=groß", "words") + "</script>"), HTML),
        "/straße/wörter.txt": Route("Wörter der Straße", TEXT),
        "/offline/": Route(page(f"<p id=words></p><script>{SHOW}navigator.serviceWorker?.register('service.js').catch(() => 0)\n"
            + fetched.format("words.txt", "words") + "</script>"), HTML),
        "/offline/service.js": Route("oninstall = () => skipWaiting()\nonactivate = e => e.waitUntil(clients.claim())\n"
            "onfetch = e => { if (e.request.url.endsWith('words.txt')) e.respondWith(fetch(e.request)) }", SCRIPT),
        "/offline/words.txt": Route("words that a service worker passes on", TEXT),
        "/invented/": Route(page(f"<p id=words></p><script>{SHOW}const ask = () => " + fetched.format("words.txt", "words")
            + "\nnavigator.serviceWorker.addEventListener('controllerchange', ask)\nnavigator.serviceWorker.register('service.js')\n"
            "if (navigator.serviceWorker.controller) ask()</script>"), HTML),
        "/invented/service.js": Route("oninstall = () => skipWaiting()\nonactivate = e => e.waitUntil(clients.claim())\n"
            "onfetch = e => { if (e.request.url.endsWith('words.txt')) e.respondWith(new Response('words of the service worker')) }", SCRIPT),
        "/invented/words.txt": Route("words of the site", TEXT),
    }
