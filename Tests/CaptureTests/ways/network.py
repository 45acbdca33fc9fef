"""A small internet in network namespaces: a computer that saves URLs, its own network, a metadata service, and everyone else.

Only the computer has routes, and they lead to the other three. So whatever it sends, to whatever address, arrives at one of them.
ip-netns(8), veth(4), packet(7)
"""

import contextlib
import ctypes
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.waiting import wait_until

# Addresses of this kind belong to the namespace `lan`, each way its own.
OWN, LAN, LAN_IPV6 = "10.0.0.1", "10.1.0.", "fd00:10::"
# A prefix that an internet provider gives to a home, and one of its translator (NAT64). Routed only inside of the namespaces.
HOME_IPV6, TRANSLATOR = "2606:2800:220:1::", "2606:2800:220:2::"
METADATA = "169.254.169.254"
# Everyone else. Routed only inside of the namespaces.
SITE, NAME_SERVER, PUBLIC = "93.184.216.34", "93.184.216.53", "93.184.1."
UNREACHABLE = "93.184.2.1"
# The word by which a way is known, in a path or in a name.
WORD = re.compile(rb"way-([a-z0-9-]+[a-z0-9])")
# What browsers ask name servers for by themselves.
OWN_QUESTIONS = {b"wpad": b"\x04wpad", b"google": b"\x06google"}
PLACES = ("server", "lan", "metadata", "public")

# Without link-local addresses, neighbour discovery isn't reliable, so IPv6 neighbours are known.
SETUP = f"""
ip -n server link add lan0 address 02:00:00:00:00:01 type veth peer name eth0 address 02:00:00:00:00:02 netns lan
ip -n server link add metadata0 type veth peer name eth0 netns metadata
ip -n server link add public0 type veth peer name eth0 netns public
ip -n server addr add {OWN}/30 dev lan0
ip -n server addr add 169.254.0.1/16 dev metadata0
ip -n server addr add 192.168.77.2/30 dev public0
ip -n server addr add fd00:10::1/64 dev lan0 nodad
ip -n server addr add fd00:77::2/64 dev public0 nodad
ip -n server addr add {HOME_IPV6}1/64 dev lan0 nodad
ip -n lan addr add 10.0.0.2/30 dev eth0
ip -n lan addr add {HOME_IPV6}2/64 dev eth0 nodad
ip -n lan addr add fd00:10::2/64 dev eth0 nodad
ip -n metadata addr add {METADATA}/16 dev eth0
ip -n public addr add 192.168.77.1/30 dev eth0
ip -n public addr add fd00:77::1/64 dev eth0 nodad
ip -n server link set lo up
ip -n server link set lan0 up
ip -n server link set metadata0 up
ip -n server link set public0 up
ip -n lan link set lo up
ip -n lan link set eth0 up
ip -n metadata link set lo up
ip -n metadata link set eth0 up
ip -n public link set lo up
ip -n public link set eth0 up
ip -n server neigh add fd00:10::2 lladdr 02:00:00:00:00:02 dev lan0 nud permanent
ip -n lan neigh add fd00:10::1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n lan neigh add {HOME_IPV6}1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent
ip -n server route add 10.0.0.0/8 via 10.0.0.2
ip -n server route add default via 192.168.77.1
ip -n server route add unreachable {UNREACHABLE}
ip -n server route add fd00:10::1:0/112 via fd00:10::2
ip -n server route add 64:ff9b::/96 via fd00:10::2
ip -n server route add {HOME_IPV6}1:0/112 via fd00:10::2
ip -n server route add {TRANSLATOR}/96 via fd00:10::2
ip -n server route add default via fd00:77::1
ip -n lan route add local 10.1.0.0/16 dev lo
ip -n lan -6 route add local fd00:10::1:0/112 dev lo
ip -n lan -6 route add local 64:ff9b::/96 dev lo
ip -n lan -6 route add local {HOME_IPV6}1:0/112 dev lo
ip -n lan -6 route add local {TRANSLATOR}/96 dev lo
ip -n public route add local 93.184.0.0/16 dev lo
ip -n public route add local 8.8.8.8 dev lo
"""

# Waits until the test is over, however it ends, and removes what it made.
CLEANER = "read line; for name in {names}; do ip netns del $name; rm -rf /etc/netns/$name; done"


class Namespace:
    """One of them. `run` calls a function in it; sockets that it makes stay there."""

    def __init__(self, name):
        self.name = name
        self.thread = ThreadPoolExecutor(1, initializer=self.enter)
        # Chromium ends its requests when an interface gets an address, so they get none by themselves.
        self.run(Path("/proc/sys/net/ipv6/conf/default/addr_gen_mode").write_text, "1")

    def enter(self):
        with open(f"/run/netns/{self.name}", "rb") as file:
            clone_newnet = 0x40000000
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), clone_newnet) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def run(self, function, *arguments):
        return self.thread.submit(function, *arguments).result()

    @property
    def command(self):
        """What comes before a command that runs in it, with its own resolv.conf."""
        return [shutil.which("ip"), "netns", "exec", self.name]

    def listen(self, kind, address, port):
        def make():
            one = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((address, port))
            if kind == socket.SOCK_STREAM:
                one.listen(100)
            return one

        return self.run(make)


