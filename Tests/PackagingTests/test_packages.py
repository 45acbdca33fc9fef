"""`make deb` and the list of what is in a release, with small programs instead of the real ones."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from installation import CAPTURE_BINARY, VERSION, files, run
from support.places import BINARY, CHECKOUT

TIME = 1_700_000_000
PACKAGES = ["replayhost", "replayhost-capture"]
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
    """What is in a tarball. The programs are other ones of this system, since these are smaller."""
    folder = tmp_path_factory.mktemp("tarball") / f"replayhost-{VERSION}-linux-x86_64"
    for binary in [BINARY, CAPTURE_BINARY]:
        program = folder.parent / binary.name
        program.write_text(f'#!/bin/sh\nexec "{binary}" "$@"\n')
        program.chmod(0o755)
    run(CHECKOUT / "Scripts" / "lib" / "stage.sh", folder.parent / "replayhost", folder, folder.parent / "replayhost-capture")
    (folder / "lib/replayhost").mkdir(parents=True)
    for name, library in [("replayhost", "libz.so.1"), ("replayhost-capture", "libqrencode.so.4")]:
        # It needs libz, and other libraries that aren't bundled.
        shutil.copy(shutil.which("dpkg-deb"), folder / "bin" / name)
        linked = re.search(rf"{re.escape(library)} => (\S+)", run("ldd", CAPTURE_BINARY).stdout)[1]
        shutil.copy(linked, folder / "lib/replayhost" / library)
    licences = folder / "share/doc/replayhost/licences"
    for name, text in [("swift-nio", APACHE), ("GRDB.swift", MIT)]:
        (licences / "swift" / name).mkdir(parents=True)
        (licences / "swift" / name / "LICENSE.txt").write_text(text)
    (licences / "BUNDLED.txt").write_text("Libraries:\n  zlib1g 1:1.2.13 (source: zlib 1:1.2.13)\n"
        "  libqrencode4 4.1.1-1 (source: qrencode 4.1.1-1)\n")
    (folder / "share/doc/replayhost/replayhost.spdx.json").write_text(make_sbom(folder, PINS).stdout)
    return folder


def build_debs(unpacked, folder):
    """Builds the packages in a copy of the scripts, which write to .build/dist of their checkout. Returns those of both programs."""
    folder.mkdir()
    tarball = folder / f"{unpacked.name}.tar.xz"
    run("tar", "--create", f"--mtime=@{TIME}", "--use-compress-program=xz -0", "--file", tarball, "--directory", unpacked.parent, unpacked.name)
    shutil.copytree(CHECKOUT / "Packaging", folder / "Packaging")
    (folder / "Scripts").mkdir()
    shutil.copy(CHECKOUT / "Scripts/deb", folder / "Scripts/deb")
    run(folder / "Scripts/deb", tarball, umask=0o077)
    architecture = run("dpkg", "--print-architecture").stdout.strip()
    found = [folder / f".build/dist/{name}_{VERSION}_{architecture}.deb" for name in PACKAGES]
    assert {*(folder / ".build/dist").glob("*.deb")} == {*found}
    return found


@pytest.fixture(scope="module")
def packages(unpacked, tmp_path_factory):
    return build_debs(unpacked, tmp_path_factory.mktemp("deb") / "first")


@pytest.mark.needs("dpkg-shlibdeps")
def test_packages_have_every_file_of_the_tarball(packages, unpacked, tmp_path):
    for package, name in zip(packages, PACKAGES):
        run("dpkg-deb", "--extract", package, tmp_path / name)
    replayhost, capture = (files(tmp_path / name) for name in PACKAGES)
    assert capture == {f"usr/{name}" for name in [
        "bin/replayhost-capture", "lib/replayhost/libqrencode.so.4", "lib/systemd/user/replayhost-capture.service",
        "share/bash-completion/completions/replayhost-capture", "share/fish/vendor_completions.d/replayhost-capture.fish",
        "share/doc/replayhost-capture", "share/lintian/overrides/replayhost-capture", "share/man/man1/replayhost-capture.1.gz",
        "share/replayhost/apparmor/replayhost-bwrap", "share/replayhost/capture-requirements.txt",
        "share/zsh/vendor-completions/_replayhost-capture"]}
    assert not replayhost & capture
    assert (tmp_path / "replayhost-capture/usr/share/doc/replayhost-capture").readlink() == Path("replayhost")
    for name in PACKAGES:
        shutil.copytree(tmp_path / name, tmp_path / "both", dirs_exist_ok=True, symlinks=True)
    tmp_path /= "both"
    (tmp_path / "usr/share/doc/replayhost-capture").unlink()
    moved = {
        "share/systemd/user/replayhost.socket": "lib/systemd/user/replayhost.socket",
        "share/doc/replayhost/LICENSE": "share/doc/replayhost/copyright"}
    for name in PACKAGES:
        moved[f"share/man/man1/{name}.1"] = f"share/man/man1/{name}.1.gz"
        moved[f"share/systemd/user/{name}.service"] = f"lib/systemd/user/{name}.service"
        moved[f"share/zsh/site-functions/_{name}"] = f"share/zsh/vendor-completions/_{name}"
    expected = {moved.get(name, name) for name in files(unpacked) - {"install.sh"}}
    assert files(tmp_path / "usr") == expected | {"share/doc/replayhost/changelog.gz"} | {f"share/lintian/overrides/{name}" for name in PACKAGES}
    assert files(tmp_path) == {f"usr/{name}" for name in files(tmp_path / "usr")}
    for name in PACKAGES:
        assert f"ExecStart=/usr/bin/{name} serve\n" in (tmp_path / f"usr/lib/systemd/user/{name}.service").read_text()
    assert "Exec=replayhost open %f\n" in (tmp_path / "usr/share/applications/replayhost.desktop").read_text()
    engine = json.loads((unpacked / "share/replayhost/www/vendor/engine.json").read_text())
    copyright = (tmp_path / "usr/share/doc/replayhost/copyright").read_text()
    assert f" {engine['source']}\n" in copyright and "AGPL-3.0-or-later" in copyright


@pytest.mark.needs("dpkg-shlibdeps")
def test_packages_state_what_they_need(packages, tmp_path):
    needs = {"replayhost": "", "replayhost-capture": re.escape(f"replayhost (= {VERSION}), ")}
    for package, (name, others) in zip(packages, needs.items()):
        run("dpkg-deb", "--control", package, tmp_path / name)
        assert files(tmp_path / name) == {"control", "md5sums"}, "no maintainer scripts"
        text = (tmp_path / name / "control").read_text()
        control = dict(re.findall(r"^([\w-]+): (.*)$", text, re.M))
        assert (control["Package"], control["Version"]) == (name, VERSION)
        assert re.match(others + r".*\blibc6 \(>= [\d.]+\)", control["Depends"])
        assert "liblzma5" in control["Depends"] and "zlib1g" not in control["Depends"], "the bundled library isn't a dependency"
        assert "@" not in text.replace("noreply@", "")
        if others:
            assert {"ffmpeg", "chromium"} <= {*control["Recommends"].split(", ")}


@pytest.mark.needs("dpkg-shlibdeps")
def test_packages_belong_to_root_and_have_plain_modes(packages, tmp_path):
    for package, name in zip(packages, PACKAGES):
        for line in run("dpkg-deb", "--contents", package).stdout.splitlines():
            mode, owner, path = line[:10], line.split()[1], line.split()[5]
            assert owner == "root/root"
            is_program, is_link = path == f"./usr/bin/{name}", path == "./usr/share/doc/replayhost-capture"
            assert mode == (
                "drwxr-xr-x" if path.endswith("/") else "lrwxrwxrwx" if is_link else "-rwxr-xr-x" if is_program else "-rw-r--r--"), path
        raw = tmp_path / name
        run("dpkg-deb", "--raw-extract", package, raw)
        run("md5sum", "--check", "--quiet", "DEBIAN/md5sums", cwd=raw)
        sums = (raw / "DEBIAN/md5sums").read_text().splitlines()
        assert len(sums) == len([path for path in files(raw / "usr") if not (raw / "usr" / path).is_symlink()])


@pytest.mark.needs("dpkg-shlibdeps")
def test_packages_are_reproducible(packages, unpacked, tmp_path):
    for again, package in zip(build_debs(unpacked, tmp_path / "again"), packages):
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
        "zlib1g": ("1:1.2.13", "Zlib"), "libqrencode4": ("4.1.1-1", "LGPL-2.1-or-later"),
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
