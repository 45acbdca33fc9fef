"""Answers of running servers beside www/capture/openapi.json: no key is missing, and none is there that isn't described."""

import json

import pytest
from capture_host import SECONDS, CaptureHost
from described import DESCRIPTION, ERROR, UNKNOWN, administrator, ask, check_request, check_response, problems, strict
from fake_tools import FakeTools
from home_network import SERVER, request
from home_server import Home
from support.host import Host
from support.places import WEB_INTERFACE
from support.waiting import wait_until


@pytest.fixture(scope="module")
def some(shared, website):
    """Downloads of a user: one that completed, one that failed, one that was cancelled."""
    ids = {"completed": "ok", "failed": "private", "cancelled": "busy"}
    ids = {state: shared.add(website.fake(script, by="openapi"), username="ana") for state, script in ids.items()}
    row = shared.wait_for(ids["cancelled"], condition=lambda row: row["stage"] == "fetching" and row["progress"])
    assert row["progress"]["bytes"] >= 0
    assert ask(shared, "GET", f"/status/{ids['cancelled']}")[0] == 200
    assert ask(shared, "GET", "/history?status=downloading")[0] == 200
    assert ask(shared, "POST", f"/download/{ids['cancelled']}/cancel")[0] == 200
    for state, identifier in ids.items():
        shared.wait_for(identifier, state)
    return ids


def test_added_download(shared, website):
    """By each of the published clients, and with all options."""
    bodies = [
        {"url": website.fake("ok", by="described-v2"), "username": "john", "client_id": "phone"},
        {"url": website.fake("ok", by="described-older"), "client_id": "A1B2", "timestamp": 1234567890},
        {"url": website.fake("ok", by="described-options"),
            "options": {"mode": "media", "form": "audio", "container": "mp3", "audio_quality": "48k"}},
        {"url": website.fake("ok", by="described-height"), "options": {"form": "video", "height": 720, "container": "mkv"}},
    ]
    for body in bodies:
        status, answer = ask(shared, "POST", "/download", body, {"Idempotency-Key": "described" + body["url"][-8:]})
        assert (status, answer["status"]) == (201, "queued" if "timestamp" in body else "pending")
        assert ask(shared, "GET", f"/status/{answer['download_id']}")[1]["options"] == body.get("options", {})
        shared.wait_for(answer["download_id"], "completed")


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled"])
def test_status_history_and_log(shared, some, state):
    assert ask(shared, "GET", f"/status/{some[state]}")[1]["state"] == state
    assert [row["download_id"] for row in ask(shared, "GET", f"/history?username=ana&state={state}")[1]] == [some[state]]
    assert ask(shared, "GET", f"/download/{some[state]}/log?limit=5")[1]["offset"] == 0


def test_files(shared, some):
    path = f"/download/{some['completed']}/file"
    tag = shared.request("GET", path)[1]["ETag"]
    for fields, status in [({}, 200), ({"Range": "bytes=0-9"}, 206), ({"Range": "bytes=99999999-"}, 416), ({"If-None-Match": tag}, 304),
            ({"If-Match": '"other"'}, 412)]:
        assert ask(shared, "GET", path, headers=fields)[0] == status
    assert ask(shared, "GET", f"/download/{some['completed']}/archive")[0] == 200
    for name, part in [("failed", "archive"), ("completed", "page"), ("completed", "screenshot")]:
        assert ask(shared, "GET", f"/download/{some[name]}/{part}")[0] == 404
    status, ticket = ask(shared, "POST", f"/download/{some['completed']}/ticket")
    assert status == 200
    played = ticket["url"].removeprefix(shared.started["address"])
    assert ask(shared, "GET", played)[0] == 200
    assert ask(shared, "GET", f"{path}?ticket=1-x")[0] == 401


