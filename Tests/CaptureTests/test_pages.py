"""Pages, recorded by Chromium from a website on this computer."""

import gzip
import json
import struct

import contents
import pages
import pytest
from described import ask
from page_hosts import expect_valid, make_host, save

pytestmark = pytest.mark.needs("Chromium")


@pytest.fixture(scope="module")
def host(site, tmp_path_factory):
    host = make_host(tmp_path_factory.mktemp("pages"))
    with host:
        yield host


def jpeg_size(data):
    """Width and height, from the frame header. ITU-T T.81, B.2.2."""
    place = 2
    while data[place + 1] not in (0xC0, 0xC1, 0xC2):
        place += 2 + struct.unpack(">H", data[place + 2:place + 4])[0]
    height, width = struct.unpack(">HH", data[place + 5:place + 9])
    return width, height


def test_page_with_images(host, site):
    saved = save(host, site("/images"))
    assert (saved.row["title"], saved.row["file_path"], saved.row["file_size"]) == ("Boats", None, None)
    assert host.files() == []
    for number in (1, 2, 3):
        assert saved.of(site(f"/img/{number}.png")).body == pages.image_at(f"/img/{number}.png")
    # As described, and what the archive has.
    path = f"/download/{saved.row['download_id']}"
    status, page = ask(host, "GET", f"{path}/page")
    text = saved.of(f"urn:text:{site('/images')}", "resource").body.decode()
    assert (status, page["url"], page["title"], page["text"]) == (200, site("/images"), "Boats", text)
    assert ask(host, "GET", f"{path}/screenshot") == (200, saved.of(f"urn:view:{site('/images')}", "resource").body)
    expect_valid(host, saved)
    # The library finds it by its words.
    assert host.search("three boats") == {saved.row["archive"]}
    info = host.replayhost("info", saved.row["archive"])[0]
    assert info["mainPage"]["url"] == site("/images")


@pytest.fixture(scope="module")
def rich(host, site):
    """A page with much of what pages can have. Its scripts write what they got into it."""
    note = "const note = (id, text) => { document.getElementById(id).textContent = text }"
    fetches = {
        "post": "fetch('/posted', {method: 'POST', body: 'a=1&b=two', headers: {'Content-Type': 'application/x-www-form-urlencoded'}})",
        "json": "fetch('/posted?json', {method: 'POST', body: JSON.stringify({tide: 'ébb'}), headers: {'Content-Type': 'application/json'}})",
        "hop": "fetch('/hop?1')", "gzip": "fetch('/coded/gzip')", "br": "fetch('/coded/br')", "zstd": "fetch('/coded/zstd')",
        "error": "fetch('/error/1')", "cross": f"fetch('{site.other}/text/cross')",
    }
    scripts = "".join(f"{code}.then(r => r.text()).then(t => note('{name}', t.length));" for name, code in fetches.items())
    body = f"""<h1>The harbour</h1>{"".join(f"<p id={name}></p>" for name in [*fetches, "module", "worker", "shared", "controlled"])}
        <img src=/img/a.png srcset="/img/a.png 1x, /img/a-2x.png 2x, /img/a,comma.png 3x"><img src=/gone-image/1.png><img src=/private>
        <picture><source media="(max-width: 10px)" srcset="/img/small.png 100w, /img/smaller.png 50w"><img src=/img/picture.png></picture>
        <iframe src="{site.other}/frame/1"></iframe><iframe src=/latin></iframe><iframe src="file:///etc/hostname"></iframe>
        <iframe src="chrome://version"></iframe><iframe srcdoc="<p>Words of srcdoc"></iframe>
        <div id=host></div><video preload=none poster=/img/poster.png src=/film.mp4></video>
        <div style="height: 9000px"></div><img loading=lazy src=/img/lazy.png><p>The end
        <script type=module src=/module/a.js></script>
        <script>{note}
        document.getElementById('host').attachShadow({{mode: 'open'}}).innerHTML = '<img src=/img/shadow.png srcset="/img/shadow-2x.png 2x">'
        {scripts}
        new Worker('/module/worker.js').onmessage = e => note('worker', e.data)
        new SharedWorker('/module/shared.js').port.onmessage = e => note('shared', e.data)
        navigator.serviceWorker.register('/module/service.js')
        new EventSource('/events')
        fetch('/text/head', {{method: 'HEAD'}})
        fetch('{site.other}/text/preflight', {{headers: {{'X-Tide': 'high'}}}}).catch(() => 0)
        document.cookie = 'visit=secretvalue'
        setTimeout(() => {{ throw new Error('a mistake') }})
        </script>"""
    return save(host, site.make("rich", body, title="The rich page"))


