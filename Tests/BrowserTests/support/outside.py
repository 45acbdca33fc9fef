"""A network in which every address belongs to this computer, so that nothing leaves it and every attempt is recorded.

In a new namespace: `unshare -rnm python -m support.outside PYTEST-ARGUMENTS`. Each name has its own address, so that each
packet identifies its name.
"""

import contextlib
import ctypes
import fcntl
import ipaddress
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

from .no_network import raise_interface
from .waiting import wait_until

# Chromium asks its maker's hosts for updates and the like by itself, whatever page is open. It also opens connections
# to them ahead of time and says nothing on them, so they are told apart by name when they are resolved.
BROWSER_MAKER = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com", "gvt2.com", "googleusercontent.com")

ENVIRONMENT = "REPLAYHOST_TEST_OUTSIDE"
# What a test reports when its browser's driver no longer answers.
UNANSWERED = "the browser's driver stopped answering"
# RFC 2544: for tests of networks.
ADDRESSES = ipaddress.ip_network("198.18.0.0/15")
# RFC 5737: for documentation.
OWN_ADDRESS = "192.0.2.1"
# Ports on which connections are accepted, so that what is sent on them is seen too.
TCP_PORTS = [80, 443, 3478]


def is_outside():
    return ENVIRONMENT in os.environ


def add_interface():
    """A veth(4) that is up, with an address: without any interface browsers take themselves for offline, and try no WebRTC."""
    rtm_newlink, name, linkinfo, info_kind = 16, 3, 18, 1
    kind = attribute(linkinfo, attribute(info_kind, b"veth"))
    ask_kernel(rtm_newlink, struct.pack("BBHiII", socket.AF_UNSPEC, 0, 0, 0, 0, 0) + attribute(name, b"outside0\0") + kind)
    siocsifaddr, siocsifnetmask = 0x8916, 0x891C
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, address in [(siocsifaddr, OWN_ADDRESS), (siocsifnetmask, "255.255.255.0")]:
            value = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(control, request, struct.pack("16s16s8x", b"outside0", value))
    # Chromium restarts its requests when an interface gets an address, so this one gets none by itself.
    with open("/proc/sys/net/ipv6/conf/outside0/addr_gen_mode", "w", encoding="ascii") as mode:
        mode.write("1")
    for _, interface in socket.if_nameindex():
        raise_interface(interface)


def attribute(kind, value):
    """rtnetlink(7): length, kind, value, filled up to a multiple of four."""
    return struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def ask_kernel(kind, message):
    request_create_acknowledge = 0x1 | 0x400 | 0x4
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.send(struct.pack("IHHII", 16 + len(message), kind, request_create_acknowledge, 1, 0) + message)
        error = -struct.unpack("i", kernel.recv(4096)[16:20])[0]
        if error:
            raise OSError(error, os.strerror(error))


def own_every_address():
    """`ip route add local default dev lo`, for IPv4 and IPv6, by rtnetlink(7)."""
    # Firefox takes no source address of its own for WebRTC.
    source = attribute(7, socket.inet_aton(OWN_ADDRESS))
    local = {"table": 255, "scope": 254, "kind": 2}
    add_route(socket.AF_INET, "lo", source, **local)
    add_route(socket.AF_INET6, "lo", **local)


def add_route(family, interface, more=b"", *, table, scope, kind):
    rtm_newroute, protocol_boot, outgoing_interface = 24, 3, 4
    route = struct.pack("BBBBBBBBI", family, 0, 0, 0, table, protocol_boot, scope, kind, 0)
    index = struct.pack("I", socket.if_nametoindex(interface))
    ask_kernel(rtm_newroute, route + attribute(outgoing_interface, index) + more)


def ask_own_names():
    """Has programs look names up at this computer. Others do not see it: the mount is of this namespace."""
    target = os.path.realpath("/etc/resolv.conf")
    if not os.path.exists(target):
        return  # Programs ask 127.0.0.1 then by themselves.
    file = tempfile.NamedTemporaryFile("w", prefix="resolv-", delete=False)
    file.write("nameserver 127.0.0.1\n")
    file.close()
    os.chmod(file.name, 0o644)
    mount_bind = 4096
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.mount(file.name.encode(), target.encode(), None, mount_bind, None)
    os.unlink(file.name)
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def build():
    """Makes this network of the namespace that the process is in."""
    raise_interface("lo")
    add_interface()
    own_every_address()
    ask_own_names()


