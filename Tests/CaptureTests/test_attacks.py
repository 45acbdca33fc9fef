"""What someone at home or another web site could try: odd heads, paths, markup, tickets, other users' downloads, and the search for keys.

Who may do what is in test_access.py; slow clients are in test_slow_clients.py.
"""

import itertools
import json
import os
import re
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from home_network import SERVER, request
from home_server import Home, household, share, wait_until

pytestmark = pytest.mark.needs("network namespaces")
SCHEMES = pytest.mark.parametrize("scheme", ["http", "https"])
# No answer has any of these in it.
SECRETS = [b"root:x:0", b"SQLite format 3", b"PRIVATE KEY", b"ssl:\n", b"swift-tools-version"]
# The attacker has many addresses, so that the limit for each doesn't refuse what is tried here.
ADDRESSES = [f"192.168.50.{number}" for number in range(100, 200)]
SOURCES = itertools.cycle(ADDRESSES)
MARKUP = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with household(tmp_path_factory.mktemp("attacks")) as home:
        home.network.give_phone(ADDRESSES)
        yield home


@pytest.fixture(scope="module")
def films(home, website):
    """One of Ana's, and one of Ben's."""
    ids = [share(home, who, website.fake("ok", title=MARKUP, by=name)) for who, name in ((home.ana, "ana"), (home.ben, "ben"))]
    for identifier in ids:
        wait_until(lambda: home.ask(home.any, "GET", f"/status/{identifier}")[1]["state"] == "completed", "the film is saved")
    return ids


def authority(home, scheme):
    return home.base(scheme).partition("://")[2]


def exchange(home, scheme, content):
    """Sends bytes. Returns the statuses of all answers until the server closes, and all that it sent."""
    source = next(SOURCES)

    def send():
        host, _, port = authority(home, scheme).partition(":")
        with socket.create_connection((host, int(port)), 120, (source, 0)) as plain:
            connection = ssl.create_default_context(cafile=home.root).wrap_socket(plain, server_hostname=SERVER) if scheme == "https" else plain
            got = b""
            try:
                connection.sendall(content)
                while part := connection.recv(1 << 16):
                    got += part
            except (ConnectionError, ssl.SSLError):
                pass
            return got

    got = home.network.phone.run(send)
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", got)], got


def expect_alive(home, scheme):
    assert home.ask("none", "GET", "/health", scheme=scheme)[0] == 200


# Heads. HOST is where the server is, KEY is Ana's; each would be answered with her history if it was taken for a plain request.

GET = "GET /history HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer KEY\r\nConnection: close\r\n"
POST = "POST /download HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n"
SMUGGLED = "GET /history HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer KEY\r\nConnection: close\r\n\r\n"
HEADS = {
    "two equal hosts": (GET + "Host: HOST\r\n\r\n", {400}),
    "our host, then another": (GET + "Host: evil.example\r\n\r\n", {400}),
    "another host, then ours": (GET.replace("Host: HOST", "Host: evil.example\r\nHost: HOST") + "\r\n", {400}),
    "two hosts in one field": (GET.replace("HOST", "HOST, evil.example") + "\r\n", {400, 421}),
    "another site's host": (GET.replace("HOST", "evil.example") + "\r\n", {421}),
    "no host": (GET.replace("Host: HOST\r\n", "") + "\r\n", {400}),
    "no host in HTTP/1.0": (GET.replace("Host: HOST\r\n", "").replace("1.1", "1.0") + "\r\n", {400}),
    "a space before the colon": (GET.replace("Host:", "Host :") + "\r\n", {400}),
    "another site as the target": (GET.replace("/history", "http://evil.example/history") + "\r\n", {400}),
    "a tunnel": (GET.replace("GET /history", "CONNECT evil.example:443") + "\r\n", {400, 405}),
    "an echo": (GET.replace("GET", "TRACE") + "\r\n", {400, 405}),
    "a method that replaces another": (GET.replace("GET", "PUT") + "X-HTTP-Method-Override: GET\r\n\r\n", {405}),
    "NUL in a field": (GET + "X-Other: a\0b\r\n\r\n", {400}),
    "a field without a name": (GET + ": value\r\n\r\n", {400}),
    "a head of 1 MB": (GET + f"X-Other: {'a' * 1_000_000}\r\n\r\n", {400, 431}),
    "HTTP/2": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505}),
    # RFC 9112 §6.3: how long a body is must never be doubtful.
    "a length and chunks": (POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400}),
    "two lengths": (POST + "Content-Length: 2\r\nContent-Length: 0\r\n\r\n{}" + SMUGGLED, {400}),
    "a negative length": (POST + "Content-Length: -1\r\n\r\n" + SMUGGLED, {400}),
    "a length with a sign": (POST + "Content-Length: +2\r\n\r\n{}" + SMUGGLED, {400}),
    "chunks that aren't last": (POST + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED, {400, 501}),
    "an unknown coding": (POST + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED, {400, 501}),
}


