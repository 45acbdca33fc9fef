"""Requests that are refused, with the published status, message and detail, and tools that misbehave. No answer is a 500."""

import json
import os
import re
import socket
import stat
import threading

import decoders
import pytest
from capture_host import FAST_RETRIES, CaptureHost
from contents import expect_nowhere
from fake_tools import FakeTools

INVALID_URL = "Invalid URL format"
INVALID_USERNAME = "Username must be alphanumeric (letters and numbers only)"
TIKTOK = "https://www.tiktok.com/@user/video/"


def expect_refused(status, answer, expected, error):
    assert (status, answer["error"]) == (expected, error), answer
    decoders.v1_error(answer)
    decoders.own_error(answer)
    assert answer["message"] and not re.search(r"Swift|Error\(|NIO|/tmp/", json.dumps(answer))


def expect_invalid(status, answer, *place, message=None):
    expect_refused(status, answer, 400, "invalid_parameter")
    problems = decoders.v2_list_error(answer)["detail"]
    found = [problem for problem in problems if problem["loc"] == list(place)]
    assert found, problems
    if message:
        assert found[0]["msg"] == message
        assert found[0]["type"] == "value_error"


# URLs and names

@pytest.mark.parametrize("url", [
    pytest.param("http://a.", id="9-characters"), pytest.param("https://a.example/" + "x" * 2031, id="2049-characters"),
    "file:///etc/passwd", "ytsearch:lighthouse", "ytsearch10:lighthouse ships", "ftp://a.example/film.mp4", "javascript:alert(1)//x",
    "https://ana:secret@a.example/film", "https://ana@a.example/film", pytest.param("https://a.example/\0film", id="nul"),
    pytest.param("https://a.example/fi\u202elm", id="turned-around"),
    "https://", "https:///film.mp4", "http:a.example/film", "//a.example/film.mp4", "a.example/film.mp4", "--exec=touch /tmp/x",
    "https://a.example:99999/film", "https://a b.example/film", "", "          ",
])
def test_invalid_url(shared, url):
    for prefix in ("", "/api/v1"):
        status, answer = shared.post(url, prefix=prefix)
        expect_invalid(status, answer, "body", "url", message=INVALID_URL)
    # The older client shows `error`.
    status, answer = shared.post(url, timestamp=1234567890)
    assert status == 400
    decoded = decoders.older_answer(answer)
    assert (decoded["status"], decoded["error"]) == ("error", decoded["message"])
    assert decoded["error"] == INVALID_URL


@pytest.mark.parametrize("url", ["http://a.b", "https://a.example/" + "x" * 2030], ids=["10-characters", "2048-characters"])
def test_lengths_at_the_limits(shared, url):
    status, answer = shared.post(url)
    assert status == 201, answer
    shared.cancel(answer["download_id"])


@pytest.mark.parametrize("username", ["a b", "../x", "x/..", "", "é", "a" * 101, "a\0", ".", "a-b", "a_b", "٣"])
def test_invalid_username(shared, username):
    expect_invalid(*shared.post(TIKTOK + "1", username=username), "body", "username", message=INVALID_USERNAME)


@pytest.mark.parametrize(("body", "place"), [
    ({}, "url"), ({"url": None}, "url"), ({"url": 17}, "url"), ({"url": [TIKTOK + "1"]}, "url"), ({"url": {"href": TIKTOK}}, "url"),
    ({"url": TIKTOK + "1", "username": 17}, "username"), ({"url": TIKTOK + "1", "username": ["ana"]}, "username"),
    ({"url": TIKTOK + "1", "client_id": {}}, "client_id"), ({"url": TIKTOK + "1", "client_id": "x" * 101}, "client_id"),
])
def test_keys_of_a_wrong_type(shared, body, place):
    expect_invalid(*shared.call("POST", "/download", body), "body", place)