def test_actions(host, website):
    with host:
        identifier = host.add(website.fake("private", by="actions"))
        host.wait_for(identifier, "failed")
        assert ask(host, "POST", f"/download/{identifier}/cancel")[0] == 409
        assert ask(host, "POST", f"/download/{identifier}/check")[0] == 409
        assert ask(host, "POST", f"/download/{identifier}/retry", {"options": {"height": 1}})[0] == 400
        assert ask(host, "POST", f"/download/{identifier}/retry", {"options": {"height": 720}})[1]["options"] == {"height": 720}
        host.wait_for(identifier, "failed")
        assert ask(host, "POST", f"/download/{identifier}/retry")[0] == 200
        host.wait_for(identifier, "failed")
        busy = host.add(website.fake("busy", by="actions"))
        host.wait_for(busy, "downloading")
        assert ask(host, "POST", f"/download/{busy}/retry", {})[0] == 409
        assert ask(host, "DELETE", f"/history/{busy}")[0] == 409
        host.cancel(busy)
        host.wait_for(busy, "cancelled")
        assert ask(host, "DELETE", f"/history/{busy}?archive=true&file=true")[0] == 200
        assert ask(host, "DELETE", f"/history/{busy}")[0] == 404


def test_health_users_and_connection(shared, some):
    assert ask(shared, "GET", "/health")[1]["tools"]
    assert "ana" in {user["username"] for user in ask(shared, "GET", "/api/v1/users")[1]}
    assert ask(shared, "GET", "/config/connection")[1]["ssl_enabled"] is False
    assert ask(shared, "GET", "/server.crt")[0] == 404


def test_library_is_in_the_health(host):
    """Its URL, while it runs."""
    library = Host(host.folder, assets=WEB_INTERFACE)
    with host:
        with library:
            wait_until(lambda: ask(host, "GET", "/health")[1]["library"], "the capture server knows the library", SECONDS)


WRONG = {"Authorization": f"Bearer {'0' * 64}"}


@pytest.mark.parametrize(("method", "path", "value", "headers", "status"), [
    ("POST", "/download", {"url": "x", "username": "a b", "options": {"height": 1}}, {}, 400),
    ("POST", "/download", {"url": "https://example.org/", "options": {"form": "other"}}, {}, 400),
    ("POST", "/download", {"timestamp": 1, "url": 5}, {}, 400),
    ("POST", "/download", {"url": "https://example.org/"}, {"Idempotency-Key": "a b"}, 400),
    ("POST", "/download", {"url": "https://example.org/"}, {"Content-Type": "text/plain"}, 415),
    ("POST", "/download", {"url": "https://example.org/" + "a" * 70_000}, {}, 413),
    ("POST", "/download", {"url": "https://example.org/"}, {"Origin": "https://evil.example"}, 403),
    ("POST", "/download", {"url": "https://example.org/"}, WRONG, 401),
    ("GET", "/history?limit=0", None, {}, 400), ("GET", "/history?since=yesterday", None, {}, 400),
    ("GET", "/history?genre=film", None, {}, 400), ("GET", "/history", None, WRONG, 401),
    ("GET", "/history", None, {"Sec-Fetch-Site": "cross-site"}, 403), ("GET", "/health", None, WRONG, 401),
    ("GET", "/health", None, {"Origin": "https://evil.example"}, 403),
    ("GET", "/status/x", None, {}, 404), ("GET", f"/download/{UNKNOWN}/log?limit=0", None, {}, 400),
    ("GET", f"/download/{UNKNOWN}/log", None, {}, 404), ("POST", f"/download/{UNKNOWN}/check", None, {}, 404),
    ("POST", f"/download/{UNKNOWN}/ticket", None, {}, 404), ("POST", f"/download/{UNKNOWN}/cancel", None, {}, 404),
    ("POST", "/admin/session", {"code": "0" * 64}, {}, 401), ("POST", "/admin/session", {"other": 1}, {}, 400),
])
def test_errors(shared, method, path, value, headers, status):
    found, answer = ask(shared, method, path, value, headers)
    assert found == status, answer
    assert answer["success"] is False


def test_errors_without_an_operation(shared):
    for path in ("/nothing", "/config/schema", "/download/a/b/c"):
        status, _, body = shared.request("GET", path)
        assert (status, problems(strict(ERROR), json.loads(body))) == (404, [])