@SCHEMES
@pytest.mark.parametrize("name", HEADS)
def test_odd_heads_get_one_refusal(home, films, scheme, name):
    content, expected = HEADS[name]
    content = content.replace("HOST", authority(home, scheme)).replace("KEY", home.ana)
    statuses, got = exchange(home, scheme, content.encode("latin-1"))
    # The connection may also be closed without an answer.
    assert len(statuses) <= 1 and set(statuses) <= expected, got[:500]
    assert home.ana.encode() not in got and films[0].encode() not in got
    expect_alive(home, scheme)


@SCHEMES
@pytest.mark.parametrize("long", ["GET /" + "a" * 82_000 + " HTTP/1.1\r\n", GET.split("Host")[0] + f"Cookie: {'a=b; ' * 18_000}\r\n"], ids=["URL", "cookies"])
def test_long_heads_delete_no_cookies(home, scheme, long):
    """Cookies of a host belong to all programs there, whatever their port (RFC 6265 §8.5)."""
    statuses, got = exchange(home, scheme, f"{long}Host: {authority(home, scheme)}\r\nConnection: close\r\n\r\n".encode())
    assert statuses == [431]
    assert b"clear-site-data" not in got.lower()


@SCHEMES
def test_key_counts_for_its_request_only(home, scheme):
    """Three requests on one connection: with a key, without one, and with Ben's."""
    plain = f"GET /history?limit=1 HTTP/1.1\r\nHost: {authority(home, scheme)}\r\n"
    keyed = plain + "Authorization: Bearer {}\r\n"
    content = keyed.format(home.ana) + "\r\n" + plain + "\r\n" + keyed.format(home.ben) + "Connection: close\r\n\r\n"
    assert exchange(home, scheme, content.encode())[0] == [200, 401, 200]


@SCHEMES
def test_upgrades_are_not_made(home, scheme):
    for fields in ("Upgrade: websocket\r\nConnection: Upgrade, close\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"):
        head = f"GET /health HTTP/1.1\r\nHost: {authority(home, scheme)}\r\n{fields}\r\n"
        assert exchange(home, scheme, head.encode())[0] == [200]


def test_request_after_an_upgrade_is_answered(home):
    """RFC 9110 §7.8: a server may ignore Upgrade, and then answers as if it wasn't there. curl --http2 and Java's HttpClient send it."""
    first = f"GET /health HTTP/1.1\r\nHost: {authority(home, 'http')}\r\n"
    upgrade = "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    statuses, got = exchange(home, "http", (first + upgrade + first + "Connection: close\r\n\r\n").encode())
    # A server that ends the connection says so.
    assert statuses == [200, 200] or (statuses == [200] and b"connection: close" in got.lower())


