"""A fake worker that sends false results. It runs in the place of bubblewrap, so it isn't confined. `case` in the query of the URL selects
the result.

The first argument is a folder with `cases.json`: the archive to return, the path of the person's file, and for each case the changed
fields of the result, or the lines to print instead.
"""

import hashlib
import json
import os
import socket
import stat
import subprocess
import sys
import time
from urllib.parse import parse_qs, urlsplit

FILM = b"film"


def zip_with_comment(data, comment):
    """Returns a different file for each download. APPNOTE 4.3.16: the last two bytes are the length of a comment, which is empty."""
    assert data[-2:] == b"\0\0"
    return data[:-2] + len(comment).to_bytes(2, "little") + comment


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def make_traps(victim):
    """What isn't a file of the session."""
    os.symlink(victim, "out/link")
    os.symlink(os.path.dirname(victim), "folder-link")
    os.link(victim, "out/hard-link")
    os.mkfifo("out/fifo")
    os.mkdir("out/folder")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("out/socket")
    if os.geteuid() == 0:
        # /dev/null's number
        os.mknod("out/device", stat.S_IFCHR | 0o600, os.makedev(1, 3))


def keep_replacing(path, victim):
    """Until the session is gone, in a process without the variable by which the server knows those of a session. Prints a byte after the
    first round."""
    is_first = True
    while os.path.isdir("out"):
        for make in (lambda: write("next", FILM), lambda: os.symlink(victim, "next"), lambda: os.link(victim, "next")):
            try:
                make()
                os.rename("next", path)
            except OSError:
                return
        if is_first:
            print(".", end="", flush=True)
            is_first = False


def work(place):
    with open(os.path.join(place, "cases.json"), encoding="utf-8") as file:
        cases = json.load(file)
    with open("job.json", encoding="utf-8") as file:
        url = json.load(file)["url"]
    name = parse_qs(urlsplit(url).query)["case"][0]
    case = cases["cases"][name]
    with open(case.get("archive", cases["archive"]), "rb") as file:
        archive = file.read() if "archive" in case else zip_with_comment(file.read(), name.encode())
    write("film.wacz", archive)
    write("out/media.mp4", FILM)
    make_traps(cases["victim"])
    if case.get("isReplaced"):
        replacing = subprocess.Popen([sys.executable, "-ESsB", __file__, place, "replace", cases["victim"]], env={},
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert replacing.stdout.read(1) == b"."
    if case.get("isGreedy"):
        kept = []
        while True:
            kept.append(b"x" * 50_000_000)
            time.sleep(0.05)
    result = {"archive": "film.wacz", "archiveSHA256": hashlib.sha256(archive).hexdigest(), "file": "out/media.mp4",
        "fileSize": len(FILM), "mediaType": "video/mp4", "fileName": f"{name}.mp4", "title": name, "genre": "unknown",
        **case.get("changes", {})}
    for line in case.get("lines", [json.dumps({"result": {"success": {"_0": result}}})]):
        for _ in range(case.get("times", 1)):
            sys.stdout.write(line)
        print(flush=True)
    return case.get("code", 0)


def main(place, *arguments):
    if arguments[0] == "replace":
        keep_replacing("out/media.mp4", arguments[1])
        return 0
    if arguments[-1] != "work":
        # The server tests whether confinement works.
        os.execv(arguments[arguments.index("--") + 1], arguments[arguments.index("--") + 1:])
    os.chdir(arguments[arguments.index("--chdir") + 1])
    return work(place)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
