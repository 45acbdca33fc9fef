"""Clients that never finish: slow heads, half of a TLS handshake, bodies that don't come, answers that aren't read. Others are served."""

import contextlib
import re
import socket
import ssl
import subprocess
import threading

import pytest
from home_network import SERVER
from home_server import household, share, wait_until

pytestmark = pytest.mark.needs("network namespaces")
# As many connections as one address may have, and as all may have together. docs/network.md
OF_ONE, OF_ALL = 32, 256
ADDRESSES = [f"192.168.50.{number}" for number in range(100, 100 + OF_ALL // OF_ONE + 1)]

# Of devices that never have a key.
STRANGERS = [f"192.168.50.{number}" for number in range(120, 120 + len(ADDRESSES))]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with household(tmp_path_factory.mktemp("slow")) as home:
        home.network.give_phone(ADDRESSES + STRANGERS)
        yield home


@pytest.fixture(scope="module")
def film(home, website):
    identifier = share(home, home.ana, website.fake("ok", size=20_000_000, by="slow"), options={"mode": "media"})
    wait_until(lambda: home.ask(home.ana, "GET", f"/status/{identifier}")[1]["state"] == "completed", "the film is saved")
    return identifier


def hello():
    """What a TLS client sends first. RFC 8446 §4.1.2"""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl._create_unverified_context().wrap_bio(incoming, outgoing)
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


class SlowClients:
    """Connections from the phone. From then on, each sends a byte of `rest` now and then."""

    def __init__(self, home, kind, film="", addresses=ADDRESSES[:1]):
        port = home.host.port if kind.split()[0] in ("body", "session", "unread") or kind == "head" else 8443
        host = f"{SERVER}:{port}"
        self.home, self.port = home, port
        self.first, self.rest = {
            "head": (f"GET /history HTTP/1.1\r\nHost: {host}\r\nX-Other: ".encode(), b"a"),
            "head over TLS": (f"GET /history HTTP/1.1\r\nHost: {host}\r\nX-Other: ".encode(), b"a"),
            "body": (f"POST /download HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {home.ana}\r\nContent-Type: application/json\r\n"
                "Content-Length: 60000\r\n\r\n{".encode(), b" "),
            "body without a key": (
                f"POST /download HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{{".encode(), b" "),
            "session without a key": (
                f"POST /admin/session HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{{".encode(), b" "),
            "unread": (f"GET /download/{film}/file HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {home.ana}\r\n\r\n".encode(), b""),
            "half a hello": (hello()[:100], b""),
            "a whole hello": (hello(), b""),
            "a hello of 16 kB": (b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", b"\0"),
            "no TLS": (b"\x80" * 1000, b""),
            "TLS and silence": (b"", b""),
        }[kind]
        self.sockets, self.stopped = [], threading.Event()
        self.context = ssl.create_default_context(cafile=home.root) if kind in ("head over TLS", "TLS and silence") else None
        self.connect([address for address in addresses for _ in range(OF_ONE)])
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def connect(self, addresses):
        """Opens a connection from each."""
        def connect_all():
            for address in addresses:
                with contextlib.suppress(OSError):
                    self.add(socket.create_connection((SERVER, self.port), 120, (address, 0)))

        self.home.network.phone.run(connect_all)

    def add(self, connection):
        self.sockets.append(connection)
        if self.context:
            self.sockets[-1] = connection = self.context.wrap_socket(connection, server_hostname=SERVER)
        connection.sendall(self.first)

    def send(self):
        while not self.stopped.wait(0.1):
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.send(self.rest)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        for one in self.sockets:
            one.close()


def expect_served(home, *who):
    """By both ports, and what needs the database too."""
    for one in who:
        for scheme in ("http",) if one == "own" else ("http", "https"):
            assert home.ask(one, "GET", "/health", scheme=scheme)[0] == 200, one
            assert home.ask(one, "GET", "/history", scheme=scheme)[0] == (401 if one == "internet" else 200), one


@pytest.mark.parametrize("kind", [
    "head", "head over TLS", "body", "unread", "half a hello", "a whole hello", "a hello of 16 kB", "no TLS", "TLS and silence"])
def test_others_are_served(home, film, kind):
    """While one address has all connections that it can have: the phone by its own address, the internet, and this computer."""
    with SlowClients(home, kind, film):
        expect_served(home, "own", home.ana, "internet")
        # A 33rd is served instead of one that has no complete request, but not instead of a film that is being sent.
        if kind != "body":  # Those are closed after some seconds.
            assert is_closed(home, ADDRESSES[0]) == (kind == "unread")
    wait_until(lambda: not is_closed(home, ADDRESSES[0]), "the address is served again")


def is_closed(home, address):
    """Whether the server closes a connection from an address before it has asked for anything."""
    def look():
        with socket.create_connection((SERVER, home.host.port), 120, (address, 0)) as one:
            with contextlib.suppress(ConnectionError):
                one.sendall(f"GET /health HTTP/1.1\r\nHost: {SERVER}:{home.host.port}\r\nConnection: close\r\n\r\n".encode())
                return not one.recv(100)
            return True

    return home.network.phone.run(look)


def test_this_computer_is_served_when_the_network_is_full(home, film):
    """256 connections from 9 addresses with a key, all in use. When they are gone, the network is served again."""
    with SlowClients(home, "unread", film, ADDRESSES) as clients:
        def is_full():
            wait_until(lambda: all(has_answer(one) for one in clients.sockets), "each is in use or closed")
            if is_closed(home, "192.168.50.2"):
                return True
            # Some gave way before their requests were read, or while connections of the test before were being closed.
            clients.connect(ADDRESSES)
            return False

        wait_until(is_full, "the phone isn't served")
        expect_served(home, "own")
    wait_until(lambda: not is_closed(home, "192.168.50.2"), "the phone is served again")
    expect_served(home, home.ana, "internet")


@pytest.mark.parametrize("kind", ["head", "TLS and silence", "half a hello", "body without a key", "session without a key"])
def test_devices_without_a_key_keep_no_one_out(home, kind):
    """256 connections from 9 addresses that aren't in use: one that is idle goes first."""
    with SlowClients(home, kind, addresses=STRANGERS):
        for _ in range(3):
            expect_served(home, "own", home.ana, "internet")
            assert not is_closed(home, "192.168.50.2")


def test_slow_bodies_are_given_up(home):
    """256 connections from 9 addresses with a key. Each goes on sending, but less than 1 kB in a second."""
    with SlowClients(home, "body", addresses=ADDRESSES) as clients:
        wait_until(lambda: all(has_answer(one) for one in clients.sockets), "the server closes them")
        expect_served(home, home.ana, "internet")


def has_answer(connection):
    """Whether the server has sent something, or closed the connection."""
    try:
        connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def test_connections_that_come_and_go(home):
    """Reset at once, before or after the TLS handshake."""
    def churn():
        for number in range(200):
            with contextlib.suppress(OSError), socket.create_connection((SERVER, (home.host.port, 8443)[number % 2]), 120) as one:
                one.sendall(hello()[:number] if number % 2 else b"GET /"[:number])
                # Without a goodbye: a reset. socket(7)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    home.network.phone.run(churn)
    wait_until(lambda: not is_closed(home, "192.168.50.2"), "the phone is served")
    expect_served(home, "own", home.ana, "internet")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_connections_that_ended_are_not_counted(home, scheme):
    """More requests in a row than one address may have connections, each on its own. The client says goodbye, as curl does."""
    command = ["curl", "--silent", "--cacert", home.root, "--header", "Connection: close", "--write-out", "%{http_code} ", "--output", "/dev/null"]
    url = home.base(scheme) + "/health"
    got = [subprocess.run([*home.network.phone.command, *command, url], capture_output=True, text=True).stdout for _ in range(OF_ONE + 8)]
    assert got == ["200 "] * len(got)


@pytest.mark.parametrize("ciphers", ["eNULL", "aNULL", "kRSA", "PSK"])
def test_weak_ciphers_are_refused(home, ciphers):
    """Without encryption, without a certificate, and without forward secrecy. TLS 1.0 and 1.1 are in test_access.py."""
    def cipher(chosen):
        command = ["openssl", "s_client", "-connect", f"{SERVER}:8443", "-tls1_2", "-cipher", f"{chosen}:@SECLEVEL=0"]
        result = subprocess.run([*home.network.phone.command, *command], input="", capture_output=True, text=True, errors="replace", timeout=120)
        return re.search(r"Cipher is (\S+)", result.stdout)[1]

    assert cipher(ciphers) == "(NONE)"
    assert cipher("ECDHE") != "(NONE)"


def test_head_that_never_ends_is_given_up(home):
    """Sooner than a connection that had a request before, which clients keep for the next one."""
    head = f"GET /health HTTP/1.1\r\nHost: {SERVER}:{home.host.port}\r\n".encode()
    kept, slow = (home.network.phone.run(socket.create_connection, (SERVER, home.host.port), 180) for _ in range(2))
    with kept, slow:
        kept.sendall(head + b"\r\n")
        assert kept.recv(12) == b"HTTP/1.1 200"
        slow.sendall(head)
        # It ends when the server closes it, without an answer.
        assert slow.recv(1) == b""
        kept.sendall(head + b"\r\n")
        while b"HTTP/1.1 200" not in kept.recv(65536):
            pass
