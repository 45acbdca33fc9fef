"""Who may do what: a program of this user, another user of this computer, keys, no key, other web sites; by http and TLS.

The network is one of namespaces, which need root.
"""

import base64
import hashlib
import json
import select
import socket
import ssl
import subprocess

import pytest
from home_network import SERVER, SERVER_OUTSIDE, request
from home_server import OPEN, Home, household, share, wait_until
from support.places import BINARY

pytestmark = pytest.mark.needs("network namespaces")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with household(tmp_path_factory.mktemp("home")) as home:
        yield home


# CAPTURE.md, "Access": what each may read, share and administer.

ROUTES = [
    ("GET", "/history", "read"), ("GET", "/status/{id}", "read"), ("GET", "/download/{id}/log", "read"),
    ("GET", "/users", "read"), ("GET", "/config/connection", "read"),
    ("POST", "/download", "share"), ("GET", "/keys", "administer"), ("GET", "/config", "administer"),
    ("GET", "/admin/state", "administer"), ("GET", "/cookies", "administer"), ("GET", "/server/log", "administer"),
    ("POST", "/queue/resume", "administer"), ("POST", "/admin/link", "administer"),
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
    body = {"url": website.fake("ok", by=f"{who}{scheme}")} if path == "/download" else None
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


def test_doctor_requests_each_address(home):
    result = home.host.command("doctor", "--network", "--json")
    checks = [json.loads(line) for line in result.stdout.splitlines()]
    tried = {check["what"].partition(" ")[0] for check in checks if check["verdict"] == "good" and check["name"] == "network"}
    assert {f"http://{SERVER}:{home.host.port}", f"https://{SERVER}:8443"} <= tried, (checks, result.stderr)
    assert any(check["name"] == "clock" for check in checks)


def test_another_user_of_this_computer_needs_a_key(home):
    def ask(*options):
        command = [
            *home.network.server.command, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "--silent", "--output",
            "/dev/null", "--write-out", "%{http_code}", *options, f"http://localhost:{home.host.port}/history"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout

    assert ask() == "401"
    assert ask("--header", f"Authorization: Bearer {home.ben}") == "200"


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
        ("GET", "/status/{}"), ("GET", "/download/{}/log"), ("GET", "/download/{}/file"), ("GET", "/download/{}/archive"), ("GET", "/download/{}/page"), ("GET", "/download/{}/screenshot"),
        ("POST", "/download/{}/cancel"), ("POST", "/download/{}/retry"), ("POST", "/download/{}/ticket"), ("DELETE", "/history/{}"),
    ]:
        status, answer = home.ask(home.ben, method, path.format(identifier))
        assert (status, answer["detail"]) == (404, "Download not found"), path
    for scheme, expected in [("http", 403), ("https", 404)]:
        assert home.ask(home.ana, "GET", f"/download/{identifier}/page", scheme=scheme)[0] == expected, "it has no page"
    for query in ["", "?username=ana", "?q=theirs"]:
        assert home.ask(home.ben, "GET", f"/history{query}")[1] == []
    health = home.ask(home.ben, "GET", "/health")[1]
    assert health["database"]["total_downloads"] == health["queue"]["queued"] + health["queue"]["running"] == 0
    assert home.ask(home.ana, "GET", "/health")[1]["database"]["total_downloads"] == len(home.ask(home.ana, "GET", "/history")[1]) > 0
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


# Files without a key

def test_film_plays_with_a_ticket(home, website):
    identifier = share(home, home.ana, website.fake("ok", by="film"))
    wait_until(lambda: home.ask(home.ana, "GET", f"/status/{identifier}")[1]["state"] == "completed", "the film is saved")
    status, ticket = home.ask(home.ana, "POST", f"/download/{identifier}/ticket", {}, "https")
    assert status == 200 and ticket["url"].startswith(home.base("https"))
    status, head, whole = request(home.network.phone, "GET", ticket["url"], root=home.root)
    assert status == 200 and head["X-Content-Type-Options"] == "nosniff"
    status, head, part = request(home.network.phone, "GET", ticket["url"], {"Range": "bytes=2-5"}, root=home.root)
    assert (status, part) == (206, whole[2:6])
    path = ticket["url"].partition(":8443")[2]
    other = share(home, home.ana, website.fake("ok", by="other film"))
    for wrong in [path[:-1], path.replace("ticket=", "ticket=9"), path.replace(identifier, other), path.replace("/file", "/archive"), path.replace("/file", "/log")]:
        assert home.ask("none", "GET", wrong, scheme="https")[0] == 401, wrong
    # The list on a phone has no links to the library, which only this computer can open.
    assert home.ask(home.ana, "GET", f"/status/{identifier}")[1]["replay_url"] is None


def test_ticket_ends_with_its_key(home, website):
    identifier = share(home, home.ana, website.fake("ok", by="lost"))
    wait_until(lambda: home.ask(home.ana, "GET", f"/status/{identifier}")[1]["state"] == "completed", "the film is saved")

    def ticket(who):
        status, made = home.ask(who, "POST", f"/download/{identifier}/ticket", {}, "https")
        assert status == 200, made
        return made["url"].partition(":8443")[2]

    def plays(path):
        return home.ask("none", "GET", path, scheme="https")[0]

    household = "a-household-key-of-more-than-32-letters"
    home.apply(OPEN + f"security:\n  api_keys: [{household}]\n")
    lost = home.key("A phone that gets lost", "--user", "ana")
    made = {"lost": ticket(lost), "ana": ticket(home.ana), "household": ticket(household)}
    assert {plays(path) for path in made.values()} == {200}
    assert home.host.command("keys revoke", "A phone that gets lost").returncode == 0
    assert {who: plays(path) for who, path in made.items()} == {"lost": 401, "ana": 200, "household": 200}
    home.apply(OPEN)
    assert home.ask(household, "GET", "/history")[0] == 401
    assert {who: plays(path) for who, path in made.items()} == {"lost": 401, "ana": 200, "household": 401}


# TLS

def openssl(home, *arguments, place=None):
    command = [*(place or home.network.phone).command, "openssl", *map(str, arguments)]
    return subprocess.run(command, input="", capture_output=True, text=True, errors="replace", timeout=120)


def test_openssl_and_curl_trust_the_root_only(home):
    client = ["s_client", "-connect", f"{SERVER}:8443", "-verify_return_error", "-verify_ip", SERVER]
    assert "Verify return code: 0 (ok)" in openssl(home, *client, "-CAfile", home.root, "-no-CAfile", "-no-CApath").stdout
    assert openssl(home, *client).returncode != 0
    for version in ["-tls1", "-tls1_1"]:
        assert openssl(home, "s_client", "-connect", f"{SERVER}:8443", version, "-cipher", "ALL:@SECLEVEL=0").returncode != 0
    for version in ["-tls1_2", "-tls1_3"]:
        assert openssl(home, *client, version, "-CAfile", home.root).returncode == 0
    curl = [*home.network.phone.command, "curl", "--silent", "--show-error", f"{home.base('https')}/health"]
    trusted = subprocess.run([*curl, "--cacert", home.root], capture_output=True, text=True)
    assert json.loads(trusted.stdout)["status"] == "healthy", trusted.stderr
    assert subprocess.run(curl, capture_output=True).returncode == 60


def test_http_on_the_encrypted_port_and_silence_do_no_harm(home):
    with pytest.raises(OSError):
        request(home.network.phone, "GET", f"http://{SERVER}:8443/health")

    def hold():
        sockets = [socket.create_connection((SERVER, 8443), 60) for _ in range(40)]
        try:
            # Of one address, no more than 32 are accepted.
            wait_until(lambda: len(closed_ones(sockets)) >= 8, "eight connections are closed")
            return len(closed_ones(sockets))
        finally:
            for one in sockets:
                one.close()

    def closed_ones(sockets):
        return select.select(sockets, [], [], 0)[0]

    assert home.network.phone.run(hold) >= 8
    wait_until(lambda: is_open(home), "others can connect again")
    assert home.ask("none", "GET", "/health", scheme="https", headers={})[0] == 200


def is_open(home):
    try:
        return home.ask("none", "GET", "/health", scheme="https")[0] == 200
    except OSError:
        return False


# The configuration

def test_wrong_keys_are_limited(tmp_path):
    with Home(tmp_path) as home:
        home.wait_until_open()
        home.apply(OPEN + "security:\n  api_keys: [sixteen-letters-, a-household-key-of-more-than-32-letters]\n")
        good = home.key("phone")
        assert home.ask("sixteen-letters-", "GET", "/history")[0] == 200
        assert send_wrong_keys(home.network.phone, home.base("http")) == {401, 429}
        status, answer = home.ask(f"{0:064x}", "GET", "/history")
        assert (status, answer["error"]) == (429, "rate_limited")
        # A short key could be guessed now. Keys that can't be guessed go on working.
        assert home.ask("sixteen-letters-", "GET", "/history")[0] == 429
        assert home.ask(good, "GET", "/history")[0] == 200
        assert home.ask("a-household-key-of-more-than-32-letters", "GET", "/history")[0] == 200
        # Others aren't affected, nor is what needs no key.
        assert home.ask("own", "GET", "/history")[0] == 200
        assert home.ask("none", "GET", "/health")[0] == 200
        log = (home.host.store / "capture" / "logs" / "server.log").read_text() + home.host.log.read_text(errors="replace")
        assert good not in log and home.token not in log


def send_wrong_keys(place, base):
    def status(number):
        return request(place, "GET", f"{base}/history", {"Authorization": f"Bearer {number:064x}"})[0]

    return {status(number) for number in range(30)}


def test_wrong_keys_of_another_account_lock_no_one_else_out(tmp_path):
    with Home(tmp_path) as home:
        home.wait_until_open()
        # As another user of this computer than the server's.
        keys = [option for number in range(30) for option in ("--next", "--header", f"Authorization: Bearer {number:064x}", "--output",
            "/dev/null", "--write-out", "%{http_code} ", f"http://localhost:{home.host.port}/history")]
        sent = subprocess.run(
            [*home.network.server.command, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "--silent", *keys[1:]],
            capture_output=True, text=True, timeout=120).stdout.split()
        assert sent == ["401"] * 20 + ["429"] * 10
        # The programs of the owner's account: wrong keys of theirs count for themselves, and the token works.
        local = f"http://localhost:{home.host.port}"
        assert request(home.network.server, "GET", f"{local}/history", {"Authorization": f"Bearer {0:064x}"})[0] == 401
        assert home.administer("GET", "/config")[0] == 200
        link = home.host.command("admin")
        assert link.returncode == 0, link.stderr
        assert "rate_limited" not in (checked := home.host.command("doctor", "--network", "--json")).stdout + checked.stderr
        # Nor do the owner's own wrong keys lock the owner out.
        assert send_wrong_keys(home.network.server, local) == {401, 429}
        assert home.administer("GET", "/config")[0] == 200


def test_administrator_changes_the_configuration(home):
    status, answer = home.ask(home.token, "GET", "/config")
    assert status == 401  # The token is for this computer only.
    status, before = home.administer("GET", "/config")
    assert (status, before["text"], before["faults"]) == (200, OPEN, [])
    status, answer = home.administer("PUT", "/config", {"text": "server:\n  hosts: 1\n"})
    assert status == 400 and answer["detail"][0]["msg"].startswith("config.yaml:2:3: server.hosts: ")
    assert home.administer("GET", "/config")[1] == before
    status, answer = home.administer("PUT", "/config", {"text": OPEN + "  name: At home\n"})
    assert status == 200
    assert home.ask(home.ana, "GET", "/config/connection")[1]["server_name"] == "At home"
    assert home.administer("PUT", "/config", {"text": OPEN})[0] == 200


# Setting up a phone

def test_setup_connects_a_phone(tmp_path):
    """What the phone does then is in test_phone_shares.py."""
    with Home(tmp_path, "# mine\ndownloads:\n  max_concurrent: 2\n") as home:
        images = tmp_path / "code.png"
        asked = home.host.command("setup", "--name", "Ana's phone", "--user", "ana", input="\n")
        assert asked.returncode == 1 and "Nothing was changed" in asked.stderr
        assert home.host.command("keys list", "--json").stdout == ""
        made = home.host.command("setup", "--name", "Ana's phone", "--user", "ana", "--png", images, input="y\n")
        assert made.returncode == 0, made.stderr
        assert (home.host.store / "capture" / "config.yaml").read_text().startswith("# mine\ndownloads:\n  max_concurrent: 2\n")

        def scanned(image):
            return subprocess.run(["zbarimg", "--quiet", "--raw", image], capture_output=True, text=True).stdout.strip()

        payload = json.loads(scanned(images))
        # The published payload, key by key, and the fingerprint.
        assert set(payload) == {"fp", "key", "lan", "protocol", "v"}
        assert (payload["lan"], payload["protocol"], payload["v"]) == (f"{SERVER}:8443", "https", "2.0")
        link = scanned(tmp_path / "code-link.png")
        encoded = link.removeprefix(f"https://{SERVER}:8443/#connect=")
        assert json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))) == payload
        home.wait_until_open()
        certificate = ssl.PEM_cert_to_DER_cert(home.root.read_text())
        assert hashlib.sha256(certificate).hexdigest() == payload["fp"].lower().replace(":", "")
        # The computer gets another address: another certificate by the same root, and the phone goes on.
        root = home.root.read_bytes()
        home.network.change_address(SERVER, "192.168.50.77")
        wait_until(lambda: phone_reaches(home, "192.168.50.77", payload["key"]), "the phone reaches the new address")
        assert request(home.network.phone, "GET", f"http://192.168.50.77:{home.host.port}/server.crt")[2] == root


def phone_reaches(home, address, key):
    try:
        return request(home.network.phone, "GET", f"https://{address}:8443/history", {"Authorization": f"Bearer {key}"}, root=home.root)[0] == 200
    except OSError:
        return False
