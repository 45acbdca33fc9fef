"""What the administrator's page does, by its requests, on this computer."""

import json
import socket

import pytest
from capture_host import CaptureHost
from fake_tools import FakeTools
from support.waiting import wait_until


@pytest.fixture
def host(tmp_path):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "fake")) as host:
        yield host


def session(host):
    """Opens a session by a one-time link. Returns what sends a request with its token."""
    made = host.command("admin", "--json")
    assert made.returncode == 0, made.stderr
    link = json.loads(made.stdout)["link"]
    place, _, code = link.partition("#code=")
    assert place == f"http://localhost:{host.port}/admin"
    status, answer = host.call("POST", "/admin/session", {"code": code})
    assert status == 200, answer
    # The link works once.
    assert host.call("POST", "/admin/session", {"code": code})[0] == 401
    fields = {"Authorization": f"Bearer {answer['token']}"}

    def ask(method, path, value=None, status=200):
        found, answer = host.call(method, path, value, fields)
        assert found == status, answer
        return answer

    return ask


def test_link_opens_one_session(host):
    ask = session(host)
    assert ask("GET", "/admin/state")["software"].startswith("replayhost-capture ")
    # Other programs of the person may read and share, and nothing more.
    assert host.call("GET", "/admin/state")[0] == 403
    assert host.call("POST", "/admin/link")[0] == 403
    assert host.call("POST", "/admin/session", {"code": "0" * 64})[0] == 401
    # A restart ends all sessions.
    host.restart()
    ask("GET", "/admin/state", status=401)


def test_page_needs_no_key_and_has_no_secret(host):
    for path in ("/admin", "/config/setup"):
        status, head, body = host.request("GET", path)
        assert (status, head["Content-Type"].partition(";")[0]) == (200, "text/html")
        assert host.token.encode() not in body


def test_paused_queue_starts_nothing_also_after_a_restart(host, website):
    ask = session(host)
    assert ask("POST", "/queue/pause") == {"paused": True}
    identifier = host.add(website.fake("ok", by="pause"))
    assert ask("GET", f"/status/{identifier}")["waiting_for"] == "paused"
    host.restart()
    ask = session(host)
    assert ask("GET", "/admin/state")["queue"] == {"paused": True, "queued": 1, "running": 0, "waiting_for": "paused"}
    assert ask("GET", f"/status/{identifier}")["state"] == "queued"
    assert ask("POST", "/queue/resume") == {"paused": False}
    assert host.wait_for(identifier, "completed")["waiting_for"] is None


def test_cookies_are_set_counted_and_removed(host):
    ask = session(host)
    line = ".example.org\tTRUE\t/\tTRUE\t0\tsession\tsecret-value\n"
    answer = ask("PUT", "/cookies/ana", {"text": "# Netscape HTTP Cookie File\n" + line * 2})
    assert [(user["username"], user["cookies"]) for user in answer] == [("ana", 2)]
    file = host.store / "capture" / "cookies" / "ana.txt"
    assert file.stat().st_mode & 0o777 == 0o600 and file.read_text().count("secret-value") == 2
    assert "secret-value" not in json.dumps(ask("GET", "/cookies"))
    for wrong in ("", "session=secret", "a\tb\n"):
        ask("PUT", "/cookies/ana", {"text": wrong}, status=400)
    for name, status in {"..": 400, "%2e%2e%2fconfig": 400, "an%00a": 404, "ana.txt": 400}.items():
        ask("PUT", f"/cookies/{name}", {"text": line}, status=status)
    assert host.call("PUT", "/cookies/ana", {"text": line})[0] == 403
    assert ask("DELETE", "/cookies/ana") == []
    ask("DELETE", "/cookies/ana", status=404)


def test_log_is_followed(host, website):
    ask = session(host)
    first = ask("GET", "/server/log")
    host.wait_for(host.add(website.fake("ok", by="log")), "completed")
    seen, offset = [], first["next"]

    def is_complete():
        nonlocal offset
        part = ask("GET", f"/server/log?offset={offset}")
        assert part["offset"] == offset
        seen.extend(part["lines"])
        offset = part["next"]
        return any("Download completed" in line for line in seen)

    wait_until(is_complete, "the log has the end of the download")
    text = (host.store / "capture" / "logs" / "server.log").read_bytes()[:offset].decode()
    assert "".join(line + "\n" for line in first["lines"] + seen) == text
    ask("GET", "/server/log?offset=-1", status=400)
    ask("GET", "/server/log?offset=99999999999999999999", status=400)
    # After the log was emptied, it begins again.
    assert ask("GET", "/server/log?offset=9000000000000000")["offset"] == 0