def test_error_of_another_host(shared):
    status, head, body = shared.request("GET", "/history", host="evil.example")
    assert status == 421
    assert check_response("GET", "/history", status, head, body)["error"] == "misdirected"


def test_error_of_another_body_under_one_key(shared):
    def share(number):
        return ask(shared, "POST", "/download", {"url": f"https://docs.invalid/described/{number}"}, {"Idempotency-Key": "two-bodies"})

    status, answer = share(1)
    assert (status, share(2)[0]) == (201, 409)
    shared.cancel(answer["download_id"])


def test_error_of_too_many_wrong_keys(tmp_path):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools")) as host:
        statuses = [ask(host, "GET", "/history", headers={"X-API-Key": f"{number:064x}"})[0] for number in range(21)]
        assert statuses == [401] * 20 + [429]


def test_error_of_too_many_downloads(tmp_path):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools")) as host:
        fields = administrator(host)
        text = "downloads:\n  allowed_platforms: [tiktok]\nsecurity:\n  rate_limit_per_client: 2\n"
        assert ask(host, "PUT", "/config", {"text": text}, fields)[0] == 200
        posted = [ask(host, "POST", "/download", {"url": url}) for url in (
            "https://example.org/a", "https://tiktok.com/@a/video/1", "https://tiktok.com/@a/video/2", "https://tiktok.com/@a/video/3")]
        assert [status for status, _ in posted] == [422, 201, 201, 429]
        assert posted[0][1]["reason"] == "unsupported_platform"


# The administrator's calls

@pytest.fixture
def managed(host):
    """What sends a request as the administrator, to a server of its own."""
    with host:
        fields = administrator(host)
        yield lambda method, path, value=None, **more: ask(host, method, path, value, fields, **more)


def test_administrator_opens_a_session(host, managed):
    status, link = managed("POST", "/admin/link")
    assert status == 201
    code = {"code": link["link"].partition("#code=")[2]}
    status, session = ask(host, "POST", "/admin/session", code)
    assert status == 200 and ask(host, "POST", "/admin/session", code)[0] == 401
    status, state = ask(host, "GET", "/api/v1/admin/state", headers={"X-API-Key": session["token"]})
    assert status == 200 and state["problems"] and state["tools"] and state["disks"]


def test_administrator_manages_keys_and_users(host, managed):
    assert host.command("keys add", "phone", "--user", "ana").returncode == 0
    assert host.command("keys add", "laptop", "--admin").returncode == 0
    assert [key["name"] for key in managed("GET", "/keys")[1]] == ["laptop", "phone"]
    assert managed("DELETE", "/keys/phone")[1]["revoked_at"]
    assert managed("DELETE", "/keys/phone")[0] == 404
    assert managed("GET", "/users")[1][0]["downloads"] == 0
    assert managed("POST", "/config/setup", {"name": "tablet"})[0] == 409
    assert managed("POST", "/config/setup", {"name": "tablet", "username": "a b"})[0] == 400


def test_administrator_manages_the_queue_and_reads_the_log(managed):
    assert managed("POST", "/queue/pause")[1] == {"paused": True}
    assert managed("GET", "/health")[1]["queue"]["waiting_for"] in (None, "paused")
    assert managed("GET", "/admin/state")[1]["queue"]["paused"] is True
    assert managed("POST", "/queue/resume")[1] == {"paused": False}
    part = managed("GET", "/server/log")[1]
    assert managed("GET", f"/server/log?offset={part['next']}")[1]["offset"] == part["next"]
    assert managed("GET", "/server/log?offset=x")[0] == 400


def test_administrator_manages_cookies(managed):
    text = "# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t0\tsession\tvalue\n"
    assert managed("PUT", "/cookies/ana", {"text": text})[1][0]["cookies"] == 1
    assert managed("GET", "/cookies")[1][0]["username"] == "ana"
    assert managed("PUT", "/cookies/ana", {"text": "none"})[0] == 400
    assert managed("PUT", "/cookies/a.b", {"text": text})[0] == 400
    assert managed("PUT", "/cookies/ana", {"text": "#" * (4 << 20)})[0] == 413
    assert managed("PUT", "/cookies/ana", content=b"{}")[0] == 400
    assert managed("DELETE", "/cookies/ana")[1] == []
    assert managed("DELETE", "/cookies/ana")[0] == 404


