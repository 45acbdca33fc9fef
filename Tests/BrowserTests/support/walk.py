"""An archive of pages that link to each other, to walk from page to page."""

import pytest

from support.archives import write_archive
from support.host import Host

SITE = "https://walk.example"
PAGES = ["a", "b", "c", "d"]
UNCAPTURED = f"{SITE}/nowhere"


def address_of(name, fragment=""):
    return f"{SITE}/{name}{fragment}"


def html_of(name):
    links = "".join(f'<p><a href="/{other}">To {other}</a></p>' for other in [*PAGES, "nowhere"])
    return (f'<!doctype html><title>Page {name}</title><h1>Page {name}</h1><p><a href="#note">To the note</a></p>{links}'
            '<p><a href="mailto:press%40walk.example?subject=Tides">Write to us</a> <a href="tel:+43123">Call us</a>'
            ' <a href="geo:48,16">Find us</a> <button>A button</button></p>'
            '<div style="height: 3000px"></div><h2 id="note">The note</h2><div style="height: 3000px"></div>')


@pytest.fixture
def walk_host(tmp_path):
    host = Host(tmp_path)
    host.add(write_archive(tmp_path / "walk.wacz", "Walk", {address_of(name): html_of(name) for name in PAGES}))
    with host:
        yield host
