"""Archived pages and other websites can't see other archives, change the library or use the network."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.archives import write_archive, write_captures
from support.browser import Browser
from support.expecting import expect
from support.host import Host
from support.journey import SITE, TITLE, expect_home
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until
from support.website import WebSite

ATTACKS = (Path(__file__).parent / "support" / "attacks.js").read_text(encoding="utf-8")


MODES = ["lookups", "ranges"]
# `make test` runs these in each origin mode, and in one of the replay modes.
in_one_mode = pytest.mark.few("names lookups", "ports ranges")


@pytest.fixture(scope="module", params=[pytest.param("auto", id="names"), "ports"])
def origins(request):
    return request.param


def open_archive(page, host, identifier, mode):
    page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz&replay={mode}")
    return Viewer(page)


@dataclass
class TwoTabs:
    host: Host
    browser: Browser
    first: Viewer
    second: Viewer


@pytest.fixture(scope="module", params=MODES)
def two_tabs(request, playwright, tmp_path_factory, origins):
    """sample.wacz and second.wacz, with captures of the same URLs, open in two tabs, in each replay mode.

    No attack changes the library, so all start from the same two tabs.
    """
    folder = tmp_path_factory.mktemp("two-tabs")
    host = Host(folder, origins=origins)
    for name in ["sample.wacz", "second.wacz"]:
        host.add(FIXTURES / name)
    browser = Browser(playwright, folder / "profile")
    try:
        host.start()
        first = open_archive(browser.page, host, "sample", request.param)
        expect_home(first)
        second = open_archive(browser.context.new_page(), host, "second", request.param)
        expect(second.read("#shared")).to_have_text("This archive must never show a tidepool.")
        yield TwoTabs(host, browser, first, second)
        browser.check()
    finally:
        browser.close()
        host.stop()


@in_one_mode
def test_storage_of_one_archive_is_not_seen_by_another(two_tabs):
    """localStorage, IndexedDB and caches, from the agent's page and from an archived page."""
    first, second = two_tabs.first, two_tabs.second
    store = """async () => {
        localStorage.setItem("tide", "low");
        await new Promise((done) => indexedDB.open("tide").onsuccess = done);
        await caches.open("tide");
    }"""
    look = """async () => [
        Object.keys(localStorage), (await indexedDB.databases()).map((one) => one.name), await caches.keys(),
    ].flat()"""
    for frame in [first.agent_frame, first.archived_frame]:
        frame.evaluate(store)
        assert "tide" in frame.evaluate(look)
    for frame in [second.agent_frame, second.archived_frame]:
        assert "tide" not in frame.evaluate(look)
    second.page.reload()
    expect(second.read("body")).to_have_attribute("data-storage", "harbour")
    assert not any("second" in name for name in first.agent_frame.evaluate(look))


@in_one_mode
def test_files_and_captures_of_one_archive_are_not_served_to_another(two_tabs):
    """sample's origin serves its own file, but neither second's file nor its captures."""
    host, first, second = two_tabs.host, two_tabs.first, two_tabs.second
    status = "path => fetch(path).then((answer) => answer.status)"
    text = "path => fetch(path).then((answer) => answer.text())"
    assert first.agent_frame.evaluate(status, "/archives/sample.wacz") == 200
    assert first.agent_frame.evaluate(status, "/archives/second.wacz") == 404
    capture = f"/{host.archive('second')['replayCollection']}/20241121090000mp_/{SITE}/"
    assert "Harbour Notebook" not in first.agent_frame.evaluate(text, capture)
    assert "Harbour Notebook" in second.agent_frame.evaluate(text, capture)
    lookups = [f"/c/{name}/20241121090000ir_/{SITE}/" for name in ["second", host.archive("second")["replayCollection"]]]
    for frame in [first.agent_frame, first.archived_frame]:
        for lookup in lookups:
            assert "Harbour Notebook" not in frame.evaluate(text, lookup)
    own = urlsplit(host.replay_origin("sample"))
    others = ["/archives/second.wacz", "/api/archives", "/api/health", "/index.html", "/app/main.js"]
    for path in [capture, *lookups, *others]:
        assert host.request("GET", path, host=own.netloc, port=own.port)[0] == 404, path


