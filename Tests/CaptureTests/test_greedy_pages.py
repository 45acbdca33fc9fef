"""Pages that want too much, or never end. Each ends in time, as a partial archive or with a message."""

import signal
from pathlib import Path

import decoders
import pages
import pytest
from capture_host import end
from page_hosts import expect_valid, make_host, save
from support.waiting import wait_until

pytestmark = pytest.mark.needs("Chromium")
soak = pytest.mark.few()

SECONDS, BYTES, EXCHANGES = 12, 60_000_000, 60


@pytest.fixture(scope="module")
def host(site, tmp_path_factory):
    """With low limits."""
    host = make_host(tmp_path_factory.mktemp("greedy"), "--page-limits", f"{SECONDS},{BYTES},{EXCHANGES}")
    with host:
        yield host


def description(host, saved):
    return host.replayhost("info", saved.row["archive"])[0]["description"]


def failed(host, url, code):
    row = host.wait_for(host.add(url), "failed")
    decoders.own_status(row)
    assert row["error_code"] == code and row["archive"] is None, row
    host.expect_no_processes()
    return row


def test_page_without_an_end(host, site):
    """A document and an image that never end, and alerts one after the other."""
    site.make("slow", "<h1>Slow tide</h1><img src=/silent/1.png><img src=/img/1.png><iframe src='/endless?drip=html'></iframe>"
        "<script>setTimeout(() => { for (;;) alert('again') }, 3000)</script>")
    saved = save(host, site("/made/slow"))
    assert f"The page isn't complete: it reached the limit of {SECONDS} seconds." in description(host, saved)
    assert saved.of(site("/img/1.png")).body == pages.image_at("/img/1.png")
    dripped = saved.of(site("/endless?drip=html"))
    assert dripped.rec_headers.get_header("WARC-Truncated") == "time" and dripped.body.startswith(b"<p>A drop of water</p>")
    expect_valid(host, saved)
    host.expect_no_processes()


def test_parts_that_end_too_early(host, site):
    """Of a style sheet, a script and an image, less came than their Content-Length says."""
    site.make("parts", "<link rel=stylesheet href='/cut?kind=css'><h1>Ebb</h1><script src='/cut?kind=js'></script><img src='/cut?kind=png'>")
    saved = save(host, site("/made/parts"))
    assert "The page isn't complete: " in (text := description(host, saved)) and " and 2 more ended too early." in text
    for kind in ["css", "js", "png"]:
        assert saved.of(site(f"/cut?kind={kind}")).rec_headers.get_header("WARC-Truncated") == "disconnect", kind
    expect_valid(host, saved)


@soak
def test_page_that_sends_too_much(host, site):
    """Bytes without an end, 300 MB in a gzip file, 1,000 windows."""
    site.make("flood", "<h1>Flood</h1><script>for (let n = 0; n < 1000; n++) open('/text/window?' + n)\n"
        "fetch('/bomb').then(r => r.text()); fetch('/endless').then(r => r.text())</script>")
    saved = save(host, site("/made/flood"))
    assert "it reached the limit of" in description(host, saved)
    assert "Flood" in saved.of(f"urn:text:{site('/made/flood')}", "resource").body.decode()
    assert saved.path.stat().st_size < BYTES
    host.expect_no_processes()


def test_page_that_requests_too_much(host, site):
    site.make("many", "<script>for (let n = 0; n < 500; n++) new Image().src = '/img/' + n + '.png'</script>")
    saved = save(host, site("/made/many"))
    assert f"The page isn't complete: it reached the limit of {EXCHANGES} requests." in description(host, saved)
    assert len([record for record in saved.records if record.rec_type == "request"]) == EXCHANGES


def test_page_that_takes_too_much_memory(site, tmp_path):
    """The process of the page is ended; what came before is saved."""
    site.make("flood", "<h1>Flood</h1><img src=/img/1.png><script>addEventListener('load', () => { const kept = [];"
        "setInterval(() => kept.push(new Uint8Array(5e7).fill(1)), 20) })</script>", title="Flood")
    host = make_host(tmp_path)
    # 1 %, but at least 1000 MB
    host.configure("attempt:\n  memory_percent: 1\n")
    with host:
        saved = save(host, site("/made/flood"))
        assert saved.row["attempt"] == 1
        assert "of memory." in saved.row["incomplete"] and "of memory." in description(host, saved)
        assert saved.of(site("/img/1.png")).body == pages.image_at("/img/1.png")
        expect_valid(host, saved)
        host.expect_no_processes()


@pytest.mark.parametrize(("path", "code"), [
    ("/nothing", "no_file"), ("/private", "login_required"), ("/loop", "network"), ("/error/page", "network"),
])
def test_what_is_no_page(host, site, path, code):
    failed(host, site(path), code)


@soak
def test_renderer_that_dies(host, site):
    """The attempt ends at once, and the next one saves the page."""
    site.make("dying", "<h1>Still here</h1><img src=/silent/2.png>")
    identifier = host.add(site("/made/dying"))
    wait_until(lambda: site.asked["GET", "/silent/2.png"], "the page loads", 60)
    for pid, command in host.processes().items():
        if "--type=renderer" in command:
            end(pid, signal.SIGKILL)
    row = host.wait_for(identifier, "completed")
    assert row["attempt"] == 2


def test_sandbox_that_does_not_work(site, tmp_path):
    """Chromium's own message, and the word for it. Nothing is tried without a sandbox."""
    host = make_host(tmp_path)
    calls = tmp_path / "calls"
    host.tools.write("chromium", f"#!/bin/sh\necho \"$@\" >> {calls}\n"
        "echo '[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are running on Ubuntu' >&2\nexit 1\n")
    with host:
        row = failed(host, site("/images"), "sandbox_unavailable")
        assert "Chromium's sandbox doesn't work here" in row["error_message"] and row["attempt"] == 1
    assert "--no-sandbox" not in calls.read_text()


def test_large_file(host, site):
    """The page gets it, and curl fetches it once more for the archive."""
    site.make("large", "<h1>Large</h1><script>fetch('/large').then(r => r.arrayBuffer()).then(b => document.title = b.byteLength)</script>")
    saved = save(host, site("/made/large"))
    assert saved.row["title"] == str(len(pages.ONES["large"]))
    assert saved.of(site("/large")).body == pages.ONES["large"]


@soak
def test_page_that_scrolls_for_ever(site, tmp_path):
    host = make_host(tmp_path)
    site.make("scroll", "<div style='height: 3000px'>Top</div><script>onscroll = () => { const d = document.createElement('div');"
        "d.style.height = '2000px'; d.textContent = 'more'; document.body.append(d) }</script>")
    with host:
        saved = save(host, site("/made/scroll"))
        assert "complete" not in description(host, saved)


@soak
def test_memory_for_3000_resources(site, tmp_path):
    """The worker, without the browser. It also replays the archive."""
    host = make_host(tmp_path, checks=True)
    site.make("crowd", "<script>let n = 0; const next = () => { if (n < 3000) fetch('/text/crowd?' + n++).then(r => r.text()).then(next) }\n"
        "for (let k = 0; k < 6; k++) next()</script>")
    peak = 0

    def note(row):
        nonlocal peak
        for pid, command in host.processes().items():
            if command.endswith(" work "):
                text = Path(f"/proc/{pid}/status").read_text()
                peak = max(peak, next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")))
        return row["state"] == "completed"

    with host:
        identifier = host.add(site("/made/crowd"))
        host.wait_for(identifier, condition=note)
        print("the worker's peak:", peak, "kB")
        assert 0 < peak < 150_000