def test_what_the_site_sent_is_in_the_archive(rich, host, site):
    expected = {
        site("/text/in-worker"): b"text of /text/in-worker", site("/text/in-shared-worker"): b"text of /text/in-shared-worker",
        site("/text/after-hop?1"): b"text of /text/after-hop?1", site("/error/1"): b"sorry", site("/latin"): pages.LATIN,
        site("/gone-image/1.png"): b"no image", f"{site.other}/text/cross": b"text of /text/cross", site("/film.mp4"): pages.FILM,
        site("/made/rich"): site.made["rich"],
        **{site(f"/coded/{coding}"): text for coding, text in pages.CODED.items()},
        **{site(f"/img/{name}.png"): pages.image_at(f"/img/{name}.png") for name in (
            "a", "a-2x", "a,comma", "small", "smaller", "picture", "poster", "lazy", "shadow", "shadow-2x")},
        f"{site.other}/img/in-frame.png": pages.image_at("/img/in-frame.png"),
    }
    for url, body in expected.items():
        assert rich.of(url).body == body, url
    assert rich.of(site("/hop?1")).http_headers.get_header("Location") == "/text/after-hop?1"
    assert {url: rich.of(site(url)).status for url in ("/hop?1", "/error/1", "/gone-image/1.png", "/film.mp4", "/private")} == {
        "/hop?1": "302", "/error/1": "500", "/gone-image/1.png": "404", "/film.mp4": "200", "/private": "401"}
    assert rich.of(site("/latin")).http_headers.get_header("Content-Type") == "text/html; charset=iso-8859-1"
    assert rich.of(f"{site.other}/frame/1").http_headers.get_header("Set-Cookie") == "frame=1"
    expect_valid(host, rich)


def test_requests_are_kept(rich, site):
    posted = rich.of(site("/posted"), "request")
    assert posted.http_headers.to_str().startswith("POST /posted HTTP/1.1\r\n") and posted.body == b"a=1&b=two"
    assert rich.of(site("/posted?json"), "request").body == '{"tide":"ébb"}'.encode()
    assert rich.of(site("/posted")).body == b"got a=1&b=two"
    for record in rich.records:
        if record.rec_type != "request":
            continue
        method = record.http_headers.to_str().split()[0]
        assert method in ("GET", "POST"), record.uri
        # As the site got it.
        fields = site.fields[record.uri.split(str(site.port), 1)[1]][-1]
        assert record.http_headers.get_header("User-Agent") == fields["User-Agent"]
        assert "Headless" not in fields["User-Agent"] and record.http_headers.get_header("Proxy-Connection") is None
    pairs = {record.rec_headers.get_header("WARC-Concurrent-To") for record in rich.records if record.rec_type == "request"}
    assert pairs == {record.rec_headers.get_header("WARC-Record-ID") for record in rich.records if record.rec_type in ("response", "revisit")}


def test_decoded_bodies_say_how_they_came(rich, site):
    for coding in ("gzip", "br", "zstd"):
        head = rich.of(site(f"/coded/{coding}")).http_headers
        assert head.get_header("x-orig-content-encoding") == coding and head.get_header("Content-Encoding") is None
        assert head.get_header("Content-Length") == str(len(pages.CODED[coding]))


def test_only_complete_answers_of_sites_are_kept(rich, site):
    urls = {record.uri for record in rich.records if record.rec_type == "response"}
    assert all(url.startswith((site.address, site.other)) for url in urls), urls
    assert not urls & {site("/events"), site("/text/head"), f"{site.other}/text/preflight"}
    assert not [record.uri for record in rich.records if record.status in ("206", "304")]


