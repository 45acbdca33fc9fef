"""`DELETE /history`: what was submitted within a time, and nothing else."""

import contextlib
import sqlite3

import pytest
from capture_host import FAST_RETRIES, CaptureHost
from described import ask
from fake_tools import FakeTools

# Each with the times of two downloads.
OCTOBER, NOVEMBER = ("2026-10-01T00:00:00Z", "2026-10-31T23:59:59Z"), ("2026-11-01T00:00:00Z", "2026-11-20T12:00:00Z")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("removals")
    host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
    try:
        yield host.start()
    finally:
        host.stop()


@pytest.fixture
def dated(server, website):
    """Completed downloads, by user and time."""
    made = {}
    for user in ("ana", "ben"):
        for time in (*OCTOBER, *NOVEMBER):
            made[user, time] = server.add(website.fake("ok", by=f"{user}{time}"), username=user)
    for identifier in made.values():
        server.wait_for(identifier, "completed")
    with contextlib.closing(sqlite3.connect(server.capture / "capture.sqlite", timeout=120)) as queue, queue:
        for (_, time), identifier in made.items():
            queue.execute("UPDATE downloads SET created_at = ? WHERE download_id = ?", (time, identifier))
    yield made
    assert ask(server, "DELETE", "/history?since=2000-01-01&archive=true&file=true")[0] == 200
    assert server.rows() == [] and server.archives() == {} and server.files() == []


def left(server, dated):
    there = {row["download_id"] for row in server.rows()}
    return {key for key, identifier in dated.items() if identifier in there}


def test_time_is_removed(server, dated):
    """From `since` on, and before `until`, as `GET /history` lists them."""
    query = "since=2026-10-31T23:59:59Z&until=2026-11-20T12:00:00Z"
    listed = {row["download_id"] for row in ask(server, "GET", f"/history?limit=1&{query}")[1]}
    status, answer = ask(server, "DELETE", f"/history?limit=1&{query}")
    assert (status, answer) == (200, {"success": True, "removed": 4, "left": 0})
    assert listed <= set(dated.values())
    assert left(server, dated) == {(user, time) for user in ("ana", "ben") for time in (OCTOBER[0], NOVEMBER[1])}
    # Archives and files stay.
    assert len(server.archives()) == len(server.files()) == 8
    assert ask(server, "DELETE", "/history?since=2000-01-01")[1]["removed"] == 4
    for archive in server.archives():
        server.replayhost("remove", archive, "--yes")
    for file in server.files():
        (server.downloads / file).unlink()


def test_users_and_filters(server, dated):
    key = {"Authorization": f"Bearer {server.key('Ben', '--user', 'ben')}"}
    assert ask(server, "DELETE", "/history?until=2026-11-01&username=ana", headers=key)[1]["removed"] == 0
    assert ask(server, "DELETE", "/history?until=2026-11-01&archive=true&file=true", headers=key)[1]["removed"] == 2
    assert left(server, dated) == set(dated) - {("ben", time) for time in OCTOBER}
    assert len(server.archives()) == len(server.files()) == 6
    assert ask(server, "DELETE", "/history?since=2026-11-01&status=failed")[1]["removed"] == 0
    assert server.command("keys revoke", "Ben").returncode == 0


def test_running_downloads_stay(server, website):
    running, queued = server.add(website.fake("busy", by="range")), server.add(website.fake("ok", by="range"))
    server.wait_for(running, "downloading")
    assert ask(server, "DELETE", "/history?since=2000-01-01")[1] == {"success": True, "removed": 1, "left": 1}
    assert [row["download_id"] for row in server.rows()] == [running] != [queued]
    server.cancel(running)
    server.wait_for(running, "cancelled")
    assert ask(server, "DELETE", "/history?since=2000-01-01")[1]["removed"] == 1


def test_everything_is_not_removed_by_mistake(server):
    status, answer = ask(server, "DELETE", "/history")
    assert (status, answer["error"]) == (400, "invalid_parameter")
    assert ask(server, "DELETE", "/history?since=yesterday")[0] == 400
