"""Archives on ports of their own: what happens to storage, to ports that others take, and where names are not found."""

import contextlib
import http.server
import json
import socket
import threading
from urllib.parse import urlsplit

import pytest

from support.expecting import expect
from support.host import Host
from support.journey import SITE, TITLE, expect_home, expect_species
from support.places import FIXTURES
from support.storages import LOOK, PLANT, STORAGES
from support.viewer import Viewer


@pytest.fixture
def host(tmp_path):
    """A server that keeps to `localhost`, with two archives that hold captures of the same addresses."""
    host = Host(tmp_path, origins="ports")
    for name in ["sample.wacz", "second.wacz"]:
        host.add(FIXTURES / name)
    try:
        yield host.start()
    finally:
        host.stop()


def visit(page, host, archive):
    page.goto(f"{host.address}/?archive=/archives/{archive}.wacz")
    viewer = Viewer(page)
    words = {"sample": ("#edition", "Autumn edition"), "second": ("#shared", "This archive must never show a tidepool.")}
    selector, text = words[archive]
    expect(viewer.read(selector)).to_have_text(text)
    return viewer


def own_port(host, archive):
    return urlsplit(host.replay_origin(archive)).port


@contextlib.contextmanager
def another_program(port, page=b"<!doctype html><title>another program</title>", script=b"", scope=""):
    """A web server of somebody else on this computer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = script if self.path.endswith(".js") else page
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def test_a_port_that_another_program_took_is_replaced(host, page):
    """Between two runs. What the archive had stored in the browser is left behind, and nobody gets it."""
    viewer = visit(page, host, "sample")
    viewer.agent_frame.evaluate(PLANT)
    assert sorted(viewer.agent_frame.evaluate(LOOK)) == sorted(STORAGES)
    lost = own_port(host, "sample")
    page.goto("about:blank")
    host.stop()
    with another_program(lost):
        host.start()
        viewer = visit(page, host, "sample")
        now = own_port(host, "sample")
        assert now != lost
        assert urlsplit(viewer.archived_frame.url).port == now
        assert viewer.agent_frame.evaluate(LOOK) == []
    # The other program is gone: its port is nobody's all the same.
    host.restart()
    assert own_port(host, "sample") == now
    viewer = visit(page, host, "second")
    assert own_port(host, "second") not in (lost, now)
    assert viewer.agent_frame.evaluate(LOOK) == []


def test_what_another_program_left_in_the_browser_is_cleared(host, page):
    """A port that an archive gets may have been that of a program with pages, storage and a worker of its own."""
    # Where the archive will be: the ports to try depend on it alone, so a store that is thrown away tells.
    port = own_port(host, "sample")
    host.stop()
    with another_program(port, script=b"self.addEventListener('fetch', () => {});"):
        page.goto(f"http://localhost:{port}/")
        page.evaluate(PLANT)
        page.evaluate("""async () => {
            await navigator.serviceWorker.register("/deep/worker.js");
            document.cookie = "planted=1";
        }""")
        assert sorted(page.evaluate(LOOK)) == sorted(STORAGES)
    page.goto("about:blank")
    host.start()
    viewer = visit(page, host, "sample")
    assert own_port(host, "sample") == port
    assert viewer.agent_frame.evaluate(LOOK) == []
    scopes = viewer.agent_frame.evaluate(
        "async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope)")
    assert scopes == [f"http://localhost:{port}/"]


def test_archives_share_no_storage(host, page):
    """One after the other and side by side. A removed one leaves nothing to the next of the same name."""
    viewer = visit(page, host, "sample")
    viewer.agent_frame.evaluate(PLANT)
    viewer.archived_frame.evaluate("() => localStorage.setItem('planted by the page', '1')")
    first = own_port(host, "sample")
    viewer = visit(page, host, "second")
    assert viewer.agent_frame.evaluate(LOOK) == []
    assert viewer.archived_frame.evaluate("() => localStorage.getItem('planted by the page')") is None
    assert host.run("remove", "sample", "--yes").returncode == 0
    assert host.add(FIXTURES / "sample.wacz") == "sample"
    viewer = visit(page, host, "sample")
    assert own_port(host, "sample") != first
    assert viewer.agent_frame.evaluate(LOOK) == []


def test_cookies_of_one_archive_are_not_given_to_another(host, page):
    """Browsers keep them apart by path alone, not by port: the engine gives each page's cookies the path of its archive."""
    frame = visit(page, host, "sample").archived_frame
    frame.evaluate("() => { document.cookie = 'page=1'; document.cookie = 'root=1; path=/'; }")
    frame.evaluate("""() => {
        const inner = document.body.appendChild(document.createElement("iframe"));
        inner.contentDocument.cookie = "inner=1; path=/";
    }""")
    assert {"page=1", "root=1", "inner=1"} <= set(frame.evaluate("() => document.cookie").split("; "))
    viewer = visit(page, host, "second")
    for other in [viewer.archived_frame, viewer.agent_frame, page]:
        assert other.evaluate("() => document.cookie") == ""


