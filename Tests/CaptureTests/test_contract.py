"""Each published call, as the older client, v1 and v2 make it, with and without /api/v1, read by decoders as strict as theirs."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import contents
import decoders
import pytest
from decoders import STATUS_OF
from support.host import Host
from support.places import WEB_INTERFACE
from support.waiting import wait_until

PREFIXES = pytest.mark.parametrize("prefix", ["", "/api/v1"], ids=["bare", "api-v1"])


def share(host, prefix, body):
    return host.call("POST", f"{prefix}/download", body)


# Sharing

@PREFIXES
def test_older_client_shares(shared, website, prefix):
    body = {"url": website.fake("ok", by="older" + prefix), "client_id": "A1B2C3D4-E5F6-4711-8899-AABBCCDDEEFF", "timestamp": 1234567890}
    status, answer = share(shared, prefix, body)
    assert 200 <= status <= 299
    decoded = decoders.older_answer(answer)
    assert (decoded["status"], decoded["message"]) == ("queued", "Video queued for download")
    assert abs(decoded["timestamp"] - time.time()) < 3600
    row = shared.status(decoded["download_id"])
    assert (row["username"], row["client_id"]) == ("defaultuser", body["client_id"])


@PREFIXES
def test_v1_shares(shared, website, prefix):
    status, answer = share(shared, prefix, {"url": website.fake("ok", by="v1" + prefix), "client_id": "phone"})
    assert 200 <= status <= 299
    decoded = decoders.v1_answer(answer)
    assert (decoded["success"], decoded["status"], decoded["message"]) == (True, "pending", "Download queued successfully")


@PREFIXES
def test_v2_shares(shared, website, prefix):
    body = {"url": website.fake("ok", by="v2" + prefix), "username": "john", "client_id": "phone"}
    status, answer = share(shared, prefix, body)
    assert status == 201
    decoded = decoders.v2_answer(answer)
    assert (decoded["success"], decoded["status"], decoded["message"]) == (True, "pending", "Download queued successfully")
    assert (decoded["username"], decoded["genre"]) == ("john", "unknown")
    own = decoders.own_answer(answer)
    assert own["state"] == "queued"
    assert shared.status(decoded["download_id"])["url"] == body["url"]


@pytest.mark.parametrize(("url", "genre", "service"), [
    ("https://www.tiktok.com/@user/video/7123456789012345678", "tiktok", "tiktok"),
    ("https://vm.tiktok.com/ZMabc1234/", "tiktok", "tiktok"),
    ("HTTPS://WWW.TikTok.COM/@user/video/7123456789012345679", "tiktok", "tiktok"),
    ("https://www.instagram.com/p/CxYz012abcd/", "instagram", "instagram"),
    ("https://instagram.com/reel/CxYz012abce/?igsh=1", "instagram", "instagram"),
    ("https://www.youtube.com/watch?v=dQw4w9WgXc1", "youtube", "youtube"),
    ("https://m.youtube.com/shorts/dQw4w9WgXc2", "youtube", "youtube"),
    ("https://youtu.be/dQw4w9WgXc3", "youtube", "youtube"),
    ("https://www.youtube-nocookie.com/embed/dQw4w9WgXc4", "youtube", "youtube"),
    ("https://docs.invalid/report.pdf", "pdf", "docs.invalid"), ("https://docs.invalid/REPORT.PDF?x=1#page=2", "pdf", None),
    ("https://docs.invalid/book.epub", "ebook", None), ("https://docs.invalid/book.mobi", "ebook", None),
    ("https://docs.invalid/book.azw", "ebook", None), ("https://docs.invalid/book.azw3", "ebook", None),
    # The suffix of a name isn't a domain below it.
    ("https://eviltiktok.com/@user/video/1", "unknown", None), ("https://tiktok.com.invalid/@user/video/1", "unknown", None),
    ("https://docs.invalid/?file=report.pdf", "unknown", None),
])
def test_genre_comes_from_the_url(shared, url, genre, service):
    answer = shared.post(url, username="genres")[1]
    assert decoders.own_answer(answer)["genre"] == genre
    if service:
        assert answer["service"] == service
    # Downloading them isn't what is tested here.
    shared.cancel(answer["download_id"])


def test_genre_is_found_out_later(shared, website):
    """By the Content-Type, or by the tool. If it can't be, the download doesn't fail for it."""
    _, answer = shared.post(website("/document"))
    assert answer["genre"] == "unknown"
    row = shared.wait_for(answer["download_id"], "completed")
    assert (row["genre"], row["genre_detection_error"]) == ("pdf", None)
    assert (shared.downloads / "defaultuser" / "pdf" / row["file_path"]).exists()
    for path in ("/fake/ok?genre=1", "/generic/ok?genre=1"):
        row = shared.wait_for(shared.add(website(path)), "completed")
        assert row["genre"] == "unknown" and row["genre_detection_error"]
        assert (shared.downloads / "defaultuser" / "unknown" / row["file_path"]).exists()


def test_username_is_lower_cased(shared, website):
    _, answer = shared.post(website.fake("ok", case=1), username="John7")
    assert answer["username"] == "john7"


def test_unknown_keys_are_ignored(shared, website):
    status, _ = shared.post(website.fake("ok", unknown=1), quality="best", nested={"a": [1]}, options={"form": "video", "x": 1})
    assert status == 201


# Status, history, health

@pytest.fixture(scope="module")
def some(shared, website):
    """One download that completes, one that fails, and one that is cancelled, for a user of their own."""
    completed = shared.add(website.fake("ok", title="Quay lights"), username="anna", client_id="tablet")
    failed = shared.add(website.fake("private", by="anna"), username="anna")
    running = shared.add(website.fake("busy", by="anna"), username="anna")
    shared.wait_for(completed, "completed")
    shared.wait_for(failed, "failed")
    row = shared.wait_for(running, condition=lambda row: row["stage"] == "fetching" and row["progress"])
    assert (row["state"], row["status"]) == ("downloading", "downloading")
    decoders.own_status(row)
    decoders.v1_status(row)
    assert shared.cancel(running)[0] == 200
    shared.wait_for(running, "cancelled")
    return {"completed": completed, "failed": failed, "cancelled": running}


@PREFIXES
@pytest.mark.parametrize("state", ["completed", "failed", "cancelled"])
def test_status_is_as_published(shared, some, prefix, state):
    status, row = shared.call("GET", f"{prefix}/status/{some[state]}")
    assert status == 200
    for decode in (decoders.v1_status, decoders.v2_status, decoders.own_status):
        decode(row)
    assert (row["state"], row["status"]) == (state, STATUS_OF[state])
    assert row["started_at"] is not None
    if state == "completed":
        assert row["file_path"].endswith("_Quay_lights.mp4") and "/" not in row["file_path"]
        assert shared.file(row).stat().st_size == row["file_size"] == 200_000
        assert (row["title"], row["error_message"], row["error_code"], row["client_id"]) == ("Quay lights", None, None, "tablet")
        # There is no URL as long as the library isn't running.
        assert row["archive"] and row["replay_url"] is None
        assert (row["waiting_for"], row["stage"]) == (None, None)
        assert row["progress"] is None or row["progress"]["percent"] == 100
    if state == "failed":
        assert row["error_code"] == "private" and "Private video" in row["error_message"]
        assert row["file_path"] is None and row["archive"] is None


@PREFIXES
def test_history_is_a_bare_array_newest_first(shared, some, prefix):
    status, head, body = shared.request("GET", f"{prefix}/history?limit=50&offset=0&username=anna")
    assert status == 200 and head["X-Total-Count"] == "3"
    _, rows = shared.call("GET", f"{prefix}/history?limit=50&offset=0&username=anna")
    for decode in (decoders.v1_history, decoders.v2_history, decoders.every(decoders.own_status)):
        decode(rows)
    assert [row["download_id"] for row in rows] == [some["cancelled"], some["failed"], some["completed"]]
    assert rows == [shared.status(row["download_id"]) for row in rows]


@pytest.mark.parametrize(("query", "expected"), [
    ("status=completed", ["completed"]), ("status=failed", ["cancelled", "failed"]), ("status=pending", []),
    ("state=cancelled", ["cancelled"]), ("client_id=tablet", ["completed"]), ("client_id=other", []), ("genre=unknown", None),
    ("genre=pdf", []), ("q=Quay", ["completed"]), ("q=quay%20LIGHTS", ["completed"]), ("q=%25", []), ("q=_", []),
    ("limit=1", ["cancelled"]), ("limit=1&offset=1", ["failed"]), ("offset=3", []), ("limit=100&offset=2", ["completed"]),
    ("domain=127.0.0.1", None), ("domain=example.com", []), ("since=2024-01-01T00:00:00Z", None), ("until=2024-01-01T00:00:00Z", []),
])
def test_history_is_filtered(shared, some, query, expected):
    status, rows = shared.call("GET", f"/history?username=anna&{query}")
    assert status == 200, rows
    names = {identifier: state for state, identifier in some.items()}
    assert [names[row["download_id"]] for row in rows] == (["cancelled", "failed", "completed"] if expected is None else expected)


def test_other_users_history_is_empty(shared, some):
    assert shared.history(username="bert") == []


@PREFIXES
def test_health_is_as_published(shared, prefix):
    status, answer = shared.call("GET", f"{prefix}/health")
    assert status == 200
    decoders.v1_health(answer)
    health = decoders.own_health(answer)
    assert health["database"]["connected"] and health["software"].startswith("replayhost")
    tools = {tool["name"]: tool for tool in answer["tools"]}
    assert {"yt-dlp", "ffmpeg", "ffprobe", "curl"} <= set(tools)
    assert tools["yt-dlp"]["version"] and tools["yt-dlp"]["path"].startswith(str(shared.tools.root))
    before = health["database"]["total_downloads"]
    identifier = shared.add("https://docs.invalid/counted" + prefix)
    assert shared.call("GET", "/health")[1]["database"]["total_downloads"] == before + 1
    shared.cancel(identifier)


@PREFIXES
def test_unknown_download_is_404(shared, prefix):
    for path in ("/status/550e8400-e29b-41d4-a716-446655440000", "/status/x", "/status/..%2f", "/download/x/log", "/download/x/file"):
        status, answer = shared.call("GET", prefix + path)
        assert status == 404, path
        assert decoders.v2_text_error(answer)["detail"] == "Download not found"
        decoders.v1_error(answer)
        assert decoders.own_error(answer)["error"] == "not_found"


# One URL, one download

def test_same_url_while_queued_is_the_same_download(host, website):
    with host:
        busy = host.add(website.fake("busy"), username="john")
        first = host.add(website.fake("ok"), username="john")
        assert host.add(website.fake("ok"), username="john") == first
        assert host.add(website.fake("busy"), username="john") == busy
        others = [host.add(website.fake("ok"), username="anna"), host.add(website.fake("ok"), username="john", options={"height": 720})]
        assert len({first, busy, *others}) == 4
        host.cancel(busy)
        for identifier in (first, *others):
            host.wait_for(identifier, "completed")
        # It has ended, so the next is a new one.
        again = host.add(website.fake("ok"), username="john")
        assert again not in (first, *others)
        host.wait_for(again, "completed")
        rows = host.rows()
        assert len(rows) == 5
        host.expect_completed_once([row for row in rows if row["download_id"] != busy])


def test_idempotency_key_is_one_download(shared, website):
    url = website.fake("ok", by="key")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: shared.post(url, key="key-1", username="keys"), range(8)))
    assert {status for status, _ in answers} == {201}
    assert len({answer["download_id"] for _, answer in answers}) == 1
    identifier = answers[0][1]["download_id"]
    shared.wait_for(identifier, "completed")
    status, answer = shared.post(url, key="key-1", username="keys")
    assert (status, answer["download_id"]) == (201, identifier)
    decoders.v2_answer(answer)
    assert len(shared.history(username="keys")) == 1


# What we add

def test_files_are_sent_by_ranges(shared, some):
    identifier = some["completed"]
    data = shared.file(shared.status(identifier)).read_bytes()
    status, head, body = shared.request("GET", f"/download/{identifier}/file")
    assert (status, body, head["X-Content-Type-Options"], head["Accept-Ranges"]) == (200, data, "nosniff", "bytes")
    assert head.get_content_type() == "video/mp4"
    for field, expected in (("bytes=0-9", data[:10]), ("bytes=-10", data[-10:]), ("bytes=199990-", data[-10:])):
        status, head, body = shared.request("GET", f"/download/{identifier}/file", {"Range": field})
        assert (status, body) == (206, expected), field
        assert head["Content-Range"].endswith(f"/{len(data)}")
    assert shared.request("GET", f"/download/{identifier}/file", {"Range": "bytes=200000-"})[0] == 416
    status, head, body = shared.request("HEAD", f"/download/{identifier}/file")
    assert (status, head["Content-Length"], body) == (200, str(len(data)), b"")
    status, _, body = shared.request("GET", f"/download/{identifier}/archive")
    assert status == 200 and body.startswith(b"PK\x03\x04")
    assert shared.request("GET", f"/download/{identifier}/archive", {"Range": "bytes=-22"})[2] == body[-22:]
    for what in ("file", "archive"):
        assert shared.request("GET", f"/download/{some['failed']}/{what}")[0] == 404


def test_library_has_the_poster_of_a_film(shared, some):
    """As the thumbnail of its page, by the name that Browsertrix gives it."""
    identifier = some["completed"]
    status, _, data = shared.request("GET", f"/download/{identifier}/archive")
    found = [record for record in contents.warc_records(data) if record.uri == f"urn:thumbnail:https://replayhost.invalid/{identifier}/"]
    assert status == 200 and [record.body[:3] for record in found] == [b"\xff\xd8\xff"]


def test_log_has_pages_of_20_lines(shared, some):
    status, page = shared.call("GET", f"/download/{some['completed']}/log")
    assert status == 200
    decoders.own_log(page)
    assert page["log_id"] == shared.status(some["completed"])["log_id"]
    assert len(page["lines"]) == min(20, page["total"])
    assert shared.call("GET", f"/download/{some['completed']}/log?offset=1&limit=2")[1]["lines"] == page["lines"][1:3]
    assert shared.call("GET", f"/download/{some['completed']}/log?offset=100000")[1]["lines"] == []
    assert any("Private video" in line for line in shared.lines(some["failed"]))


def test_actions_follow_the_state(shared, some):
    for path, state in (("cancel", "completed"), ("cancel", "failed"), ("retry", "completed")):
        status, answer = shared.call("POST", f"/download/{some[state]}/{path}")
        assert (status, answer["error"]) == (409, "not_possible"), (path, state)
        decoders.own_error(answer)


def test_cancelled_download_stops_and_can_be_retried(host, website):
    """A tool that ignores every signal it can, with a child that does so too."""
    with host:
        identifier = host.add(website.fake("stubborn"))
        host.wait_for(identifier, "downloading")
        assert host.processes()
        status, _ = host.cancel(identifier)
        assert status == 200
        row = host.wait_for(identifier, "cancelled")
        assert (row["status"], row["file_path"], row["archive"]) == ("failed", None, None)
        host.expect_no_leftovers()
        # Also one that hasn't begun.
        busy, waiting = host.add(website.fake("busy")), host.add(website.fake("ok", n=2))
        host.wait_for(busy, "downloading")
        assert host.cancel(waiting)[1]["state"] == "cancelled"
        host.cancel(busy)
        host.wait_for(busy, "cancelled")
        status, row = host.call("POST", f"/download/{waiting}/retry", {})
        assert (status, row["download_id"]) == (200, waiting)
        host.wait_for(waiting, "completed")
        host.expect_no_leftovers()


def test_retry_takes_other_options(host, website):
    with host:
        identifier = host.add(website.fake("transient-then-ok", times=4), options={"form": "video", "height": 720})
        host.wait_for(identifier, "failed")
        status, row = host.call("POST", f"/download/{identifier}/retry", {"options": {"form": "audio", "container": "mp3"}})
        assert status == 200 and row["options"]["form"] == "audio"
        assert host.wait_for(identifier, "completed")["file_path"].endswith(".mp3")


def test_removed_row_keeps_archive_and_file_unless_asked(host, website):
    with host:
        kept, removed = host.add(website.fake("ok", n=1)), host.add(website.fake("ok", n=2))
        rows = [host.wait_for(identifier, "completed") for identifier in (kept, removed)]
        for row, query in zip(rows, ("", "?archive=true&file=true")):
            status, answer = host.call("DELETE", f"/history/{row['download_id']}{query}")
            assert (status, answer["success"], answer["download_id"]) == (200, True, row["download_id"])
            assert host.call("GET", f"/status/{row['download_id']}")[0] == 404
        assert host.file(rows[0]).exists() and not host.file(rows[1]).exists()
        assert list(host.archives()) == [rows[0]["archive"]]
        busy = host.add(website.fake("busy"))
        host.wait_for(busy, "downloading")
        assert host.call("DELETE", f"/history/{busy}")[0] == 409
        host.cancel(busy)


def test_replay_url_leads_to_the_library(host, website):
    """As long as `replayhost` serves the same store. The library shows a new archive at once."""
    library = Host(host.folder, assets=WEB_INTERFACE)
    assert library.store == host.store
    with host:
        identifier = host.add(website.fake("ok", title="Quay lights"), username="john")
        row = host.wait_for(identifier, "completed")
        with library:
            row = host.status(identifier)
            assert row["replay_url"].startswith(library.address) and row["archive"] in row["replay_url"]
            status, _, _ = library.request("GET", row["replay_url"].removeprefix(library.address).partition("#")[0])
            assert status == 200
            assert library.archive(row["archive"])["title"] == "Quay lights"
            # Added by another process, while the library runs
            other = host.wait_for(host.add(website.fake("ok", n=2)), "completed")
            wait_until(lambda: other["archive"] in library.ids(), "the library shows the archive")


def test_address_is_on_loopback_and_in_capture_json(host):
    """The library reads it to show a link."""
    with host:
        shown = json.loads((host.capture / "capture.json").read_text())
        assert (shown["address"], shown["port"], shown["pid"]) == (host.started["address"], host.port, host.process.pid)
        assert (host.capture / "capture.json").stat().st_mode & 0o777 == 0o600
        assert host.capture.stat().st_mode & 0o777 == 0o700
        assert host.started.get("library") is None
    assert not (host.capture / "capture.json").exists()
