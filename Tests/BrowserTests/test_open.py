"""`replayhost open` with a browser."""

import json
import os
import stat

from support.expecting import expect
from support.journey import TITLE, expect_home
from support.places import FIXTURES
from support.viewer import Viewer


def test_open_library_shows_the_new_archive(host, page, tmp_path):
    """Without a reload. The command prints the archive's address."""
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    page.evaluate("window.wasNotReloaded = true")
    result = host.run("open", FIXTURES / "sample.wacz", "--no-browser", "--json")
    assert result.returncode == 0, result.stderr
    opened = json.loads(result.stdout)
    assert opened["started"] is False
    assert opened["url"] == f"{host.address}/?archive=/archives/sample.wacz"
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    assert page.evaluate("window.wasNotReloaded") is True, "the page was loaded again"


def test_browser_opens_the_main_page(host, page, tmp_path, monkeypatch):
    script = tmp_path / "browser"
    script.write_text('printf %s "$1" > "$0.address"\n')
    monkeypatch.setenv("BROWSER", f"/bin/sh {script}")
    result = host.run("open", FIXTURES / "sample.wacz")
    assert result.returncode == 0, result.stderr
    address = (tmp_path / "browser.address").read_text()
    assert result.stdout.splitlines()[-1] == address
    page.goto(address)
    expect_home(Viewer(page))


def test_background_server_continues_after_the_command(host, page, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    host.stop()
    opened = json.loads(host.run("open", FIXTURES / "sample.wacz", "--no-browser", "--json", "--port", "0").stdout)
    try:
        assert opened["started"] is True
        assert stat.S_IMODE(os.stat(opened["log"]).st_mode) == 0o600
        page.goto(opened["url"])
        expect_home(Viewer(page))
    finally:
        stopped = host.run("stop", "--json")
    assert json.loads(stopped.stdout) == {"address": opened["address"], "pid": opened["pid"], "stopped": True}