@pytest.mark.parametrize("options", [
    {"height": 143}, {"height": 4321}, {"height": -720}, {"height": 1e308}, {"height": "720"}, {"height": 720.5}, {"form": "picture"},
    {"container": "exe"}, {"container": "../mp4"}, {"audio_quality": "320k"}, {"form": "audio", "container": "mp4"}, {"mode": "pages"},
    "best", [], 7,
])
def test_invalid_options(shared, options):
    status, answer = shared.post(TIKTOK + "1", options=options)
    expect_refused(status, answer, 400, "invalid_parameter")
    assert all(problem["loc"][:2] == ["body", "options"] for problem in decoders.v2_list_error(answer)["detail"])


def test_all_problems_are_listed(shared):
    _, answer = shared.post("file:///x", username="a b")
    assert {tuple(problem["loc"]) for problem in answer["detail"]} == {("body", "url"), ("body", "username")}


# Bodies and heads

@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'"https://a.example/film"', b"url=https://a.example", b"\xff\xfe{\x00}\x00",
    b'{"url":"https://a.example/film"}}', b'{"url":"https://a.example/\xff"}', b"[" * 30_000, b'{"a":' * 10_000], ids=range(11))
def test_body_that_is_not_json(shared, body):
    status, head, content = shared.request("POST", "/download", {"Content-Type": "application/json"}, body)
    answer = json.loads(content)
    assert head.get_content_type() == "application/json"
    # UTF-16 can be JSON, and text that isn't UTF-8 can be in it; then the URL is what is wrong.
    is_readable = b"\xff" in body
    expect_refused(status, answer, 400, answer["error"] if is_readable else "invalid_json")
    assert answer["error"] in ("invalid_json", "invalid_parameter")


def test_65_kib_are_too_large(shared):
    body = json.dumps({"url": TIKTOK + "1", "note": "x" * (65 << 10)}).encode()
    status, _, content = shared.request("POST", "/download", {"Content-Type": "application/json"}, body)
    expect_refused(status, json.loads(content), 413, "too_large")
    body = json.dumps({"url": "https://a.example/large", "note": "x" * (63 << 10)}).encode()
    status, _, content = shared.request("POST", "/download", {"Content-Type": "application/json"}, body)
    assert status == 201
    shared.cancel(json.loads(content)["download_id"])


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None])
def test_other_content_types(shared, kind):
    """Other websites can send these without asking."""
    fields = {"Content-Type": kind} if kind else {}
    status, _, content = shared.request("POST", "/download", fields, json.dumps({"url": TIKTOK + "1"}).encode())
    expect_refused(status, json.loads(content), 415, "unsupported_media_type")


@pytest.mark.parametrize(("fields", "host", "expected", "error"), [
    ({}, "attacker.example", 421, "misdirected"), ({}, "localhost", 421, "misdirected"), ({}, "localhost:1", 421, "misdirected"),
    ({"Origin": "https://attacker.example"}, None, 403, "forbidden"), ({"Origin": "null"}, None, 403, "forbidden"),
    ({"Origin": "http://localhost:1"}, None, 403, "forbidden"),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "https://a.example"}, None, 403, "forbidden"),
])
def test_other_websites_are_refused(shared, fields, host, expected, error):
    fields = {"Content-Type": "application/json", **fields}
    status, head, content = shared.request("POST", "/download", fields, json.dumps({"url": TIKTOK + "1"}).encode(), host)
    expect_refused(status, json.loads(content), expected, error)
    assert "Access-Control-Allow-Origin" not in head


def test_own_origins_are_accepted(shared):
    for number, name in enumerate(("localhost", "127.0.0.1")):
        address = f"{name}:{shared.port}"
        fields = {"Content-Type": "application/json", "Origin": f"http://{address}"}
        body = json.dumps({"url": f"https://a.example/origin-{number}"}).encode()
        status, _, content = shared.request("POST", "/download", fields, body, address)
        assert status == 201
        shared.cancel(json.loads(content)["download_id"])


