"""A page with TLS. The recorder's Chromium and curl are told which certificate to trust, each in its own way."""

import json

import pages
import pytest
import pywb_server
import tls_site
from awkward_site import COLOURS
from page_hosts import expect_valid, make_host, save
from support.browser import Browser
from support.expecting import expect
from support.host import Host
from support.pictures import plain
from support.viewer import Viewer
from support.waiting import wait_until
from test_awkward_pages import is_drawn, viewer_address

BODY = """<h1>Behind TLS</h1><img src=/lime.png><p id=words></p><script>
    fetch('/text/secure').then(r => r.text()).then(t => { document.getElementById('words').textContent = t })
</script>"""


class _Answer(pages._Page):
    def answer_lime(self):
        self.send(plain(COLOURS["lime"]), "image/png")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return tls_site.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def trust(authority):
    """Chromium has its own roots. It trusts this certificate, and checks all others as usual."""
    return f"--ignore-certificate-errors-spki-list={authority.fingerprint}"


@pytest.fixture(scope="module")
def secure_site(authority):
    site = tls_site.use_tls(pages.PageSite(), authority)
    site.server.RequestHandlerClass = _Answer
    site.make("secure", BODY)
    yield site
    site.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library of the archive, with the same store."""
    library = Host(tmp_path_factory.mktemp("secure"))
    yield library
    library.stop()


@pytest.fixture(scope="module")
def saved(library, authority, trust, secure_site):
    host = make_host(library.store.parent)
    pages.give_chromium(host.tools, arguments=trust)
    try:
        host.start(SSL_CERT_FILE=str(authority.root))
        saved = save(host, secure_site("/made/secure"))
        expect_valid(host, saved)
    finally:
        host.stop()
    library.start()
    wait_until(lambda: saved.row["archive"] in library.ids(), "the library knows it")
    return saved


def shows_the_page(root):
    expect(root.locator("h1")).to_have_text("Behind TLS")
    expect(root.locator("#words")).to_have_text("text of /text/secure")
    is_drawn(root.locator("img"), "lime")


def test_live(playwright, secure_site, trust, tmp_path):
    browser = Browser(playwright, tmp_path / "profile", arguments=[trust])
    try:
        browser.page.goto(secure_site("/made/secure"))
        shows_the_page(browser.page)
    finally:
        browser.close()


def test_recorded(saved, secure_site):
    response = saved.of(secure_site("/made/secure"))
    assert response.body == secure_site.made["secure"]
    assert saved.of(secure_site("/text/secure")).body == b"text of /text/secure"
    assert saved.of(secure_site("/lime.png")).body == plain(COLOURS["lime"])


@pytest.mark.xfail(strict=True, reason="Chromium doesn't tell the certificate of a response whose body was taken from it.")
def test_certificate_is_named(saved, secure_site):
    """The records name the version of TLS and who issued the certificate."""
    response = saved.of(secure_site("/made/secure"))
    protocols = [value for name, value in response.rec_headers.headers if name == "WARC-Protocol"]
    assert protocols == ["http/1.1", "tls/1.3"]
    assert json.loads(response.rec_headers.get_header("WARC-JSON-Metadata")) == {"cert": {"issuer": "Harbour root"}}


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_replay(saved, library, secure_site, browser, mode):
    before = secure_site.asked.total()
    browser.page.goto(viewer_address(library, saved.row["archive"], mode))
    shows_the_page(Viewer(browser.page).archived)
    assert secure_site.asked.total() == before


@pytest.mark.skipif(not pywb_server.is_installed(), reason="pywb isn't installed; `Scripts/bench 20-pywb-answers` installs it")
def test_pywb_replays_it(saved, secure_site, browser, tmp_path):
    before = secure_site.asked.total()
    (tmp_path / "pywb").mkdir()
    pywb = pywb_server.PywbServer(tmp_path / "pywb", saved.path)
    try:
        browser.page.goto(f"http://127.0.0.1:{pywb.port}/saved/2/{secure_site('/made/secure')}")
        shows_the_page(browser.page.frame_locator("#replay_iframe"))
    finally:
        pywb.close()
    assert secure_site.asked.total() == before
