"""Who may do what: a program of this user, another user of this computer, keys, nobody's key, other web sites; by http and TLS.

The network is one of namespaces, which need root.
"""

import contextlib
import json
import subprocess

import pytest
from capture_host import FAST_RETRIES, CaptureHost
from fake_tools import FakeTools
from home_network import SERVER, SERVER_OUTSIDE, HomeNetwork, request, what_is_missing
from support.places import BINARY
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(what_is_missing() is not None, reason=str(what_is_missing()))
OPEN = "server:\n  host: 0.0.0.0\n  ssl:\n    enabled: true\n    port: 8443\n"


class Home:
    """A server in the network at home, its keys, and requests from everywhere."""

    def __init__(self, folder, configuration=OPEN):
        self.network = HomeNetwork()
        self.host = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES)
        self.host.prefix = self.network.server.command
        self.configure(configuration)
        self.root = folder / "server.crt"

    def configure(self, text):
        folder = self.host.store / "capture"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / "config.yaml.test"
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        file.rename(folder / "config.yaml")

    def start(self):
        self.host.start()
        self.token = json.loads((self.host.store / "capture" / "capture.json").read_text())["token"]
        return self

    def key(self, name, *options):
        made = self.host.command("keys add", name, "--json", *options)
        assert made.returncode == 0, made.stderr
        return json.loads(made.stdout)["secret"]

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

    def stop(self):
        self.host.stop()
        self.network.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("home"))
    try:
        home.start()
        home.wait_until_open()
        home.ana = home.key("Ana's phone", "--user", "ana")
        home.ben = home.key("Ben's phone", "--user", "ben")
        home.any = home.key("The kitchen's tablet")
        home.admin = home.key("Ana's laptop", "--admin")
        yield home
    finally:
        home.stop()


def share(home, who, url, **fields):
    status, answer = home.ask(who, "POST", "/download", {"url": url, **fields})
    assert status == 201, answer
    return answer["download_id"]


# CAPTURE.md, "Access": what each may read, share and administer.

ROUTES = [
    ("GET", "/history", "read"), ("GET", "/status/{id}", "read"), ("GET", "/download/{id}/log", "read"),
    ("GET", "/users", "read"), ("GET", "/config/connection", "read"),
    ("POST", "/download", "share"), ("GET", "/keys", "administer"), ("GET", "/config", "administer"),
]
WHO = {
    "own": ("read", "share"), "ana": ("read", "share"), "any": ("read", "share"), "admin": ("read", "share", "administer"),
    "none": (), "internet": (), "other site": (),
}


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(("method", "path", "right"), ROUTES, ids=[f"{method} {path}" for method, path, _ in ROUTES])
def test_each_route_is_open_to_those(home, website, who, scheme, method, path, right):
    identifier = share(home, home.ana, website.fake("ok", by="table"))
    caller = getattr(home, who, who)
    body = {"url": website.fake("ok", by=f"{who}{scheme}")} if method == "POST" else None
    status, answer = home.ask(caller, method, path.format(id=identifier), body, scheme)
    if who == "admin" and scheme == "http":
        assert (status, answer["error"]) == (403, "forbidden")  # Anyone could have read the key.
    elif right in WHO[who]:
        assert status in (200, 201), answer
    else:
        # Another site is refused whatever it sends, a stranger needs a key, and a key isn't enough for everything.
        expected = 403 if who == "other site" or WHO[who] else 401
        assert status == expected, answer
        assert answer["success"] is False and answer["message"] and answer["request_id"]


@pytest.mark.parametrize("who", ["none", "internet", "ana", "own"])
def test_health_of_strangers_has_four_keys(home, who):
    status, answer = home.ask(getattr(home, who, who), "GET", "/health")
    assert status == 200 and answer["status"] == "healthy"
    published = {"status", "timestamp", "version", "database"}
    assert set(answer) == published if who in ("none", "internet") else set(answer) > published


