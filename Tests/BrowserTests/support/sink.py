"""Listeners that stand for the whole network: every host name but this computer's leads to one of them."""

import contextlib
import socket
import threading

from .outside import BROWSER_MAKER, is_outside



class Sink:
    """Accepts connections, notes which host each one wanted, and closes it. `rules` are Chromium's resolver rules.

    `from_pages` are the hosts that were wanted, without those that the browser calls on its own account.
    """

    def __init__(self, names=True):
        self.names = names
        self.from_pages = []
        self.from_browser = []
        self.pages = listen(self.from_pages)
        self.browser = listen(self.from_browser)

    @property
    def rules(self):
        """What is excluded is not mapped; else the first rule that matches a name decides."""
        makers = [pattern for name in BROWSER_MAKER for pattern in (name, f"*.{name}")]
        return ", ".join([
            *(f"MAP {pattern} 127.0.0.1:{port_of(self.browser)}" for pattern in makers),
            *([] if self.names else ["MAP *.localhost ~NOTFOUND"]),
            f"MAP * 127.0.0.1:{port_of(self.pages)}",
            *(f"EXCLUDE {name}" for name in ("localhost", "127.0.0.1", *(["*.localhost"] if self.names else []))),
        ])

    def close(self):
        for listener in (self.pages, self.browser):
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


class NoSink:
    """In its place where a browser is in a network that is watched as a whole (`outside.Outside`)."""

    rules = None
    pages = None
    from_pages = []

    def close(self):
        pass


def make_sink(names=True):
    return NoSink() if is_outside() else Sink(names)


def port_of(listener):
    return listener.getsockname()[1]


def listen(wanted):
    """A listener on a port of its own that appends to `wanted` what each connection asks for."""
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept_all, args=[listener, wanted], daemon=True).start()
    return listener


def accept_all(listener, wanted):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=note, args=[connection, wanted], daemon=True).start()


def note(connection, wanted):
    with connection:
        connection.settimeout(5)
        try:
            first = connection.recv(4096)
        except OSError:
            first = b""
        wanted.append(host_in(first))


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
