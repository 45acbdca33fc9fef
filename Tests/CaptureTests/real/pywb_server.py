"""pywb 2.10.0 with a collection of its own. PYWB is the folder of its programs; `make bench` installs them into .build/pywb."""

import contextlib
import http.client
import os
import socket
import subprocess

from support.host import die_with_parent
from support.places import CHECKOUT
from support.waiting import wait_until

PROGRAMS = CHECKOUT / os.environ.get("PYWB", ".build/pywb/bin")


def is_installed():
    return os.access(PROGRAMS / "wb-manager", os.X_OK)


class PywbServer:
    """Serves the WARC files of WACZ files until `close()`. It has no proxy, and loads nothing from the network."""

    def __init__(self, folder, *packages):
        for arguments in (["init", "saved"], *(["add", "--unpack-wacz", "saved", str(package)] for package in packages)):
            subprocess.run([PROGRAMS / "wb-manager", *arguments], cwd=folder, check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [PROGRAMS / "wayback", "-b", "127.0.0.1", "-p", str(self.port)], cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        wait_until(self.is_up, "pywb answers", 60)

    def is_up(self):
        assert self.process.poll() is None, "pywb ended"
        with contextlib.suppress(OSError):
            return self.get("/saved/")[0] == 200

    def get(self, path, **fields):
        """Returns the status, the header fields and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def close(self):
        self.process.terminate()
        self.process.wait(60)