def test_text_and_images_of_the_page(rich, site):
    url = site("/made/rich")
    text = rich.of(f"urn:text:{url}", "resource").body.decode()
    for words in ("The harbour", "The end", "Words of a frame", "Crème brûlée", "Words of srcdoc", "from-a-module", "in-worker",
            "in-shared-worker"):
        assert words in text, (words, text)
    # As many characters as the page's scripts received.
    lengths = [13, 18, 25, *map(len, pages.CODED.values()), 5, 19]
    assert [line for line in text.splitlines() if line.strip()][1:9] == [str(length) for length in lengths]
    view, thumbnail = rich.of(f"urn:view:{url}", "resource"), rich.of(f"urn:thumbnail:{url}", "resource")
    assert view.body.startswith(b"\x89PNG") and struct.unpack(">II", view.body[16:24]) == (1920, 1080)
    assert jpeg_size(thumbnail.body) == (640, 360)
    info = json.loads(rich.of(f"urn:pageinfo:{url}", "resource").body)
    assert (info["url"], info["counts"]["jsErrors"]) == (url, 1)
    assert info["urls"][site("/gone-image/1.png")] == {"mime": "text/plain", "status": 404, "type": "image"}
    assert info["urls"][site("/events")]["type"] == "eventsource"
    page = json.loads(rich.file("pages/pages.jsonl").splitlines()[1])
    assert (page["id"], page["url"], page["title"]) == (info["pageid"], url, "The rich page") and "The harbour" in page["text"]
    assert {record.rec_headers.get_header("WARC-Page-ID") for record in rich.records if record.rec_type == "response"} == {page["id"]}
    assert rich.of(site("/module/a.js")).rec_headers.get_header("WARC-Resource-Type") == "script"
    assert rich.of(url).rec_headers.get_header("WARC-IP-Address") == "127.0.0.1"


def test_equal_payloads_are_stored_once(host, site):
    site.make("twice", "<img src=/img/x.png?1><script>fetch('/latin?1').then(() => fetch('/latin?2'))</script>")
    saved = save(host, site("/made/twice"))
    first, = [r for r in saved.records if r.rec_type == "response" and r.uri.startswith(site("/latin"))]
    revisit, = [r for r in saved.records if r.rec_type == "revisit"]
    assert revisit.rec_headers.get_header("WARC-Refers-To") == first.rec_headers.get_header("WARC-Record-ID")
    assert revisit.rec_headers.get_header("WARC-Refers-To-Target-URI") == first.uri
    assert revisit.rec_headers.get_header("WARC-Payload-Digest") == first.rec_headers.get_header("WARC-Payload-Digest")
    assert revisit.rec_headers.get_header("WARC-Profile").endswith("/revisit/identical-payload-digest")
    expect_valid(host, saved)


def test_page_behind_walls(site, tmp_path):
    """Chromium keeps its own sandbox there, also when root started the server. The archive is replayed there, too."""
    host = make_host(tmp_path, has_walls=True, checks=True)
    with host:
        assert host.call("GET", "/health")[1]["isolation"]["confined"]
        site.make("walls", "<h1>Behind walls</h1><img src=/img/1.png>")
        saved = save(host, site("/made/walls"))
        assert saved.of(site("/img/1.png")).body == pages.image_at("/img/1.png")
        assert saved.row["replay_check"] == "Replays: same text, 2 of 2 files"
        assert host.command("check", saved.row["download_id"]).stdout.endswith(": Replays: same text, 2 of 2 files\n")
        host.expect_no_processes()


def test_cookies_stay_out_of_the_archive(site, tmp_path):
    host = make_host(tmp_path)
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsecretlogin\n")
    site.make("member", "<h1>Members</h1><video></video><img src=/frame/x>"
        "<script>document.cookie = 'own=secretvisit; path=/'; fetch('/text/member').then(() => {"
        "document.querySelector('video').src = '/film.mp4?member' })</script>")
    with host:
        assert host.command("cookies set", "--user", "ana", cookies).returncode == 0
        saved = save(host, site("/made/member"), username="ana")
        for path in ("/made/member", "/text/member", "/film.mp4?member"):
            assert "session=secretlogin" in site.fields[path][-1]["Cookie"]
        assert "own=secretvisit" in site.fields["/film.mp4?member"][-1]["Cookie"]
        assert saved.of(site("/film.mp4?member")).body == pages.FILM
        warc = gzip.decompress(saved.file("archive/data.warc.gz")).lower()
        assert b"secretlogin" not in warc and b"\r\ncookie:" not in warc and b"\r\nset-cookie:" not in warc
        assert "Saved with a log-in" in json.loads(saved.file("datapackage.json"))["description"]
        contents.expect_nowhere(b"secretlogin", host.store / "files", host.capture / "logs")