@pytest.mark.parametrize("fields", [
    {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "::1"}, {"Forwarded": "for=127.0.0.1;proto=https"}, {"X-Forwarded-Host": "localhost"},
    {"X-Original-URL": "/health"}, {"X-Rewrite-URL": "/health"}, {"Cookie": "key=KEY"}, {"Proxy-Authorization": "Bearer KEY"},
], ids=lambda fields: next(iter(fields)))
def test_forged_fields_admit_nobody(home, fields):
    fields = {name: value.replace("KEY", home.ana) for name, value in fields.items()}
    assert home.ask("none", "GET", "/history", headers=fields)[0] == 401
    # An administrator's key over http is refused whatever a field says of TLS.
    admin = {"Authorization": f"Bearer {home.admin}", "X-Forwarded-Proto": "https", **fields}
    assert home.ask("none", "GET", "/config", headers=admin)[0] == 403


@SCHEMES
@pytest.mark.parametrize("fields", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"https://{SERVER}"}, {"Origin": f"https://{SERVER}:8443.evil.example"},
    {"Origin": f"https://evil.example@{SERVER}:8443"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
], ids=str)
def test_other_sites_are_refused_whatever_they_send(home, films, scheme, fields):
    """Also with a key, and a request that changes nothing. No answer lets another site read it."""
    for method, path in (("GET", "/history"), ("POST", "/download"), ("DELETE", f"/history/{films[0]}"), ("GET", f"/download/{films[0]}/file")):
        body = {"url": "https://example.org/film"} if method == "POST" else None
        headers = {"Authorization": f"Bearer {home.ana}", **fields}
        status, head, _ = request(home.network.phone, method, home.base(scheme) + path, headers, body, home.root)
        assert status == 403, path
        assert not [name for name in head if name.lower().startswith("access-control-")]
    preflight = {**fields, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    status, head, _ = request(home.network.phone, "OPTIONS", home.base(scheme) + "/download", preflight, root=home.root)
    assert status >= 400 and not [name for name in head if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "application/jsonp"])
def test_forms_share_nothing(home, kind):
    """A form of another site needs no preflight, so its types are refused even with a key."""
    headers = {"Authorization": f"Bearer {home.ana}", "Content-Type": kind}
    status, answer = home.ask("none", "POST", "/download", b'{"url": "https://example.org/form"}', headers=headers)
    assert (status, answer["error"]) == (415, "unsupported_media_type")
    assert home.ask(home.ana, "GET", "/history?q=example.org/form")[1] == []


# Paths

PATHS = [
    "/download/../../../../etc/passwd", "/download/..%2f..%2f..%2f..%2fetc%2fpasswd/file", "/download/%2e%2e/%2e%2e/capture.sqlite/file",
    "/download/ID/../../../capture.sqlite", "/download/ID/..%2f..%2fconfig.yaml", "/download/ID/file/../../../../etc/passwd",
    "/download/ID/file%2f..%2f..%2fconfig.yaml", "/download/ID/..;/file", "/download//etc/passwd/file", "/download/%252e%252e%252fetc%252fpasswd/file",
    "/download/ID%00/file", "/status/ID%00", "/download/ID/session", "/download/ID/tls/root.key", "/status/..%2fconfig", "/api/v1/../../config.yaml", "/..%5c..%5cetc%5cpasswd",
    "/capture/../../Package.swift", "/capture/%2e%2e/%2e%2e/Package.swift", "/app/core/..%2f..%2f..%2fPackage.swift", "/capture/%00index.html",
    "/capture/..%c0%af..%c0%afPackage.swift", "/app/messages//etc/passwd", "/capture/", "/app/", "/server.crt/../tls/root.key", "/tls/root.key",
]


@pytest.mark.parametrize("path", PATHS)
def test_paths_lead_nowhere(home, films, path):
    """With Ana's key, and her own download where a path begins as that."""
    path = path.replace("ID", films[0])
    head = f"GET {path} HTTP/1.1\r\nHost: {authority(home, 'https')}\r\nConnection: close\r\n"
    for key in ("", f"Authorization: Bearer {home.ana}\r\n"):
        statuses, got = exchange(home, "https", (head + key + "\r\n").encode())
        assert len(statuses) == 1 and statuses[0] in (400, 401, 404, 405), got[:300]
        assert not [secret for secret in SECRETS if secret in got], got[:300]


