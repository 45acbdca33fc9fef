"""The journeys of the three published clients, from another computer at home, by http and TLS.

Each client is written here from its guide alone, and reads answers with the decoders of its guide.
"""

import contextlib
import http.client
import json
import ssl
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import decoders
import pytest
from capture_host import SECONDS
from home_network import SERVER
from home_server import OPEN, Home, wait_until

pytestmark = pytest.mark.needs("network namespaces")
SCHEMES = pytest.mark.parametrize("scheme", ["http", "https"])
PREFIXES = pytest.mark.parametrize("prefix", ["", "/api/v1"], ids=["bare", "api-v1"])
UNKNOWN = "550e8400-e29b-41d4-a716-446655440000"


class Client:
    """Sends JSON to a base URL, from the phone."""

    def __init__(self, home, base, fields=None):
        self.parts, self.fields, self.place = urlsplit(base), fields or {}, home.network.phone
        self.context = ssl.create_default_context(cafile=home.root)

    def ask(self, method, path, body=None):
        """Returns the status, the value and the header fields."""
        return self.place.run(self.send, method, path, body)

    def send(self, method, path, body):
        content, fields = None, dict(self.fields)
        if body is not None:
            content, fields["Content-Type"] = json.dumps(body).encode(), "application/json"
        place = (self.parts.hostname, self.parts.port)
        connection = (http.client.HTTPSConnection(*place, timeout=SECONDS, context=self.context) if self.parts.scheme == "https"
            else http.client.HTTPConnection(*place, timeout=SECONDS))
        with contextlib.closing(connection):
            connection.request(method, self.parts.path + path, content, fields)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers

    def get(self, path):
        return self.ask("GET", path)[:2]

    def post(self, **body):
        return self.ask("POST", "/download", body)[:2]

    def share(self, url):
        """As this client does, with what it accepts as success. Returns the answer."""
        raise NotImplementedError

    def poll(self, identifier):
        """Until the status is one that ends it. Returns the last answer."""
        found = {}

        def has_ended():
            status, answer = self.get(f"/status/{identifier}")
            assert status == 200, answer
            found.update(self.decode_status(answer))
            return found["status"] in ("completed", "failed")

        wait_until(has_ended, f"{identifier} has ended")
        return found


class OlderClient(Client):
    decode_status = staticmethod(decoders.v1_status)

    def share(self, url):
        status, answer = self.post(url=url, client_id="A1B2C3D4-E5F6-4711-8899-AABBCCDDEEFF", timestamp=1234567890)
        assert 200 <= status <= 299, answer
        decoded = decoders.older_answer(answer)
        assert (decoded["status"], decoded["message"]) == ("queued", "Video queued for download")
        return decoded


class FirstClient(Client):
    """v1, which has no key."""

    decode_status = staticmethod(decoders.v1_status)

    def share(self, url):
        status, answer = self.post(url=url, client_id="phone")
        assert 200 <= status <= 299, answer
        decoded = decoders.v1_answer(answer)
        assert (decoded["success"], decoded["status"]) == (True, "pending")
        return decoded


class SecondClient(Client):
    """v2. It knows the content of the QR code."""

    decode_status = staticmethod(decoders.v2_status)

    def __init__(self, home, payload, prefix="", key=None):
        read = json.loads(payload)
        assert isinstance(read["lan"], str) and read["protocol"] in ("http", "https") and read["v"] == "2.0"
        super().__init__(home, f"{read['protocol']}://{read['lan']}{prefix}", {"Authorization": f"Bearer {key or read['key']}"})

    def share(self, url):
        status, answer = self.post(url=url, username="john", client_id="phone")
        assert status == 201, answer
        decoded = decoders.v2_answer(answer)
        assert (decoded["success"], decoded["status"], decoded["message"]) == (True, "pending", "Download queued successfully")
        assert decoded["username"] == "john"
        return decoded


def payload(home, scheme, key):
    """The content of a QR code, as published."""
    return json.dumps({"lan": home.base(scheme).partition("://")[2], "protocol": scheme, "key": key, "v": "2.0"})


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """With keys, as by default."""
    with Home(tmp_path_factory.mktemp("keys"), OPEN) as home:
        home.wait_until_open()
        home.john = home.key("John's phone")
        yield home