@in_one_mode
def test_frames_of_an_archive_cannot_touch_the_viewer(two_tabs):
    """The viewer's document and its token belong to another origin."""
    host, first = two_tabs.host, two_tabs.first
    for frame in [first.agent_frame, first.archived_frame]:
        for reach in ["document", "location.href", "setArchiveURL", "localStorage", "frames[0].document.body.missing"]:
            outcome = frame.evaluate(
                "reach => { try { return String(Function(`return top.${reach}`)()); } catch (e) { return e.name; } }",
                reach)
            if reach.startswith("frames"):
                continue  # Frames of the archive's own origin contain no secrets.
            assert outcome == "SecurityError", f"top.{reach} from {frame.url}"
    token = first.page.locator('meta[name="replayhost-token"]').get_attribute("content")
    assert len(token) >= 32
    for frame in [first.agent_frame, first.archived_frame]:
        assert token not in frame.content()
    own = urlsplit(host.replay_origin("sample"))
    for path in ["/", "/sw.js", f"/{host.archive('sample')['replayCollection']}/20241121090000mp_/{SITE}/"]:
        assert token.encode() not in host.request("GET", path, host=own.netloc, port=own.port)[2]


def attack(frame, host):
    """Runs every attack in attacks.js against the library. Returns the result of each."""
    targets = {"control": [host.address, host.home], "archive": "sample"}
    return frame.evaluate(f"targets => {{ {ATTACKS}\nreturn attackLibrary(targets); }}", targets)


def library(host):
    """The archives, without what the server finds out about them in the background."""
    found = ("verification", "verificationSummary", "findingCounts")
    return [{key: value for key, value in archive.items() if key not in found} for archive in host.archives()]


def expect_refused(results, host, before, where):
    readable = {name: outcome for name, outcome in results.items() if not outcome.startswith("refused")}
    assert readable == {}, f"{where} read an answer of the library"
    assert library(host) == before, f"{where} changed the library"


@in_one_mode
def test_archive_cannot_read_or_change_the_library(two_tabs):
    """With fetch, forms, beacons, images and frames from the replay origin."""
    host, first = two_tabs.host, two_tabs.first
    before = library(host)
    for frame in [first.agent_frame, first.archived_frame]:
        expect_refused(attack(frame, host), host, before, frame.url)
    two_tabs.browser.allow("Content Security|Framing|Blocked form submission")


@pytest.mark.parametrize("site", ["localhost", "attacker.localhost"])
def test_another_site_cannot_read_or_change_the_library(host_with_sample, browser, site):
    """The same from another website, same-site and cross-site."""
    other = WebSite()
    try:
        browser.page.goto(f"http://{site}:{other.port}/")
        before = library(host_with_sample)
        expect_refused(attack(browser.page.main_frame, host_with_sample), host_with_sample, before, site)
        browser.allow(f":{other.port}/|Content Security|NotSameOrigin|CORS|403|404|421|ERR_")
    finally:
        other.close()


READ_FIELDS = """<script>fetch("data.json").then(({ headers }) => {
    const request = new XMLHttpRequest();
    request.open("GET", "data.json");
    request.onload = () => {
        const all = request.getAllResponseHeaders().split("\\r\\n").find((line) => line.startsWith("link: "));
        document.body.dataset.links = JSON.stringify([headers.get("Link"), request.getResponseHeader("Link"), all.slice(6)]);
        document.body.dataset.fields = JSON.stringify(Object.fromEntries(headers));
    };
    request.send();
});</script>"""


@in_one_mode
@pytest.mark.parametrize("mode", MODES)
def test_scripts_read_the_fields_of_a_site_but_not_its_policies(host, browser, tmp_path, mode):
    """The same in both replay modes."""
    site = "https://fields.example"
    acting = ["Connection-Allowlist", "NEL", "Report-To", "Reporting-Endpoints", "Set-Login", "X-SourceMap",
        "Access-Control-Allow-Origin", "Speculation-Rules", "A-Field-Of-Next-Year"]
    link = '<https://fields.example/data.json?page=2>; rel="next", <https://other.example>; rel="preconnect"'
    fields = [*((name, "evil") for name in acting), ("X-Total-Count", "7"), ("RateLimit-Limit", "9"), ("Link", link)]
    host.add(write_captures(tmp_path / "fields.wacz", "Fields", [
        ({"url": f"{site}/"}, f"<!doctype html><title>Fields</title><body>{READ_FIELDS}".encode()),
        ({"url": f"{site}/data.json", "type": "application/json", "fields": fields}, b"{}"),
    ]))
    viewer = open_archive(browser.page, host, "fields", mode)
    expect(viewer.read("body")).to_have_attribute("data-fields", re.compile("x-total-count"))
    read = json.loads(viewer.read("body").get_attribute("data-fields"))
    assert (read["content-type"], read["x-total-count"], read["ratelimit-limit"]) == ("application/json", "7", "9")
    assert read["connection-allowlist"] == "(response-origin);redirects=allow"
    assert {name for name in read if "evil" in read[name] or name.lower() == "nel"} == set()
    # Under its own name, a browser would connect.
    assert [read["link"], *json.loads(viewer.read("body").get_attribute("data-links"))] == [link] * 4


