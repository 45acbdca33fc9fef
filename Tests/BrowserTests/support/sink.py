"""A listener that stands for the whole network: every host name but this computer's leads here."""

import contextlib
import socket
import threading

# Chromium asks its maker's hosts for updates and the like by itself, whatever page is open.
BROWSER_MAKER = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com", "gvt2.com", "googleusercontent.com")


class Sink:
    """Accepts connections, notes which host each one wanted, and closes it."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.wanted = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._note, args=[connection], daemon=True).start()

    def _note(self, connection):
        with connection:
            connection.settimeout(5)
            try:
                first = connection.recv(4096)
            except OSError:
                first = b""
            self.wanted.append(host_in(first))

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    @property
    def from_pages(self):
        """The hosts that were wanted, without those that the browser calls on its own account."""
        return [host for host in self.wanted if not is_browser_maker(host)]


def is_browser_maker(host):
    return any(host == name or host.endswith(f".{name}") for name in BROWSER_MAKER)


def host_in(data):
    """The host that the first bytes of a connection ask for: SNI of a TLS ClientHello, or HTTP's Host."""
    if data[:1] == b"\x16":
        return server_name(data) or "TLS without a name"
    for line in data.split(b"\r\n")[1:]:
        if line.lower().startswith(b"host:"):
            return line[5:].strip().decode("latin-1").split(":")[0]
    return f"no host in {data[:60]!r}"


def server_name(hello):
    """The server_name extension of a ClientHello (RFC 8446 §4.1.2, RFC 6066 §3), or nothing."""
    try:
        at = 5 + 4 + 2 + 32
        at += 1 + hello[at]
        at += 2 + int.from_bytes(hello[at : at + 2])
        at += 1 + hello[at]
        end = at + 2 + int.from_bytes(hello[at : at + 2])
        at += 2
        while at < end:
            kind, length = int.from_bytes(hello[at : at + 2]), int.from_bytes(hello[at + 2 : at + 4])
            if kind == 0:
                size = int.from_bytes(hello[at + 7 : at + 9])
                return hello[at + 9 : at + 9 + size].decode("ascii")
            at += 4 + length
    except (IndexError, UnicodeDecodeError):
        return None
    return None