# Tickets

def test_tickets_are_for_one_file_and_for_reading(home, films):
    ticket = home.ask(home.ana, "POST", f"/download/{films[0]}/ticket", {}, "https")[1]
    path = ticket["url"].removeprefix(home.base("https"))
    assert home.ask("none", "GET", path, scheme="https")[0] == 200
    text = path.partition("ticket=")[2]
    end, _, code = text.partition("-")
    own = home.ask(home.ben, "POST", f"/download/{films[1]}/ticket", {}, "https")[1]["url"].partition("ticket=")[2]
    for wrong in (
        # For another file, by what it says, and by where it leads
        f"/download/{films[1]}/file?ticket={text}", f"/download/{films[0]}/file?ticket={own}", f"/download/{films[0]}/../{films[1]}/file?ticket={text}",
        f"/download/{films[0]}%2f..%2f{films[1]}/file?ticket={text}", f"/download/{films[1]}/file?ticket={text}&ticket={own}&id={films[0]}",
        # For longer, for ever, and by nothing
        f"/download/{films[0]}/file?ticket={int(end) + 1}-{code}", f"/download/{films[0]}/file?ticket=99999999999-{code}",
        f"/download/{films[0]}/file?ticket={end}-", f"/download/{films[0]}/file?ticket=", f"/download/{films[0]}/file?ticket=-1-{code}",
        # For something else
        f"/download/{films[0]}/archive?ticket={text}", f"/download/{films[0]}/log?ticket={text}", f"/status/{films[0]}?ticket={text}",
        f"/history?ticket={text}",
    ):
        status, answer = home.ask("none", "GET", wrong, scheme="https")
        assert status in (401, 404) and answer["success"] is False, wrong
    for method, what in (("POST", "cancel"), ("POST", "ticket"), ("POST", "file"), ("DELETE", "file")):
        assert home.ask("none", method, f"/download/{films[0]}/{what}?ticket={text}", {}, "https")[0] in (401, 405), what
    assert home.ask("none", "DELETE", f"/history/{films[0]}?ticket={text}", scheme="https")[0] == 401
    # Another site that learned it can neither read it nor name another host.
    assert home.ask("other site", "GET", path, scheme="https")[0] == 403
    assert home.ask("none", "GET", path, scheme="https", headers={"Host": "evil.example"})[0] == 421
    assert home.ask("none", "GET", path, scheme="https")[0] == 200


# Other users

def test_another_users_id_is_an_unknown_one(home, films):
    """However it is written, and whatever key of a request was hers."""
    unknown = "550e8400-e29b-41d4-a716-446655440000"
    expected = home.ask(home.ben, "GET", f"/status/{unknown}")[1]["detail"]
    for text in (films[0], films[0].upper(), f"%{ord(films[0][0]):x}{films[0][1:]}", f"{films[0]}/"):
        status, answer = home.ask(home.ben, "GET", f"/status/{text}")
        assert (status, answer["detail"]) == (404, expected), text
    for query in ("", f"?q={films[0]}", "?username=ANA", "?client_id=phone", "?username=ana&username=ben", "?user=ana", "?domain=127.0.0.1"):
        fields = {"Authorization": f"Bearer {home.ben}"}
        status, head, body = request(home.network.phone, "GET", home.base("http") + f"/history{query}", fields)
        assert status == 400 or films[0] not in {row["download_id"] for row in json.loads(body)}, query
        assert status == 400 or int(head["X-Total-Count"]) == len(json.loads(body))
    # The same Idempotency-Key by two keys means two downloads.
    ids = []
    for key in (home.ana, home.ben):
        fields = {"Authorization": f"Bearer {key}", "Idempotency-Key": "the-same"}
        status, answer = home.ask("none", "POST", "/download", {"url": f"https://example.org/{len(ids)}"}, headers=fields)
        assert status == 201
        ids.append(answer["download_id"])
    assert ids[0] != ids[1]


