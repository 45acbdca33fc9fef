"""A capture server in the network at home, and requests to it from everywhere."""

import contextlib
import json

from capture_host import FAST_RETRIES, SECONDS, CaptureHost
from fake_tools import FakeTools
from home_network import SERVER, SERVER_OUTSIDE, HomeNetwork, request
from support.waiting import wait_until as wait_until_within

OPEN = "server:\n  host: 0.0.0.0\n  ssl:\n    enabled: true\n    port: 8443\n"


def wait_until(condition, what):
    """A wait ends when what it waits for happens. The limit only ends a run that would hang."""
    return wait_until_within(condition, what, SECONDS)


class Home:
    """A server in the network at home, its keys, and requests from everywhere."""

    def __init__(self, folder, configuration=OPEN):
        self.network = HomeNetwork()
        self.host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
        self.host.prefix = self.network.server.command
        self.configure(configuration)
        self.root = folder / "server.crt"

    def configure(self, text):
        self.host.configure(text)

    def apply(self, text):
        """Replaces config.yaml, and waits until it's in force. Asking with a new key until then would count as wrong keys."""
        line = "config.yaml was applied"
        before = self.log().count(line)
        self.configure(text)
        wait_until(lambda: self.log().count(line) > before, "the configuration is in force")

    def __enter__(self):
        try:
            self.host.start()
        except BaseException:
            self.network.close()
            raise
        self.token = self.host.token
        return self

    def __exit__(self, *_):
        self.host.stop()
        self.network.close()

    def key(self, name, *options):
        return self.host.key(name, *options)

    def base(self, scheme, address=SERVER):
        return f"https://{address}:8443" if scheme == "https" else f"http://{address}:{self.host.port}"

    def wait_until_open(self):
        def is_open():
            with contextlib.suppress(OSError):
                return request(self.network.phone, "GET", self.base("http") + "/health")[0] == 200

        wait_until(is_open, "the server listens at home")
        status, _, pem = request(self.network.phone, "GET", self.base("http") + "/server.crt")
        assert status == 200, pem
        self.root.write_bytes(pem)

    def ask(self, who, method, path, body=None, scheme="http", address=SERVER, headers=None):
        """Returns the status and the JSON value."""
        place, fields, root = self.network.phone, dict(headers or {}), self.root
        base = self.base(scheme, address)
        match who:
            case "own":
                place, base = self.network.server, f"http://localhost:{self.host.port}"
            case "none" | "other site":
                pass
            case "internet":
                # Our certificate is for addresses at home only.
                place, base, root = self.network.internet, self.base(scheme, SERVER_OUTSIDE), None
            case key:
                fields["Authorization"] = f"Bearer {key}"
        if who == "other site":
            fields |= {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        if method in ("POST", "PUT") and body is None:
            fields["Content-Type"] = "application/json"
        status, head, content = request(place, method, base + path, fields, body, root)
        value = json.loads(content) if head.get_content_type() == "application/json" else content
        return status, value

    def administer(self, method, path, body=None):
        """As the administrator's programs on this computer ask. Returns the status and the JSON value."""
        base, fields = f"http://localhost:{self.host.port}", {"Authorization": f"Bearer {self.token}"}
        status, _, content = request(self.network.server, method, base + path, fields, body)
        return status, json.loads(content)

    def tools(self, url, what):
        """What the fake tools noted about a URL."""
        return self.host.tools.calls(url, what)

    def log(self):
        return self.host.log.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def household(folder):
    """A server, and the keys of a household: of two users, of a device of everyone, and of an administrator."""
    with Home(folder) as home:
        home.wait_until_open()
        home.ana = home.key("Ana's phone", "--user", "ana")
        home.ben = home.key("Ben's phone", "--user", "ben")
        home.any = home.key("The kitchen's tablet")
        home.admin = home.key("Ana's laptop", "--admin")
        yield home


def share(home, who, url, **fields):
    status, answer = home.ask(who, "POST", "/download", {"url": url, **fields})
    assert status == 201, answer
    return answer["download_id"]
