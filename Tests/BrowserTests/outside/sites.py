"""An archive of what live sites do: a page for each behaviour, which says in its text what came of it.

Text that names the viewer, or differs from what the stock engine gives a page, is a fault of replay.
"""

import struct

from warcio.statusandheaders import StatusAndHeaders

from support.archives import TIME
from support.pictures import GREY, png
from writers.captures import WARC
from writers.wacz import Package, page_list

SITE = "https://site.example"
CDN = "https://cdn.example"
HTML = "text/html; charset=utf-8"
SCRIPT = "text/javascript"


def picture(width):
    """A grey PNG, two pixels high."""
    return png(width, 2, GREY, (b"\0" + bytes(width)) * 2)


def sound():
    """A tenth of a second of silence, as WAV."""
    data = bytes(1600)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " \
        + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + struct.pack("<I", len(data)) + data


def pdf():
    return (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
            b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


# What pages ask for: path or URL, type, body.
RESOURCES = [
    ("/style.css", "text/css", "@import 'more.css'; #styled { background: url(/pic.png) } @font-face { font-family: none; src: url(/no.woff2) }"),
    ("/more.css", "text/css", "#styled { color: rgb(1, 2, 3) }"),
    ("/pic.png", "image/png", picture(3)), ("/pic-2x.png", "image/png", picture(6)), ("/folder/own.png", "image/png", picture(5)),
    (f"{CDN}/far.png", "image/png", picture(7)),
    ("/sound.wav", "audio/wav", sound()),
    ("/shape.svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><g id='g'><rect width='9' height='9'/></g></svg>"),
    ("/data.json", "application/json", '{"value": "data"}'),
    ("/part.txt", "text/plain; charset=utf-8", "a part"),
    ("/module.js", SCRIPT, "import { part } from './part.js'; export const whole = `whole of ${part}`; export const own = import.meta.url;"),
    ("/part.js", SCRIPT, "export const part = 'parts';"),
    (f"{CDN}/library.js", SCRIPT, "window.library = 'library';"),
    ("/global.js", SCRIPT, "self.global = 'imported';"),
    ("/worker.js", SCRIPT, "importScripts('/global.js'); onmessage = async ({ data }) => postMessage([data, global, (await (await fetch('/data.json')).json()).value]);"),
    ("/module-worker.js", SCRIPT, "import { whole } from './module.js'; postMessage(whole);"),
    ("/shared.js", SCRIPT, "onconnect = ({ ports }) => ports[0].postMessage('shared');"),
    ("/frame.html", HTML, "<!doctype html><title>Frame</title><p>in a frame</p><script>window.value = 'of frame'; parent.postMessage('hello from ' + location.pathname, '*');</script>"),
    ("/outer.html", HTML, "<!doctype html><title>Outer</title><p>outer</p><iframe src=/frame.html></iframe>"),
    (f"{CDN}/frame.html", HTML, "<!doctype html><title>Far</title><p>a far frame</p><script>onmessage = ({ data, origin }) => parent.postMessage(`${data} heard from ${origin}`, '*')</script>"),
    ("/result?word=one+two&more=%C3%A9", HTML, "<!doctype html><title>Result</title><p>the result</p>"),
    ("/next.html", HTML, "<!doctype html><title>Next</title><p>the next page</p>"),
    ("/paper.pdf", "application/pdf", pdf()),
]

OUT = "<pre id=out></pre><script>const say = (...words) => { document.querySelector('#out').textContent += words.join(' ') + '\\n'; };</script>"

# What is told of each behaviour.
PAGES = {
    "modules": "<script type=module>import { whole, own } from '/module.js'; say(whole, own); say((await import('./part.js')).part);</script>",
    "import-map": "<script type=importmap>{\"imports\": {\"tool\": \"/module.js\"}}</script><script type=module>import { whole } from 'tool'; say(whole);</script>",
    "worker": "<script>const worker = new Worker('/worker.js'); worker.onmessage = ({ data }) => say(...data); worker.onerror = () => say('error'); worker.postMessage('asked');</script>",
    "module-worker": "<script>const worker = new Worker('/module-worker.js', { type: 'module' }); worker.onmessage = ({ data }) => say(data); worker.onerror = () => say('error');</script>",
    "blob-worker": "<script>const worker = new Worker(URL.createObjectURL(new Blob([`importScripts('${location.origin}/global.js'); postMessage(global)`]))); worker.onmessage = ({ data }) => say(data); worker.onerror = () => say('error');</script>",
    "shared-worker": "<script>if (self.SharedWorker) { const one = new SharedWorker('/shared.js'); one.port.onmessage = ({ data }) => say(data); one.onerror = () => say('error'); }</script>",
    "history": "<script>history.pushState({ one: 1 }, '', '/history/one'); say(location.pathname, history.state.one); history.replaceState({ two: 2 }, '', '?q=2'); say(location.href, document.URL);</script>",
    "fragment": "<style>:target { color: rgb(9, 9, 9) }</style><p id=there>there</p><script>onhashchange = () => say('changed to', location.hash, getComputedStyle(document.querySelector('#there')).color); location.hash = 'there';</script>",
    "form-get": "<iframe name=answer></iframe><form action=/result target=answer><input name=word value='one two'><input name=more value=é></form><script>document.querySelector('iframe').onload = ({ target }) => say(target.contentDocument.title); document.querySelector('form').submit();</script>",
    "url-search": "<script>const url = new URL('/result', location.href); url.searchParams.set('word', 'one two'); url.searchParams.set('more', 'é'); fetch(url).then((answer) => answer.text()).then((text) => say(/<p>(.*)<.p>/.exec(text)[1]));</script>",
    "srcset": "<picture><source srcset='/pic-2x.png 2x, /pic.png 1x'><img src=/pic.png></picture><img srcset='/pic-2x.png 600w, /pic.png 300w' sizes=300px>",
    "css": "<link rel=stylesheet href=/style.css><p id=styled>styled</p><script>onload = () => { const style = getComputedStyle(document.querySelector('#styled')); say(style.color, style.backgroundImage.replace(/.*[/]/, '')); };</script>",
    "audio": "<audio src=/sound.wav controls preload=auto oncanplaythrough=\"say('plays', this.duration)\" onerror=\"say('error')\"></audio>",
    "nested-frames": "<iframe src=/outer.html></iframe><script>document.querySelector('iframe').onload = ({ target }) => say(target.contentWindow.frames.length, target.contentWindow.parent === window, target.contentDocument.querySelector('iframe').contentWindow.value);</script>",
    "frame-message": f"<iframe src={CDN}/frame.html></iframe><script>onmessage = ({{ data, origin }}) => say(data, '/', origin); document.querySelector('iframe').onload = ({{ target }}) => target.contentWindow.postMessage('a word', '{CDN}');</script>",
    "srcdoc": "<iframe srcdoc=\"<p>inside</p><img src='/pic.png'><img src='https://site.example/pic-2x.png'>\"></iframe><script>onload = () => say(frames[0].document.images.length);</script>",
    "blank-frame": "<iframe></iframe><script>const inner = frames[0].document; inner.write('<p>written</p><img src=/pic.png onload=\\'parent.say(this.naturalWidth)\\'>'); inner.close(); say(inner.body.innerText);</script>",
    "document-write": "<script>document.write('<p>written</p><script src=\"https://cdn.example/library.js\"><' + '/script><img src=/pic.png>');</script><script>say(window.library);</script>",
    "storage": "<script>localStorage.setItem('a', 'kept'); sessionStorage.b = 'short'; say(localStorage.a, sessionStorage.getItem('b'), localStorage.length);</script>",
    "cookies": "<script>document.cookie = 'one=1; path=/'; document.cookie = 'two=2; domain=site.example; secure'; say(document.cookie);</script>",
    "fetch": "<script type=module>say((await (await fetch('data.json')).json()).value); say(await (await fetch(new Request('/part.txt', { headers: { 'X-A': '1' } }))).text()); const answer = await fetch('/missing'); say(answer.status, answer.url); say((await fetch('/part.txt', { method: 'HEAD' })).status);</script>",
    "xhr": "<script>const request = new XMLHttpRequest(); request.open('GET', '/data.json'); request.responseType = 'json'; request.onload = () => say(request.status, request.response.value, request.responseURL, request.getResponseHeader('content-type')); request.send(); const now = new XMLHttpRequest(); now.open('GET', '/part.txt', false); now.send(); say(now.responseText);</script>",
    "insertion": "<div id=place></div><script>document.querySelector('#place').innerHTML = '<img src=/pic.png><img src=//cdn.example/far.png><a href=/next.html>next</a>'; const one = new Image(); one.src = 'pic-2x.png'; one.onload = () => say('image', one.naturalWidth, one.src); document.body.append(one); say(document.querySelector('a').href, document.querySelector('a').getAttribute('href'));</script>",
    "shadow": "<my-part></my-part><script>customElements.define('my-part', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<link rel=stylesheet href=/style.css><p id=styled>inside</p><img src=/pic.png>'; this.shadowRoot.querySelector('link').onload = () => say(getComputedStyle(this.shadowRoot.querySelector('p')).color, this.shadowRoot.querySelector('img').src); } });</script>",
    "lazy": "<img data-src=/pic.png><img loading=lazy src=/pic-2x.png><script>new IntersectionObserver(([entry], self) => { if (entry.isIntersecting) { entry.target.src = entry.target.dataset.src; self.disconnect(); } }).observe(document.querySelector('img'));</script>",
    "addresses": "<script>say(location.href, location.origin, location.host, location.protocol); say(document.URL, document.baseURI, document.domain, origin); say(document.referrer === '', window.name === ''); const link = document.createElement('a'); link.href = 'x/../y?z#w'; say(link.href, link.pathname, link.host); say(new URL('../up', document.baseURI).href);</script>",
    "windows": "<script>say(window.top === window, window.parent === window, window.self === window, window.frameElement === null, window.opener === null, window.length, history.length > 0); say(Function('return top === window')());</script>",
    "time": "<script>say(new Date().getUTCFullYear(), Math.round(Math.random() * 0), Date.now() < 1735689600000);</script>",
    "vectors": "<svg width=9 height=9><use href='/shape.svg#g'/></svg><img src=/shape.svg><object data=/shape.svg type=image/svg+xml onload=\"say('object', this.contentDocument.documentElement.nodeName)\"></object>",
    "integrity": f"<script src={CDN}/library.js crossorigin=anonymous integrity=sha384-AAAA></script><script>say(window.library ?? 'refused');</script>",
    "evaluation": "<script>say(eval('location.href'), new Function('return document.URL')(), (0, eval)('self === window')); setTimeout('say(\"later\", location.pathname)', 0);</script>",
    "preload": "<link rel=preload as=fetch href=/data.json crossorigin><link rel=modulepreload href=/module.js><script>fetch('/data.json').then((answer) => answer.json()).then(({ value }) => say(value));</script>",
    "dialogs": "<script>say(typeof alert, typeof confirm, typeof prompt, typeof print);</script>",
    "viewport": "<meta name=viewport content='width=device-width'><script>say(innerWidth > 100, matchMedia('(min-width: 100px)').matches, visualViewport.scale);</script>",
    "event-handlers": "<a href='javascript:say(\"clicked\", location.pathname)'>click</a><button onclick=\"say('pressed', document.URL)\">press</button><script>document.querySelector('a').click(); document.querySelector('button').click();</script>",
    "streams": "<script type=module>const reader = (await fetch('/part.txt')).body.pipeThrough(new TextDecoderStream()).getReader(); say((await reader.read()).value); const blob = await (await fetch('/pic.png')).blob(); say(blob.type, blob.size); const own = new Image(); own.src = URL.createObjectURL(blob); await own.decode(); say(own.naturalWidth);</script>",
    "canvas": "<script type=module>const one = new Image(); one.src = '/pic.png'; await one.decode(); const canvas = document.createElement('canvas'); canvas.getContext('2d').drawImage(one, 0, 0); say(canvas.toDataURL().length > 100);</script>",
    "parser": "<script>const page = new DOMParser().parseFromString('<img src=/pic.png><a href=/next.html>x</a>', 'text/html'); say(page.querySelector('a').getAttribute('href')); document.body.append(document.importNode(page.querySelector('img')));</script>",
}


def captures():
    """(URL, time, status, type, further fields, body, is a page)."""
    for path, kind, body in RESOURCES:
        yield path, 200, kind, [], body, False
    for name, body in PAGES.items():
        yield f"/{name}", 200, HTML, [], f"<!doctype html><html><head><title>{name}</title></head><body>{OUT}{body}</body></html>", True
    yield "/base", 200, HTML, [], f"<!doctype html><base href=/folder/><title>base</title>{OUT}<img src=own.png><a href=x>x</a><script>say(document.querySelector('a').href, document.baseURI)</script>", True
    yield "/western", 200, "text/html", [], "<!doctype html><meta charset=windows-1252><title>é€</title><p>café €</p>".encode("cp1252"), True
    yield "/japanese", 200, "text/html; charset=shift_jis", [], "<!doctype html><title>日本</title><p>日本語のページ</p>".encode("shift_jis"), True
    yield "/sixteen", 200, "text/html", [], "\ufeff<!doctype html><title>16</title><p>sixteen ✓</p>".encode("utf-16-le"), True
    yield "/refresh", 200, HTML, [], "<!doctype html><meta http-equiv=refresh content='0; url=/next.html'><title>refresh</title>going", True
    yield "/by-script", 200, HTML, [], "<!doctype html><title>by script</title><script>location.replace('/next.html')</script>", True
    yield "/redirect", 302, HTML, [("Location", "/next.html")], "", True
    yield "/gone", 404, HTML, [], "<!doctype html><title>gone</title><p>not here any more</p>", True
    yield "/broken", 500, HTML, [], "<!doctype html><title>broken</title><p>the server failed</p>", True
    yield "/xhtml", 200, "application/xhtml+xml", [], "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>xhtml</title><link rel='stylesheet' href='/style.css'/></head><body><p id='styled'>strict</p><img src='/pic.png' alt=''/></body></html>", True
    yield "/plain.txt", 200, "text/plain; charset=utf-8", [], "plain text ✓", True
    yield "/value.json", 200, "application/json", [], '{"a": "b"}', True
    yield "/text.xml", 200, "text/xml", [], "<?xml version='1.0'?><note><to>all</to></note>", True
    yield "/no-type", 200, "", [], "<!doctype html><title>no type</title><p>a page without a type</p>", True
    yield "/frames", 200, HTML, [], "<!doctype html><title>frames</title><frameset cols='50%,50%'><frame src=/frame.html name=one><frame src=/next.html name=two></frameset>", True


def write(path):
    warc = WARC("sites.warc.gz", TIME)
    pages = []
    for place, status, kind, fields, body, is_page in captures():
        url = place if place.startswith("http") else SITE + place
        data = body if isinstance(body, bytes) else body.encode()
        fields = [*([("Content-Type", kind)] if kind else []), ("Content-Length", str(len(data))), *fields]
        head = StatusAndHeaders(f"{status} Status", fields, protocol="HTTP/1.1")
        warc.add("response", url, TIME, data, http=head)
        if is_page:
            pages.append({"id": str(len(pages)), "url": url, "ts": TIME, "title": place[1:]})
    with Package(path, "What sites do", created=TIME, main_page=(pages[0]["url"], TIME)) as package:
        warc.add_to(package)
        package.add("pages/pages.jsonl", page_list(pages))
    return path
