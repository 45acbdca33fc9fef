"""Which servers `replayhost-share` trusts: that of the code's root, and no other. It sends nothing to those it doesn't trust."""

import hashlib
import http.server
import json
import shutil
import ssl
import subprocess
import threading

import pytest
from capture_host import SECONDS
from home_network import SERVER
from home_server import Home
from share_device import Device, payload
from support.waiting import wait_until

URL = "https://www.tiktok.com/@trust/video/1"
KEY = "0123456789abcdef0123456789abcdef"


def openssl(folder, *arguments):
    subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True, timeout=SECONDS)


class Root:
    """A root certificate, and certificates of it for servers on this computer."""

    def __init__(self, folder, name="replayhost"):
        folder.mkdir()
        self.folder, self.file = folder, folder / "root.pem"
        openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30,
            "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", "root.key", "-out", "root.pem")

    @property
    def fingerprint(self):
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.file.read_text())).hexdigest()

    def leaf(self, name, end="+30 days"):
        """A file with a key and a certificate, which is valid up to a time."""
        openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (self.folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=own\n[own]\nnew_certs_dir=.\ndatabase=index\nserial=serial\ndefault_md=sha256\npolicy=any\n"
            "x509_extensions=server\n[any]\ncommonName=supplied\n[server]\nsubjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        (self.folder / "index").write_text("")
        (self.folder / "serial").write_text("1000\n")
        date = subprocess.run(["date", "-u", "-d", end, "+%Y%m%d%H%M%SZ"], check=True, capture_output=True, text=True).stdout.strip()
        openssl(self.folder, "ca", "-batch", "-config", "ca.cnf", "-cert", "root.pem", "-keyfile", "root.key", "-startdate",
            "20200101000000Z", "-enddate", date, "-in", f"{name}.csr", "-out", f"{name}.crt", "-notext")
        both = self.folder / f"{name}.pem"
        both.write_text((self.folder / f"{name}.key").read_text() + (self.folder / f"{name}.crt").read_text())
        return both


class Server:
    """A server with TLS at a fixed port, which counts what it's asked for. It accepts every share, and gives a root to those who ask."""

    def __init__(self, certificate, root, port=0):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers["Content-Length"] or 0)
                asked.append((self.command, self.path, self.headers["Authorization"], self.rfile.read(length)))
                body = root.file.read_bytes() if self.path == "/server.crt" else json.dumps(
                    {"success": True, "download_id": "d1", "server_name": "Test", "version": "2.0.0", "lan": {"available": True},
                     "wan": {"available": False}, "port": 1, "protocol": "https", "ssl_enabled": True, "supported_genres": [],
                     "setup_timestamp": ""}).encode()
                self.send_response(201 if self.command == "POST" else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer

            def log_message(self, *arguments):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.server.handle_error = lambda *_: None
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roots")
    return Root(folder / "own"), Root(folder / "other")


@pytest.fixture
def connected(roots, tmp_path):
    """A device that knows its server, and the port of that server, which has ended."""
    device = Device(tmp_path / "device")
    with Server(roots[0].leaf("right"), roots[0]) as server:
        device.expect(0, "connect", text=payload(f"127.0.0.1:{server.port}", KEY, "https", roots[0].fingerprint))
        device.expect(0, URL)
        # The root is fetched without the key, and nothing else is sent before it was compared.
        assert [(method, path, key) for method, path, key, _ in server.asked] == [
            ("GET", "/server.crt", None), ("GET", "/config/connection", f"Bearer {KEY}"), ("POST", "/download", f"Bearer {KEY}")]
    return device, server.port


def expect_refusal(device, server, **options):
    """Nothing is sent, and the queue is kept."""
    assert "Server certificate not trusted" in device.expect(75, URL, **options)
    assert device.statuses == ["confirmed", "pending"] and server.asked == []
    assert "certificate: " in device.expect(1, "test", **options)
    assert "Server certificate not trusted" in device.expect(75, "retry", **options)
    assert server.asked == []


@pytest.mark.parametrize("case", ["another root of the same name", "a leaf that has expired", "a leaf of another root that sends ours"])
def test_other_certificates_are_refused(roots, connected, case):
    own, other = roots
    device, port = connected
    certificate = own.leaf("expired", "-1 day") if "expired" in case else other.leaf("leaf")
    with Server(certificate, own if "sends ours" in case else other, port) as server:
        expect_refusal(device, server)
    with Server(own.leaf("again"), own, port):
        device.expect(0, "retry")
    assert device.statuses == ["confirmed", "confirmed"]


def test_code_with_another_fingerprint_connects_nothing(roots, tmp_path):
    own, other = roots
    device = Device(tmp_path / "device")
    with Server(own.leaf("mismatch"), own) as server:
        shown = device.expect(1, "connect", text=payload(f"127.0.0.1:{server.port}", KEY, "https", other.fingerprint))
        assert "Server certificate not trusted" in shown
        assert [path for _, path, _, _ in server.asked] == ["/server.crt"]
    assert "Server not configured" in device.expect(75, URL)


@pytest.mark.needs("root")
def test_certificates_that_the_system_trusts_are_refused(roots, connected, tmp_path):
    """A man in the middle, whose root all programs of this computer trust."""
    own, known = roots[0], Root(tmp_path / "known", "An authority")
    device, port = connected
    trusted = tmp_path / "certs"
    trusted.mkdir()
    shutil.copy(known.file, trusted / "ca-certificates.crt")
    subprocess.run(["openssl", "rehash", trusted], check=True, timeout=SECONDS)
    system = ["unshare", "-m", "sh", "-c", f'mount --bind "{trusted}" /etc/ssl/certs && exec "$@"', "sh"]
    with Server(known.leaf("middle"), own, port) as server:
        # The control: other programs do trust it, curl even beside a root that it's told.
        for trust in ([], ["--cacert", own.file]):
            control = subprocess.run([*system, "curl", "-sS", *trust, f"https://127.0.0.1:{port}/health"], capture_output=True, timeout=SECONDS)
            assert control.returncode == 0, control.stderr
        assert len(server.asked) == 2
        server.asked.clear()
        expect_refusal(Device(device.folder, system), server, environment={"CURL_CA_BUNDLE": str(known.file), "SSL_CERT_FILE": str(known.file)})


@pytest.mark.needs("network namespaces")
def test_code_of_setup_connects_another_computer(tmp_path):
    """From another computer at home, by TLS. The link is down for one URL, and for the next the process is killed."""
    with Home(tmp_path / "home") as home:
        home.wait_until_open()
        made = home.host.command("setup", "--name", "Ana's laptop", "--user", "ana", "--json", "--yes")
        assert made.returncode == 0, made.stderr
        device = Device(tmp_path / "device", home.network.phone.command)
        assert f"https://{SERVER}:8443" in device.expect(0, "connect", text=made.stdout)
        assert "error" not in device.expect(0, "test")
        urls = [f"https://www.tiktok.com/@trust/video/{number}" for number in range(3)]
        device.expect(0, urls[0])
        link = ["ip", "-n", home.network.phone.name, "link", "set", "eth0"]
        subprocess.run([*link, "down"], check=True, timeout=SECONDS)
        assert "Queued - will retry when connected" in device.expect(75, urls[1])
        process = device.start(urls[2])
        wait_until(lambda: len(device.statuses) == 3, "the third one is kept", SECONDS)
        process.kill()
        process.communicate(timeout=SECONDS)
        subprocess.run([*link, "up"], check=True, timeout=SECONDS)
        device.expect(0, "retry")
        assert [entry["status"] for entry in device.values("history")] == ["confirmed"] * 3
        rows = home.ask("own", "GET", "/history")[1]
        assert sorted((row["url"], row["username"]) for row in rows) == [(url, "ana") for url in urls]
        assert len(device.values("history", "--server")) == 3