@in_one_mode
@pytest.mark.parametrize("mode", MODES)
def test_archived_page_cannot_call_the_network(host, browser, tmp_path, mode):
    """Images, sockets, beacons, prefetches, pings, workers and inner frames: nothing leaves this computer."""
    run = "attackNetwork().then((log) => { document.body.dataset.tried = log.length; });"
    page_script = f"<script>{ATTACKS}\n{run}</script>"
    markup = (Path(__file__).parent / "support" / "leaks.html").read_text(encoding="utf-8")
    html = markup.replace("<!-- script -->", page_script)
    host.add(write_archive(tmp_path / "leaks.wacz", "Leaks", {"https://leaks.example/": html}))
    viewer = open_archive(browser.page, host, "leaks", mode)
    expect(viewer.read("h1")).to_have_text("A page that calls out")
    expect(viewer.read("body")).to_have_attribute("data-tried", "8")
    viewer.read("#ping").click()
    expect(viewer.page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    assert browser.sink.from_pages == []


def test_control_the_sink_receives_requests(playwright, tmp_path):
    """The control: the same attacks from a page without replay all reach the sink."""
    site = WebSite()
    browser = Browser(playwright, tmp_path / "profile")
    try:
        browser.page.goto(f"http://localhost:{site.port}/")
        browser.page.evaluate(f"() => {{ {ATTACKS}\nreturn attackNetwork(); }}")
        wanted = ["leak-fetch.example", "leak-socket.example", "leak-beacon.example", "leak-image.example"]
        wait_until(lambda: set(wanted) <= set(browser.sink.from_pages), f"the sink receives {wanted}")
        with pytest.raises(AssertionError):
            browser.check()
    finally:
        browser.close()
        site.close()


def refused_requests(port):
    """Yields requests that must be refused: description, method, path, Host, header fields, accepted statuses."""
    own, origin = f"localhost:{port}", f"http://localhost:{port}"
    upload, remove = ("POST", "/api/archives?name=second.wacz"), ("DELETE", "/api/archives/sample")
    good = {"Origin": origin, "Replayhost-Token": "TOKEN", "Content-Type": "application/wacz"}

    def without(*names, **changes):
        changes = {name.replace("_", "-"): value for name, value in changes.items()}
        return {name: value for name, value in {**good, **changes}.items() if name not in names}

    rebound = [
        ("rebound name", "attacker.example"), ("rebound name with our port", f"attacker.example:{port}"),
        ("our name as a suffix of theirs", f"localhost:{port}.attacker.example"),
        ("their name before ours", f"attacker.localhost:{port}"), ("another port", f"localhost:{port + 1}"),
        ("no port", "localhost"), ("an address of the local network", f"192.168.0.1:{port}"),
        ("all addresses", f"0.0.0.0:{port}"),
    ]
    for what, name in rebound:
        for method, path in [("GET", "/"), ("GET", "/api/archives"), ("GET", "/archives/sample.wacz"), remove]:
            yield f"Host: {what}", method, path, name, good, {421}
    for method, path in [upload, remove]:
        yield "Host: bare address", method, path, f"127.0.0.1:{port}", good, {403, 421}
        yield "Origin: none", method, path, own, without("Origin"), {403}
        yield "Origin: null", method, path, own, without(Origin="null"), {403}
        yield "Origin: another site", method, path, own, without(Origin="https://attacker.example"), {403}
        yield "Origin: another port", method, path, own, without(Origin=f"http://localhost:{port + 1}"), {403}
        yield "Origin: https", method, path, own, without(Origin=f"https://localhost:{port}"), {403}
        yield "Origin: an archive", method, path, own, \
            without(Origin=f"http://sample.replayhost.localhost:{port}"), {403}
        yield "Origin: the other control origin", method, path, own, \
            without(Origin=f"http://replayhost.localhost:{port}"), {403}
        yield "token: none", method, path, own, without("Replayhost-Token"), {403}
        yield "token: wrong", method, path, own, without(Replayhost_Token="0" * 64), {403}
        yield "token: half", method, path, own, without(Replayhost_Token="HALF"), {403}
        yield "token: in the query", method, f"{path}{'&' if '?' in path else '?'}token=TOKEN", own, \
            without("Replayhost-Token"), {403}
        yield "Sec-Fetch-Site: cross-site", method, path, own, without(Sec_Fetch_Site="cross-site"), {403}
        yield "Sec-Fetch-Site: same-site", method, path, own, without(Sec_Fetch_Site="same-site"), {403}
        yield "at an archive's origin", method, path, f"sample.replayhost.localhost:{port}", good, {403, 404, 405, 421}
    simple_types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    for kind in [*simple_types, "application/zip"]:
        yield f"type: {kind}", *upload, own, without(Content_Type=kind), {415}
    yield "type: none", *upload, own, without("Content-Type"), {415}
    for site in ["cross-site", "same-site"]:
        for path in ["/api/archives", "/api/archives/sample", "/api/archives/sample/pages"]:
            yield f"Sec-Fetch-Site: {site}", "GET", path, own, {"Sec-Fetch-Site": site}, {403}
    for path in ["/api/archives/sample", "/api/archives/sample?_method=DELETE", "/api/archives/sample/delete"]:
        yield "removal by another method", "POST", path, own, without(X_HTTP_Method_Override="DELETE"), {404, 405}


def test_foreign_requests_are_refused(host_with_sample):
    """DNS rebinding, cross-site requests and wrong tokens, as raw requests; none changes anything."""
    host = host_with_sample
    token = json.loads((host.store / "server.json").read_text())["token"]
    body = (FIXTURES / "second.wacz").read_bytes()
    rows, wrong = [], []
    for what, method, path, name, fields, refusals in refused_requests(host.port):
        path = path.replace("TOKEN", token)
        values = {"TOKEN": token, "HALF": token[:32]}
        fields = {field: values.get(value, value) for field, value in fields.items()}
        status, _, answer = host.request(method, path, fields, body if method == "POST" else None, name)
        rows.append(f"| {what} | {method} {path.replace(token, '…')} | {status} |".replace(str(host.port), "PORT"))
        if status not in refusals or token.encode() in answer or host.ids() != ["sample"]:
            wrong.append(rows[-1])
    print("\n| what is wrong | request | answer |\n| --- | --- | --- |", *rows, sep="\n")
    assert wrong == []
    good = {"Origin": host.address, "Replayhost-Token": token, "Content-Type": "application/wacz"}
    assert host.request("POST", "/api/archives?name=second.wacz", good, body)[0] == 201
    assert host.request("DELETE", "/api/archives/sample", good)[0] == 204
    assert host.ids() == ["second"]


IS_SEVERED = """async (address) => {
    const opened = window.open(address, "_blank");
    const end = Date.now() + 20_000;
    while (!opened.closed && Date.now() < end) await new Promise((done) => setTimeout(done, 50));
    return opened.closed;
}"""


def test_another_site_cannot_find_out_which_archives_exist(host_with_sample, browser):
    """It opens URLs in windows and loses its reference to each, whether the archive exists or not."""
    host, other = host_with_sample, WebSite()
    browser.allow("403|404")
    try:
        for identifier in ["sample", "unknown"]:
            origin = host.replay_origin("sample").replace("sample", identifier)
            for address in [
                f"{host.home}/?archive=/archives/{identifier}.wacz", f"{host.home}/archives/{identifier}.wacz",
                f"{host.address}/c/{identifier}/2024/{SITE}/", f"{origin}/", f"{origin}/archives/{identifier}.wacz",
                f"{origin}/c/{identifier}/2024/{SITE}/",
            ]:
                browser.page.goto(f"http://attacker.localhost:{other.port}/")
                assert browser.page.evaluate(IS_SEVERED, address), address
    finally:
        other.close()


def test_library_cannot_be_framed(host_with_sample, browser):
    """By other sites or archives, which prevents clickjacking."""
    for path in ["/", "/index.html", f"/?archive=/archives/sample.wacz#url={SITE}/"]:
        _, headers, _ = host_with_sample.request("GET", path.split("#")[0])
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    page = browser.page
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    viewer = Viewer(page)
    expect_home(viewer)
    viewer.archived_frame.evaluate("address => { location.href = address; }", f"{host_with_sample.home}/")
    browser.allow("Content Security|Framing")
    page.reload()
    expect(page.get_by_role("link", name=TITLE).first).to_be_visible()
