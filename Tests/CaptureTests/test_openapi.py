"""www/capture/openapi.json beside the answers of the server: the golden ones of Tests/CaptureServerTests, and those of running servers."""

import copy
import json
import re

import pytest
from capture_host import CaptureHost
from described import (
    COMMON, DESCRIPTION, ERROR, check_request, check_response, is_page, operation_of, operations, problems, schema_of, strict,
)
from fake_tools import FakeTools
from home_network import SERVER, request, what_is_missing
from home_server import Home
from jsonschema import Draft202012Validator
from support.places import CHECKOUT, WEB_INTERFACE
from support.waiting import wait_until

UNKNOWN = "550e8400-e29b-41d4-a716-446655440000"
EACH = pytest.mark.parametrize(
    ("method", "path", "operation"), operations(), ids=[f"{method} {path}" for method, path, _ in operations()])
CALLS = [one for one in operations() if not is_page(one[2])]
EACH_CALL = pytest.mark.parametrize(("method", "path", "operation"), CALLS, ids=[f"{method} {path}" for method, path, _ in CALLS])


# The description itself

def schemas_in(value, place="#"):
    """All JSON schemas of the description, with their places."""
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from schemas_in(part, f"{place}/{number}")
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "schema":
                yield f"{place}/{name}", part
            elif place == "#/components/schemas":
                yield f"{place}/{name}", part
            yield from schemas_in(part, f"{place}/{name}")


def references_in(value):
    if isinstance(value, list):
        return [found for part in value for found in references_in(part)]
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [found for part in value.values() for found in references_in(part)]
    return []


def test_schemas_are_valid():
    """By the meta schema of JSON Schema 2020-12, which OpenAPI 3.1 takes over. Each named one is used, and each name exists."""
    assert DESCRIPTION["openapi"].startswith("3.1.")
    found = list(schemas_in(DESCRIPTION))
    assert len(found) > 100
    for place, schema in found:
        Draft202012Validator.check_schema(schema)
        # A key can't be required that isn't described.
        assert set(schema.get("required", [])) <= set(schema.get("properties", {})), place
    named = {f"#/components/schemas/{name}" for name in DESCRIPTION["components"]["schemas"]}
    assert set(references_in(DESCRIPTION)) == named


def test_names_are_unique():
    """They're fragments of the page."""
    ids = [operation["operationId"] for _, _, operation in operations()]
    tags = [tag["name"] for tag in DESCRIPTION["tags"]]
    names = [*ids, *(tag.lower() for tag in tags), "objects", "errors", "access", "statuses"]
    assert len(set(names)) == len(names)
    assert {tag for _, _, operation in operations() for tag in operation["tags"]} == set(tags)


@EACH
def test_operation_is_complete(method, path, operation):
    """OpenAPI 3.1.0 §4.8.10 and §4.8.12: parameters of the path, responses with descriptions, known security schemes."""
    assert operation["summary"][0].isupper() and not operation["summary"].endswith(".")
    parameters = operation.get("parameters", [])
    assert len({(one["name"], one["in"]) for one in parameters}) == len(parameters)
    assert [one["name"] for one in parameters if one["in"] == "path"] == re.findall(r"\{(\w+)\}", path)
    assert all(one["required"] is (one["in"] == "path") and one.get("description") for one in parameters)
    assert all(re.fullmatch(r"[2-5]\d\d|default", status) for status in operation["responses"])
    assert all(response["description"] for response in operation["responses"].values())
    assert any(status[0] in "23" for status in operation["responses"])
    for status, response in operation["responses"].items():
        if status == "default" or int(status) >= 400 and "content" in response:
            assert response["content"] == {"application/json": {"schema": ERROR}}, status
    for scheme in [*operation.get("security", []), *DESCRIPTION["security"]]:
        assert set(scheme) <= set(DESCRIPTION["components"]["securitySchemes"])
    for example in schemas_of_body(operation).get("examples", []):
        check_request(method, path, example)


def schemas_of_body(operation):
    return operation["requestBody"]["content"]["application/json"]["schema"] if "requestBody" in operation else {}


# Golden answers

