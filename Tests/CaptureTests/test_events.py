"""`GET /events`: a client that listens misses nothing, and gets nothing of others."""

import contextlib

import pytest
from capture_host import FAST_RETRIES, SECONDS, CaptureHost
from described import administrator, ask
from events import EventStream
from fake_tools import FakeTools
from support.waiting import wait_until


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def revision(host, query=""):
    status, head, _ = host.request("GET", f"/history?limit=1{query}")
    assert status == 200
    return int(head["X-Revision"])


def test_download_is_followed_from_its_start_to_its_removal(shared, website, tmp_path):
    gate = tmp_path / "gate"
    with EventStream(shared) as stream:
        assert {stream.next()[0], stream.next()[0]} == {"queue", "config"}
        identifier = shared.add(website.fake("held", by="events", gate=gate))

        def wait(condition):
            return stream.wait_for("download", lambda value: value["download_id"] == identifier and condition(value))

        # Of states that pass quickly, only the last is sent.
        assert wait(lambda value: True)["url"].startswith(website.address)
        wait(lambda value: value["state"] == "downloading" and value["stage"] == "fetching" and value["progress"])
        gate.touch()
        assert wait(lambda value: value["state"] == "completed")["archive"]
        assert ask(shared, "DELETE", f"/history/{identifier}")[0] == 200
        stream.wait_for("removed", lambda value: value["download_id"] == identifier)
        # Its revision isn't used again, although it was the last one.
        removed = int(stream.last_id)
        other = shared.add("https://docs.invalid/after-the-removal.pdf")
        stream.wait_for("download", lambda value: value["download_id"] == other)
        assert int(stream.last_id) > removed
    shared.cancel(other)


def test_who_connects_again_misses_nothing(shared, website):
    before = revision(shared)
    kept = shared.add(website.fake("ok", by="missed"))
    gone = shared.add("https://docs.invalid/gone.pdf")
    shared.cancel(gone)
    assert ask(shared, "DELETE", f"/history/{gone}")[0] == 200
    shared.wait_for(kept, "completed")
    after = revision(shared)
    assert after > before
    for path, fields in [(f"/events?revision={before}", {}), ("/events", {"Last-Event-ID": str(before)}),
            (f"/events?revision={after}", {"Last-Event-ID": str(before)})]:
        with EventStream(shared, path, fields) as stream:
            found = {}
            while int(stream.last_id or 0) < after:
                name, value = stream.next()
                if name in ("download", "removed"):
                    found[value["download_id"]] = value.get("state", name)
            assert (found[kept], found[gone]) == ("completed", "removed")
    # Of another queue, such as one before a backup was restored: everything is sent.
    with EventStream(shared, f"/events?revision={after + 1000}") as stream:
        stream.wait_for("download", lambda value: value["download_id"] == kept)
    for wrong in ("-1", "x", "1.5", str(1 << 64)):
        assert ask(shared, "GET", f"/events?revision={wrong}")[0] == 400


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A server whose keys and configuration a test changes."""
    folder = tmp_path_factory.mktemp("own")
    host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
    host.configure("server:\n  name: Before\n")
    with host:
        yield host


def test_user_gets_only_what_is_theirs(own):
    ana, ben = own.key("Ana's phone", "--user", "ana"), own.key("Ben's phone", "--user", "ben")
    with EventStream(own, headers=bearer(ben)) as stream:
        assert stream.wait_for("queue")["queued"] == 0
        theirs = own.call("POST", "/download", {"url": "https://docs.invalid/ana.pdf"}, bearer(ana))[1]["download_id"]
        gone = own.call("POST", "/download", {"url": "https://docs.invalid/gone.pdf"}, bearer(ana))[1]["download_id"]
        for identifier in (theirs, gone):
            own.cancel(identifier)
        assert own.call("DELETE", f"/history/{gone}", headers=bearer(ana))[0] == 200
        mine = own.call("POST", "/download", {"url": "https://docs.invalid/ben.pdf"}, bearer(ben))[1]["download_id"]
        seen = []
        while mine not in seen:
            name, value = stream.next()
            assert name != "queue" or value["queued"] <= 1
            if name in ("download", "removed"):
                seen.append(value["download_id"])
        assert set(seen) == {mine}
    # Nor from the beginning.
    with EventStream(own, "/events?revision=0", bearer(ben)) as stream:
        assert stream.wait_for("download")["download_id"] == mine
    with EventStream(own, "/events?revision=0", bearer(ana)) as stream:
        stream.wait_for("removed", lambda value: value["download_id"] == gone)
    own.cancel(mine)


def test_queue_and_configuration_are_followed(own):
    fields = administrator(own)
    with EventStream(own) as stream:
        assert stream.wait_for("config")["server_name"] == "Before"
        assert ask(own, "POST", "/queue/pause", headers=fields)[0] == 200
        stream.wait_for("queue", lambda value: value["waiting_for"] == "paused")
        assert ask(own, "POST", "/queue/resume", headers=fields)[0] == 200
        stream.wait_for("queue", lambda value: value["waiting_for"] is None)
        own.configure("server:\n  name: After\nsecurity:\n  api_keys: [a-household-key-of-more-than-32-letters]\n")
        assert stream.wait_for("config", lambda value: value["server_name"] == "After")["api_key"] is None


def test_stream_ends_with_its_key_and_streams_are_limited(own):
    lost = own.key("Lost phone")
    with contextlib.ExitStack() as streams:
        opened = [streams.enter_context(EventStream(own, headers=bearer(lost))) for _ in range(16)]
        assert {stream.status for stream in opened} == {200}
        assert ask(own, "GET", "/events", headers=bearer(lost))[0] == 503
        # Others aren't affected, and a closed one makes room.
        assert ask(own, "GET", "/events")[0] == 200
        opened.pop().connection.close()
        wait_until(lambda: ask(own, "GET", "/events", headers=bearer(lost))[0] == 200, "the server knows that one was closed", SECONDS)
        # By another process.
        assert own.command("keys revoke", "Lost phone").returncode == 0
        for stream in opened:
            stream.wait_for_end()
    assert ask(own, "GET", "/events", headers=bearer(lost))[0] == 401


def test_stream_ends_with_the_server(own):
    with EventStream(own) as stream:
        stream.wait_for("queue")
        own.stop()
        stream.wait_for_end()
    own.start()


@pytest.mark.few()
def test_silent_stream_is_kept_alive(own):
    """After 15 seconds."""
    with EventStream(own) as stream:
        while stream.response.readline() != b": keep-alive\n":
            pass