@pytest.fixture(scope="module")
def keyless(tmp_path_factory):
    """For v1."""
    with Home(tmp_path_factory.mktemp("keyless"), OPEN + "security:\n  require_key: false\n") as home:
        home.wait_until_open()
        yield home


def follow(client, website, kind):
    """Shares a film that is saved, and one that is private, and waits for both. Returns their last status."""
    saved, private = website.fake("ok", title="My Video", by=kind), website.fake("private", by=kind)
    ids = [client.share(url)["download_id"] for url in (saved, private)]
    rows = [client.poll(identifier) for identifier in ids]
    assert [row["url"] for row in rows] == [saved, private]
    completed, failed = rows
    assert (completed["status"], completed["error_message"], completed["file_size"]) == ("completed", None, 200_000)
    # A name without a folder
    assert completed["file_path"].endswith("_My_Video.mp4") and "/" not in completed["file_path"]
    assert completed["submitted_at"] <= completed["started_at"] <= completed["completed_at"]
    assert (failed["status"], failed["file_path"]) == ("failed", None) and "Private video" in failed["error_message"]
    return rows


@SCHEMES
def test_v1_saves_and_lists(keyless, website, scheme):
    client = FirstClient(keyless, keyless.base(scheme) + "/api/v1")
    status, answer = client.get("/health")
    assert status == 200 and decoders.v1_health(answer)["database"]["connected"]
    before = answer["database"]["total_downloads"]
    rows = follow(client, website, f"v1 {scheme}")
    status, listed = client.get("/history")
    assert status == 200 and decoders.v1_history(listed)[:2] == rows[::-1]
    assert client.get("/health")[1]["database"]["total_downloads"] == before + 2
    status, answer = client.get(f"/status/{UNKNOWN}")
    assert status == 404 and decoders.v1_error(answer)["message"]
    status, answer = client.post(url="not a URL", client_id="phone")
    assert status == 400 and decoders.v1_error(answer)["message"]


@SCHEMES
@PREFIXES
def test_v2_saves_and_lists(home, website, scheme, prefix):
    client = SecondClient(home, payload(home, scheme, home.john), prefix)
    status, answer = client.get("/health")
    assert status == 200 and decoders.v2_health(answer)["version"] == "2.0.0"
    rows = follow(client, website, f"v2 {scheme}{prefix}")
    status, listed = client.get("/history?limit=50&offset=0&username=john&status=completed")
    assert status == 200 and decoders.v2_history(listed)[0] == rows[0]
    assert decoders.v2_history(client.get("/history?limit=100&username=john&status=failed")[1])[0] == rows[1]
    # What its lists ask for
    for state in ("pending", "downloading"):
        assert client.get(f"/history?limit=100&username=john&status={state}") == (200, [])
    assert client.get(f"/status/{UNKNOWN}")[0] == 404
    assert decoders.v2_text_error(client.get(f"/status/{UNKNOWN}")[1])["detail"] == "Download not found"
    for body, place, message in [
        ({"url": "https://example.org/film", "username": "a b"}, ["body", "username"], "Username must be alphanumeric (letters and numbers only)"),
        ({"url": "nothing to save", "username": "john"}, ["body", "url"], "Invalid URL format"),
    ]:
        status, answer = client.post(**body)
        assert status == 400
        assert decoders.v2_list_error(answer)["detail"] == [{"type": "value_error", "loc": place, "msg": message}]


@SCHEMES
@PREFIXES
def test_v2_learns_how_to_connect(home, scheme, prefix):
    """With each published key. The key itself isn't given to those who have one already."""
    status, answer = SecondClient(home, payload(home, scheme, home.john), prefix).get("/config/connection")
    assert status == 200
    decoders.keyed(
        server_name=decoders.text, setup_timestamp=decoders.date,
        wan=decoders.all_keys(ip=decoders.optional(decoders.text), url=decoders.optional(decoders.text), available=decoders.boolean))(answer)
    assert answer["lan"] == {"ip": SERVER, "url": f"https://{SERVER}:8443", "available": True}
    assert (answer["version"], answer["port"], answer["protocol"], answer["ssl_enabled"]) == ("2.0.0", 8443, "https", True)
    assert answer["supported_genres"] == ["tiktok", "instagram", "youtube", "pdf", "ebook"]
    assert answer["api_key"] is None and answer["wan"]["available"] is False


