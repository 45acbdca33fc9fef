"""A website with TLS on this computer, and its own certificate authority, which no browser knows."""

import base64
import hashlib
import socket
import ssl
import subprocess
import threading

import website

NAMES = "subjectAltName=IP:127.0.0.1,DNS:localhost"


def openssl(*arguments, folder):
    return subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True).stdout


class Authority:
    """Files in a folder: `root.pem`, and `site.pem` with the key of the site and its certificate."""

    def __init__(self, folder):
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        openssl("req", "-x509", *key, "-keyout", "root.key", "-out", "root.pem", "-days", "30", "-subj", "/CN=Harbour root",
            "-addext", "keyUsage=critical,keyCertSign", folder=folder)
        openssl("req", *key, "-keyout", "site.key", "-out", "site.csr", "-subj", "/CN=Harbour site", folder=folder)
        (folder / "names").write_text(NAMES + "\nextendedKeyUsage=serverAuth\n", encoding="utf-8")
        openssl("x509", "-req", "-in", "site.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "20", "-extfile",
            "names", "-out", "site.crt", folder=folder)
        self.root, self.chain = folder / "root.pem", folder / "site.pem"
        self.chain.write_text((folder / "site.key").read_text() + (folder / "site.crt").read_text(), encoding="utf-8")
        public = openssl("x509", "-in", "site.crt", "-noout", "-pubkey", folder=folder)
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
        # For Chromium's --ignore-certificate-errors-spki-list
        self.fingerprint = base64.b64encode(hashlib.sha256(der).digest()).decode()


def use_tls(site, authority):
    """Makes a website that hasn't answered yet speak TLS. Its URLs begin with https then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.chain)
    # The handshake is made by the thread that answers.
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True, do_handshake_on_connect=False)
    site.server.handle_error = lambda *_: None
    site.address, site.other = f"https://127.0.0.1:{site.port}", f"https://localhost:{site.port}"
    return site


class BrokenTLS:
    """Answers each connection with bytes that aren't TLS."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked = 0
        website.SITES.add(f"127.0.0.1:{self.port}")
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.asked += 1
            with connection:
                try:
                    connection.recv(4096)
                    connection.sendall(b"this isn't TLS, whatever the URL says\n" * 3)
                    # Data that wasn't read would make the kernel reset the connection.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096):
                        pass
                except OSError:
                    pass

    def close(self):
        # Wakes the thread, which waits for a connection.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
