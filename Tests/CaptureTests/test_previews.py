"""`options.disposition: preview`: a file that is shown on a screen, and is gone with it."""

import os

import decoders
import pytest
from capture_host import SECONDS, CaptureHost
from described import ask
from events import EventStream
from fake_tools import FakeTools
from support.waiting import wait_until

PREVIEW = {"disposition": "preview"}


def start(host, url, **fields):
    status, answer = ask(host, "POST", "/download", {"url": url, **fields, "options": {**PREVIEW, **fields.get("options", {})}})
    assert status == 201, answer
    return answer["download_id"]


def received(host):
    """The files that previews leave in the store."""
    folder = host.capture / "received"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def expect_nothing_left(host):
    wait_until(lambda: not received(host) and not host.sessions(), f"no file is left: {received(host)}", SECONDS)
    assert host.archives() == {} and host.files() == []


def test_preview_is_shown_and_deleted(photo_host, website):
    with EventStream(photo_host) as stream:
        identifier = start(photo_host, website.fake("ok", title="Quay lights"))
        row = stream.wait_for("download", lambda value: value["state"] == "preview_ready")
        for decode in (decoders.v1_status, decoders.v2_status, decoders.own_status):
            decode(row)
        assert (row["download_id"], row["status"], row["archive"], row["title"]) == (identifier, "completed", None, "Quay lights")
        assert row["file_path"].endswith("_Quay_lights.mp4") and row["file_size"] == 200_000
        status, _, film = photo_host.request("GET", f"/download/{identifier}/file")
        assert status == 200 and len(film) == 200_000
        status, _, part = photo_host.request("GET", f"/download/{identifier}/file", {"Range": "bytes=2-5"})
        assert (status, part) == (206, film[2:6])
        status, ticket = ask(photo_host, "POST", f"/download/{identifier}/ticket")
        played = ticket["url"].removeprefix(photo_host.started["address"])
        assert photo_host.request("GET", played)[2] == film
        assert ask(photo_host, "GET", f"/download/{identifier}/archive")[0] == 404
        assert photo_host.archives() == {} and photo_host.files() == []
        assert photo_host.history(state="preview_ready") == [photo_host.status(identifier)]
        for _ in range(2):
            status, row = ask(photo_host, "POST", f"/download/{identifier}/preview/close")
            assert (status, row["state"], row["file_path"], row["file_size"]) == (200, "completed", None, None)
        stream.wait_for("download", lambda value: value["state"] == "completed")
    assert photo_host.request("GET", played)[0] == 404
    expect_nothing_left(photo_host)
    assert any("yt-dlp" in line for line in photo_host.lines(identifier))


@pytest.mark.parametrize(("path", "kind", "start_of_file"), [
    ("/guide.pdf", "application/pdf", b"%PDF"), ("/document", "application/pdf; charset=binary", b"%PDF"),
    ("/book", "application/epub+zip", b"PK"), ("/generic/ok", "video/mp4", b""), ("/fake/photos?count=2", "application/zip", b"PK"),
])
def test_documents_photos_and_unknown_sites_are_shown(photo_host, website, path, kind, start_of_file):
    identifier = start(photo_host, website(path))
    row = photo_host.wait_for(identifier, "preview_ready")
    status, head, file = photo_host.request("GET", f"/download/{identifier}/file")
    assert status == 200 and file.startswith(start_of_file) and len(file) == row["file_size"] > 0
    assert head["Content-Type"].partition(";")[0] == kind.partition(";")[0]
    assert ask(photo_host, "DELETE", f"/history/{identifier}")[0] == 200
    expect_nothing_left(photo_host)


def test_page_is_not_a_preview(photo_host, website):
    row = photo_host.wait_for(start(photo_host, website("/page")), "failed")
    assert row["error_code"] == "page_unsupported"
    assert ask(photo_host, "POST", "/download", {"url": website("/page"), "options": {**PREVIEW, "mode": "page"}})[0] == 400


def test_saving_the_same_url_is_another_download(photo_host, website):
    url = website.fake("busy", by="both")
    preview = start(photo_host, url)
    assert start(photo_host, url) == preview
    saved = photo_host.add(url)
    assert saved != preview and photo_host.add(url, options={"disposition": "library"}) == saved
    assert photo_host.call("POST", f"/download/{saved}/preview/close")[0] == 409
    assert ask(photo_host, "POST", f"/download/{preview}/preview/close")[1]["state"] == "cancelled"
    photo_host.cancel(saved)
    photo_host.wait_for(saved, "cancelled")
    expect_nothing_left(photo_host)


def test_preview_without_a_client(tmp_path, website):
    """After 60 seconds, here one: what is shown is deleted, what runs is stopped. As long as the client listens, neither is."""
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), "--preview-seconds", "1") as host:
        with EventStream(host) as stream:
            identifier = start(host, website.fake("ok", by="no-client"))
            stream.wait_for("download", lambda value: value["state"] == "preview_ready")
            assert received(host)
        wait_until(lambda: not received(host), "its file is deleted", SECONDS)
        host.wait_for(identifier, "completed")
        with EventStream(host) as stream:
            running = start(host, website.fake("busy", by="no-client"))
            stream.wait_for("download", lambda value: value["progress"])
            assert host.processes()
        host.expect_no_processes()
        assert host.status(running)["state"] == "cancelled"
        expect_nothing_left(host)


def test_start_deletes_previews_of_a_server_that_was_killed(tmp_path, website):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools")) as host:
        identifier = start(host, website.fake("ok", by="killed"))
        host.wait_for(identifier, "preview_ready")
        running, queued = start(host, website.fake("busy", by="killed")), start(host, website.fake("ok", by="later"))
        host.wait_for(running, "downloading")
        host.kill_9()
        assert received(host) and os.listdir(host.capture / "sessions")
        host.start()
        assert [host.status(one)["state"] for one in (identifier, running, queued)] == ["completed"] + ["aborted_by_system"] * 2
        expect_nothing_left(host)
        # A person can start one again.
        assert host.call("POST", f"/download/{queued}/retry")[0] == 200
        host.wait_for(queued, "preview_ready")
        host.call("POST", f"/download/{queued}/preview/close")
        expect_nothing_left(host)
