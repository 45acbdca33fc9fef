"""What www/capture/openapi.json says about a response, as strictly as possible: it may have no key that isn't described."""

import json
import re
from datetime import datetime
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker
from support.places import WEB_INTERFACE

DESCRIPTION = json.loads((WEB_INTERFACE / "capture/openapi.json").read_text(encoding="utf-8"))
METHODS = ("get", "put", "post", "delete", "patch")
# Statuses that every call can have, described by `default`.
COMMON = {"400", "421", "429", "500", "507"}
# The ID of no download
UNKNOWN = "550e8400-e29b-41d4-a716-446655440000"
ERROR = {"$ref": "#/components/schemas/Error"}
FORMATS = FormatChecker(formats=[])


@FORMATS.checks("date-time", raises=ValueError)
def _is_time(value):
    """As published: UTC, without fractions."""
    return not isinstance(value, str) or bool(datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))


@FORMATS.checks("uuid", raises=ValueError)
def _is_uuid(value):
    return not isinstance(value, str) or str(UUID(value)) == value


@FORMATS.checks("uri")
def _is_url(value):
    return not isinstance(value, str) or re.fullmatch(r"https?://[^\s/]+(/\S*)?", value) is not None


def operations():
    """Each as (METHOD, path, operation)."""
    return [(method.upper(), path, item[method]) for path, item in DESCRIPTION["paths"].items() for method in METHODS if method in item]


def is_page(operation):
    """Pages for browsers and the description itself exist without the prefix only."""
    return "servers" in operation


def strict(schema):
    """The schema with `additionalProperties` false in every object."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items()}
    return {**made, "additionalProperties": False} if isinstance(schema.get("properties"), dict) else made


STRICT = {name: strict(schema) for name, schema in DESCRIPTION["components"]["schemas"].items()}


def problems(schema, value, schemas=STRICT):
    """What is wrong with a value, as lines."""
    validator = Draft202012Validator({**schema, "components": {"schemas": schemas}}, format_checker=FORMATS)

    def lines(error):
        below = [line for part in error.context or [] for line in lines(part)]
        return below or [f"{error.json_path}: {error.message}"]

    return [line for error in validator.iter_errors(value) for line in lines(error)]


def operation_of(method, path):
    """The described operation of a request."""
    parts = path.partition("?")[0].removeprefix("/api/v1").split("/")
    found = [one for one in DESCRIPTION["paths"] if method.lower() in DESCRIPTION["paths"][one] and _matches(one.split("/"), parts)]
    assert found, f"{method} {path} isn't described"
    # /keys/{id} beside /keys/all: the more exact one
    return DESCRIPTION["paths"][min(found, key=lambda one: one.count("{"))][method.lower()]


def _matches(described, parts):
    return len(described) == len(parts) and all(one.startswith("{") or one == part for one, part in zip(described, parts))


def schema_of(operation, status, kind):
    """The strict schema of a response's body; `None` for a body that isn't JSON, and without a body."""
    status = str(status)
    assert status in operation["responses"] or status in COMMON, f"{operation['operationId']}: the status {status} isn't described"
    content = operation["responses"].get(status, operation["responses"]["default"]).get("content")
    if content is None:
        return None
    assert kind in content or "*/*" in content, f"{operation['operationId']}: {status} as {kind} isn't described"
    return strict(content.get(kind, {}).get("schema", {})) if kind == "application/json" else None


def begin(host, path, fields):
    """Requests a stream, of which only the head is read. Returns the status, and the value of an error."""
    connection = host.connection()
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{host.port}", **fields})
        answer = connection.getresponse()
        body = answer.read() if answer.status != 200 else b""
        return answer.status, check_response("GET", path, answer.status, answer.headers, body)
    finally:
        connection.close()


def is_endless(operation):
    return "text/event-stream" in operation["responses"].get("200", {}).get("content", {})


def check_response(method, path, status, head, body):
    """Asserts that a response is as described. Returns its JSON value, or its bytes."""
    operation = operation_of(method, path)
    what = f"{method} {path}: {status}"
    response = operation["responses"].get(str(status), operation["responses"]["default"])
    for name, field in response.get("headers", {}).items():
        value = head[name]
        assert value is not None or not field.get("required"), f"{what} lacks the header {name}"
        if value is not None:
            given = int(value) if field["schema"].get("type") == "integer" else value
            assert problems(field["schema"], given) == [], f"{what}: {name}"
    schema = schema_of(operation, status, head.get_content_type())
    if schema is None:
        assert "content" in response or body == b"", f"{what} has a body"
        return body
    value = json.loads(body)
    assert problems(schema, value) == [], f"{what}: {value}"
    return value


def check_request(method, path, value):
    """Asserts that a body that the server accepted is as described."""
    body = operation_of(method, path).get("requestBody")
    assert body, f"{method} {path}: no body is described"
    found = problems(body["content"]["application/json"]["schema"], value, DESCRIPTION["components"]["schemas"])
    assert found == [], f"{method} {path}: {value}"


def ask(host, method, path, value=None, headers=None, content=None):
    """A request whose response is as described. Returns the status and the value, or the bytes."""
    fields = dict(headers or {})
    if value is not None or content is not None:
        fields.setdefault("Content-Type", "application/json")
        content = json.dumps(value).encode() if content is None else content
    elif method in ("POST", "PUT"):
        content = b""
    if method == "GET" and is_endless(operation_of(method, path)):
        return begin(host, path, fields)
    status, head, body = host.request(method, path, fields, content)
    if value is not None and status < 300:
        check_request(method, path, value)
    return status, check_response(method, path, status, head, body)


def administrator(host):
    return {"Authorization": f"Bearer {host.token}"}
