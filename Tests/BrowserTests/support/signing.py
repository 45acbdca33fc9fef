"""Signs the sample archive with openssl, in the ways in which an archive can be signed."""

import base64
import hashlib
import json
import subprocess
import zipfile
from datetime import UTC, datetime, timedelta

from .places import FIXTURES


def openssl(folder, *arguments, data=b""):
    return subprocess.run(["openssl", *arguments], cwd=folder, input=data, capture_output=True, check=True).stdout


def escaped(name):
    """As openssl reads it in a subject."""
    return "".join(f"\\{letter}" if letter in "\\/+," else letter for letter in name)


def sample():
    """The files of the sample by name."""
    with zipfile.ZipFile(FIXTURES / "sample.wacz") as package:
        return {entry: package.read(entry) for entry in package.namelist()}


def pack(files, path):
    with zipfile.ZipFile(path, "w") as package:
        for entry, contents in files.items():
            package.writestr(entry, contents)


def signed(folder, name, signer="signer.example", names=("signer.example",), change=None, files=None):
    """Writes files with a signature by openssl. Returns the path and the SHA-256 of the key.

    `signer`: the subject of the certificate and the domain, if `name` is "domain". `names`: for which the certificate is. `change`
    gets the files by name before the list of files is signed. `files`: by name, with the list; without them, those of the sample.
    """
    files = dict(files or sample())
    if change:
        change(files)
    text = "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()
    openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
    key = openssl(folder, "pkey", "-in", "key.pem", "-pubout", "-outform", "DER")
    signature = bytearray(openssl(folder, "dgst", "-sha256", "-sign", "key.pem", data=text.encode()))
    if name == "forged":
        signature[-1] ^= 1
    # When the certificate is valid.
    created = (datetime.now(UTC) + timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    data = {"hash": text, "created": created, "software": "openssl", "version": "0.1.0",
        "signature": base64.b64encode(signature).decode()}
    if name == "domain":
        # The length of a common name is limited to 64.
        subject = f"/CN={escaped(signer[:64])}/O={escaped(signer[:64])}"
        names = "subjectAltName=" + ",".join(f"DNS:{each}" for each in names)
        certificate = openssl(folder, "req", "-x509", "-new", "-utf8", "-key", "key.pem", "-subj", subject, "-addext", names)
        data.update(domain=signer, domainCert=certificate.decode())
    else:
        data["publicKey"] = base64.b64encode(key).decode()
    files["datapackage-digest.json"] = json.dumps({"path": "datapackage.json", "hash": text, "signedData": data}).encode()
    if name == "other":
        files["datapackage.json"] += b" "
    path = folder / f"{name}.wacz"
    pack(files, path)
    return path, hashlib.sha256(key).hexdigest()


STAMPING = """[tsa]
default_tsa = own
[own]
serial = serial
signer_cert = stamps.pem
certs = root.pem
signer_key = stamps.key
signer_digest = sha256
default_policy = 1.2.3
digests = sha256
"""


def certified(folder, extensions, domain, names="DNS=bank.example"):
    """Writes the sample with a signature by a domain, and a time stamp. Both certificates are of an authority that this makes.

    Returns the paths of the archive and of the authority's certificate. `extensions`, `names`: of the signer's certificate.
    """
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Own root")
    for name, fields in {"signer": f"subjectAltName=@names\n{extensions}\n[names]\n{names}", "stamps": "extendedKeyUsage=critical,timeStamping"}.items():
        (folder / f"{name}.ext").write_text(fields)
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-extfile", f"{name}.ext",
            "-out", f"{name}.pem")
    (folder / "stamping.cnf").write_text(STAMPING)
    (folder / "serial").write_text("01\n")
    files = sample()
    text = "sha256:" + hashlib.sha256(files["datapackage.json"]).hexdigest()
    signature = base64.b64encode(openssl(folder, "dgst", "-sha256", "-sign", "signer.key", data=text.encode()))
    (folder / "stamped").write_bytes(signature)
    openssl(folder, "ts", "-query", "-data", "stamped", "-sha256", "-cert", "-out", "query")
    openssl(folder, "ts", "-reply", "-config", "stamping.cnf", "-queryfile", "query", "-out", "stamp")
    data = {"hash": text, "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "software": "openssl", "version": "0.1.0",
        "signature": signature.decode(), "domain": domain, "domainCert": (folder / "signer.pem").read_text(),
        "timeSignature": base64.b64encode((folder / "stamp").read_bytes()).decode(),
        "timestampCert": (folder / "stamps.pem").read_text() + (folder / "root.pem").read_text()}
    files["datapackage-digest.json"] = json.dumps({"path": "datapackage.json", "hash": text, "signedData": data}).encode()
    path = folder / "certified.wacz"
    pack(files, path)
    return path, folder / "root.pem"
