"""Changes of config.yaml while downloads run: valid ones apply, invalid ones change nothing, and no download is lost or restarted.

What is valid, and what each key does, is from docs/configuration.md.
"""

import contextlib
import itertools
import json
import socket
import subprocess
from pathlib import Path

import pytest
from capture_host import ENDED
from home_network import SERVER, request
from home_server import OPEN, Home, share, wait_until
from website import SITES, Website

pytestmark = pytest.mark.needs("network namespaces")
LISTENING = "0A"
HOUSEHOLD = "a-key-for-the-household-1234567890"
# Half of these would close the network, and let everyone at home save one URL in an hour.
HALF = "security: {require_key: false, rate_limit_per_client: 1}\n"

# The text after HALF, if it has no such line itself; and the line of the fault in the whole text.
INVALID = {
    "a tab": ("downloads:\n\tmax_concurrent: 2\n", 3),
    "a key that is set twice": ("downloads:\n  max_concurrent: 2\n  max_concurrent: 3\n", 4),
    "a section that is set twice": ("page: {seconds: 5}\nsecurity: {require_key: true}\n", 3),
    "an unknown key": ("downloads:\n  max_concurent: 2\n", 3),
    "an unknown section": ("servers:\n  host: 0.0.0.0\n", 2),
    "a port beyond the range": ("server:\n  host: 0.0.0.0\n  ssl:\n    enabled: true\n    port: 65536\n", 6),
    "port 0": ("server:\n  port: 0\n", 3),
    "a host that isn't this computer": ("server:\n  name: Elsewhere\n  host: 203.0.113.7\n", 4),
    "a host with a scheme": ("server:\n  host: http://0.0.0.0\n", 3),
    "a folder that is missing": ("downloads:\n  root_directory: /nowhere/videos\n", 3),
    "a file instead of a folder": ("downloads:\n  root_directory: config.yaml\n", 3),
    "a certificate without its key": ("server:\n  ssl:\n    enabled: true\n    cert_file: {certificate}\n", 5),
    "a certificate that is missing": ("server:\n  ssl:\n    enabled: true\n    cert_file: no.pem\n    key_file: {key}\n", 5),
    "a key instead of a certificate": ("server:\n  ssl:\n    enabled: true\n    cert_file: {key}\n    key_file: {key}\n", 5),
    "an anchor and an alias": ("server: &mine\n  name: A\npage: *mine\n", 2),
    "a tag": ("server:\n  name: !!python/object:os.system A\n", 3),
    "a second document": ("--- {server: {host: 0.0.0.0}}\n", 2),
    "a word instead of a number": ("downloads: {max_concurrent: two}\n", 2),
    "a text instead of a list": ("server:\n  names: server.example\n", 3),
    "a list instead of a section": ("downloads:\n  - max_concurrent: 2\n", 3),
    "a number that isn't decimal": ("downloads: {max_concurrent: 0x2}\n", 2),
    "too many at once": ("downloads: {max_concurrent: 17}\n", 2),
    "a short key": ("security: {require_key: false, rate_limit_per_client: 1, api_keys: [" + HOUSEHOLD[:15] + "]}\n", 1),
    "a bracket that is open": ("egress:\n  ports: [80, 443\npage: {seconds: 5}\n", 4),
    "text that isn't UTF-8": ("server:\n  name: caf\udce9\n", 3),
}


def opened(server="", ssl="", more=""):
    """OPEN with more lines in these sections."""
    return OPEN.replace("  ssl:\n", server + "  ssl:\n") + ssl + more


class Certificate:
    """One that was made elsewhere: no root of ours, and no use after its end."""

    def __init__(self, folder, name, end="20991231235959Z"):
        self.certificate, self.key = folder / f"{name}.pem", folder / f"{name}-key.pem"
        settings = folder / "ca.cnf"
        settings.write_text(
            "[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\nnew_certs_dir = .\nrand_serial = yes\npolicy = any\ndefault_md = sha256\n"
            f"x509_extensions = names\nunique_subject = no\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = IP:{SERVER}\n"
            "extendedKeyUsage = serverAuth\n", encoding="utf-8")
        (folder / "index.txt").touch()
        self.openssl(folder, "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-out",
            "request.pem", "-subj", "/CN=home")
        self.openssl(folder, "ca", "-batch", "-notext", "-config", settings, "-selfsign", "-keyfile", self.key, "-in", "request.pem", "-out",
            self.certificate, "-startdate", "20200101000000Z", "-enddate", end)

    @staticmethod
    def openssl(folder, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True)