@pytest.mark.parametrize("key", ["x" * 201, "a b", "é".encode().decode("latin-1"), ""])
def test_invalid_idempotency_key(shared, key):
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    status, _, content = shared.request("POST", "/download", headers, json.dumps({"url": TIKTOK + "1"}).encode())
    expect_refused(status, json.loads(content), 400, "invalid_parameter")


def test_two_bodies_under_one_key(shared):
    status, answer = shared.post("https://a.example/first", key="two-bodies")
    assert status == 201
    for url, more in (("https://a.example/second", {}), ("https://a.example/first", {"options": {"height": 720}}),
            ("https://a.example/first", {"username": "ana"})):
        expect_refused(*shared.post(url, key="two-bodies", **more), 409, "conflict")
    shared.cancel(answer["download_id"])


@pytest.mark.parametrize(("query", "name"), [
    ("limit=0", "limit"), ("limit=101", "limit"), ("limit=-1", "limit"), ("limit=x", "limit"), ("limit=9999999999999999999999", "limit"),
    ("limit=", "limit"), ("offset=-1", "offset"), ("offset=x", "offset"), ("status=done", "status"), ("state=x", "state"),
    ("genre=films", "genre"), ("since=yesterday", "since"), ("until=1", "until"),
])
def test_invalid_query(shared, query, name):
    expect_invalid(*shared.call("GET", f"/history?{query}"), "query", name)


def test_invalid_pages_of_a_log(shared):
    status, answer = shared.post("https://a.example/log")
    shared.cancel(answer["download_id"])
    for query in ("limit=0", "offset=-1", "limit=x"):
        status, refused = shared.call("GET", f"/download/{answer['download_id']}/log?{query}")
        expect_refused(status, refused, 400, "invalid_parameter")


@pytest.mark.parametrize(("method", "path", "expected", "error"), [
    ("GET", "/download", 405, "method_not_allowed"), ("PUT", "/download", 405, "method_not_allowed"),
    ("PUT", "/history", 405, "method_not_allowed"), ("POST", "/health", 405, "method_not_allowed"),
    ("GET", "/nothing", 404, "not_found"), ("GET", "/api/v1", 404, "not_found"), ("GET", "/api/v2/health", 404, "not_found"),
    ("GET", "/capture/../capture.sqlite", 404, "not_found"), ("GET", "/capture/..%2fcapture.sqlite", 404, "not_found"),
    ("POST", "/download/x/cancel", 404, "not_found"), ("DELETE", "/history/x", 404, "not_found"),
])
def test_other_paths_and_methods(shared, method, path, expected, error):
    expect_refused(*shared.call(method, path), expected, error)


def test_heads_that_are_not_http(shared):
    """The connection may be closed without an answer, but the server goes on."""
    for data in (b"\x16\x03\x01\x00\xff", b"GET\r\n\r\n", b"POST /download HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            b"POST /download HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 50_000 + b"\r\n"):
        with socket.create_connection(("127.0.0.1", shared.port), timeout=60) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(4096)
            except OSError:  # Closed while we wrote.
                continue
        assert not answer.startswith(b"HTTP/1.1 5"), answer
    assert shared.call("GET", "/health")[0] == 200


def test_the_101st_download_in_an_hour(tmp_path, website):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools")) as host:
        first = host.add(website.fake("busy"))
        for number in range(99):
            status, answer = host.post(f"https://a.example/{number}", key=f"key-{number}")
            assert status == 201, (number, answer)
        status, head, content = host.request(
            "POST", "/download", {"Content-Type": "application/json"}, json.dumps({"url": "https://a.example/101"}).encode())
        expect_refused(status, json.loads(content), 429, "rate_limited")
        assert 0 < int(head["Retry-After"]) <= 3600
        older = host.post("https://a.example/102", timestamp=1234567890)[1]
        assert decoders.older_answer(older)["error"] == older["message"]
        # What is already accepted is answered again.
        assert host.post("https://a.example/98", key="key-98")[0] == 201
        assert host.add(website.fake("busy")) == first
        assert len(host.rows()) == 100
        # It is counted in the database.
        host.kill_9()
        host.start()
        assert host.post("https://a.example/103")[0] == 429
        assert len(host.rows()) == 100