GOLDEN = CHECKOUT / "Tests/CaptureServerTests/Golden"
# The request of each; `None` where no operation is described.
REQUESTS = {
    "archive-missing": ("GET", "/download/x/archive"), "cancel": ("POST", "/download/x/cancel"),
    "cancel-ended": ("POST", "/download/x/cancel"), "delete": ("DELETE", "/history/x"), "download-older": ("POST", "/download"),
    "download-v2": ("POST", "/download"), "error-403": ("POST", "/download"), "error-404": ("GET", "/status/x"), "error-405": None,
    "error-409": ("POST", "/download"), "error-413": ("POST", "/download"), "error-415": ("POST", "/download"),
    "error-421": ("GET", "/health"), "error-limit": ("GET", "/history"), "error-no-json": ("POST", "/download"),
    "error-older": ("POST", "/download"), "error-username": ("POST", "/download"), "file": ("GET", "/download/x/file"),
    "file-head": ("GET", "/download/x/file"), "file-missing": ("GET", "/download/x/file"), "file-no-range": ("GET", "/download/x/file"),
    "file-range": ("GET", "/download/x/file"), "health": ("GET", "/health"), "history": ("GET", "/api/v1/history"),
    "log": ("GET", "/download/x/log"), "retry": ("POST", "/download/x/retry"), "retry-queued": ("POST", "/download/x/retry"),
    "status-completed": ("GET", "/status/x"), "status-waiting": ("GET", "/status/x"),
}
PLACEHOLDERS = {"UUID": UNKNOWN, "TIME": "2025-11-18T02:30:00Z", "SECONDS": "1763433000", "PORT": "58443"}


def golden(name):
    """The status, the media type and the value of a golden answer; the value is `None` if it isn't JSON."""
    head, _, body = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").partition("\n\n")
    status, *fields = head.split("\n")
    kind = dict(field.split(": ", 1) for field in fields)["content-type"]
    body = re.sub(r"\b(UUID|TIME|SECONDS|PORT)\b", lambda found: PLACEHOLDERS[found[0]], body)
    return int(status), kind, json.loads(body) if kind == "application/json" else None


def golden_schema(name):
    status, kind, value = golden(name)
    return (schema_of(operation_of(*REQUESTS[name]), status, kind) if REQUESTS[name] else strict(ERROR)), value


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.txt")))
def test_golden_answer_is_as_described(name):
    assert name in REQUESTS, "add its request above"
    schema, value = golden_schema(name)
    assert (schema is None) == (value is None)
    assert schema is None or problems(schema, value) == []


def objects_in(value):
    """All objects in a value."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value] * isinstance(value, dict) + [found for part in parts for found in objects_in(part)]


@pytest.mark.parametrize("name", sorted(name for name in REQUESTS if golden(name)[2] is not None))
def test_another_key_or_a_missing_one_is_found(name):
    """In every object of every golden answer. Otherwise the tests here couldn't fail."""
    schema, value = golden_schema(name)
    assert objects_in(value)
    for number in range(len(objects_in(value))):
        changed = copy.deepcopy(value)
        objects_in(changed)[number]["added"] = None
        assert problems(schema, changed), objects_in(value)[number]
        # All keys of the golden answers are always there, except those that a person chose.
        for key in set(objects_in(value)[number]) - {"height"}:
            changed = copy.deepcopy(value)
            del objects_in(changed)[number][key]
            assert problems(schema, changed) or is_published_health(changed), key


def is_published_health(value):
    """Without the keys that strangers don't get, it is the answer for them; without one of these keys, it isn't."""
    return set(value) == {"status", "timestamp", "version", "database"}


# Routes

def test_every_route_is_described():
    """Those of the server's table, and no others."""
    table = (CHECKOUT / "Sources/CaptureServer/Routes/CaptureRoute.swift").read_text(encoding="utf-8")
    served = {f"{method.upper()} {path}" for method, path in re.findall(r'\.init\(\.(\w+), "(/[^"]*)"', table)}
    assert len(served) > 20
    assert served == {f"{method} {path}" for method, path, _ in CALLS}


def ask(host, method, path, value=None, headers=None, content=None):
    """A request whose response is as described. Returns the status and the value, or the bytes."""
    fields = dict(headers or {})
    if value is not None or content is not None:
        fields.setdefault("Content-Type", "application/json")
        content = json.dumps(value).encode() if content is None else content
    elif method in ("POST", "PUT"):
        content = b""
    status, head, body = host.request(method, path, fields, content)
    if value is not None and status < 300:
        check_request(method, path, value)
    return status, check_response(method, path, status, head, body)


def administrator(host):
    return {"Authorization": f"Bearer {json.loads((host.store / 'capture' / 'capture.json').read_text())['token']}"}


def placed(path):
    return path.replace("{id}", UNKNOWN).replace("{username}", "ana")


