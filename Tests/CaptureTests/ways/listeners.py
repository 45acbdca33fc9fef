"""What notes arrivals that are no packets: unix sockets and files. Also a proxy that refuses nothing."""

import contextlib
import ctypes
import os
import re
import socket
import struct
import threading
from collections import Counter
from pathlib import Path


class Sockets:
    """Unix sockets in the namespace of the capture server, each in another place. Counts who connects."""

    def __init__(self, network, store):
        name = f"ways-{os.getpid()}"
        self.names = {"abstract": name, "path": f"/tmp/{name}", "store": str(Path(store) / "ways.sock")}
        self.arrived, self.sockets = Counter(), []
        for kind, path in self.names.items():
            # An abstract name belongs to the namespace in which it's made.
            one = network.server.run(self.listen, "\0" + path if kind == "abstract" else path)
            self.sockets.append(one)
            threading.Thread(target=self.serve, args=[one, kind], daemon=True).start()

    @staticmethod
    def listen(name):
        one = socket.socket(socket.AF_UNIX)
        one.bind(name)
        one.listen()
        return one

    def serve(self, one, kind):
        with contextlib.suppress(OSError):
            while True:
                one.accept()[0].close()
                self.arrived[kind] += 1

    def close(self):
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for kind in ("path", "store"):
            Path(self.names[kind]).unlink(missing_ok=True)


class OpenedFiles:
    """Notes which files of a folder are opened. inotify(7)"""

    def __init__(self, folder):
        library, in_open, nonblocking = ctypes.CDLL(None, use_errno=True), 0x20, os.O_NONBLOCK
        self.descriptor = library.inotify_init1(nonblocking)
        assert library.inotify_add_watch(self.descriptor, os.fsencode(folder), in_open) >= 0

    def take(self):
        """The stems of the names of files that were opened since the last call, with how often."""
        found = Counter()
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.descriptor, 1 << 16):
                while data:
                    length = struct.unpack("iIII", data[:16])[3]
                    if name := data[16:16 + length].rstrip(b"\0").decode():
                        found[name.partition(".")[0]] += 1
                    data = data[16 + length:]
        return found

    def close(self):
        os.close(self.descriptor)


class CarelessProxy:
    """A proxy on a unix socket that carries out whatever looks like a request. For control runs only."""

    def __init__(self, network, path):
        self.network, self.one = network, Sockets.listen(str(path))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.converse, args=[self.one.accept()[0]], daemon=True).start()

    def converse(self, client):
        with client, contextlib.suppress(OSError):
            text = client.recv(1 << 16).decode("latin-1")
            for authority in re.findall(r"(?:CONNECT |http://)([^/ \r\n]+)", text):
                host, _, port = authority.rpartition("@")[2].rpartition(":")
                if not port.isdigit():
                    host, port = authority.rpartition("@")[2], "80"
                self.network.server.run(self.connect, host.strip("[]").rstrip("."), int(port) & 0xFFFF)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    @staticmethod
    def connect(host, port):
        """The resolver of this process knows nothing of the namespaces, so names are looked up here."""
        from ways import NAMES

        with contextlib.suppress(OSError), socket.create_connection((NAMES.get(host, [host])[0], port), 3) as one:
            one.sendall(b"GET / HTTP/1.1\r\n\r\n")

    def close(self):
        with contextlib.suppress(OSError):
            self.one.shutdown(socket.SHUT_RDWR)
        self.one.close()
