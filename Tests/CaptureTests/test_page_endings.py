"""What a page's own URL can answer instead of a page. Each ends with an archive or with a message, and nothing is left.

Chromium opens a URL that doesn't look like a document, and decides what it is. What looks like one is requested by curl. Some sites of
these tests answer the two differently, as sites do for which curl isn't a browser.
"""

import threading

import contents
import decoders
import pages
import pytest
import tls_site
import website
from page_hosts import expect_valid, make_host, save

pytestmark = pytest.mark.needs("Chromium")

soak = pytest.mark.few()

SECONDS = 3
# Without a second attempt
ONCE = ("--retry-delays", "none")
WINDOWS = """<h1>Windows</h1><img src=/held/image><script>
    const opened = []
    for (let n = 0; n < COUNT; n++) opened.push(open('/text/window?' + n))
    const timer = setInterval(() => {
        if (!opened.every(window => !window || window.closed)) return
        clearInterval(timer)
        document.title = 'All windows are closed'
        fetch('/release/held')
    }, 50)
</script>"""


class _Answer(pages._Page):
    """Below `/browser-only/`, curl gets an ordinary page. Chromium gets what the rest of the path names."""

    def is_chromium(self):
        return "Chrome/" in self.headers.get("User-Agent", "")

    def answer_browser_only(self):
        if self.is_chromium():
            getattr(self, "answer_" + self.parts.path.split("/")[2])()
        else:
            self.answer_page()

    def answer_picky(self):
        """`by`: refuses what isn't Chromium, by a status; or redirects to itself until it gets its cookie. Then a page or a PDF."""
        by, kind = self.parts.path.split("/")[2:4]
        if by == "cookie":
            if "tide=ebb" not in self.headers.get("Cookie", ""):
                return self.redirect(self.path, Set_Cookie="tide=ebb; Path=/picky")
        elif not self.is_chromium():
            return self.send(b"only for browsers", "text/plain", int(by))
        self.send(*((website.PDF, website.PDF_TYPE) if kind == "guide.pdf" else (website.PAGE, "text/html; charset=utf-8")))

    def answer_held(self):
        """Not answered before it's released, so that the page goes on loading until then."""
        self.server.site.released.wait(60)
        self.send(pages.image_at(self.path), "image/png")

    def answer_release(self):
        self.server.site.released.set()
        self.send(b"released", "text/plain")


@pytest.fixture(scope="module")
def site():
    site = pages.PageSite()
    site.server.RequestHandlerClass, site.released = _Answer, threading.Event()
    yield site
    site.released.set()
    site.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return tls_site.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def secure_site(authority):
    """A website with TLS, whose certificate is of an authority that isn't known."""
    site = tls_site.use_tls(pages.PageSite(), authority)
    yield site
    site.close()


@pytest.fixture(scope="module")
def broken_tls():
    site = tls_site.BrokenTLS()
    yield site
    site.close()


@pytest.fixture(scope="module")
def host(site, secure_site, broken_tls, tmp_path_factory):
    host = make_host(tmp_path_factory.mktemp("endings"), *ONCE)
    with host:
        yield host


@pytest.fixture(scope="module")
def hasty_host(site, tmp_path_factory):
    """With a short limit for a page."""
    host = make_host(tmp_path_factory.mktemp("hasty"), *ONCE, "--page-limits", f"{SECONDS},1000000,100")
    with host:
        yield host


def failed(host, url, code, message):
    row = host.wait_for(host.add(url), "failed")
    decoders.own_status(row)
    assert (row["error_code"], row["archive"], row["attempt"]) == (code, None, 1), (row["error_message"], host.lines(row["download_id"]))
    assert message in row["error_message"], row
    host.expect_no_leftovers()


@pytest.mark.parametrize(("path", "code", "message"), [
    ("/nothing", "no_file", "the site answered 204, without content"),
    ("/private", "login_required", "the site answered 401"),
    ("/loop", "network", "the site redirects in a circle"),
])
def test_no_page_for_anyone(host, site, path, code, message):
    failed(host, site(path), code, message)


@pytest.mark.parametrize(("answer", "code", "message"), [
    ("nothing", "no_file", "the site answered 204, without content"),
    ("private", "login_required", "the site answered 401"),
    ("loop", "network", "the site redirects in a circle"),
])
def test_no_page_for_the_browser(host, site, answer, code, message):
    failed(host, site(f"/browser-only/{answer}"), code, message)


@pytest.mark.parametrize(("kind", "words"), [("html", "The first words"), ("empty", "")])
def test_document_that_ends_too_early(host, site, kind, words):
    """It is saved in part, and says so; an empty one is never said to replay."""
    saved = save(host, site(f"/browser-only/cut?kind={kind}"))
    row = saved.row
    assert row["incomplete"] == "The page isn't complete: its document ended too early.", row
    document = saved.of(site(f"/browser-only/cut?kind={kind}"))
    assert words in document.body.decode() and document.rec_headers.get_header("WARC-Truncated") == "disconnect"
    assert not (row["replay_check"] or "").startswith("Replays:"), row