@SCHEMES
@PREFIXES
def test_older_client_saves(home, website, scheme, prefix):
    client = OlderClient(home, home.base(scheme) + prefix, {"X-API-Key": home.john})
    assert client.get("/health")[0] == 200
    rows = follow(client, website, f"older {scheme}{prefix}")
    assert decoders.v1_history(client.get("/history?limit=2")[1]) == rows[::-1]
    status, answer = client.post(url="nothing to save", client_id="phone", timestamp=1234567890)
    decoded = decoders.older_answer(answer)
    assert (status, decoded["status"], decoded["error"]) == (400, "error", "Invalid URL format")
    status, answer = client.get(f"/status/{UNKNOWN}")
    assert status == 404 and decoders.older_answer(answer)["status"] == "error"


@SCHEMES
def test_all_are_refused_without_a_key_that_counts(home, scheme):
    """Each reads the refusal with its own decoder. /health needs no key."""
    wrong = "0" * 64
    body = {"url": "https://example.org/film", "client_id": "phone"}
    for client, more, decode in [
        (FirstClient(home, home.base(scheme) + "/api/v1"), {}, decoders.v1_error),
        (SecondClient(home, payload(home, scheme, wrong)), {"username": "john"}, decoders.v2_text_error),
        (OlderClient(home, home.base(scheme), {"X-API-Key": wrong}), {"timestamp": 1234567890}, decoders.older_answer),
    ]:
        for status, answer in (client.post(**body, **more), client.get("/history"), client.get(f"/status/{UNKNOWN}")):
            assert status == 401, answer
            decode(answer)
        if not client.fields:
            assert client.get("/health")[0] == 200


def test_the_101st_share_in_an_hour(tmp_path, website):
    """100 for v2, as by default. Then, with a limit of 2, the others. The limits of two clients are two."""
    with Home(tmp_path, OPEN + "security:\n  require_key: false\n") as home:
        home.wait_until_open()
        second = SecondClient(home, payload(home, "http", home.key("tablet")))
        older = OlderClient(home, home.base("https"), {"X-API-Key": home.key("phone")})
        first = FirstClient(home, home.base("http") + "/api/v1")
        # Holds the queue, so that nothing else runs.
        second.share(website.fake("busy"))

        def share_many(numbers):
            with ThreadPoolExecutor(8) as pool:
                bodies = [{"url": f"https://a.example/{number}", "username": "john"} for number in numbers]
                return [answer[0] for answer in pool.map(lambda body: second.send("POST", "/download", body), bodies)]

        assert second.place.run(share_many, range(99)) == [201] * 99
        expect_limit(second, decoders.v2_text_error, username="john")
        assert home.administer("PUT", "/config", {"text": OPEN + "security:\n  require_key: false\n  rate_limit_per_client: 2\n"})[0] == 200
        for client, decode, more in [(older, decoders.older_answer, {"timestamp": 1234567890}), (first, decoders.v1_error, {})]:
            for number in range(2):
                client.share(f"https://a.example/{type(client).__name__}/{number}")
            expect_limit(client, decode, client_id="phone", **more)
        # What isn't a share goes on.
        assert second.get("/health")[1]["database"]["total_downloads"] == 104
        assert len(second.get("/history?limit=100&status=pending")[1]) == 100


def expect_limit(client, decode, **more):
    status, answer, fields = client.ask("POST", "/download", {"url": "https://a.example/one-more", **more})
    assert status == 429 and 0 < int(fields["Retry-After"]) <= 3600
    decoded = decode(answer)
    if decode is decoders.older_answer:
        assert (decoded["status"], decoded["error"]) == ("error", decoded["message"])