class Changes:
    """A server, and what can be seen of its configuration."""

    def __init__(self, folder):
        self.home = Home(folder)
        # The one in force
        self.text = OPEN
        (folder / "pem").mkdir()
        self.own = Certificate(folder / "pem", "own")
        self.expired = Certificate(folder / "pem", "expired", end="20210101000000Z")
        self.inner = self.home.network.server.run(Website)
        # Not in egress.allow, unlike other sites of the tests.
        SITES.discard(f"127.0.0.1:{self.inner.port}")

    def write(self, text):
        """By hand, as an editor does."""
        self.home.configure(text)

    def listeners(self):
        """Where the server listens: addresses with ports, and the sockets by their inodes. proc_net_tcp(5)

        Workers have ports of their own on loopback.
        """
        def read():
            lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]]
            return {(words[1], words[9]) for words in lines if words[3] == LISTENING and (
                not words[1].startswith("0100007F") or words[1].endswith(f":{self.home.host.port:04X}"))}

        return self.home.network.server.run(read)

    def status(self, who, path="/history", scheme="http", **options):
        """Of a request; the name of the error if nothing answers."""
        try:
            return self.home.ask(who, "GET", path, scheme=scheme, **options)[0]
        except OSError as error:
            return type(error).__name__

    def seen(self):
        """All that a change could change: listeners, who is let in, and how clients connect."""
        # Wrong keys are counted, and the household's is one as long as it isn't in the file.
        who = ["none", "internet", self.key, *([HOUSEHOLD] if HOUSEHOLD in self.text else [])]
        answers = {(one, scheme): self.status(one, scheme=scheme) for one in who for scheme in ("http", "https")}
        return self.listeners(), answers, self.status("own"), self.home.administer("GET", "/config/connection")

    def connection(self):
        return self.home.administer("GET", "/config/connection")[1]

    def rows(self):
        return self.home.administer("GET", "/history?limit=100")[1]


@pytest.fixture(scope="module")
def changes(tmp_path_factory):
    changes = Changes(tmp_path_factory.mktemp("changes"))
    with changes.home, contextlib.closing(changes.inner):
        changes.home.wait_until_open()
        changes.key = changes.home.key("phone")
        yield changes


