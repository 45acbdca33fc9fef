"""The eleven tests and the seven edge cases of the published guide for share clients, under its names, with `replayhost-share`."""

import http.server
import json
import signal
import threading

import pytest
from capture_host import SECONDS, make_server
from share_device import Device, payload
from support.waiting import wait_until

TIKTOK = ["https://www.tiktok.com/@user/video/123", "https://vm.tiktok.com/ZM8abc/", "https://tiktok.com/@user/video/124?lang=en"]
INSTAGRAM = ["https://www.instagram.com/p/Cabc/", "https://www.instagram.com/reel/Cdef/", "https://www.instagram.com/stories/user/123/"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with make_server(tmp_path_factory.mktemp("guide")) as host:
        yield host


@pytest.fixture
def capture(server):
    """The running server. What earlier tests have saved stays."""
    if not server.process:
        server.start()
    return server


@pytest.fixture
def device(capture, tmp_path):
    return Device(tmp_path / "device").connect(capture)


def saved(capture, *urls):
    """The rows of these URLs, of which each has exactly one."""
    rows = [row for row in capture.rows() if row["url"] in urls]
    assert sorted(row["url"] for row in rows) == sorted(urls)
    return rows


class Between:
    """Stands between a device and the server. `answer(number, forward)` decides on each share; the rest is passed on."""

    def __init__(self, capture, answer):
        posts = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                posts.append(self.headers["Idempotency-Key"])
                fields = {name: self.headers[name] for name in ("Content-Type", "Idempotency-Key")}
                result = answer(len(posts), lambda: capture.request("POST", self.path, fields, body))
                self.reply(result)

            def do_GET(self):
                self.reply(capture.request("GET", self.path))

            def reply(self, result):
                if not result:
                    self.close_connection = True
                    return
                status, _, body = result
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.posts = posts
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"localhost:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def through(between, device):
    """Connects the device with what stands between."""
    device.expect(0, "connect", text=payload(between.place))


@pytest.mark.parametrize("urls, genre", [(TIKTOK, "tiktok"), (INSTAGRAM, "instagram")], ids=["tiktok_various_urls", "instagram_posts_reels_stories"])
def test_sites(capture, device, urls, genre):
    device.expect(0, *urls)
    assert device.statuses == ["confirmed"] * len(urls)
    assert {row["genre"] for row in saved(capture, *urls)} == {genre}


def test_server_offline(capture, device):
    """The URL is kept, says so, and arrives when the server is back."""
    url = "https://www.tiktok.com/@offline/video/1"
    capture.stop()
    assert "Queued - will retry when connected" in device.expect(75, url)
    assert (device.statuses, device.history) == (["pending"], ["queued"])
    assert url in device.expect(0, "pending")
    capture.start()
    device.expect(0, "retry")
    assert (device.statuses, device.history) == (["confirmed"], ["confirmed"])
    saved(capture, url)


def test_app_opened_with_pending(capture, device):
    """What waits is sent before the next share, although its next attempt isn't due yet."""
    urls = [f"https://www.tiktok.com/@pending/video/{number}" for number in range(3)]
    capture.stop()
    device.expect(75, *urls[:2])
    capture.start()
    device.expect(0, urls[2])
    assert device.statuses == ["confirmed"] * 3
    assert [row["url"] for row in saved(capture, *urls)] == urls[::-1]


def test_killed_during_upload(capture, device):
    """The server has the request, and the process is killed. The next start repeats it with the same Idempotency-Key."""
    url = "https://www.tiktok.com/@killed/video/1"
    sent, ended = threading.Event(), threading.Event()

    def lose(number, forward):
        result = forward()
        sent.set()
        ended.wait(SECONDS)
        return None if number == 1 else result

    with Between(capture, lose) as between:
        through(between, device)
        process = device.start(url)
        assert sent.wait(SECONDS)
        assert device.statuses == ["uploading"]
        process.kill()
        process.communicate(timeout=SECONDS)
        ended.set()
        device.expect(0, "retry")
    assert between.posts == [device.records("queue.jsonl")[0]["id"].lower()] * 2
    saved(capture, url)


def test_airplane_mode_share_network_sync(capture, device):
    """Shares that are made without a network arrive in their order."""
    urls = [f"https://www.instagram.com/p/airplane{number}/" for number in range(2)]
    capture.stop()
    device.expect(75, text=f"Look: {urls[0]}, via App")
    device.expect(75, urls[1])
    capture.start()
    device.expect(0, "retry")
    assert [row["url"] for row in saved(capture, *urls)] == urls[::-1]


@pytest.mark.parametrize("text", ["no URL", "mailto:a@b.example", "https://user:password@example.org/", "https://"])
def test_invalid_url(capture, device, text):
    before = len(capture.rows())
    assert "Unable to share this content" in device.expect(1, text)
    assert device.statuses == device.history == [] and len(capture.rows()) == before


def test_server_error(capture, device):
    """500: it's kept, says so, and sent again."""
    url = "https://www.tiktok.com/@error/video/1"
    error = json.dumps({"success": False, "status": "error", "error": "internal_error", "message": "?"}).encode()
    with Between(capture, lambda number, forward: (500, None, error) if number == 1 else forward()) as between:
        through(between, device)
        assert "Server unavailable - queued for retry" in device.expect(75, url)
        device.expect(0, "retry")
    saved(capture, url)


def test_certificate_trust(device):
    """Without TLS there is none. test_share_trust.py has the rest."""
    assert "certificate: none: this connection isn't encrypted (http)" in device.expect(0, "test")


def test_history_actions(capture, device):
    """Search, site, days, export, share again and delete."""
    urls = ["https://www.tiktok.com/@history/video/9", "https://eviltiktok.com/harbour"]
    device.expect(0, *urls)
    assert [entry["url"] for entry in device.values("history")] == urls[::-1]
    assert [entry["url"] for entry in device.values("history", "--search", "HARBOUR")] == [urls[1]]
    assert [entry["url"] for entry in device.values("history", "--domain", "tiktok.com")] == [urls[0]]
    assert device.values("history", "--since", "2199-01-01") == [] == device.values("history", "--until", "2020-01-01")
    exported = device.expect(0, "history", "--export", "csv", "--domain", "tiktok.com")
    assert urls[0] in exported and urls[1] not in exported
    assert len(json.loads(device.expect(0, "history", "--export", "json"))) == 2
    device.expect(0, urls[0])
    assert len(device.history) == 3
    assert "must not be after" in device.expect(2, "history", "--delete", "--since", "2020-01-02", "--until", "2020-01-01")
    device.expect(2, "history", "--delete")
    device.expect(0, "history", "--delete", "--domain", "tiktok.com")
    assert [entry["url"] for entry in device.values("history")] == [urls[1]]
    device.expect(0, "history", "--delete", "--since", "2020-01-01", "--until", "2199-01-01")
    assert device.statuses == device.history == []


def test_settings_kept(capture, device):
    assert "maxRetries: 10" in device.expect(0, "settings")
    device.expect(0, "settings", "height", "720")
    device.expect(0, "settings", "allowedDomains", "tiktok.com, example.org")
    for name, value in (("height", "5"), ("form", "smell"), ("network", "wan"), ("colour", "blue")):
        device.expect(1, "settings", name, value)
    url = "https://www.tiktok.com/@settings/video/1"
    device.expect(0, url)
    assert saved(capture, url)[0]["options"] == {"height": 720}
    assert "other sites only" in device.expect(1, "https://eviltiktok.com/1")


def test_several_rapid_shares(capture, device):
    """Several processes at once: each URL is kept at once, and sent once."""
    urls = [f"https://www.tiktok.com/@rapid/video/{number}" for number in range(4)]
    processes = [device.start(url) for url in urls]
    for process in processes:
        output, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, (output, errors)
    assert device.statuses == ["confirmed"] * 4
    saved(capture, *urls)


def test_ended_during_sync(capture, device):
    """The process ends between two shares of a sync."""
    urls = [f"https://www.instagram.com/p/sync{number}/" for number in range(3)]
    capture.stop()
    device.expect(75, *urls)
    capture.start()
    process = device.start("retry")
    device.wait_for_status("confirmed")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)
    device.expect(0, "retry")
    assert device.statuses == ["confirmed"] * 3
    saved(capture, *urls)


