"""One place states the version, `ArchiveStore.version`. All others agree with it."""

import json
import re
from xml.etree import ElementTree

import pytest
from installation import VERSION, run
from support.places import BINARY, CHECKOUT

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]


def test_program_states_the_version():
    assert run(BINARY, "--version").stdout.splitlines()[0] == f"replayhost {VERSION}"


def test_sharing_program_states_the_version():
    source = (CHECKOUT / "Sources/replayhost-share/ShareCommandLine.swift").read_text(encoding="utf-8")
    assert re.findall(r'version: "replayhost-share (.*)"', source) == [VERSION]


def test_installed_files_state_the_version(prefix):
    assert f'"replayhost {VERSION}"' in (prefix / "share/man/man1/replayhost.1").read_text().splitlines()[0]
    metainfo = ElementTree.parse(prefix / "share/metainfo/org.replayhost.replayhost.metainfo.xml")
    assert [release.get("version") for release in metainfo.iter("release")] == [VERSION]


def test_api_description_states_the_version():
    assert json.loads((CHECKOUT / "www/openapi.json").read_text(encoding="utf-8"))["info"]["version"] == VERSION


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documents_state_the_version(page):
    text = page.read_text(encoding="utf-8")
    stated = re.findall(r"(?:replayhost(?:-capture)?[ _-]|eports version )v?(\d+\.\d+\.\d+)", text)
    assert set(stated) <= {VERSION}


def test_changelog_has_the_version():
    assert f"\n## {VERSION}\n" in (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