@pytest.mark.few("403", "cookie")
@pytest.mark.parametrize("kind", ["page", "guide.pdf"])
@pytest.mark.parametrize("by", ["403", "503", "429", "cookie"])
def test_site_only_for_browsers(host, site, by, kind):
    """The browser decides what a URL is. It opens a page; a document is fetched with its header fields and cookies."""
    path = f"/picky/{by}/{kind}"
    saved = save(host, site(path))
    record = saved.of(site(path)) if by != "cookie" else [one for one in saved.records if one.uri == site(path) and one.rec_type == "response"][-1]
    assert record.body == (website.PDF if kind == "guide.pdf" else website.PAGE)
    assert saved.row["genre"] == ("pdf" if kind == "guide.pdf" else "unknown")


@pytest.mark.parametrize(("path", "body", "ending"), [
    ("/once/page", website.PAGE, None), ("/once/document", website.PDF, ".pdf"), ("/text/asked-once", b"text of /text/asked-once", ".txt"),
    ("/img/asked-once.png", pages.image_at("/img/asked-once.png"), ".png"), ("/coded/gzip", pages.CODED["gzip"], ".txt"),
])
def test_site_is_asked_once(host, site, path, body, ending):
    """The browser gets a page, a document or another file with one request, so that a link is saved that works once."""
    saved = save(host, site(path))
    assert site.asked["GET", path] == 1
    assert saved.of(site(path)).body == body
    assert (saved.row["file_path"] or "")[-4:] == (ending or "") and saved.row["incomplete"] is None
    if ending:
        assert host.file(saved.row).read_bytes() == body
    expect_valid(host, saved)


def test_redirects_to_a_file_are_kept(host, site):
    """Those that the browser followed."""
    start = site("/to?url=/img/redirected.png")
    saved = save(host, start)
    assert saved.of(start).rec_headers.get_header("WARC-Protocol") == "http/1.1"
    assert saved.of(site("/img/redirected.png")).body == pages.image_at("/img/redirected.png")


@soak
def test_file_that_is_too_large_for_the_browser(host, site):
    """curl fetches it."""
    row = save(host, site("/large?alone=1")).row
    assert host.file(row).read_bytes() == pages.ONES["large"]


def test_page_that_never_answers(hasty_host, site):
    failed(hasty_host, site("/browser-only/silent"), "network", "the page didn't answer in time")


def test_pdf_without_an_ending(host, site):
    """It's a document because of its type, not because of its URL."""
    row = host.wait_for(host.add(site("/document")), "completed")
    assert row["genre"] == "pdf" and row["file_path"].endswith(".pdf")
    assert host.file(row).read_bytes() == website.PDF
    records = contents.warc_records(host.request("GET", f"/download/{row['download_id']}/archive")[2])
    assert [record.body for record in records if record.rec_type == "response" and record.uri == site("/document")] == [website.PDF]
    host.expect_no_leftovers()


def test_page_that_opens_windows(host, site):
    """Each is closed, and the page is saved."""
    saved = save(host, site.make("windows", WINDOWS.replace("COUNT", "20")))
    assert saved.row["title"] == "All windows are closed"
    assert saved.of(site("/held/image")).body == pages.image_at("/held/image")
    host.expect_no_leftovers()


@soak
def test_page_that_opens_1000_windows(host, site):
    """It's saved, even if it needs more time than a page has. The browser and its windows are gone then."""
    saved = save(host, site.make("crowd", WINDOWS.replace("COUNT", "1000")))
    assert "Windows" in saved.of(f"urn:text:{saved.row['url']}", "resource").body.decode()
    host.expect_no_leftovers()


def test_broken_tls(host, broken_tls):
    failed(host, f"https://127.0.0.1:{broken_tls.port}/page", "tool_failed", "net::ERR_SSL_PROTOCOL_ERROR")
    assert broken_tls.asked > 0


def test_unknown_certificate(host, secure_site):
    """Chromium refuses it."""
    failed(host, secure_site("/images"), "tool_failed", "certificate")
    assert secure_site.asked.total() == 0


def test_certificate_that_only_curl_trusts(secure_site, authority, tmp_path):
    """A root that is named in SSL_CERT_FILE is for curl. Chromium has its own roots, and refuses the page."""
    host = make_host(tmp_path, *ONCE)
    try:
        host.start(SSL_CERT_FILE=str(authority.root))
        failed(host, secure_site("/images"), "tool_failed",
            "the site's certificate or TLS isn't valid (net::ERR_CERT_AUTHORITY_INVALID)")
        assert secure_site.asked["GET", "/images"] == 0
    finally:
        host.stop()