@EACH_CALL
@pytest.mark.parametrize("prefix", ["", "/api/v1"], ids=["bare", "api-v1"])
def test_server_has_the_route_and_no_other_method(shared, method, path, operation, prefix):
    status, head, body = shared.request("PATCH", prefix + placed(path), {}, b"")
    assert (status, problems(ERROR, json.loads(body))) == (405, [])
    allowed = {one for one, other, _ in CALLS if other == path}
    assert set(head["Allow"].split(", ")) == allowed | ({"HEAD"} if "GET" in allowed else set())


@EACH_CALL
def test_calls_of_the_administrator_are_named(shared, method, path, operation):
    """A program of the same person without a key may do everything else."""
    status, answer = ask(shared, method, placed(path), {} if "requestBody" in operation else None)
    if operation.get("description", "").startswith("For the administrator."):
        assert (status, answer["error"]) == (403, "forbidden")
    else:
        assert status != 403
        assert path == "/admin/session" or status != 401


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server on which every program needs a key."""
    folder = tmp_path_factory.mktemp("guarded")
    host = CaptureHost(folder, FakeTools(folder / "tools"))
    (host.store / "capture").mkdir(mode=0o700, parents=True)
    (host.store / "capture" / "config.yaml").write_text("security:\n  require_key: always\n", encoding="utf-8")
    try:
        yield host.start()
    finally:
        host.stop()


@EACH
def test_security_is_as_described(guarded, method, path, operation):
    needs_key = {} not in operation.get("security", DESCRIPTION["security"]) and operation.get("security") != []
    status, answer = ask(guarded, method, placed(path), {} if "requestBody" in operation else None)
    if needs_key:
        assert (status, answer["message"].partition(".")[0]) == (401, "API key required")
    else:
        assert status != 401
    if needs_key:
        for fields in ({"Authorization": "Bearer " + administrator(guarded)["Authorization"][7:]},
                {"X-API-Key": administrator(guarded)["Authorization"][7:]}):
            # What is asked for doesn't exist, or the body is wrong. Nothing is changed.
            if method == "GET" or "requestBody" in operation and path != "/tools/update":
                assert ask(guarded, method, placed(path), {} if "requestBody" in operation else None, fields)[0] not in (401, 403)


# Answers of a running server

@pytest.fixture(scope="module")
def some(shared, website):
    """Downloads of a user: one that completed, one that failed, one that was cancelled."""
    ids = {"completed": "ok", "failed": "private", "cancelled": "busy"}
    ids = {state: shared.add(website.fake(script, by="openapi"), username="ana") for state, script in ids.items()}
    row = shared.wait_for(ids["cancelled"], condition=lambda row: row["stage"] == "fetching" and row["progress"])
    assert objects_in(row)[1:], "the progress is described too"
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
    assert ask(shared, "GET", f"/download/{some['failed']}/archive")[0] == 404
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
    from support.host import Host

    library = Host(host.folder, assets=WEB_INTERFACE)
    with host:
        try:
            library.start()
            wait_until(lambda: ask(host, "GET", "/health")[1]["library"], "the capture server knows the library", 180)
        finally:
            library.stop()


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


@pytest.mark.parametrize(("name", "status"), [("evil.example", 421), ("a b", 400)])
def test_error_of_another_host(shared, name, status):
    found, head, body = shared.request("GET", "/history", host=name)
    assert found in COMMON_STATUSES
    assert check_response("GET", "/history", found, head, body)["success"] is False


COMMON_STATUSES = {int(status) for status in COMMON}


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
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"))
    with host:
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
    assert managed("PUT", "/cookies/ana", content=b"{}", )[0] == 400
    assert managed("DELETE", "/cookies/ana")[1] == []
    assert managed("DELETE", "/cookies/ana")[0] == 404


def test_administrator_returns_to_former_tools(managed):
    """There are none, so that nothing is installed."""
    assert managed("POST", "/tools/rollback")[0] == 202

    def ended():
        update = managed("GET", "/admin/state")[1]["update"]
        return None if update["running"] else update

    assert wait_until(ended, "the change has ended", 180)["error"]
    assert managed("POST", "/tools/update", content=b"[]")[0] == 400


def test_administrator_changes_the_configuration(managed):
    one, other = "server:\n  name: One\n", "server:\n  name: Other\n"
    assert managed("POST", "/config/restore")[0] == 409
    assert managed("PUT", "/config", {"text": one})[1]["previous"] is False
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


@pytest.mark.skipif(what_is_missing() is not None, reason=str(what_is_missing()))
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

    try:
        home.start()
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
    finally:
        home.stop()