class Network:
    """Makes the namespaces, and notes each packet that arrives in them."""

    def __init__(self):
        self.prefix = f"ways{os.getpid()}-"
        names = {place: self.prefix + place for place in PLACES}
        self.cleaner = subprocess.Popen(
            ["/bin/sh", "-c", CLEANER.format(names=" ".join(names.values()))], stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.is_closed, self.sockets, self.marks, self.noted = False, [], 0, set()
        self.seen, self.words, self.lock = Counter(), Counter(), threading.Lock()
        try:
            self.make(names)
        except BaseException:
            self.close()
            raise

    def make(self, names):
        for place, name in names.items():
            self.call(f"ip netns add {name}")
            setattr(self, place, Namespace(name))
        for line in SETUP.strip().splitlines():
            for place, name in names.items():
                line = re.sub(rf"(-n|netns) {place}\b", rf"\1 {name}", line)
            self.call(line)
        folder = Path("/etc/netns") / names["server"]
        folder.mkdir(parents=True)
        (folder / "resolv.conf").write_text(f"nameserver {NAME_SERVER}\noptions timeout:2 attempts:1\n", encoding="utf-8")
        for place in PLACES:
            self.watch(place, getattr(self, place).run(self.make_capture))
        # Nothing of this is to be seen there.
        self.watch("machine", self.make_capture())

    @staticmethod
    def call(line):
        result = subprocess.run(line.split(), capture_output=True, text=True)
        assert result.returncode == 0, f"{line}: {result.stderr}"

    @staticmethod
    def make_capture():
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        capture.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        return capture

    def watch(self, place, capture):
        self.sockets.append(capture)
        threading.Thread(target=self.look, args=(place, capture), daemon=True).start()

    def look(self, place, capture):
        while not self.is_closed:
            try:
                frame, (interface, _, kind, *_) = capture.recvfrom(1 << 17)
            except OSError:
                return
            # Packets on `lo` appear twice. On the computer itself, only `lo` is looked at: the rest arrives elsewhere.
            packet_outgoing = 4
            if kind == packet_outgoing or place == "server" and interface != "lo":
                continue
            found = addressed(frame)
            if not found or place == "machine" and not is_ours(found[1]):
                continue
            protocol, address, port = found
            with self.lock:
                self.seen[place, protocol, address, port] += 1
                found = set(WORD.findall(frame))
                found |= {word for word, label in OWN_QUESTIONS.items() if port == 53 and label in frame}
                for word in found:
                    self.words[place, address, port, word.decode()] += 1
                if b"mark " in frame:
                    self.noted.update((place, mark) for mark in re.findall(rb"mark (\d+)\.", frame))

    def packets(self, place, address, port=None, protocol=None):
        """How many packets came for an address; for a port if one is given."""
        with self.lock:
            return sum(count for (where, kind, target, to), count in self.seen.items()
                if (where, target) == (place, address) and port in (None, to) and protocol in (None, kind))

    def heard(self, place, word, address=None, port=None):
        """How many packets had the word of a way in them."""
        with self.lock:
            return sum(count for (where, target, to, name), count in self.words.items()
                if (where, name) == (place, word) and address in (None, target) and port in (None, to))

    def settle(self):
        """Returns when all that was sent before is noted: what is sent now is noted last."""
        self.marks += 1
        text = b"mark %d." % self.marks
        targets = {"server": "127.0.0.1", "lan": "10.0.0.2", "metadata": METADATA, "public": "192.168.77.1"}

        def send():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                for address in targets.values():
                    with contextlib.suppress(ConnectionError):
                        one.sendto(text, (address, 9))

        self.server.run(send)
        expected = {(place, b"%d" % self.marks) for place in targets}
        wait_until(lambda: expected <= self.noted, "a mark has arrived at every target")

    def begin(self):
        """Forgets what came."""
        self.settle()
        with self.lock:
            self.seen.clear()
            self.words.clear()

    def everything(self):
        """What came, without marks."""
        with self.lock:
            return {key: count for key, count in self.seen.items() if key[3] != 9}

    def close(self):
        self.is_closed = True
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for place in PLACES:
            if found := getattr(self, place, None):
                found.thread.shutdown()
        self.cleaner.stdin.close()
        self.cleaner.wait(30)
        left = [name for name in os.listdir("/run/netns") if name.startswith(self.prefix)] if os.path.exists("/run/netns") else []
        assert left == [], f"not removed: {left}"


def is_ours(address):
    """Whether an address of the tests would be a packet that left the namespaces."""
    return address.startswith(("10.0.0.", LAN, "169.254.", "93.184.", "192.168.77.", "8.8.8.8", "fd00:", "64:ff9b:", "2606:2800:"))


def addressed(frame):
    """The protocol, the target address and the port of a frame; `None` for other kinds, such as ARP.

    Also left out is what the kernel sends by itself: neighbour discovery, and the groups that this computer belongs to (IGMP).
    """
    kind, data = int.from_bytes(frame[12:14]), frame[14:]
    if kind == 0x0800 and len(data) >= 20:
        start, protocol, address = (data[0] & 15) * 4, data[9], socket.inet_ntoa(data[16:20])
    elif kind == 0x86DD and len(data) >= 40:
        start, protocol, address = 40, data[6], socket.inet_ntop(socket.AF_INET6, data[24:40])
        if protocol in (0, 58):
            return None
    else:
        return None
    if protocol == 2:
        return None
    name = {1: "ICMP", 6: "TCP", 17: "UDP"}.get(protocol, str(protocol))
    if name == "ICMP" and data[start:start + 1] == b"\x03":
        return None  # An answer to the mark: no program listens there.
    port = struct.unpack(">H", data[start + 2:start + 4])[0] if protocol in (6, 17) and len(data) >= start + 4 else 0
    return name, address, port
