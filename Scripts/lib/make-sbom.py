"""Writes the list of everything in a tarball, its SBOM: SPDX 2.3, as JSON, to standard output.

Arguments: the folder of the tarball, Package.resolved, the version of Swift, the time of the commit. The folder has the names of the
linked Swift packages (licences/swift), and those of the libraries (BUNDLED.txt). A package without a known licence is an error.
"""

import datetime
import hashlib
import json
import re
import sys
import uuid
from pathlib import Path
from urllib.parse import quote

# By the source package.
LIBRARY_LICENCES = {
    "abseil": "Apache-2.0", "brotli": "MIT", "bzip2": "bzip2-1.0.6", "libzip": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only", "openssl": "Apache-2.0", "qrencode": "LGPL-2.1-or-later", "re2": "BSD-3-Clause", "snowball": "BSD-3-Clause",
    "sqlite3": "blessing", "zlib": "Zlib",
}
# Files with licences of their own: llhttp and SHA-1 in swift-nio, a part of musl in swift-certificates.
FURTHER_LICENCES = {"swift-nio": "MIT AND BSD-3-Clause", "swift-certificates": "MIT"}


def fail(problem, hint):
    sys.exit(f"error: {problem}\nhint: {hint}")


def licence(folder):
    """The SPDX expression of a Swift package, by the text of its licence."""
    text = next((path.read_text(encoding="utf-8") for path in sorted(folder.glob("LICENSE*"))), "")
    text = " ".join(text.split())
    if "Apache License Version 2.0, January 2004" in text:
        found = "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    elif "Permission is hereby granted, free of charge, to any person obtaining a copy" in text:
        found = "MIT"
    else:
        fail(f"unknown licence in {folder}", "add it to Scripts/lib/make-sbom.py")
    further = FURTHER_LICENCES.get(folder.name)
    return f"{found} AND {further}" if further else found


def package(name, version, licence, location="NOASSERTION", purl=None, **others):
    entry = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
        "copyrightText": "NOASSERTION", **others}
    if version is None:
        del entry["versionInfo"]
    if purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def swift_packages(licences, resolved):
    """The packages whose code is in the programs."""
    pins = {re.sub(r"\.git$", "", pin["location"]).rsplit("/", 1)[1]: pin for pin in resolved["pins"]}
    for folder in sorted(path for path in licences.iterdir() if path.is_dir()):
        pin = pins.get(folder.name) or fail(f"{folder.name} isn't in Package.resolved", "run `swift package resolve`")
        place, version = re.sub(r"\.git$", "", pin["location"]), pin["state"]["version"]
        yield package(
            folder.name, version, licence(folder), f"git+{place}.git", f"pkg:swift/{place.removeprefix('https://')}@{version}")


def libraries(bundled):
    """The libraries of the system on which the programs were built."""
    system = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    system = {name: value.strip('"') for name, value in system.items()}
    found = re.findall(r"^  (\S+) (\S+) \(source: (\S+) (\S+)\)$", bundled, re.M)
    for name, version, source, source_version in found or fail("no libraries in BUNDLED.txt", "check Scripts/dist"):
        known = LIBRARY_LICENCES.get(source) or fail(f"unknown licence of {source}", "add it to Scripts/lib/make-sbom.py")
        yield package(
            name, version, known, purl=f"pkg:deb/{system['ID']}/{name}@{quote(version, safe='.-~')}?distro={system['ID']}-{system['VERSION_ID']}",
            sourceInfo=f"unmodified, from the source package {source} {source_version} of {system['PRETTY_NAME']}")


def engine(vendor):
    found = json.loads((vendor / "engine.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256((vendor / "sw.js").read_bytes()).hexdigest()
    return package(
        found["name"], found["version"], found["licence"], "git+" + found["source"].replace("/tree/", ".git@"),
        f"pkg:npm/%40webrecorder/wabac@{found['version']}", sourceInfo="share/replayhost/www/vendor/sw.js, a separate program",
        comment="It contains JavaScript packages, which package.json and yarn.lock in its source list.",
        checksums=[{"algorithm": "SHA256", "checksumValue": digest}])


def main():
    folder, resolved, swift, epoch = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes()), sys.argv[3], int(sys.argv[4])
    name = folder.name
    version = re.fullmatch(r"replayhost-(.+)-linux-[^-]+", name)[1]
    licences = folder / "share/doc/replayhost/licences"
    program = package("replayhost", version, "Apache-2.0", primaryPackagePurpose="APPLICATION")
    linked = list(swift_packages(licences / "swift", resolved))
    linked.append(package(
        "swift-runtime", swift, "Apache-2.0 WITH Swift-exception", "https://www.swift.org/install",
        sourceInfo="standard library, Foundation, Dispatch and Synchronization, linked statically"))
    linked.append(package(
        "icu", None, "MIT", "git+https://github.com/unicode-org/icu.git", sourceInfo="parts of it, in Foundation"))
    bundled = list(libraries((licences / "BUNDLED.txt").read_text(encoding="utf-8")))
    bundled.append(engine(folder / "share/replayhost/www/vendor"))
    packages = [program, *linked, *bundled]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", program["SPDXID"])]
    relations += [(program["SPDXID"], "STATIC_LINK", entry["SPDXID"]) for entry in linked]
    relations += [(program["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in bundled]
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([name, epoch, packages]))
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{unique}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: the replayhost authors", "Tool: make-sbom.py"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to} for of, kind, to in relations],
    }, sys.stdout, indent=2, ensure_ascii=False)
    print()


main()