class Outside:
    """Answers every name, accepts every connection on a few ports, and notes who was wanted.

    `heard` is a dict of names to what came: "DNS", "TCP", "UDP", and "HTTP" where a request was sent.
    """

    def __init__(self):
        self.heard = {}
        self.names = {}
        self.lock = threading.Lock()
        self.is_closed = False
        self.sockets = []
        self.capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        self.start(self.look_at_packets, self.capture)
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind(("127.0.0.1", 53))
        self.start(self.answer_names, asked)
        for port in TCP_PORTS:
            self.start(self.accept, socket.create_server(("0.0.0.0", port)))

    def start(self, action, own):
        self.sockets.append(own)
        threading.Thread(target=action, args=[own], daemon=True).start()

    def close(self):
        self.is_closed = True
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def address(self, name):
        """The address that this name has and no other."""
        with self.lock:
            if name not in self.names:
                self.names[name] = str(ADDRESSES[len(self.names) + 1])
            return self.names[name]

    def note(self, name, kind):
        """`lo` shows each packet twice, so a mark of `settle` may come again."""
        with self.lock:
            self.heard.setdefault(name, set()).add(kind)

    def forget(self):
        with self.lock:
            self.heard.clear()

    @property
    def from_pages(self):
        """What was wanted, without what browsers want on their own account: a dict of names to sorted kinds."""
        with self.lock:
            return {name: sorted(kinds) for name, kinds in sorted(self.heard.items()) 
                if not is_browsers_own(name) and not name.endswith(".settle.test")}

    @property
    def from_browser(self):
        with self.lock:
            return {name: sorted(kinds) for name, kinds in sorted(self.heard.items()) if is_browsers_own(name)}

    def settle(self):
        """Returns when all that was sent before is noted: what is sent now is noted last."""
        mark = f"mark-{len(self.names)}.settle.test"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.sendto(b"mark", (self.address(mark), 9))
        wait_until(lambda: mark in self.heard, "the capture sees what was sent last")

    def look_at_packets(self, capture):
        while not self.is_closed:
            try:
                data = capture.recv(65535)
            except OSError:
                return
            found = wanted(data)
            if found:
                kind, address, port = found
                with self.lock:
                    name = next((one for one, own in self.names.items() if own == address), f"{address}:{port}")
                self.note(name, kind)

    def answer_names(self, own):
        while not self.is_closed:
            try:
                question, client = own.recvfrom(4096)
            except OSError:
                return
            try:
                name, kind, end = read_question(question)
            except IndexError:
                self.note("a question that is none", "DNS")
                continue
            self.note(name, "DNS")
            answers, data = 0, b""
            if kind == 1:  # A: RFC 1035 §3.2.2. Other kinds have no data.
                answers = 1
                address = socket.inet_aton(self.address(name))
                data = struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + address
            head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, answers, 0, 0)
            with contextlib.suppress(OSError):
                own.sendto(head + question[12:end] + data, client)

    def accept(self, own):
        while not self.is_closed:
            try:
                connection, _ = own.accept()
            except OSError:
                return
            threading.Thread(target=self.converse, args=[connection], daemon=True).start()

    def converse(self, connection):
        """Records the host of a request, and answers so that every page can read the response."""
        with connection, contextlib.suppress(OSError):
            connection.settimeout(30)
            data = connection.recv(4096)
            host = next((line[5:].strip() for line in data.split(b"\r\n") if line.lower().startswith(b"host:")), b"")
            if host:
                self.note(host.decode("latin-1").split(":")[0].lower(), "HTTP")
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/plain\r\n"
                b"Content-Length: 2\r\nConnection: close\r\n\r\nOK")


def is_browsers_own(name):
    makers = (*BROWSER_MAKER, "mozilla.org", "mozilla.com", "mozilla.net", "firefox.com", "chrome.com")
    return any(name == maker or name.endswith(f".{maker}") for maker in makers)


def wanted(frame):
    """Who a frame is for, when that is not this computer: "TCP" or "UDP", address, port. Only opening segments."""
    kind, data = int.from_bytes(frame[12:14]), frame[14:]
    if kind == 0x0800 and len(data) >= 20:
        start, protocol, target = (data[0] & 15) * 4, data[9], ipaddress.ip_address(data[16:20])
    elif kind == 0x86DD and len(data) >= 40:
        start, protocol, target = 40, data[6], ipaddress.ip_address(data[24:40])
    else:
        return None
    if target.is_loopback or len(data) < start + 14 and protocol == 6 or len(data) < start + 4:
        return None
    port = int.from_bytes(data[start + 2 : start + 4])
    if protocol == 6 and data[start + 13] & 0x12 == 0x02:  # SYN without ACK: RFC 9293 §3.1
        return "TCP", str(target), port
    return ("UDP", str(target), port) if protocol == 17 else None


def read_question(message):
    """Name, type and end of the first question. RFC 1035 §4.1.2."""
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("latin-1").lower())
        at += 1 + message[at]
    return ".".join(labels), int.from_bytes(message[at + 1 : at + 3]), at + 5


def run_watched(file, selection, passes, seconds, **variables):
    """Runs the selected tests of a file in their own network. Exactly `passes` tests must pass.

    WebKit's driver has once refused every command for four minutes. Such a run says nothing about what the pages did, so
    the tests then run a second time, from the start.
    """
    end = time.monotonic() + seconds

    def run_tests():
        return subprocess.run(
            ["unshare", "-rnm", sys.executable, "-m", "support.outside", str(file), "-k", selection, "-s"],
            cwd=Path(__file__).parents[1], env={**os.environ, **variables}, capture_output=True, text=True,
            timeout=end - time.monotonic())

    run = run_tests()
    if run.returncode != 0 and UNANSWERED in run.stdout:
        warnings.warn(f"these tests ran again: {run.stdout[-20000:]}", stacklevel=1)
        run = run_tests()
    print(run.stdout)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert f"{passes} passed" in run.stdout


def main():
    interfaces = [name for _, name in socket.if_nameindex()]
    if interfaces != ["lo"]:
        sys.exit(f"error: there is a network here: {', '.join(interfaces)}")
    build()
    os.environ[ENVIRONMENT] = "1"
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])


if __name__ == "__main__":
    main()
