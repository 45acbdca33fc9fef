"""`DELETE /history`: what was submitted within a time, and nothing else."""

import contextlib
import sqlite3

import pytest
from described import ask

# Each with the times of two downloads.
OCTOBER, NOVEMBER = ("2026-10-01T00:00:00Z", "2026-10-31T23:59:59Z"), ("2026-11-01T00:00:00Z", "2026-11-20T12:00:00Z")


@pytest.fixture
def dated(shared, website):
    """Completed downloads, by user and time."""
    made = {}
    for user in ("ana", "ben"):
        for time in (*OCTOBER, *NOVEMBER):
            made[user, time] = shared.add(website.fake("ok", by=f"{user}{time}"), username=user)
    for identifier in made.values():
        shared.wait_for(identifier, "completed")
    with contextlib.closing(sqlite3.connect(shared.capture / "capture.sqlite", timeout=120)) as queue, queue:
        for (_, time), identifier in made.items():
            queue.execute("UPDATE downloads SET created_at = ? WHERE download_id = ?", (time, identifier))
    yield made
    assert ask(shared, "DELETE", "/history?since=2000-01-01&archive=true&file=true")[0] == 200
    assert shared.rows() == [] and shared.archives() == {} and shared.files() == []


def left(shared, dated):
    there = {row["download_id"] for row in shared.rows()}
    return {key for key, identifier in dated.items() if identifier in there}


def test_time_is_removed(shared, dated):
    """From `since` on, and before `until`, as `GET /history` lists them."""
    query = "since=2026-10-31T23:59:59Z&until=2026-11-20T12:00:00Z"
    listed = {row["download_id"] for row in ask(shared, "GET", f"/history?limit=1&{query}")[1]}
    status, answer = ask(shared, "DELETE", f"/history?limit=1&{query}")
    assert (status, answer) == (200, {"success": True, "removed": 4, "left": 0})
    assert listed <= set(dated.values())
    assert left(shared, dated) == {(user, time) for user in ("ana", "ben") for time in (OCTOBER[0], NOVEMBER[1])}
    # Archives and files stay.
    assert len(shared.archives()) == len(shared.files()) == 8
    assert ask(shared, "DELETE", "/history?since=2000-01-01")[1]["removed"] == 4
    for archive in shared.archives():
        shared.replayhost("remove", archive, "--yes")
    for file in shared.files():
        (shared.downloads / file).unlink()


def test_users_and_filters(shared, dated):
    key = {"Authorization": f"Bearer {shared.key('Ben', '--user', 'ben')}"}
    assert ask(shared, "DELETE", "/history?until=2026-11-01&username=ana", headers=key)[1]["removed"] == 0
    assert ask(shared, "DELETE", "/history?until=2026-11-01&archive=true&file=true", headers=key)[1]["removed"] == 2
    assert left(shared, dated) == set(dated) - {("ben", time) for time in OCTOBER}
    assert len(shared.archives()) == len(shared.files()) == 6
    assert ask(shared, "DELETE", "/history?since=2026-11-01&status=failed")[1]["removed"] == 0
    assert shared.command("keys revoke", "Ben").returncode == 0


def test_running_downloads_stay(shared, website):
    running, queued = shared.add(website.fake("busy", by="range")), shared.add(website.fake("ok", by="range"))
    shared.wait_for(running, "downloading")
    assert ask(shared, "DELETE", "/history?since=2000-01-01")[1] == {"success": True, "removed": 1, "left": 1}
    assert [row["download_id"] for row in shared.rows()] == [running] != [queued]
    shared.cancel(running)
    shared.wait_for(running, "cancelled")
    assert ask(shared, "DELETE", "/history?since=2000-01-01")[1]["removed"] == 1


def test_everything_is_not_removed_by_mistake(shared):
    status, answer = ask(shared, "DELETE", "/history")
    assert (status, answer["error"]) == (400, "invalid_parameter")
    assert ask(shared, "DELETE", "/history?since=yesterday")[0] == 400
