"""Clients that trust the server's root, and clients that find another one."""

import hashlib
import os
import shutil
import ssl
import subprocess

import pytest
from capture_host import SECONDS
from home_network import SERVER
from home_server import Home
from support.needs import CHROMIUM

pytestmark = pytest.mark.needs("network namespaces")
# ERR_CERT_AUTHORITY_INVALID
REFUSED = "net_error -202"
URL = f"https://{SERVER}:8443"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with Home(tmp_path_factory.mktemp("home")) as home:
        home.wait_until_open()
        home.ana = home.key("Ana's phone", "--user", "ana")
        yield home


def in_chromium(home, folder, roots):
    """What the phone's Chromium loads as the server's page, and what it logs, with these roots in its own store."""
    store = folder / ".pki/nssdb"
    store.mkdir(parents=True)
    subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True, timeout=SECONDS)
    for number, root in enumerate(roots):
        subprocess.run(
            ["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", f"root {number}", "-i", root], check=True, timeout=SECONDS)
    run = subprocess.run(
        [*home.network.phone.command, CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", "--dump-dom", URL],
        env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True, timeout=SECONDS)
    return run.stdout, run.stderr


@pytest.fixture(scope="module")
def other_root(tmp_path_factory):
    """The root of another server, with the same names."""
    folder = tmp_path_factory.mktemp("other")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
         "/CN=replayhost", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", folder / "key.pem", "-out", folder / "root.pem"],
        check=True, capture_output=True, timeout=SECONDS)
    return folder / "root.pem"


@pytest.mark.needs("Chromium", "certutil")
def test_chromium_trusts_the_installed_root_only(home, other_root, tmp_path):
    page, log = in_chromium(home, tmp_path / "trusting", [home.root])
    assert "/capture/main.js" in page and REFUSED not in log, (page[:2000], log)
    for name, roots in {"without": [], "other": [other_root]}.items():
        page, log = in_chromium(home, tmp_path / name, roots)
        assert "/capture/main.js" not in page and REFUSED in log, (page[:2000], log)


def test_root_is_recognized_by_its_fingerprint(home, other_root):
    """As a client does that has only the `fp` of a QR code: it fetches the root, compares, and trusts nothing else from then on."""
    curl = [*home.network.phone.command, "curl", "--silent", "--show-error"]
    pem = subprocess.run([*curl, "--insecure", f"{URL}/server.crt"], capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    fingerprint = home.ask(home.ana, "GET", "/config/connection", scheme="https")[1]["fingerprint"]
    assert hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest() == fingerprint.lower().replace(":", "")
    assert hashlib.sha256(ssl.PEM_cert_to_DER_cert(other_root.read_text())).hexdigest() != fingerprint.lower().replace(":", "")
    good = subprocess.run([*curl, "--cacert", home.root, f"{URL}/health"], capture_output=True, text=True, timeout=SECONDS)
    assert good.returncode == 0 and '"healthy"' in good.stdout
    other = subprocess.run([*curl, "--cacert", other_root, f"{URL}/health"], capture_output=True, text=True, timeout=SECONDS)
    # CURLE_PEER_FAILED_VERIFICATION
    assert other.returncode == 60, other


def test_server_with_another_root_is_refused(home, tmp_path):
    """Another server at the same address: a phone that trusts the first root refuses it."""
    root = tmp_path / "first.crt"
    root.write_bytes(home.root.read_bytes())
    home.host.stop()
    tls = home.host.store / "capture" / "tls"
    kept = tls.rename(tmp_path / "kept")
    try:
        home.host.start()
        home.wait_until_open()
        curl = [*home.network.phone.command, "curl", "--silent", "--show-error", "--cacert", root, f"{URL}/health"]
        assert subprocess.run(curl, capture_output=True, timeout=SECONDS).returncode == 60
    finally:
        home.host.stop()
        shutil.rmtree(tls)
        kept.rename(tls)
        home.host.start()
        home.wait_until_open()
    assert subprocess.run(curl, capture_output=True, timeout=SECONDS).returncode == 0