# Tools that misbehave

FILE_CODES = {"no_file", "tool_failed", "damaged"}
# Script -> error codes. All of these fail.
FAILING = {
    "crash": {"tool_failed", "aborted"}, "traceback": {"tool_failed"}, "exit0-nofile": {"no_file"},
    "exit0-silent": {"no_file", "tool_failed"}, "too-large": {"too_large", "no_file"}, "empty": {"no_file", "damaged"},
    "truncated": {"damaged"}, "not-media": {"damaged"}, "outside": FILE_CODES, "nul-name": FILE_CODES, "link": FILE_CODES, "folder": FILE_CODES,
    "pipe": FILE_CODES, "print-1gb": {"tool_failed", "too_large"}, "print-1gb-line": {"tool_failed", "too_large"},
    "live": {"live"}, "playlist": {"playlist"}, "private": {"private"}, "removed": {"removed"}, "login": {"login_required"},
    "rate-or-login": {"login_required", "rate_limited"}, "geo": {"geo_blocked"}, "drm": {"drm"}, "not-found": {"not_found"},
    "unsupported": {"unsupported", "page_unsupported"}, "network": {"network"},
}
# These may end well, under a name that is safe.
STRANGE = ["bigtitle", "bigid", "strange", "invalid-utf8"]


@pytest.fixture(scope="module")
def misled(tmp_path_factory, website):
    """A queue of all bad tools, one after another, with a good one at its end. Returns the server and the ids."""
    folder = tmp_path_factory.mktemp("misled")
    host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
    secret = folder / "secret.mp4"
    secret.write_bytes(b"this is the person's own file")
    host.before = everything_below(folder)
    with host:
        ids = {}
        for script in [*FAILING, *STRANGE, "ok"]:
            query = {"target": str(secret)} if script == "link" else {}
            ids[script] = host.add(website.fake(script, **query), username="bad")
        yield host, ids


def everything_below(folder):
    """All files outside the places of the server, the tools' notes and the logs."""
    own = ("store", "Downloads", "tools/notes", "home", "capture.log")
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not str(path.relative_to(folder)).startswith(own)}


@pytest.mark.parametrize("script", FAILING)
def test_bad_tool_is_a_failed_download(misled, script):
    host, ids = misled
    row = host.wait_for(ids[script], "failed", "aborted_by_system")
    decoders.own_status(row)
    decoders.v2_status(row)
    assert row["error_code"] in FAILING[script], row
    assert row["status"] == "failed" and row["error_message"]
    assert (row["file_path"], row["file_size"], row["archive"], row["replay_url"]) == (None, None, None, None)
    # Nothing of where the server keeps its files.
    assert str(host.folder) not in row["error_message"]
    assert len(row["error_message"]) < 2000


@pytest.mark.parametrize(("script", "line"), [
    ("private", "Private video"), ("removed", "removed by the uploader"), ("geo", "geo restriction"), ("not-found", "HTTP Error 404"),
    ("network", "name resolution"), ("traceback", "the fake extractor has a bug"),
])
def test_tools_own_line_is_kept(misled, script, line):
    host, ids = misled
    row = host.wait_for(ids[script], "failed")
    assert line in row["error_message"] or any(line in text for text in host.lines(ids[script]))


@pytest.mark.parametrize("script", STRANGE)
def test_strange_metadata_stay_in_the_folder(misled, script):
    host, ids = misled
    row = host.wait_for(ids[script], "completed", "failed")
    decoders.own_status(row)
    if row["state"] == "failed":
        assert row["error_code"] in decoders.CODES
        return
    name = row["file_path"]
    assert len(name.encode()) <= 200 and "/" not in name and not name.startswith(".")
    assert not re.search(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]", name)
    assert name in os.listdir(host.downloads / "bad" / row["genre"])
    assert len(row["title"] or "") <= 10_000


