"""A network at home in network namespaces: the computer with the server, a phone, and a computer on the internet.

The server can be reached as 192.168.50.1 from the phone (192.168.50.2), and as 198.51.100.1 from the internet (198.51.100.2).
"""

import contextlib
import http.client
import itertools
import json
import os
import ssl
import subprocess
from urllib.parse import urlsplit

from ways.network import CLEANER, Namespace, Network

PLACES = ("server", "phone", "internet")
SERVER, SERVER_OUTSIDE = "192.168.50.1", "198.51.100.1"
SETUP = """
ip -n server link add home0 type veth peer name eth0 netns phone
ip -n server link add wan0 type veth peer name eth0 netns internet
ip -n server addr add 192.168.50.1/24 dev home0
ip -n server addr add 198.51.100.1/24 dev wan0
ip -n phone addr add 192.168.50.2/24 dev eth0
ip -n internet addr add 198.51.100.2/24 dev eth0
ip -n server link set lo up
ip -n server link set home0 up
ip -n server link set wan0 up
ip -n phone link set lo up
ip -n phone link set eth0 up
ip -n internet link set lo up
ip -n internet link set eth0 up
"""


class HomeNetwork:
    numbers = itertools.count()

    def __init__(self):
        prefix = f"home{os.getpid()}-{next(self.numbers)}"
        names = {place: f"{prefix}-{place}" for place in PLACES}
        self.cleaner = subprocess.Popen(
            ["/bin/sh", "-c", CLEANER.format(names=" ".join(names.values()))], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True)
        for place, name in names.items():
            Network.call(f"ip netns add {name}")
            setattr(self, place, Namespace(name))
        for line in SETUP.strip().splitlines():
            words = [names.get(word, word) for word in line.split()]
            Network.call(" ".join(words))

    def change_address(self, old, new):
        """Gives the server another address at home, as a router does."""
        name = self.server.name
        Network.call(f"ip -n {name} addr del {old}/24 dev home0")
        Network.call(f"ip -n {name} addr add {new}/24 dev home0")

    def give_phone(self, addresses):
        """Gives the phone more addresses, as one who wants to pass for many devices does."""
        for address in addresses:
            Network.call(f"ip -n {self.phone.name} addr add {address}/24 dev eth0")

    def close(self):
        for place in PLACES:
            if found := getattr(self, place, None):
                found.thread.shutdown()
        self.cleaner.stdin.close()
        self.cleaner.wait(60)


def request(place, method, url, headers=None, body=None, root=None, seconds=120):
    """A request from a namespace. Returns the status, the header fields and the body.

    `root` is the path of the only certificate that is trusted for https; `None` to trust any.
    """
    def ask():
        parts = urlsplit(url)
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=root)
            if root is None:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=seconds, context=context)
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=seconds)
        with contextlib.closing(connection):
            fields = dict(headers or {})
            content = body
            if isinstance(body, dict):
                content = json.dumps(body).encode()
                fields.setdefault("Content-Type", "application/json")
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(method, target, content, fields)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    return place.run(ask)
