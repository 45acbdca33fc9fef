"""Archives on replay ports: storage, ports used by other programs, and browsers without `*.localhost` names."""

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
    """A server in port mode, with two archives that have captures of the same URLs."""
    host = Host(tmp_path, origins="ports")
    for name in ["sample.wacz", "second.wacz"]:
        host.add(FIXTURES / name)
    with host:
        yield host


def open_archive(page, host, archive):
    page.goto(f"{host.address}/?archive=/archives/{archive}.wacz")
    viewer = Viewer(page)
    expected = {"sample": ("#edition", "Autumn edition"), "second": ("#shared", "This archive must never show a tidepool.")}
    selector, text = expected[archive]
    expect(viewer.read(selector)).to_have_text(text)
    return viewer


def replay_port(host, archive):
    return urlsplit(host.replay_origin(archive)).port


@contextlib.contextmanager
def another_program(port, page=b"<!doctype html><title>another program</title>", script=b"", scope=""):
    """Another program's web server on this computer."""

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


def test_port_used_by_another_program_is_replaced(host, page):
    """Between two runs. The archive's stored data stays at the old origin, and no other archive gets it."""
    viewer = open_archive(page, host, "sample")
    viewer.agent_frame.evaluate(PLANT)
    assert sorted(viewer.agent_frame.evaluate(LOOK)) == sorted(STORAGES)
    lost = replay_port(host, "sample")
    page.goto("about:blank")
    host.stop()
    with another_program(lost):
        host.start()
        viewer = open_archive(page, host, "sample")
        now = replay_port(host, "sample")
        assert now != lost
        assert urlsplit(viewer.archived_frame.url).port == now
        assert viewer.agent_frame.evaluate(LOOK) == []
    # The other program has ended, but its port isn't used again.
    page.goto("about:blank")
    host.restart()
    assert replay_port(host, "sample") == now
    viewer = open_archive(page, host, "second")
    assert replay_port(host, "second") not in (lost, now)
    assert viewer.agent_frame.evaluate(LOOK) == []


def test_data_of_another_program_is_cleared(host, page):
    """Another program may have left storage and a worker at an archive's port."""
    # The port depends only on the archive, so the first run shows it.
    port = replay_port(host, "sample")
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
    viewer = open_archive(page, host, "sample")
    assert replay_port(host, "sample") == port
    assert viewer.agent_frame.evaluate(LOOK) == []
    scopes = viewer.agent_frame.evaluate(
        "async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope)")
    assert scopes == [f"http://localhost:{port}/"]


def test_data_of_another_library_is_cleared(host, page, tmp_path):
    """A library at another port gave the same number to its own archive. Neither sees the data of the other one's."""
    viewer = open_archive(page, host, "sample")
    viewer.agent_frame.evaluate(PLANT)
    port = replay_port(host, "sample")
    page.goto("about:blank")
    host.stop()
    host.start()
    # The data stay as long as no other server was there.
    assert "localStorage" in open_archive(page, host, "sample").agent_frame.evaluate(LOOK)
    page.goto("about:blank")
    host.stop()
    other = Host(tmp_path / "other", origins="ports")
    other.add(FIXTURES / "sample.wacz")
    with other:
        assert other.address != host.address
        viewer = open_archive(page, other, "sample")
        assert replay_port(other, "sample") == port
        assert viewer.agent_frame.evaluate(LOOK) == []
        viewer.agent_frame.evaluate(PLANT)
        page.goto("about:blank")
    host.start()
    viewer = open_archive(page, host, "sample")
    assert replay_port(host, "sample") == port
    assert viewer.agent_frame.evaluate(LOOK) == []
    expect_home(viewer)


def test_archives_share_no_storage(host, page):
    """Neither two archives, nor a removed archive and a new one with the same name."""
    viewer = open_archive(page, host, "sample")
    viewer.agent_frame.evaluate(PLANT)
    viewer.archived_frame.evaluate("() => localStorage.setItem('planted by the page', '1')")
    first = replay_port(host, "sample")
    viewer = open_archive(page, host, "second")
    assert viewer.agent_frame.evaluate(LOOK) == []
    assert viewer.archived_frame.evaluate("() => localStorage.getItem('planted by the page')") is None
    assert host.run("remove", "sample", "--yes").returncode == 0
    assert host.add(FIXTURES / "sample.wacz") == "sample"
    viewer = open_archive(page, host, "sample")
    assert replay_port(host, "sample") != first
    assert viewer.agent_frame.evaluate(LOOK) == []


def test_cookies_of_one_archive_are_not_given_to_another(host, page):
    """Browsers separate cookies by path, not by port. The engine sets the path of the archive."""
    frame = open_archive(page, host, "sample").archived_frame
    frame.evaluate("() => { document.cookie = 'page=1'; document.cookie = 'root=1; path=/'; }")
    frame.evaluate("""() => {
        const inner = document.body.appendChild(document.createElement("iframe"));
        inner.contentDocument.cookie = "inner=1; path=/";
    }""")
    assert {"page=1", "root=1", "inner=1"} <= set(frame.evaluate("() => document.cookie").split("; "))
    viewer = open_archive(page, host, "second")
    for other in [viewer.archived_frame, viewer.agent_frame, page]:
        assert other.evaluate("() => document.cookie") == ""


def test_archived_page_cannot_reach_the_library_or_another_archive(host, browser):
    """Neither documents, nor files, nor the API on other ports of one host name."""
    browser.allow("Content Security Policy|CORS policy|ERR_FAILED")
    page = browser.page
    second = replay_port(host, "second")
    viewer = open_archive(page, host, "sample")
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
    for origin in [f"http://localhost:{replay_port(host, 'sample')}", f"http://localhost:{second}", "null"]:
        for method, path in [("DELETE", "/api/archives/sample"), ("POST", "/api/archives/second/origin")]:
            assert host.request(method, path, {**good, "Origin": origin})[0] == 403


def test_open_page_works_after_a_restart_of_the_server(host, browser, page):
    """Without a reload. The page opens the port again with the new token."""
    # The open page can ask for jobs while no server runs.
    browser.allow("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING")
    viewer = open_archive(page, host, "sample")
    host.restart()
    viewer.follow("Species")
    expect_species(viewer)
    page.get_by_role("button", name="Back", exact=True).click()
    expect_home(viewer)


def test_browser_without_names_uses_ports(tmp_path, open_browser):
    """With `--origins auto`, in a browser that resolves only `localhost`."""
    host = Host(tmp_path, origins="auto")
    host.add(FIXTURES / "sample.wacz")
    with host:
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


def test_browser_without_names_shows_a_message_in_names_mode(tmp_path, open_browser):
    host = Host(tmp_path, origins="names")
    host.add(FIXTURES / "sample.wacz")
    with host:
        browser = open_browser(names=False)
        browser.allow("ERR_NAME_NOT_RESOLVED|replayhost.localhost")
        browser.page.goto(host.address)
        expect(browser.page.get_by_text("This browser can't open archives")).to_be_visible()
        expect(browser.page.get_by_text("--origins ports")).to_be_visible()


def test_replay_ports_listen_on_loopback_only(host, page):
    """For IPv4 and IPv6."""
    open_archive(page, host, "sample")
    port = replay_port(host, "sample")
    with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
        lines = [line.split() for line in [*four, *six] if " 0A " in line]
    addresses = {line[1].split(":")[0] for line in lines if int(line[1].split(":")[1], 16) == port}
    assert addresses == {"0100007F", "00000000000000000000000001000000"}
    with socket.create_connection(("::1", port), timeout=10):
        pass