@pytest.mark.parametrize("text", ["' OR '1'='1", "\" OR 1=1 --", "x'); DROP TABLE downloads; --", "*", "%", "_" * 36])
def test_sql_and_patterns_are_texts(home, films, text):
    """In a key, in an id, and in filters."""
    for fields in ({"X-API-Key": text.replace(" ", "+")}, {"Idempotency-Key": text}):
        assert home.ask("none", "GET", "/history", headers=fields)[0] == 401
    quoted = "".join(f"%{byte:02x}" for byte in text.encode())
    assert home.ask(home.ana, "GET", f"/status/{quoted}")[0] == 404
    for name in ("username", "client_id", "state", "genre", "q", "domain"):
        status, answer = home.ask(home.ben, "GET", f"/history?{name}={quoted}")
        assert status == 400 or films[0] not in {row["download_id"] for row in answer}, name
    assert home.ask(home.ana, "GET", f"/status/{films[0]}")[0] == 200


@pytest.mark.parametrize(("method", "path", "body"), [
    ("PUT", "/config", {"text": "security: {require_key: false}\n"}), ("POST", "/config/setup", {"name": "mine", "admin": True}),
    ("DELETE", "/keys/1", None), ("GET", "/keys", None), ("GET", "/config", None)], ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("who", ["ana", "any", "token"])
def test_nobody_makes_himself_administrator(home, method, path, body, who):
    """Over https, where an administrator's key would count. The token of capture.json is for this computer only."""
    before = home.administer("GET", "/config")[1], home.administer("GET", "/keys")[1]
    status, answer = home.ask(getattr(home, who), method, path, body, "https")
    assert status == (401 if who == "token" else 403), answer
    after = home.administer("GET", "/config")[1], home.administer("GET", "/keys")[1]
    without = [[{**key, "last_used_at": None} for key in keys] for _, keys in (before, after)]
    assert after[0] == before[0] and without[0] == without[1]


# Markup

def test_markup_stays_text(home, films):
    """In titles, names of devices, and whatever else a client sends. Answers are JSON, and no browser guesses otherwise."""
    name = MARKUP[:60] + "\x1b]0;mine\x07\x1b[31m"
    made = home.administer("POST", "/config/setup", {"name": name})
    # Such a name may be refused; else, only as JSON.
    listed = [key["name"] for key in home.administer("GET", "/keys")[1]]
    assert made[0] == 400 or name in listed
    assert home.administer("POST", "/config/setup", {"name": MARKUP})[0] == 201
    assert MARKUP in {key["name"] for key in home.administer("GET", "/keys")[1]}
    assert "\x1b" not in home.host.command("keys list").stdout
    status, answer = home.ask(home.any, "POST", "/download", {"url": "https://example.org/a", "username": MARKUP})
    assert status == 400 and answer["detail"][0]["loc"] == ["body", "username"]
    status, answer = home.ask(home.ana, "POST", "/download", {"url": f"https://example.org/{MARKUP}"})
    assert status == 400 and MARKUP not in answer["message"]
    identifier = share(home, home.ana, "https://example.org/markup", client_id=MARKUP)
    assert home.ask(home.ana, "GET", f"/status/{identifier}")[1]["client_id"] == MARKUP
    assert home.ask(home.ana, "GET", f"/status/{films[0]}")[1]["title"] == MARKUP
    quoted = "".join(f"%{byte:02x}" for byte in MARKUP.encode())
    for path in (f"/status/{films[0]}", "/history", f"/download/{films[0]}/log", f"/status/{quoted}", f"/{quoted}", f"/history?status={quoted}",
            f"/history?api_key={quoted}", "/users", "/config/connection", "/health"):
        status, head, body = request(home.network.phone, "GET", home.base("https") + path, {"Authorization": f"Bearer {home.ana}"}, root=home.root)
        assert (head.get_content_type(), head["X-Content-Type-Options"]) == ("application/json", "nosniff"), (path, status)
        json.loads(body)
    # The file's name comes from the title.
    status, head, _ = request(home.network.phone, "GET", home.base("https") + f"/download/{films[0]}/file", {"X-API-Key": home.ana}, root=home.root)
    assert (status, head.get_content_type(), head["X-Content-Type-Options"]) == (200, "video/mp4", "nosniff")
    assert "sandbox" in head["Content-Security-Policy"] and not set('<>"\r\n') & set(head["Content-Disposition"].partition(";")[2])
    # No script that isn't a file of ours could run in the page. What it shows of titles is in BrowserTests/test_capture_page.py.
    status, head, _ = request(home.network.phone, "GET", home.base("https") + "/", root=home.root)
    policy = head["Content-Security-Policy"]
    assert status == 200 and "script-src 'self';" in policy and "unsafe" not in policy and "require-trusted-types-for 'script'" in policy


# Keys

def test_keys_are_nowhere_to_be_found(tmp_path, website):
    """Not in logs, even with all that can be logged, nor in the store, in the arguments and environments of processes, and in answers."""
    home = Home(tmp_path)
    home.host.options += ("--log-level", "trace")
    gate = tmp_path / "gate"
    with home:
        home.wait_until_open()
        keys = {"key": home.key("phone", "--user", "ana"), "administrator's": home.key("laptop", "--admin"), "wrong": "f" * 64}
        answers = []
        for scheme in ("http", "https"):
            for key in keys.values():
                for fields in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}, {"Authorization": f"Basic {key}"}):
                    answers += [home.ask("none", "GET", path, scheme=scheme, headers=fields) for path in ("/history", "/config/connection", "/keys")]
                answers.append(home.ask("none", "GET", f"/history?api_key={key}", scheme=scheme))
        identifier = share(home, keys["key"], website.fake("held", gate=gate))
        wait_until(lambda: home.tools(website.fake("held", gate=gate), "started"), "the tool runs")
        running = processes(home)
        assert len(running) >= 3, running
        gate.touch()
        wait_until(lambda: home.ask(keys["key"], "GET", f"/status/{identifier}")[1]["state"] == "completed", "the film is saved")
        ticket = home.ask(keys["key"], "POST", f"/download/{identifier}/ticket", {}, "https")[1]["url"]
        assert home.ask("none", "GET", ticket.removeprefix(home.base("https")), scheme="https")[0] == 200
        keys |= {"token": home.token, "ticket": ticket.partition("ticket=")[2]}
        # A ticket ends with the server.
        home.host.restart()
        home.wait_until_open()
        assert home.ask("none", "GET", ticket.removeprefix(home.base("https")), scheme="https")[0] == 401
        found = {name for name, key in keys.items() for text in (*running, json.dumps(answers, default=repr)) if key in text}
        assert not found
        logs = [path for path in home.host.capture.rglob("*") if path.is_file()] + [home.host.log]
        assert {"server.log", "capture.sqlite", "capture.log"} <= {path.name for path in logs}
        assert [path for path in logs if path.suffix == ".zst"]
        for path in logs:
            text = subprocess.run(["zstdcat", path], capture_output=True).stdout if path.suffix == ".zst" else path.read_bytes()
            assert text or path.suffix != ".zst"
            assert not [name for name, key in keys.items() if key.encode() in text], path


def processes(home):
    """Arguments and environments of the server, its worker and their tools. proc_pid_cmdline(5)"""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            texts = [Path(f"/proc/{entry}/{name}").read_bytes().decode(errors="replace") for name in ("cmdline", "environ")]
        except OSError:
            continue
        if str(home.host.folder) in "".join(texts):
            found.append("\0".join(texts))
    return found