def test_queue_goes_on_and_nothing_is_left(misled):
    host, ids = misled
    rows = {script: host.wait_for(identifier) for script, identifier in ids.items()}
    assert rows["ok"]["state"] == "completed"
    (host.capture / "sessions" / "escape.mp4").unlink(missing_ok=True)
    completed = [row for row in rows.values() if row["state"] == "completed"]
    host.expect_completed_once(completed)
    host.expect_no_leftovers()
    # The tool wrote this file itself, which the operating system allows; the server didn't take it.
    assert everything_below(host.folder) == host.before
    for path in host.downloads.rglob("*"):
        assert not path.is_symlink()
        assert stat.S_ISREG(path.stat().st_mode) or path.is_dir()
    assert b"own file" not in b"".join(path.read_bytes() for path in host.downloads.rglob("*") if path.is_file())


def test_logs_are_bounded(misled):
    host, ids = misled
    for script in ("print-1gb", "print-1gb-line"):
        host.wait_for(ids[script])
        status, page = host.call("GET", f"/download/{ids[script]}/log?limit=1")
        assert status == 200 and 0 < page["total"] <= 5 << 20
        assert all(len(line) < 10_000 for line in page["lines"])
    assert host.memory() < 600 << 20


def test_silent_tool_is_ended(tmp_path, website):
    """After a minute; here after five seconds. It isn't tried again at once, and the others go on."""
    tools = FakeTools(tmp_path / "tools")
    with CaptureHost(tmp_path, tools, "--silence-limit", "5") as host:
        silent, other = host.add(website.fake("stall")), host.add(website.fake("ok"))
        host.wait_for(other, "completed")
        row = host.status(silent)
        assert (row["state"], row["waiting_for"], row["error_code"], row["attempt"]) == ("queued", "retry", "timeout", 1)
        assert decoders.date(row["not_before"]) > decoders.date(row["started_at"])
        host.expect_no_processes()
        assert host.cancel(silent)[1]["state"] == "cancelled"
        host.expect_no_leftovers()


def test_transient_failures_are_tried_again(shared, website):
    passing, failing = website.fake("transient-then-ok", times=2), website.fake("transient-then-ok", times=100)
    ids = [shared.add(url, username="again") for url in (passing, failing)]
    row = shared.wait_for(ids[0], "completed")
    assert row["attempt"] == 3 and row["error_code"] is None
    row = shared.wait_for(ids[1], "failed")
    assert (row["attempt"], row["error_code"]) == (4, "network")
    assert len(shared.tools.calls(failing, "started")) == 4
    # Permanent errors aren't.
    private = website.fake("private", by="again")
    assert shared.wait_for(shared.add(private), "failed")["attempt"] == 1
    assert len([call for call in shared.tools.calls(private) if "--simulate" not in call["arguments"]]) <= 2


def test_refused_quality_is_tried_once_at_the_default(shared, website):
    url = website.fake("quality")
    identifier = shared.add(url, options={"form": "video", "height": 720})
    row = shared.wait_for(identifier, "completed")
    assert row["quality_fallback"] is True
    assert [call["asked"] for call in shared.tools.calls(url, "quality")][-1] is False
    fallback = shared.wait_for(shared.add(website.fake("ok", by="quality"), options={"height": 720}), "completed")
    assert fallback["quality_fallback"] is False


@pytest.mark.parametrize("after", [None, 3], ids=["without-retry-after", "retry-after"])
def test_limited_rate_holds_that_site_only(tmp_path, website, after):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *(FAST_RETRIES if after else ())) as host:
        url = website.fake("http-429", times=1, **({"after": after} if after else {}))
        limited, same_site = host.add(url), host.add(website.fake("ok", n=1))
        other = host.add("https://www.tiktok.com/@user/video/7")
        if after:
            begin = host.wait_for(limited, condition=lambda row: row["waiting_for"] == "site")
            assert 0 <= (decoders.date(begin["not_before"]) - decoders.date(begin["started_at"])).total_seconds() <= 60
            for identifier in (limited, same_site, other):
                host.wait_for(identifier, "completed")
            return
        host.wait_for(other, "completed")
        for identifier in (limited, same_site):
            row = host.status(identifier)
            assert (row["state"], row["waiting_for"]) == ("queued", "site"), row
        assert host.status(limited)["not_before"]


