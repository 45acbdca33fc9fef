"""The server uses only files of the session, whatever a tool or worker that a site has taken over writes or prints.

What tools can reach by themselves is in test_walls.py.
"""

import json
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import fake_tools
import pytest
from capture_host import CAPTURE_BINARY, CaptureHost, sha256, wait_until
from fake_tools import FAKES, FakeTools
from fakes import takeover
from fakes.liar import FILM
from support.needs import BUBBLEWRAP, works
from support.places import CHECKOUT

PYTHON = "/usr/bin/python3"
# The fakes write notes. Inside, their folder can't be written, so the session folder has them.
INSIDE = """#!/bin/sh
[ "$1" = {flag} ] && echo "{version}" && exit
exec {python} -E -s -S -B {script} "$REPLAYHOST_SESSION" "$@"
"""
SECRET = "the person's own"
# What changes while a server works
CHANGING = ("capture/sessions", "capture/capture.sqlite", "capture/logs", "catalog.sqlite", "jobs", "locks", "incoming")


class Person:
    """Files that belong to the person, outside of every session."""

    def __init__(self, host):
        self.host = host
        self.files = [host.folder / name for name in (
            "home/.ssh/id_rsa", "home/.bashrc", "store/capture/cookies/other.txt", "store/capture/tls/root.key", "mine.wacz")]
        for path in self.files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET, encoding="utf-8")
            path.chmod(0o600)

    def snapshot(self):
        """Type, mode, link count and content of each path, except those in CHANGING."""
        found = {}
        for place in (self.host.folder / "home", self.host.store, self.host.downloads, self.host.folder / "mine.wacz"):
            for path in [place, *place.rglob("*")]:
                name = str(path.relative_to(self.host.folder))
                inner = name.removeprefix("store/")
                if inner.startswith(CHANGING) or path == self.host.store or not os.path.lexists(path):
                    continue
                about = path.lstat()
                content = os.readlink(path) if path.is_symlink() else sha256(path) if path.is_file() else None
                found[name] = (stat.filemode(about.st_mode), about.st_nlink if path.is_file() else None, content)
        return found


# Tools, confined ---------------------------------------------------------------------------------------------------


def with_walls(folder):
    """A server whose tools are confined: fakes that work inside."""
    tools = FakeTools(folder / "tools")
    fakes = tools.root / "fakes"
    shutil.copytree(FAKES, fakes, ignore=shutil.ignore_patterns("__pycache__"))
    for name, script, flag, version in (
            ("yt-dlp", "yt_dlp.py", "--version", "2026.10.26"), ("ffmpeg", "ffmpeg.py", "-version", "ffmpeg version 5.1.6"),
            ("ffprobe", "ffprobe.py", "-version", "ffprobe version 5.1.6")):
        tools.write(name, INSIDE.format(python=PYTHON, script=fakes / script, flag=flag, version=version))
    (tools.path / "bwrap").symlink_to(BUBBLEWRAP)
    return CaptureHost(folder, tools, "--retry-delays", "0")


# Each tool with what makes the server start it, and the fake that completes the second attempt
TOOLS = {
    "yt-dlp": ("https://www.youtube.com/watch?v=1&case={case}", {}, "yt_dlp.py"),
    "ffmpeg": ("https://www.youtube.com/watch?v=2&case={case}", {"form": "audio", "audio_quality": "48k"}, "ffmpeg.py"),
    "ffprobe": ("https://www.youtube.com/watch?v=3&case={case}", {}, "ffprobe.py"),
    "gallery-dl": ("https://www.instagram.com/p/4/?fake=unsupported&case={case}", {}, None),
    "curl": ("http://site.invalid/guide.pdf?case={case}", {}, None),
    "chromium": ("http://site.invalid/page?case={case}", {"mode": "page"}, None),
}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("tool", TOOLS)
def test_files_left_by_a_tool_have_no_effect(tmp_path, tool):
    attack(with_walls(tmp_path), tool)