def valid(changes):
    """Each change as its text, and what is true once it applies. `None` stands for no file.

    The server may not have read the file yet when that is asked. A wrong key is asked for last, since 20 of them are too many.
    """
    home, key = changes.home, changes.key

    numbers = itertools.count()

    def saves():
        identifier = share(home, "own", changes.inner(f"/guide.pdf?{next(numbers)}"))
        return wait_until(lambda: ended(home, identifier), "the guide is saved or refused") == "completed"

    def shares(expected):
        body = {"url": f"http://127.0.0.1:{changes.inner.port}/gone/{next(numbers)}.pdf"}
        return home.ask(key, "POST", "/download", body)[0] == expected

    def named(name):
        return home.ask(key, "GET", "/history", headers={"Host": f"{name}:{home.host.port}"})[0]

    assert named("server.example") == 421
    yield opened("  name: At home\n"), lambda: changes.connection()["server_name"] == "At home"
    yield opened('  names: ["server.example"]\n'), lambda: named("server.example") == 200
    yield opened("  wan: home.example:8443\n"), lambda: (
        changes.connection()["wan"]["url"] == "https://home.example:8443" and named("server.example") == 421)
    # One runs, as by default; then all.
    assert sum(row["status"] == "downloading" for row in changes.rows()) == 1
    yield opened(more="downloads: {max_concurrent: 8}\n"), lambda: sum(row["status"] == "downloading" for row in changes.rows()) == 6
    assert not saves()
    yield (opened(more=f'downloads: {{max_concurrent: 8}}\negress: {{allow: ["127.0.0.1:{changes.inner.port}"]}}\n'),
        saves)
    yield opened(more="security: {rate_limit_per_client: 1}\n"), lambda: shares(429)
    yield opened(more="security: {rate_limit_per_client: 1000}\n"), lambda: shares(201)
    yield opened(more="security:\n  require_key: no\n"), lambda: changes.status("none") == 200 and changes.status("internet") == 401
    yield opened(more="security:\n  require_key: always\n"), lambda: changes.status("none") == changes.status("own") == 401
    yield opened(more=f"security:\n  api_keys: [{HOUSEHOLD}]\n"), lambda: (
        changes.connection()["api_key"] == HOUSEHOLD and changes.status("own") == changes.status(HOUSEHOLD) == 200)
    yield OPEN, lambda: changes.connection()["api_key"] is None and changes.status(HOUSEHOLD) == 401
    yield OPEN.replace("8443", "9443"), lambda: (
        reaches(changes, f"https://{SERVER}:9443") and not reaches(changes, f"https://{SERVER}:8443") and changes.status(key) == 200)
    yield OPEN.replace("true", "false"), lambda: changes.connection()["protocol"] == "http" and not reaches(changes, f"https://{SERVER}:9443")
    # The same port twice: no http from the network.
    yield OPEN.replace("8443", "9000").replace("  ssl:", "  port: 9000\n  ssl:"), lambda: (
        reaches(changes, f"https://{SERVER}:9000") and not reaches(changes, home.base("http")))
    yield OPEN.replace("0.0.0.0", SERVER), lambda: (
        changes.status(key) == 200 and changes.status("internet", "/health") == "ConnectionRefusedError")
    yield OPEN.replace("0.0.0.0", '"::"'), lambda: changes.status(key) == changes.status("internet", "/health") == 200
    yield opened(ssl=f"    cert_file: {changes.own.certificate}\n    key_file: {changes.own.key}\n"), lambda: (
        reaches(changes, home.base("https"), changes.own.certificate) and changes.status("none", "/server.crt") == 404)
    # For the next start only
    yield OPEN.replace("  ssl:", "  port: 1234\n  ssl:") + "logging: {level: ERROR}\n", lambda: (
        reaches(changes, home.base("https"), home.root) and changes.status(key) == 200)
    yield json.dumps({"server": {"host": "0.0.0.0", "name": "In JSON"}}), lambda: changes.connection()["server_name"] == "In JSON"
    yield "server:\n  host: 127.0.0.1\n", lambda: not reaches(changes, home.base("http")) and changes.status("own") == 200
    yield OPEN.replace("\n", "\r\n# ebb\r\n"), lambda: changes.status(key) == 200 == changes.status("none", "/health", "https")
    yield None, lambda: not reaches(changes, home.base("http")) and changes.status("own") == 200
    yield opened(more="downloads: {max_concurrent: 8, keep_media_file: false}\n"), lambda: changes.status(key) == 200


def ended(home, identifier):
    """The state of a download that has ended."""
    state = home.ask("own", "GET", f"/status/{identifier}")[1]["state"]
    return state in ENDED and state


def reaches(changes, base, root=None):
    """Whether the phone does. With a root, TLS is checked."""
    try:
        return request(changes.home.network.phone, "GET", base + "/health", root=root)[0] == 200
    except OSError:
        return False