def test_users_see_only_what_is_theirs(home, website):
    identifier = share(home, home.ana, website.fake("ok", by="theirs"), username="ben")
    # The user of the key wins over the one that the request names.
    assert home.ask(home.ana, "GET", f"/status/{identifier}")[1]["username"] == "ana"
    for method, path in [
        ("GET", "/status/{}"), ("GET", "/download/{}/log"), ("GET", "/download/{}/file"), ("GET", "/download/{}/archive"),
        ("POST", "/download/{}/cancel"), ("POST", "/download/{}/retry"), ("POST", "/download/{}/ticket"), ("DELETE", "/history/{}"),
    ]:
        status, answer = home.ask(home.ben, method, path.format(identifier))
        assert (status, answer["detail"]) == (404, "Download not found"), path
    for query in ["", "?username=ana", "?q=theirs"]:
        assert home.ask(home.ben, "GET", f"/history{query}")[1] == []
    assert home.ask(home.ben, "GET", "/users")[1] == [] or [user["username"] for user in home.ask(home.ben, "GET", "/users")[1]] == ["ben"]
    assert identifier in {row["download_id"] for row in home.ask(home.any, "GET", "/history?limit=100")[1]}
    # The same URL by another user is another download.
    assert share(home, home.ben, website.fake("ok", by="theirs")) != identifier


def test_keys_are_taken_from_both_fields(home):
    for fields, expected in [
        ({"X-API-Key": home.ana}, 200), ({"X-API-Key": home.ana, "Authorization": f"Bearer {home.ana}"}, 200),
        ({"Authorization": f"bearer {home.ana}"}, 200), ({"X-API-Key": home.ana, "Authorization": f"Bearer {home.ben}"}, 401),
        ({"Authorization": f"Basic {home.ana}"}, 401), ({"Authorization": "Bearer"}, 401), ({"X-API-Key": home.ana.upper()}, 401),
        ({"X-API-Key": home.ana[:-1]}, 401),
    ]:
        status, answer = home.ask("none", "GET", "/history", headers=fields)
        assert status == expected, (fields, answer)
    status, answer = home.ask("none", "GET", f"/history?api_key={home.ana}")
    assert status == 401 and "URL" in answer["message"]


def test_revoked_key_ends_at_once(home):
    key = home.key("Lost phone")
    assert home.ask(key, "GET", "/history")[0] == 200
    listed = home.host.command("keys list", "--json").stdout
    assert key not in listed and "Lost phone" in listed
    assert home.host.command("keys revoke", "Lost phone").returncode == 0
    assert home.ask(key, "GET", "/history")[0] == 401
    assert home.host.command("keys revoke", "Lost phone").returncode == 3
    # The name can be used again.
    assert home.ask(home.key("Lost phone"), "GET", "/history")[0] == 200


@pytest.mark.parametrize("host", [
    "evil.example", f"{SERVER}", f"{SERVER}:1", "localhost:{port}", "127.0.0.1:{port}", f"{SERVER}.evil.example:{{port}}", f"{SERVER}:{{port}}.",
    f"user@{SERVER}:{{port}}", f"{SERVER}:0{{port}}", "[::1]:{port}", "",
])
def test_foreign_hosts_are_refused(home, host):
    """As after DNS rebinding: the name of another site leads here."""
    status, answer = home.ask(home.ana, "GET", "/history", headers={"Host": host.format(port=home.host.port)})
    assert status in (400, 421), answer


def test_other_origins_are_refused(home):
    base = home.base("http")
    for origin, expected in [(base, 201), ("https://evil.example", 403), ("null", 403), (base.replace("http", "https"), 403), (base + ".evil", 403)]:
        status, _ = home.ask(home.ana, "POST", "/download", {"url": f"https://example.org/{expected}"}, headers={"Origin": origin})
        assert status == expected, origin


def test_replayhost_is_not_reachable_from_the_network(home):
    library = subprocess.Popen(
        [*home.network.server.command, BINARY, "serve", "--store", str(home.host.store), "--port", "0", "--json"],
        stdout=subprocess.PIPE, env=home.host.environment())
    try:
        port = json.loads(library.stdout.readline())["address"].rsplit(":", 1)[1]
        assert request(home.network.server, "GET", f"http://localhost:{port}/api/health")[0] == 200
        for place, address in [(home.network.phone, SERVER), (home.network.internet, SERVER_OUTSIDE)]:
            with pytest.raises(ConnectionRefusedError):
                request(place, "GET", f"http://{address}:{port}/api/health")
    finally:
        library.terminate()
        library.wait()
        library.stdout.close()