@pytest.mark.needs("bubblewrap", "root", "setpriv")
def test_files_left_by_a_tool_have_no_effect_on_another_user():
    """Modes mean nothing to root."""
    user = pwd.getpwnam("nobody")
    as_user = [shutil.which("setpriv"), "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]
    if not works(*as_user, CAPTURE_BINARY, "--version"):
        pytest.skip(f"the user 'nobody' can't run {CAPTURE_BINARY}")
    # Only root can look into pytest's folders.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        host = with_walls(Path(folder))
        host.prefix = as_user
        attack(host, "yt-dlp", user)


def attack(host, tool, user=None):
    person = Person(host)
    place = host.tools.root / "takeover"
    place.mkdir()
    url, options, honest = TOOLS[tool]
    fakes = host.tools.root / "fakes"
    host.tools.write(tool, fake_tools.PYTHON.format(python=PYTHON, script=fakes / "takeover.py", folder=place))
    targets = {"version": "2026.10.26", "victims": [str(path) for path in person.files], "honest": str(fakes / honest) if honest else None}

    def choose(kind):
        (place / "targets.json").write_text(json.dumps({**targets, "kind": kind}), encoding="utf-8")

    choose("link")
    if user:
        subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", host.folder], check=True)
    with host:
        assert host.call("GET", "/health")[1]["isolation"]["confined"]
        for kind in takeover.KINDS:
            choose(kind)
            before = person.snapshot()
            identifier = host.add(url.format(case=kind), options=options)
            row = host.wait_for(identifier)
            # Where the second attempt is attacked too, it ends because of what the first one left, or is killed too.
            assert row["state"] in (["completed"] if honest else ["failed", "aborted_by_system"]), json.dumps(row)
            assert row["attempt"] == 2, row
            assert f"download={identifier} next=another attempt reason=the download's process ended unexpectedly" in host.log.read_text()
            host.expect_no_leftovers()
            now = person.snapshot()
            assert {path: about for path, about in now.items() if path in before} == before, kind
            if honest:
                assert row["title"] != "forged" and host.file(row).stat().st_size == row["file_size"]
            else:
                assert "an unexpected error" not in row["error_message"]
                assert now == before
        count = len(takeover.KINDS) if honest else 0
        assert len(host.archives()) == len(host.files()) == count
        assert host.memory() < 400_000_000


# A worker, not confined ----------------------------------------------------------------------------------------------

# Names of a result that lead out of the session, or to what isn't a file of it. {victim} is a file of the person.
FOREIGN = {
    "parent": "../../../../mine.wacz", "parent-inside": "out/../../../../../mine.wacz", "absolute": "{victim}",
    "another-session": "../another/out/media.mp4", "cookies-of-another": "../../cookies/other.txt", "token": "../../capture.json",
    "link": "out/link", "link-to-folder": "folder-link/id_rsa", "hard-link": "out/hard-link", "fifo": "out/fifo",
    "device": "out/device", "socket": "out/socket", "folder": "out/folder", "nul": "out/media.mp4\0", "empty": "", "own": ".",
    "slashes": "out//media.mp4", "deep": "a/" * 100 + "media.mp4", "long": "x" * 5000, "missing": "out/none",
}
NAMES = {
    "parent": "../../../.bash_profile", "absolute": "/etc/cron.d/replayhost-test", "hidden": ".profile", "nul": "a\0b.mp4",
    "long": "x" * 3000, "line": "a\nb.mp4", "direction": "a\u202egpj.mp4", "empty": "", "own": "..",
}
REFUSED = {
    **{f"file-{name}": {"changes": {"file": value}} for name, value in FOREIGN.items()},
    **{f"archive-{name}": {"changes": {"archive": value}} for name, value in FOREIGN.items()},
    "hash-of-another": {"changes": {"archiveSHA256": "{other}"}},
    "archive-of-another": {"archive": "{second}"}, "no-hash": {"changes": {"archiveSHA256": "../x"}},
    # What isn't a result of this download, or none at all
    "no-lines": {"lines": []}, "no-JSON": {"lines": ["\0\x1b[31m{", "[]", "null"]}, "a-preview": {"lines": [
        '{"result": {"preview": {"_0": {"file": "out/media.mp4", "mediaType": "video/mp4", "fileName": "a", "title": "a", '
        '"genre": "unknown"}}}}']},
    "a-check": {"lines": ['{"result": {"replayed": {"_0": "Replays: all"}}}']}, "an-unknown-genre": {"changes": {"genre": "../x"}},
    "a-negative-size": {"changes": {"fileSize": -1}}, "a-failed-worker": {"code": 1},
    "nested": {"lines": ["["], "times": 100_000}, "much-memory": {"isGreedy": True}, "a-long-line": {"lines": ["x" * 1_000_000], "times": 300},
}
# The start of a case's name, and a part of its message; the first that fits counts
REASONS = [
    ("file-missing", "refused a file of the download: it's missing"), ("archive-missing", "refused a file of the download: it's missing"),
    ("file-", "refused a file of the download"), ("archive-of-another", "the library already has this archive"),
    ("archive-", "refused a file of the download"), ("hash-of-another", "the file doesn't have the expected SHA-256"),
    ("no-hash", "the file doesn't have the expected SHA-256"), ("no-", "ended without a result"),
    ("a-preview", "the worker did something else"), ("a-check", "the worker did something else"),
    ("an-unknown-genre", "ended without a result"), ("a-negative-size", "ended without a result"),
    ("a-failed-worker", "ended unexpectedly (exit code 1)"), ("much-memory", "it needed more than 1000 MB of memory"), ("nested", "ended without a result"),
    ("a-long-line", "a line that is too long"),
]
TAKEN = {
    **{f"name-{name}": {"changes": {"fileName": value}} for name, value in NAMES.items()},
    "type-with-a-field": {"changes": {"mediaType": "text/html\r\nSet-Cookie: a=b\r\n\r\n<script>"}},
    "wrong-size": {"changes": {"fileSize": 10**15}}, "title-with-controls": {"changes": {"title": "\0\x1b[31m\u202e../" * 1000}},
    **{f"replaced-{number}": {"isReplaced": True} for number in range(5)},
}


@pytest.fixture(scope="module")
def liar(tmp_path_factory):
    """A server with a worker that sends false results, and the files that it must not touch."""
    folder = tmp_path_factory.mktemp("liar")
    host = CaptureHost(folder, FakeTools(folder / "tools"), "--retry-delays", "", "--no-check")
    person = Person(host)
    place = host.tools.root / "liar"
    place.mkdir()
    other = CHECKOUT / "Fixtures" / "second.wacz"
    cases = {"archive": str(CHECKOUT / "Fixtures" / "sample.wacz"), "victim": str(person.files[0]), "cases": {**REFUSED, **TAKEN}}
    text = json.dumps(cases).replace("{victim}", str(person.files[0])).replace("{other}", sha256(other)).replace("{second}", str(other))
    (place / "cases.json").write_text(text, encoding="utf-8")
    host.tools.write("bwrap", fake_tools.PYTHON.format(python=PYTHON, script=FAKES / "liar.py", folder=place))
    session = host.capture / "sessions" / "another" / "out"
    host.replayhost("import", other)
    # 1 %, but at least 1000 MB
    host.configure("attempt:\n  memory_percent: 1\n")
    with host:
        session.mkdir(parents=True)
        (session / "media.mp4").write_text(SECRET, encoding="utf-8")
        yield host, person, session / "media.mp4"


def expect_only(now, other, before):
    """Nothing of the person, and nothing of another session, was changed, moved or made."""
    assert now == before
    assert other.read_text(encoding="utf-8") == SECRET and other.stat().st_nlink == 1


@pytest.mark.parametrize("name", REFUSED)
def test_false_results_are_refused(liar, name):
    host, person, other = liar
    before = person.snapshot()
    identifier = host.add(f"https://site.invalid/film?case={name}")
    row = host.wait_for(identifier)
    assert row["state"] in ("failed", "aborted_by_system"), row
    assert next(text for start, text in REASONS if name.startswith(start)) in row["error_message"], row
    wait_until(lambda: host.sessions() == ["another"], "the session is deleted")
    expect_only(person.snapshot(), other, before)
    assert host.memory() < 400_000_000
    assert "an unexpected error" not in row["error_message"], host.log.read_text()[-3000:]


@pytest.mark.parametrize("name", TAKEN)
def test_results_use_only_files_of_their_session(liar, name):
    """Else other devices could download the person's file. A file that is replaced meanwhile may also be refused."""
    host, person, other = liar
    before = person.snapshot()
    row = host.wait_for(host.add(f"https://site.invalid/film?case={name}"))
    wait_until(lambda: host.sessions() == ["another"], "the session is deleted")
    if row["state"] != "completed":
        assert name.startswith("replaced") and row["error_message"].startswith("refused a file of the download"), row
        return expect_only(person.snapshot(), other, before)
    # The file and the archive of the download are new, nothing else.
    place = host.file(row).relative_to(host.folder)
    archive = f"store/files/{host.archives()[row['archive']]['sha256']}"
    new = {str(place), f"{archive}.wacz", f"{archive}.json"}
    now = person.snapshot()
    assert now.keys() - before.keys() - {str(folder) for folder in place.parents} == new
    expect_only({path: about for path, about in now.items() if path in before}, other, before)
    assert host.file(row).read_bytes() == FILM and host.file(row).stat().st_nlink == 1
    assert row["file_size"] == len(FILM) and not row["file_path"].startswith(".") and len(row["file_path"].encode()) <= 255
    status, head, body = host.request("GET", f"/download/{row['download_id']}/file")
    assert (status, body, head.get("Set-Cookie")) == (200, FILM, None)
