"""The guard: what sites can lead the tools to. curl and its requests are real."""

import contents
import decoders
import pytest
from website import SITES, Website


@pytest.fixture
def inner():
    """A site that isn't in egress.allow."""
    site = Website()
    SITES.discard(f"127.0.0.1:{site.port}")
    yield site
    site.close()


def refused(host, url):
    row = host.wait_for(host.add(url, username="guarded"), "failed")
    decoders.own_status(row)
    assert (row["error_code"], row["attempt"], row["archive"]) == ("host_refused", 1, None), row
    return row


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost"])
def test_this_computer_is_refused(shared, inner, name):
    """Whatever it is called. Its port alone would be refused too, so this shows which addresses count in test_port_80."""
    row = refused(shared, f"http://{name}:{inner.port}/guide.pdf")
    assert str(inner.port) in row["error_message"] and "guard" in row["error_message"]
    assert not inner.asked


@pytest.mark.parametrize("url", [
    "http://127.0.0.1/a.pdf", "http://127.1/a.pdf", "http://2130706433/a.pdf", "https://localhost/a.pdf", "http://[::1]/a.pdf",
    "http://[::ffff:127.0.0.1]/a.pdf", "http://[64:ff9b::7f00:1]/a.pdf", "http://169.254.169.254/latest/meta-data.pdf",
    "http://10.0.0.1/a.pdf", "http://192.168.1.1/a.pdf", "https://172.16.0.1/a.pdf", "http://100.64.0.1/a.pdf",
    "http://0.0.0.0/a.pdf", "http://[fd00::1]/a.pdf", "http://[fe80::1]/a.pdf",
])
def test_port_80(shared, url):
    """Addresses that aren't public, at ports that are let through. Each is refused before anything is sent."""
    assert "isn't public" in refused(shared, url)["error_message"]


@pytest.mark.parametrize("port", [22, 25, 631, 8080, 58443])
def test_other_ports_are_refused(shared, port):
    assert f"127.0.0.1:{port}" in refused(shared, f"http://127.0.0.1:{port}/a.pdf")["error_message"]


@pytest.mark.parametrize("name", ["clients2.google.com", "update.googleapis.com"])
def test_hosts_that_chromium_calls_for_itself_are_refused(shared, name):
    """Without asking for their addresses: the hosts file of the tests has none, which would be another message."""
    assert "doesn't let this host" in refused(shared, f"https://{name}/a.pdf")["error_message"]


def test_redirects_are_checked(shared, website, inner):
    row = refused(shared, website(f"/to.pdf?url=http://127.0.0.1:{inner.port}/guide.pdf"))
    assert f"127.0.0.1:{inner.port}" in row["error_message"]
    assert any(line.endswith(row["error_message"]) and "refused" in line for line in shared.lines(row["download_id"]))
    assert not inner.asked
    assert "isn't public" in refused(shared, website("/to.pdf?url=http://169.254.169.254/a.pdf"))["error_message"]


def test_sites_of_an_intranet_can_be_allowed(host, inner):
    """From the next attempt on, by name and port. Lines that say nothing are named in the server's log."""
    with host:
        refused(host, inner("/guide.pdf"))
        (host.store / "capture" / "egress.allow").write_text(
            f"# our wiki\n127.0.0.1:{inner.port}   # and its port\nhttp://wiki.example/\n\nwiki.example\n")
        row = host.wait_for(host.add(inner("/guide.pdf?again=1")), "completed")
        assert inner.asked["GET", "/guide.pdf?again=1"] == 1
        # The same site by another name isn't that site.
        refused(host, f"http://localhost:{inner.port}/guide.pdf")
        log = host.log.read_text()
        assert "egress.allow" in log and "3, 5" in log
        status, _, archive = host.request("GET", f"/download/{row['download_id']}/archive")
        assert status == 200
        pair = [record for record in contents.warc_records(archive) if record.uri == inner("/guide.pdf?again=1")]
        assert {record.rec_type for record in pair} == {"request", "response"}
        request, response = (next(record for record in pair if record.rec_type == kind) for kind in ("request", "response"))
        # As the site got it: no word of a proxy.
        head = request.http_headers.to_str()
        assert head.startswith("GET /guide.pdf?again=1 HTTP/1.1\r\n") and "proxy" not in head.lower()
        # The address to which the guard connected.
        assert response.rec_headers.get_header("WARC-IP-Address") == "127.0.0.1"
