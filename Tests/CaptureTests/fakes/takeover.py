"""A tool that a site has taken over: it replaces what the server and its worker wrote in the session folder, and kills the worker.

The first argument is a folder with `targets.json`: the version to print, the kind of forgery (a key of KINDS), the paths to attack, and
`honest`: the fake tool that runs in the last attempt; `null` if that one is attacked too. It runs in the place of any tool, also inside of
bubblewrap.
"""

import json
import os
import shutil
import signal
import socket
import sys

NAMES = ["result.json", "job.json", "log.txt", "egress.jsonl", "egress.sock", "cookies.txt", "out", "parts", "media.wacz", ".result"]


def forged(victim):
    """A result whose files are the person's."""
    return json.dumps({"success": {"_0": {
        "archive": victim, "archiveSHA256": "0" * 64, "file": victim, "fileSize": 6, "mediaType": "video/mp4",
        "fileName": "../../../.bash_profile", "title": "forged", "genre": "youtube"}}})


def link(path, victim):
    os.symlink(victim, path)


def dangling(path, victim):
    """Writing through it would make a file."""
    os.symlink(victim + "-planted", path)


def hard_link(path, victim):
    """Only to a file of the session: others aren't visible inside."""
    with open(path + ".other", "w", encoding="utf-8") as file:
        file.write(forged(victim))
    os.link(path + ".other", path)


def fifo(path, victim):
    os.mkfifo(path)


def folder(path, victim):
    os.makedirs(path + "/inner")
    os.symlink(os.path.dirname(victim), path + "/inner/link")
    os.chmod(path, 0)


def listener(path, victim):
    with socket.socket(socket.AF_UNIX) as one:
        # The path of a test can be too long for a socket.
        os.chdir(os.path.dirname(path))
        one.bind(os.path.basename(path))


def huge(path, victim):
    with open(path, "w", encoding="utf-8") as file:
        file.write(forged(victim))
        file.truncate(3_000_000_000)


def plain(path, victim):
    with open(path, "w", encoding="utf-8") as file:
        file.write(forged(victim))


def deep(path, victim):
    """Deeper than any path can be (PATH_MAX), with names that aren't text. Nothing can be opened without a change of its mode."""
    os.mkdir(path)
    os.chdir(path)
    for level in range(200):
        name = b"\xff" * (1 + level % 100)
        os.mkdir(name)
        os.chdir(name)
        os.chmod("..", 0)


def locked(path, victim):
    """A file that can't be written, in a session that can't be read."""
    plain(path, victim)
    os.chmod(path, 0o444)


KINDS = {each.__name__: each for each in (link, dangling, hard_link, fifo, folder, listener, huge, plain, deep, locked)}


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def main(place, *arguments):
    with open(os.path.join(place, "targets.json"), encoding="utf-8") as file:
        targets = json.load(file)
    if "--version" in arguments or "-version" in arguments:
        print(targets["version"])
        return 0
    session = os.environ["REPLAYHOST_SESSION"]
    if targets["honest"]:
        with open(os.path.join(session, "job.json"), encoding="utf-8") as file:
            is_last = json.load(file)["isLast"]
        if is_last:
            os.execv(sys.executable, [sys.executable, "-ESsB", targets["honest"], session, *arguments])
    for at, name in enumerate(NAMES):
        path = os.path.join(session, name)
        remove(path)
        KINDS[targets["kind"]](path, targets["victims"][at % len(targets["victims"])])
    if targets["kind"] == "locked":
        os.chmod(session, 0)
    # The worker may take this for a line of its own.
    print(json.dumps({"result": json.loads(forged(targets["victims"][0]))}), flush=True)
    for process in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        # Inside, 1 is bubblewrap's own process, which can't be killed from there.
        if process not in (1, os.getpid()):
            os.kill(process, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
