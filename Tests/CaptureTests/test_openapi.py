"""www/capture/openapi.json: whether it is valid, and describes every route and the golden answers of Tests/CaptureServerTests.

The answers of running servers are in test_openapi_answers.py.
"""

import copy
import json
import re

import pytest
from capture_host import CaptureHost
from described import (
    DESCRIPTION, ERROR, UNKNOWN, administrator, ask, check_request, is_page, operation_of, operations, problems, schema_of, strict,
)
from fake_tools import FakeTools
from jsonschema import Draft202012Validator
from support.places import CHECKOUT

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
            assert problems(schema, changed), key


# Routes

def test_every_route_is_described():
    """Those of the server's table, and no others."""
    table = (CHECKOUT / "Sources/CaptureServer/Routes/CaptureRoute.swift").read_text(encoding="utf-8")
    served = {f"{method.upper()} {path}" for method, path in re.findall(r'\.init\(\.(\w+), "(/[^"]*)"', table)}
    assert len(served) > 20
    assert served == {f"{method} {path}" for method, path, _ in CALLS}


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
    host.configure("security:\n  require_key: always\n")
    with host:
        yield host


@EACH
def test_security_is_as_described(guarded, method, path, operation):
    needs_key = {} not in operation.get("security", DESCRIPTION["security"]) and operation.get("security") != []
    status, answer = ask(guarded, method, placed(path), {} if "requestBody" in operation else None)
    is_refused = status == 401 and answer["message"].startswith("API key required")
    assert is_refused is needs_key
    # Only requests that change nothing are sent with a key.
    if needs_key and method == "GET":
        token = administrator(guarded)["Authorization"].removeprefix("Bearer ")
        for fields in ({"Authorization": f"Bearer {token}"}, {"X-API-Key": token}):
            assert ask(guarded, method, placed(path), headers=fields)[0] in (200, 404)
