"""`make deb` and the list of what is in a release, with a small program instead of the real one."""

import hashlib
import json
import re
import shutil
import sys

import pytest
from installation import VERSION, files, run
from support.places import BINARY, CHECKOUT

TIME = 1_700_000_000
MAKE_SBOM = CHECKOUT / "Scripts" / "lib" / "make-sbom.py"
PINS = {"pins": [
    {"location": "https://github.com/apple/swift-nio.git", "state": {"version": "2.101.2"}},
    {"location": "https://github.com/groue/GRDB.swift", "state": {"version": "7.10.0"}},
    {"location": "https://github.com/apple/not-linked", "state": {"version": "1.0.0"}}]}
APACHE = "                 Apache License\n           Version 2.0, January 2004\n"
MIT = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software\n"


def make_sbom(folder, pins, check=True):
    resolved = folder.parent / "Package.resolved"
    resolved.write_text(json.dumps(pins))
    return run(sys.executable, MAKE_SBOM, folder, resolved, "6.3.1", TIME, check=check)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """What is in a tarball. The program and the library are other ones of this system, since these are smaller."""
    folder = tmp_path_factory.mktemp("tarball") / f"replayhost-{VERSION}-linux-x86_64"
    program = folder.parent / "replayhost"
    program.write_text(f'#!/bin/sh\nexec "{BINARY}" "$@"\n')
    program.chmod(0o755)
    run(CHECKOUT / "Scripts" / "lib" / "stage.sh", program, folder)
    shutil.copy(shutil.which("true"), folder / "bin/replayhost")
    (folder / "lib/replayhost").mkdir(parents=True)
    linked = re.search(r"libz\.so\.1 => (\S+)", run("ldd", BINARY).stdout)[1]
    shutil.copy(linked, folder / "lib/replayhost/libz.so.1")
    licences = folder / "share/doc/replayhost/licences"
    for name, text in [("swift-nio", APACHE), ("GRDB.swift", MIT)]:
        (licences / "swift" / name).mkdir(parents=True)
        (licences / "swift" / name / "LICENSE.txt").write_text(text)
    (licences / "BUNDLED.txt").write_text("Libraries:\n  zlib1g 1:1.2.13 (source: zlib 1:1.2.13)\n")
    (folder / "share/doc/replayhost/replayhost.spdx.json").write_text(make_sbom(folder, PINS).stdout)
    return folder


def build_deb(unpacked, folder):
    """Builds the package in a copy of the scripts, which write to .build/dist of their checkout."""
    folder.mkdir()
    tarball = folder / f"{unpacked.name}.tar.xz"
    run("tar", "--create", f"--mtime=@{TIME}", "--use-compress-program=xz -0", "--file", tarball, "--directory", unpacked.parent, unpacked.name)
    shutil.copytree(CHECKOUT / "Packaging", folder / "Packaging")
    (folder / "Scripts").mkdir()
    shutil.copy(CHECKOUT / "Scripts/deb", folder / "Scripts/deb")
    run(folder / "Scripts/deb", tarball, umask=0o077)
    (package,) = (folder / ".build/dist").glob("*.deb")
    return package


@pytest.fixture(scope="module")
def package(unpacked, tmp_path_factory):
    return build_deb(unpacked, tmp_path_factory.mktemp("deb") / "first")


@pytest.mark.needs("dpkg-shlibdeps")
def test_package_has_every_file_of_the_tarball(package, unpacked, tmp_path):
    run("dpkg-deb", "--extract", package, tmp_path)
    moved = {
        "share/man/man1/replayhost.1": "share/man/man1/replayhost.1.gz",
        "share/systemd/user/replayhost.service": "lib/systemd/user/replayhost.service",
        "share/systemd/user/replayhost.socket": "lib/systemd/user/replayhost.socket",
        "share/zsh/site-functions/_replayhost": "share/zsh/vendor-completions/_replayhost",
        "share/doc/replayhost/LICENSE": "share/doc/replayhost/copyright"}
    expected = {moved.get(name, name) for name in files(unpacked) - {"install.sh"}}
    assert files(tmp_path / "usr") == expected | {"share/doc/replayhost/changelog.gz", "share/lintian/overrides/replayhost"}
    assert files(tmp_path) == {f"usr/{name}" for name in files(tmp_path / "usr")}
    assert "ExecStart=/usr/bin/replayhost serve\n" in (tmp_path / "usr/lib/systemd/user/replayhost.service").read_text()
    assert "Exec=replayhost open %f\n" in (tmp_path / "usr/share/applications/replayhost.desktop").read_text()
    engine = json.loads((unpacked / "share/replayhost/www/vendor/engine.json").read_text())
    copyright = (tmp_path / "usr/share/doc/replayhost/copyright").read_text()
    assert f" {engine['source']}\n" in copyright and "AGPL-3.0-or-later" in copyright