def test_an_archived_page_cannot_reach_the_library_or_another_archive(host, browser):
    """Neither its document, nor its files, nor its API, over the ports of one host name."""
    browser.allow("Content Security Policy|CORS policy|ERR_FAILED")
    page = browser.page
    second = own_port(host, "second")
    viewer = visit(page, host, "sample")
    attempt = "address => fetch(address).then((answer) => answer.text()).then((text) => text.slice(0, 40), (error) => error.name)"
    for frame in [viewer.agent_frame, viewer.archived_frame]:
        for address in [
            f"{host.address}/api/archives", f"{host.address}/", f"http://localhost:{second}/archives/second.wacz",
            f"http://localhost:{second}/c/second/cdx?url=*",
        ]:
            outcome = frame.evaluate(attempt, address)
            assert outcome == "TypeError" or "Harbour" not in outcome and "{" not in outcome, (address, outcome)
        reach = "() => { try { return String(Function('return top.document.title')()); } catch (error) { return error.name; } }"
        assert frame.evaluate(reach) == "SecurityError"
    token = json.loads((host.store / "server.json").read_text())["token"]
    good = {"Replayhost-Token": token, "Content-Length": "0"}
    for origin in [f"http://localhost:{own_port(host, 'sample')}", f"http://localhost:{second}", "null"]:
        for method, path in [("DELETE", "/api/archives/sample"), ("POST", "/api/archives/second/origin")]:
            assert host.request(method, path, {**good, "Origin": origin})[0] == 403


def test_a_page_goes_on_after_a_restart_of_the_server(host, page):
    """Without a reload: the port is open again, and the page may change things with the token of the new run."""
    viewer = visit(page, host, "sample")
    host.restart()
    viewer.follow("Species")
    expect_species(viewer)
    page.get_by_role("button", name="Back", exact=True).click()
    expect_home(viewer)


def test_where_names_are_not_found_ports_are_used(tmp_path, open_browser):
    """What `--origins auto` is for: a browser that knows `localhost` alone."""
    host = Host(tmp_path, origins="auto")
    host.add(FIXTURES / "sample.wacz")
    try:
        host.start()
        browser = open_browser(names=False)
        browser.allow("ERR_NAME_NOT_RESOLVED|replayhost.localhost")
        page = browser.page
        page.goto(host.address)
        page.get_by_role("link", name=f"Open {TITLE}").click()
        viewer = Viewer(page)
        expect_home(viewer)
        frame = urlsplit(viewer.archived_frame.url)
        assert frame.hostname == "localhost" and frame.port != host.port
        assert page.url.startswith(f"{host.address}/")
        viewer.follow("Species")
        expect_species(viewer)
        page.goto(f"{host.address}/?archive=/archives/sample.wacz#url={SITE}/&ts=20241121090000")
        expect_home(viewer)
    finally:
        host.stop()


def test_a_host_of_names_only_says_so_where_they_are_not_found(tmp_path, open_browser):
    host = Host(tmp_path, origins="names")
    host.add(FIXTURES / "sample.wacz")
    try:
        host.start()
        browser = open_browser(names=False)
        browser.allow("ERR_NAME_NOT_RESOLVED|replayhost.localhost")
        browser.page.goto(host.address)
        expect(browser.page.get_by_text("This browser can't open archives")).to_be_visible()
        expect(browser.page.get_by_text("--origins ports")).to_be_visible()
    finally:
        host.stop()


def test_no_port_is_left_open_to_the_network(host, page):
    """Each own port is on the loopback addresses alone."""
    visit(page, host, "sample")
    port = own_port(host, "sample")
    with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
        lines = [line.split() for line in [*four, *six] if " 0A " in line]
    addresses = {line[1].split(":")[0] for line in lines if int(line[1].split(":")[1], 16) == port}
    assert addresses == {"0100007F", "00000000000000000000000001000000"}
    with socket.create_connection(("::1", port), timeout=10):
        pass