def test_twenty_valid_and_twenty_invalid_changes(changes, website, tmp_path):
    """In turn, while downloads run. Of three valid ones, one is made by hand, and two with the API, which applies them at once."""
    home, gates = changes.home, [tmp_path / "first", tmp_path / "second"]
    urls = [website.fake("held", gate=gates[number // 3], by=f"change {number}") for number in range(6)]
    running = [share(home, "own", url, options={"mode": "media"}) for url in urls]
    wait_until(lambda: home.tools(urls[0], "started"), "the first download runs")
    invalid = iter(INVALID.items())
    count = 0
    for count, (text, applies) in enumerate(valid(changes), 1):
        changes.text = text or ""
        if text is None:
            (home.host.capture / "config.yaml").unlink()
        elif count % 3 == 1:
            changes.write(text)
        else:
            assert home.administer("PUT", "/config", {"text": text})[0] == 200
        wait_until(applies, f"this applies: {text}")
        try_invalid(changes, *next(invalid))
    for name, value in invalid:
        try_invalid(changes, name, value)
    assert count >= 20 and len(INVALID) >= 20
    finish(changes, running, urls, gates)


def try_invalid(changes, name, value):
    home, (text, line) = changes.home, value
    text = text.replace("{certificate}", str(changes.own.certificate)).replace("{key}", str(changes.own.key))
    text = text if text.startswith("security") else HALF + text
    before, log = changes.seen(), len(home.log())
    content = text.encode(errors="surrogateescape")
    with contextlib.suppress(UnicodeEncodeError):
        status, answer = home.administer("PUT", "/config", {"text": text.encode().decode()})
        assert status == 400 and any(f":{line}:" in problem["msg"] for problem in answer["detail"]), (name, answer)
    changes.write(content)
    wait_until(lambda: f"config.yaml:{line}:" in home.log()[log:], f"the log says what is wrong in line {line}: {name}")
    assert changes.seen() == before, name
    # Not a key, not even a wrong one
    assert HOUSEHOLD[:15] not in home.log()[log:], name


def finish(changes, running, urls, gates):
    """Three downloads end with their files, and three without, as the configuration then says. Each ran once."""
    home = changes.home
    for number, gate in enumerate(gates):
        gate.touch()
        ids = running[number * 3:number * 3 + 3]
        wait_until(lambda: all(home.ask("own", "GET", f"/status/{one}")[1]["state"] == "completed" for one in ids), "three are completed")
        home.administer("PUT", "/config", {"text": opened(more="downloads: {max_concurrent: 8, keep_media_file: true}\n")})
    rows = [home.ask("own", "GET", f"/status/{one}")[1] for one in running]
    assert [row["attempt"] for row in rows] == [1] * 6
    assert [len(home.tools(url, what)) for url in urls for what in ("started", "finished")] == [1] * 12
    archives = home.host.archives()
    assert {row["archive"] for row in rows} <= archives.keys()
    assert [row["file_path"] is None for row in rows] == [True] * 3 + [False] * 3
    assert {path.rsplit("/", 1)[1] for path in home.host.files()} >= {row["file_path"] for row in rows[3:]}


# What only shows when it's used

@pytest.mark.parametrize("kind", ["expired", "with the key of another"])
def test_certificate_that_cannot_be_used(changes, kind):
    """docs/certificates.md: the server reports that, and keeps the old certificate."""
    home = changes.home
    changes.write(OPEN)
    wait_until(lambda: reaches(changes, home.base("https"), home.root), "the server has its own certificate")
    before, log = changes.seen(), len(home.log())
    certificate, key = (changes.expired.certificate, changes.expired.key) if kind == "expired" else (changes.own.certificate, changes.expired.key)
    changes.write(opened(ssl=f"    cert_file: {certificate}\n    key_file: {key}\n"))
    what = "expired" if kind == "expired" else "doesn't belong"
    wait_until(lambda: what in home.log()[log:], "the log says why")
    assert changes.seen()[:3] == before[:3]
    assert reaches(changes, home.base("https"), home.root)


def test_port_that_is_taken(changes):
    """The listeners that there were stay, and the new port is used as soon as it can be."""
    home = changes.home
    changes.write(OPEN)
    wait_until(lambda: reaches(changes, home.base("https"), home.root), "the server listens")
    before, log = changes.listeners(), len(home.log())
    other = home.network.server.listen(socket.SOCK_STREAM, SERVER, 9444)
    try:
        changes.write(OPEN.replace("8443", "9444"))
        wait_until(lambda: "9444" in home.log()[log:], "the log says that the port is taken")
        assert before <= changes.listeners()
        assert reaches(changes, home.base("https"), home.root)
    finally:
        other.close()
    wait_until(lambda: reaches(changes, f"https://{SERVER}:9444", home.root), "the port is used once it's free")
