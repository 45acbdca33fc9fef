"""Another program locks the queue's database for longer than the server waits."""

import contextlib
import json
import sqlite3

import pytest


@pytest.mark.few("server")
@pytest.mark.parametrize("runs", [True, False], ids=["server", "without"])
def test_add_is_to_be_repeated_later(host, website, runs):
    with host:
        host.wait_for(host.add(website.fake("ok", by="first")), "completed")
        if not runs:
            host.stop()
        with contextlib.closing(sqlite3.connect(host.store / "capture" / "capture.sqlite")) as other:
            other.execute("BEGIN IMMEDIATE")
            refused = host.command("add", website.fake("ok", by="locked"))
            other.rollback()
        # EX_TEMPFAIL of sysexits(3)
        assert (refused.returncode, refused.stdout) == (75, ""), refused.stderr
        assert "locked the queue" in refused.stderr and "later" in refused.stderr
        added = host.command("add", website.fake("ok", by="locked"))
        assert added.returncode == (0 if runs else 75) and added.stdout, added.stderr
        # The one that was refused wasn't kept.
        assert len(host.command("list", "--json").stdout.splitlines()) == 2


def test_list_shortens_long_urls(host, website):
    url = website(f"/missing/{'x' * 1980}")
    host.command("add", url)
    lines = host.command("list").stdout.splitlines()
    assert len(lines) == 2 and max(map(len, lines)) < 500
    assert "queued" in lines[1] and website("/missing/xxx") in lines[1]
    assert json.loads(host.command("list", "--json").stdout.splitlines()[0])["url"] == url