def test_administrator_returns_to_former_tools(managed):
    """There are none, so that nothing is installed."""
    assert managed("POST", "/tools/rollback")[0] == 202

    def ended():
        update = managed("GET", "/admin/state")[1]["update"]
        return None if update["running"] else update

    assert wait_until(ended, "the change has ended", SECONDS)["error"]
    assert managed("POST", "/tools/update", content=b"[]")[0] == 400


def test_administrator_changes_the_configuration(managed):
    one, other = "server:\n  name: One\n", "server:\n  name: Other\n"
    assert managed("POST", "/config/restore")[0] == 409
    assert managed("PUT", "/config", {"text": one})[1]["previous"] is True
    assert managed("PUT", "/config", {"text": other})[1]["previous"] is True
    assert managed("POST", "/config/restore")[1]["text"] == one
    assert managed("PUT", "/config", {"text": "server:\n  hosts: 1\n"})[0] == 400
    assert managed("POST", "/config/check", {"text": "server:\n  hosts: 1\n"})[1]["faults"][0]["key"] == "server.hosts"
    # Without a key: the text as a whole.
    whole = managed("POST", "/config/check", {"text": "server: [\n"})[1]["faults"]
    assert whole and "key" not in whole[0]
    assert managed("POST", "/config/check", {"text": "server:\n  host: 0.0.0.0\nsecurity:\n  require_key: false\n"})[1]["warnings"]
    assert managed("POST", "/config/check", content=b"{}")[0] == 400


def test_pages_and_this_document(shared):
    for path, kind in [("/admin", b"<!doctype html>"), ("/config/setup", b"<!doctype html>"), ("/docs", b"<!doctype html>")]:
        status, page = ask(shared, "GET", path)
        assert status == 200 and page.lower().startswith(kind), path
    assert ask(shared, "GET", "/openapi.json") == (200, DESCRIPTION)
    status, head, body = shared.request("GET", "/redoc")
    check_response("GET", "/redoc", status, head, body)
    assert head["Location"] == "/docs"


@pytest.mark.needs("network namespaces")
def test_answers_in_a_network(tmp_path):
    """A device is set up, and connects by TLS."""
    home = Home(tmp_path)

    def ask_from(place, base, method, path, value=None, key=None):
        fields = {"Authorization": f"Bearer {key}"} if key else {}
        if method == "POST" and value is None:
            fields["Content-Type"] = "application/json"
        status, head, body = request(place, method, base + path, fields, value, home.root)
        return status, check_response(method, path, status, head, body)

    def administer(method, path, value=None):
        return ask_from(home.network.server, f"http://localhost:{home.host.port}", method, path, value, home.token)

    def phone(method, path, value=None, key=None, scheme="https"):
        return ask_from(home.network.phone, home.base(scheme), method, path, value, key)

    with home:
        home.wait_until_open()
        setup = {"name": "Ana's phone", "username": "ana", "admin": False}
        check_request("POST", "/config/setup", setup)
        status, made = administer("POST", "/config/setup", setup)
        assert status == 201 and made["key"]["username"] == "ana"
        assert administer("POST", "/config/setup", setup)[0] == 400  # The name is taken.
        assert phone("GET", "/server.crt")[0] == 200
        assert set(phone("GET", "/health")[1]) == {"status", "timestamp", "version", "database"}
        connection = phone("GET", "/config/connection", key=made["secret"])[1]
        assert connection["fingerprint"] and connection["lan"]["ip"] == SERVER
        assert phone("GET", "/history")[0] == 401
        assert phone("GET", "/keys", key=made["secret"])[0] == 403
        assert phone("GET", "/history", key=home.key("laptop", "--admin"), scheme="http")[0] == 403
        assert administer("GET", "/keys")[1][-1]["last_used_at"]
        assert administer("GET", "/admin/state")[1]["addresses"]
        assert administer("POST", "/config/open")[0] == 200