@pytest.mark.needs("dpkg-shlibdeps")
def test_package_states_what_it_needs(package, tmp_path):
    assert package.name == f"replayhost_{VERSION}_{run('dpkg', '--print-architecture').stdout.strip()}.deb"
    run("dpkg-deb", "--control", package, tmp_path)
    assert files(tmp_path) == {"control", "md5sums"}, "no maintainer scripts"
    control = dict(re.findall(r"^([\w-]+): (.*)$", (tmp_path / "control").read_text(), re.M))
    assert (control["Package"], control["Version"]) == ("replayhost", VERSION)
    assert re.fullmatch(r"libc6 \(>= [\d.]+\)", control["Depends"]), "the bundled library isn't a dependency"
    assert "@" not in (tmp_path / "control").read_text().replace("noreply@", "")


@pytest.mark.needs("dpkg-shlibdeps")
def test_package_belongs_to_root_and_has_plain_modes(package, tmp_path):
    for line in run("dpkg-deb", "--contents", package).stdout.splitlines():
        mode, owner, path = line[:10], line.split()[1], line.split()[5]
        assert owner == "root/root"
        assert mode == ("drwxr-xr-x" if path.endswith("/") else "-rwxr-xr-x" if path == "./usr/bin/replayhost" else "-rw-r--r--"), path
    run("dpkg-deb", "--raw-extract", package, tmp_path / "raw")
    run("md5sum", "--check", "--quiet", "DEBIAN/md5sums", cwd=tmp_path / "raw")
    assert len((tmp_path / "raw/DEBIAN/md5sums").read_text().splitlines()) == len(files(tmp_path / "raw/usr"))


@pytest.mark.needs("dpkg-shlibdeps")
def test_package_is_reproducible(package, unpacked, tmp_path):
    again = build_deb(unpacked, tmp_path / "again")
    assert again.read_bytes() == package.read_bytes()


@pytest.mark.needs("appstreamcli")
def test_metainfo_is_valid(unpacked):
    run("appstreamcli", "validate", "--no-net", *(unpacked / "share/metainfo").glob("*.xml"))


def test_sbom_lists_what_is_linked_and_bundled(unpacked):
    sbom = json.loads((unpacked / "share/doc/replayhost/replayhost.spdx.json").read_text())
    packages = {entry["name"]: entry for entry in sbom["packages"]}
    assert {name: (entry.get("versionInfo"), entry["licenseDeclared"]) for name, entry in packages.items()} == {
        "replayhost": (VERSION, "Apache-2.0"),
        "swift-nio": ("2.101.2", "Apache-2.0 AND MIT AND BSD-3-Clause"), "GRDB.swift": ("7.10.0", "MIT"),
        "swift-runtime": ("6.3.1", "Apache-2.0 WITH Swift-exception"), "icu": (None, "MIT"),
        "zlib1g": ("1:1.2.13", "Zlib"),
        "wabac.js": (json.loads((CHECKOUT / "www/vendor/engine.json").read_text())["version"], "AGPL-3.0-or-later")}
    digest = hashlib.sha256((CHECKOUT / "www/vendor/sw.js").read_bytes()).hexdigest()
    assert packages["wabac.js"]["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
    assert packages["wabac.js"]["downloadLocation"].startswith("git+https://github.com/webrecorder/wabac.js")
    related = {relation["relatedSpdxElement"] for relation in sbom["relationships"]}
    assert related == {entry["SPDXID"] for entry in packages.values()}
    assert sbom["creationInfo"]["created"] == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("what, problem", [
    ("swift-nio/LICENSE.txt", "unknown licence in"), ("BUNDLED.txt", "unknown licence of other")])
def test_sbom_is_refused_without_a_licence(unpacked, tmp_path, what, problem):
    folder = shutil.copytree(unpacked, tmp_path / unpacked.name)
    licences = folder / "share/doc/replayhost/licences"
    if what == "BUNDLED.txt":
        (licences / what).write_text("Libraries:\n  libother1 1.0 (source: other 1.0)\n")
    else:
        (licences / "swift" / what).write_text("All rights reserved.\n")
    refused = make_sbom(folder, PINS, check=False)
    assert refused.returncode == 1
    assert f"error: {problem}" in refused.stderr