def test_configuration_is_checked_saved_and_restored(host):
    ask = session(host)
    assert ask("GET", "/config") == {"text": "", "faults": [], "warnings": [], "previous": False}
    ask("POST", "/config/restore", status=409)
    # The first change can be undone, too.
    ask("PUT", "/config", {"text": "server:\n  name: First\n"})
    assert ask("POST", "/config/restore")["text"] == ""
    answer = ask("POST", "/config/check", {"text": "logging:\n  level: LOUD\n"})
    assert [(fault["line"], fault["key"]) for fault in answer["faults"]] == [(2, "logging.level")]
    assert ask("GET", "/config")["text"] == ""
    one, other = "server:\n  name: One\n", "server:\n  name: Other\n"
    ask("PUT", "/config", {"text": one})
    assert ask("PUT", "/config", {"text": other})["previous"] is True
    assert ask("GET", "/config/connection")["server_name"] == "Other"
    assert ask("POST", "/config/restore")["text"] == one
    assert ask("GET", "/config/connection")["server_name"] == "One"


def test_platforms_that_are_not_allowed_are_refused(host, website):
    ask = session(host)
    ask("PUT", "/config", {"text": "downloads:\n  allowed_platforms: [tiktok, pdf]\n"})
    answer = ask("POST", "/download", {"url": "https://eviltiktok.com/@ana/video/1"}, status=422)
    assert (answer["error"], answer["reason"]) == ("invalid_parameter", "unsupported_platform")
    ask("POST", "/download", {"url": website("/guide.pdf")}, status=201)
    ask("PUT", "/config", {"text": ""})
    ask("POST", "/download", {"url": website("/page.html")}, status=201)


def test_folder_for_files_changes_while_the_server_runs(tmp_path, website):
    """Without --downloads, the folder is the configuration's."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "fake"))
    host.downloads = None
    one, other = tmp_path / "one", tmp_path / "other"
    for place in (one, other):
        place.mkdir()
    host.configure(f"downloads:\n  root_directory: {one}\n")
    with host:
        ask = session(host)
        host.wait_for(host.add(website.fake("ok", by="one")), "completed")
        ask("PUT", "/config", {"text": f"downloads:\n  root_directory: {other}\n"})
        host.wait_for(host.add(website.fake("ok", by="other")), "completed")
        assert [len(list(place.rglob("*.mp4"))) for place in (one, other)] == [1, 1]
        assert ask("GET", "/admin/state")["disks"][1]["path"] == str(other)


def test_log_level_changes_while_the_server_runs(host, website):
    ask = session(host)
    log = host.store / "capture" / "logs" / "server.log"
    ask("PUT", "/config", {"text": "logging:\n  level: ERROR\n"})
    before = log.read_text()
    host.wait_for(host.add(website.fake("ok", by="quiet")), "completed")
    assert log.read_text() == before
    ask("PUT", "/config", {"text": "logging:\n  level: INFO\n"})
    host.wait_for(host.add(website.fake("ok", by="loud")), "completed")
    # The line comes after the change of the row.
    wait_until(lambda: "Download completed" in log.read_text().removeprefix(before), "it is logged")


def test_port_changes_while_a_download_runs(tmp_path, website):
    """Without --port, the port is the configuration's."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "fake"))
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    host.configure(f"server:\n  port: {ports[0]}\n")
    host.port = None
    with host:
        ask = session(host)
        identifier = host.add(website.fake("held", gate=tmp_path / "gate"))
        host.wait_for(identifier, "downloading")
        # A port that another program has: the one in use stays, and the page says why.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            number = taken.getsockname()[1]
            ask("PUT", "/config", {"text": f"server:\n  port: {number}\n"})
            problems = [problem["what"] for problem in ask("GET", "/admin/state")["problems"]]
            assert any(f"server.port {number} can't be used" in problem for problem in problems), problems
            ask("PUT", "/config", {"text": f"server:\n  port: {ports[0]}\n"})
            assert not any("can't be used" in problem["what"] for problem in ask("GET", "/admin/state")["problems"])
        ask("PUT", "/config", {"text": f"server:\n  port: {ports[1]}\n"})
        host.port = ports[1]
        assert json.loads((host.store / "capture" / "capture.json").read_text())["port"] == ports[1]
        assert ask("GET", f"/status/{identifier}")["attempt"] == 1
        assert not any("can't be used" in problem["what"] for problem in ask("GET", "/admin/state")["problems"])
        (tmp_path / "gate").touch()
        assert host.wait_for(identifier, "completed")["attempt"] == 1

        def is_closed():
            try:
                socket.create_connection(("127.0.0.1", ports[0]), timeout=60).close()
            except ConnectionRefusedError:
                return True
            return False

        wait_until(is_closed, "the old port is closed")


def test_doctor_says_that_other_devices_cannot_connect_yet(host):
    result = host.command("doctor", "--network", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert [json.loads(line)["what"] for line in result.stdout.splitlines()] == ["other devices can't connect yet"]
    host.stop()
    result = host.command("doctor", "--network")
    assert result.returncode == 1 and "the capture server isn't running" in result.stdout