def test_missing_tool_is_waited_for(tmp_path, website):
    tools = FakeTools(tmp_path / "tools")
    put_back = tools.remove("yt-dlp")
    with CaptureHost(tmp_path, tools, *FAST_RETRIES) as host:
        film, guide = host.add(website.fake("ok")), host.add(website("/guide.pdf"))
        # Documents don't need it.
        assert host.wait_for(guide, "completed")["genre"] == "pdf"
        row = host.wait_for(film, condition=lambda row: row["waiting_for"] == "tool")
        assert row["status"] == "pending"
        health = host.call("GET", "/health")[1]
        assert {tool["name"]: tool["version"] for tool in health["tools"]}["yt-dlp"] is None
        put_back()
        host.wait_for(film, "completed")


def test_old_tool_is_named_by_failures(tmp_path, website):
    tools = FakeTools(tmp_path / "tools")
    tools.set_version("2024.01.01")
    with CaptureHost(tmp_path, tools, *FAST_RETRIES) as host:
        row = host.wait_for(host.add(website.fake("traceback")), "failed")
        assert "tools update" in row["error_message"]
        # A private video has nothing to do with it, nor has what curl got, or what isn't a video.
        for url, code in [(website.fake("private"), "private"), (website("/teapot.pdf"), "tool_failed"), (website("/page"), "page_unsupported"),
                (website("/ordinary/film?type=video/mp4"), "unsupported")]:
            row = host.wait_for(host.add(url), "failed")
            assert row["error_code"] == code and "tools update" not in row["error_message"]


# Secrets

def test_cookies_stay_secret(host, website, tmp_path):
    """A tool that prints its cookies, and information that contains cookies and signed URLs."""
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n.127.0.0.1\tTRUE\t/\tFALSE\t0\tsessionid\tSECRETOFANA\n")
    with host:
        assert host.command("cookies set", "--user", "ana", cookies).returncode == 0
        kept = host.capture / "cookies" / "ana.txt"
        assert kept.stat().st_mode & 0o777 == 0o600
        prints, plain = website.fake("prints-cookies"), website.fake("ok")
        row = host.wait_for(host.add(prints, username="ana"), "failed")
        noted = host.tools.calls(prints, "cookies")[-1]
        assert "SECRETOFANA" in noted["text"]
        # It got a copy, which it may change, and which is gone.
        assert noted["path"] != str(kept) and not os.path.exists(noted["path"])
        assert "SECRETOFANA" not in json.dumps(row) + json.dumps(host.lines(row["download_id"]))
        # Another user has none.
        host.wait_for(host.add(website.fake("prints-cookies", by="bert"), username="bert"), "failed")
        assert "SECRETOFANA" not in host.tools.calls(website.fake("prints-cookies", by="bert"), "cookies")[-1]["text"]
        row = host.wait_for(host.add(plain, username="ana"), "completed")
        assert host.command("cookies remove", "--user", "ana").returncode == 0
        assert not kept.exists()
    for secret in (b"SECRETOFANA", b"SECRETCOOKIE", b"SECRETSIGNATURE"):
        expect_nowhere(secret, host.store, host.downloads, host.log)


def test_many_clients_at_once(shared, website):
    """Slow and broken clients don't hold others up."""
    stuck = [socket.create_connection(("127.0.0.1", shared.port), timeout=60) for _ in range(20)]
    try:
        for connection in stuck:
            connection.sendall(b"POST /download HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        failures = []

        def ask():
            status, _ = shared.call("GET", "/health")
            if status != 200:
                failures.append(status)
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
    finally:
        for connection in stuck:
            connection.close()