def test_network_change_during_upload(capture, device):
    """The first request breaks after the server has it."""
    url = "https://www.tiktok.com/@change/video/1"

    def break_first(number, forward):
        result = forward()
        return None if number == 1 else result

    with Between(capture, break_first) as between:
        through(between, device)
        device.expect(75, url)
        device.expect(0, "retry")
    assert len(between.posts) == 2 and len(set(between.posts)) == 1
    saved(capture, url)


def test_error_after_acceptance(capture, device, website):
    """The server has accepted it, and the download fails. The share is confirmed, and the download has the reason."""
    url = website.fake("private", by="guide")
    shown = device.expect(4, "--wait", url)
    assert "confirmed" in shown and "Private video" in shown
    assert device.history == ["confirmed"]
    identifier = device.records("queue.jsonl")[0]["serverDownloadId"]
    assert "Private video" in device.expect(0, "status", identifier)
    assert device.expect(0, "log", device.records("queue.jsonl")[0]["id"])
    assert saved(capture, url)[0]["state"] == "failed"


def test_duplicate(capture, device, website, tmp_path):
    """The same URL twice, while the first one runs: one download."""
    url = website.fake("held", gate=tmp_path / "gate", title="Twice")
    device.expect(0, url)
    waiting = device.start("--wait", url)
    wait_until(lambda: device.statuses == ["confirmed"] * 2, "both are confirmed", SECONDS)
    (tmp_path / "gate").touch()
    output, errors = waiting.communicate(timeout=SECONDS)
    assert waiting.returncode == 0 and "Twice: Downloaded" in output, (output, errors)
    assert len({share["serverDownloadId"] for share in device.records("queue.jsonl")}) == 1
    saved(capture, url)


def test_extremely_long_url(device):
    assert "at most 2048 characters" in device.expect(1, "https://quay.example/" + "a" * 2028)
    assert device.statuses == device.history == []


@pytest.mark.parametrize("text", ["", "\n\n", "javascript:alert(1)", "\x00\xff", "<script>alert(1)</script>"])
def test_malformed_share(device, text):
    assert "Unable to share this content" in device.expect(1, text=text)
    assert device.statuses == device.history == []
